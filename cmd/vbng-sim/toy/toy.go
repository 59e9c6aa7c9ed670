package toy

import (
	"encoding/binary"
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/dhcp"
	"vbng/cmd/vbng-sim/frame"
)

// Router answers subscribers.
type Router struct {
	MAC       frame.MAC
	Lease     time.Duration
	Refuse    uint16 // DHCPv6 status of both associations; 0: none
	Nak       bool   // answers DHCPREQUEST
	NoPrefix  bool   // none is advertised
	Duplicate bool   // somebody else has each address that is probed

	Mute  map[string]bool // by note: what is received but not answered
	Notes []string
	V4    []dhcp.V4 // what was received
	V6    []dhcp.V6
}

// New returns a router with leases of an hour.
func New(mac frame.MAC) *Router {
	return &Router{MAC: mac, Lease: time.Hour, Mute: map[string]bool{}}
}

// Count is how often something was received.
func (r *Router) Count(note string) (n int) {
	for _, s := range r.Notes {
		if s == note {
			n++
		}
	}
	return n
}

func (r *Router) note(s string) (answer bool) {
	r.Notes = append(r.Notes, s)
	return !r.Mute[s]
}

// gateway is the subscribers' default router and DHCP server.
var gateway = frame.Addr{100, 64, 255, 254}

// Addr is subscriber n's IPv4 address.
func Addr(n uint16) frame.Addr { return frame.Addr{100, 64, byte(n >> 8), byte(n)} }

// Advertised is the prefix that subscriber n hears of.
func Advertised(n uint16) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 0, 1, byte(n >> 8), byte(n)}), 64)
}

// Assigned is subscriber n's address by DHCPv6.
func Assigned(n uint16) netip.Prefix {
	b := [16]byte{0x20, 1, 0xd, 0xb8, 0, 2}
	binary.BigEndian.PutUint16(b[14:], n)
	return netip.PrefixFrom(netip.AddrFrom16(b), 128)
}

// Delegated is subscriber n's prefix.
func Delegated(n uint16) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 0x80, byte(n >> 8), byte(n)}), 56)
}

// Number is which subscriber an IPv6 address belongs to; 0: nobody.
func Number(a netip.Addr) uint16 {
	b := a.As16()
	switch {
	case b[4] == 0x80:
		return binary.BigEndian.Uint16(b[5:])
	case b[5] == 1:
		return binary.BigEndian.Uint16(b[6:])
	case b[5] == 2:
		return binary.BigEndian.Uint16(b[14:])
	}
	return 0
}

// IPoE answers a frame of subscriber n that UserPacket is not true for.
func (r *Router) IPoE(n uint16, e frame.Ethernet) (frames [][]byte) {
	switch e.Type {
	case frame.TypeARP:
		return r.arp(e)
	case frame.TypeIPv4:
		ip, err := frame.ParseIPv4(e.Payload)
		if err != nil {
			return nil
		}
		d, err := frame.ParseUDP(ip)
		if err != nil || d.DstPort != dhcp.ServerPort {
			return nil
		}
		return r.dhcp4(n, e, d.Payload)
	case frame.TypeIPv6:
		p, err := frame.ParseIPv6(e.Payload)
		if err != nil {
			return nil
		}
		for _, answer := range r.IPv6(n, p, e.Src) {
			frames = append(frames, append(r.header(e, frame.TypeIPv6), answer...))
		}
	}
	return frames
}

func (r *Router) header(e frame.Ethernet, ethertype uint16) []byte {
	return frame.AppendEthernet(nil, e.Src, r.MAC, e.Tags, ethertype)
}

func (r *Router) arp(e frame.Ethernet) [][]byte {
	a, err := frame.ParseARP(e.Payload)
	if err != nil || a.Operation != frame.ARPRequest || !r.note("ARP request") {
		return nil
	}
	return [][]byte{frame.AppendARP(r.header(e, frame.TypeARP), frame.ARP{
		Operation: frame.ARPReply, SenderMAC: r.MAC, SenderAddr: a.TargetAddr, TargetMAC: e.Src, TargetAddr: a.SenderAddr,
	})}
}

func (r *Router) dhcp4(n uint16, e frame.Ethernet, b []byte) [][]byte {
	m, err := dhcp.ParseV4(b)
	if err != nil {
		return nil
	}
	r.V4 = append(r.V4, m)
	names := map[byte]string{dhcp.Discover: "DISCOVER", dhcp.Request: "REQUEST", dhcp.Release: "RELEASE"}
	if !r.note(names[m.Type]) || m.Type == dhcp.Release {
		return nil
	}
	reply := dhcp.V4{
		Operation: dhcp.BootReply, XID: m.XID, MAC: m.MAC, Type: dhcp.Offer, Server: gateway, ClientID: m.ClientID,
		Your: Addr(n), Router: gateway, Mask: frame.Addr{255, 255, 0, 0}, Lease: r.Lease, DNS: []frame.Addr{{9, 9, 9, 9}},
	}
	if m.Type == dhcp.Request {
		reply.Type = dhcp.Ack
		if r.Nak {
			reply = dhcp.V4{Operation: dhcp.BootReply, XID: m.XID, MAC: m.MAC, Type: dhcp.Nak, Server: gateway, Message: "go away"}
		}
	}
	payload := reply.Append(nil)
	f := frame.AppendIPv4(r.header(e, frame.TypeIPv4),
		frame.IPv4{Src: gateway, Dst: Addr(n), TTL: 64, Protocol: frame.UDP}, frame.UDPBytes+len(payload))
	return [][]byte{frame.AppendUDP(f, gateway, Addr(n),
		frame.Datagram{SrcPort: dhcp.ServerPort, DstPort: dhcp.ClientPort, Payload: payload})}
}

