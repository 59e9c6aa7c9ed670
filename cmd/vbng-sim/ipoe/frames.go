package ipoe

import (
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/dhcp"
	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/host6"
)

const sentTTL = 64

var everybody = frame.Addr{255, 255, 255, 255}

func (c *Client) sendBroadcast(m dhcp.V4) {
	src := frame.Addr{}
	if m.Client != src {
		src = m.Client
	}
	c.sendDHCP(frame.Broadcast, src, everybody, m)
}

// sendUnicast sends to the server, by way of whoever answered for it last.
func (c *Client) sendUnicast(m dhcp.V4) { c.sendDHCP(c.serverMAC, c.Addr, c.server, m) }

func (c *Client) sendDHCP(to frame.MAC, src, dst frame.Addr, m dhcp.V4) {
	payload := m.Append(nil)
	b := frame.AppendEthernet(make([]byte, 0, 400), to, c.MAC, c.Tags, frame.TypeIPv4)
	header := frame.IPv4{Src: src, Dst: dst, TTL: sentTTL, Protocol: frame.UDP}
	b = frame.AppendIPv4(b, header, frame.UDPBytes+len(payload))
	b = frame.AppendUDP(b, src, dst, frame.Datagram{SrcPort: dhcp.ClientPort, DstPort: dhcp.ServerPort, Payload: payload})
	c.out = append(c.out, b)
}

// readReply finds the DHCPv4 message to a client in a frame.
func readReply(e frame.Ethernet) (dhcp.V4, bool) {
	ip, err := frame.ParseIPv4(e.Payload)
	if err != nil || ip.Protocol != frame.UDP || ip.Fragment {
		return dhcp.V4{}, false
	}
	d, err := frame.ParseUDP(ip)
	if err != nil || d.DstPort != dhcp.ClientPort {
		return dhcp.V4{}, false
	}
	m, err := dhcp.ParseV4(d.Payload)
	return m, err == nil
}

func (c *Client) askGateway(now time.Duration) {
	c.sent++
	c.sendARP(frame.Broadcast, frame.ARP{
		Operation: frame.ARPRequest, SenderMAC: c.MAC, SenderAddr: c.Addr, TargetAddr: c.Gateway,
	})
	c.Deadline = now + c.settings.ARPWait
}

// receiveARP answers for our address, and learns the gateway's.
func (c *Client) receiveARP(now time.Duration, e frame.Ethernet) {
	a, err := frame.ParseARP(e.Payload)
	if err != nil || a.SenderMAC == c.MAC || c.Phase < Resolve {
		return
	}
	switch {
	case a.Operation == frame.ARPRequest && a.TargetAddr == c.Addr:
		c.sendARP(a.SenderMAC, frame.ARP{
			Operation: frame.ARPReply, SenderMAC: c.MAC, SenderAddr: c.Addr,
			TargetMAC: a.SenderMAC, TargetAddr: a.SenderAddr,
		})
	case a.Operation == frame.ARPReply && c.Phase == Resolve && a.SenderAddr == c.Gateway && e.Dst == c.MAC:
		c.GatewayMAC = a.SenderMAC
		c.startIPv6(now)
	}
}

func (c *Client) sendARP(to frame.MAC, a frame.ARP) {
	b := frame.AppendEthernet(make([]byte, 0, 64), to, c.MAC, c.Tags, frame.TypeARP)
	c.out = append(c.out, frame.Pad(frame.AppendARP(b, a)))
}

// frame6 puts a packet of the IPv6 side into a frame.
func (c *Client) frame6(packet []byte) []byte {
	to := c.IPv6.RouterMAC
	if dst := netip.AddrFrom16([16]byte(packet[24:40])); dst.IsMulticast() {
		to = frame.GroupMAC(dst)
	}
	b := frame.AppendEthernet(make([]byte, 0, 22+len(packet)), to, c.MAC, c.Tags, frame.TypeIPv6)
	return frame.Pad(append(b, packet...))
}

// AppendUser appends the header of a frame to the router for an IP packet of our own.
func (c *Client) AppendUser(b []byte, ipv6 bool, bytes int) []byte {
	if ipv6 {
		return frame.AppendEthernet(b, c.IPv6.RouterMAC, c.MAC, c.Tags, frame.TypeIPv6)
	}
	return frame.AppendEthernet(b, c.GatewayMAC, c.MAC, c.Tags, frame.TypeIPv4)
}

// Mine reports whether user data from that station belongs to the client.
func (c *Client) Mine(from frame.MAC, session uint16) bool {
	return from == c.GatewayMAC && c.GatewayMAC != frame.MAC{} || c.IPv6 != nil && from == c.IPv6.RouterMAC && from != frame.MAC{}
}

// minimumFrame is how long a frame is that Ethernet may have padded.
const minimumFrame = 60

// UserPacket finds the IP packet of a subscriber in a frame; ok is false for what is the client's own business:
// DHCP, ARP and neighbour discovery.
func UserPacket(e frame.Ethernet) (packet []byte, session uint16, ok bool) {
	switch e.Type {
	case frame.TypeIPv4:
		p, err := frame.ParseIPv4(e.Payload)
		if err != nil {
			return e.Payload, 0, true // damaged: the verifier's business
		}
		if p.Protocol == frame.UDP && len(p.Payload) >= 4 && int(p.Payload[2])<<8|int(p.Payload[3]) == dhcp.ClientPort {
			return nil, 0, false
		}
		return unpad(e.Payload, p.TotalBytes), 0, true
	case frame.TypeIPv6:
		p, err := frame.ParseIPv6(e.Payload)
		if err != nil {
			return e.Payload, 0, true
		}
		return unpad(e.Payload, p.TotalBytes), 0, !host6.IsControl(p)
	}
	return nil, 0, false
}

// unpad cuts what Ethernet had to append; anything more is not padding, and stays for the verifier to find.
func unpad(b []byte, bytes int) []byte {
	if len(b) <= minimumFrame {
		return b[:bytes]
	}
	return b
}