// linkLocal is the router's own address on every line.
func (r *Router) linkLocal() netip.Addr { return frame.LinkLocal(r.MAC.EUI64()) }

// IPv6 answers a packet of neighbour discovery or DHCPv6. link is the subscriber's Ethernet address, zero over PPP.
func (r *Router) IPv6(n uint16, p frame.IPv6, link frame.MAC) [][]byte {
	if p.NextHeader == frame.UDP {
		d, err := frame.ParseUDP6(p)
		if err != nil {
			return nil
		}
		return r.dhcp6(n, p, d.Payload)
	}
	kind, body, err := frame.ParseICMP6(p)
	switch {
	case err != nil:
	case kind == frame.TypeRouterSolicitation && r.note("RS"):
		return [][]byte{r.advert(n)}
	case kind == frame.TypeNeighborSolicitation:
		return r.neighbor(p, body)
	}
	return nil
}

func (r *Router) neighbor(p frame.IPv6, body []byte) [][]byte {
	m, err := frame.ParseNeighbor(body)
	switch {
	case err != nil:
	case p.Src.IsUnspecified():
		if r.note("probe"); r.Duplicate {
			return [][]byte{frame.NeighborAdvertisement(netip.IPv6LinkLocalAllNodes(), m.Target, r.MAC)}
		}
	case m.Target == r.linkLocal() && r.note("NS"):
		return [][]byte{frame.NeighborAdvertisement(p.Src, m.Target, r.MAC)}
	}
	return nil
}

// advert is a router advertisement with an autonomous prefix, valid for two hours.
func (r *Router) advert(n uint16) []byte {
	body := []byte{64, 0, 0x07, 0x08, 0, 0, 0, 0, 0, 0, 0, 0}
	if !r.NoPrefix {
		body = append(body, 3, 4, 64, 0x40, 0, 0, 0x1c, 0x20, 0, 0, 0x0e, 0x10, 0, 0, 0, 0)
		prefix := Advertised(n).Addr().As16()
		body = append(body, prefix[:]...)
	}
	src, dst := r.linkLocal(), netip.IPv6LinkLocalAllNodes()
	header := frame.IPv6{Src: src, Dst: dst, NextHeader: frame.ICMPv6, HopLimit: 255}
	return frame.AppendICMP6(frame.AppendIPv6(nil, header, 4+len(body)), src, dst, frame.TypeRouterAdvertisement, body)
}

func (r *Router) dhcp6(n uint16, p frame.IPv6, b []byte) [][]byte {
	m, err := dhcp.ParseV6(b)
	if err != nil {
		return nil
	}
	r.V6 = append(r.V6, m)
	names := map[byte]string{
		dhcp.Solicit6: "Solicit", dhcp.Request6: "Request", dhcp.Renew6: "Renew", dhcp.Rebind6: "Rebind", dhcp.Release6: "Release",
	}
	if !r.note(names[m.Type]) {
		return nil
	}
	reply := dhcp.V6{Type: dhcp.Reply6, XID: m.XID, ClientID: m.ClientID, ServerID: []byte{0, 3, 0, 1, 2, 0, 0, 0, 0, 1}}
	if m.Type == dhcp.Solicit6 {
		reply.Type = dhcp.Advertise6
	}
	if m.Type != dhcp.Release6 {
		reply.NA, reply.PD = r.association(m.NA, Assigned(n)), r.association(m.PD, Delegated(n))
	}
	payload := reply.Append(nil)
	header := frame.IPv6{Src: r.linkLocal(), Dst: p.Src, NextHeader: frame.UDP, HopLimit: 64}
	return [][]byte{frame.AppendUDP6(frame.AppendIPv6(nil, header, frame.UDPBytes+len(payload)), header.Src, header.Dst,
		frame.Datagram{SrcPort: dhcp.ServerPort6, DstPort: dhcp.ClientPort6, Payload: payload})}
}

func (r *Router) association(asked *dhcp.IA, p netip.Prefix) *dhcp.IA {
	switch {
	case asked == nil:
		return nil
	case r.Refuse != 0:
		return &dhcp.IA{ID: asked.ID, Status: r.Refuse, Message: "nothing left"}
	}
	return &dhcp.IA{ID: asked.ID, Prefix: p, Preferred: r.Lease / 2, Valid: r.Lease}
}
