package crowd

import (
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/traffic"
)

const resolveInterval = time.Second

// internet is a host behind the router with a stack of its own: the kernel at that end of the wire
// needs no address, and may have another.
type internet struct {
	link    *link
	mac     frame.MAC
	four    side
	six     side // address invalid: none
	nextAsk time.Duration
	scratch []byte // a frame being written
}

// side is the host's part in one family.
type side struct {
	address, gateway netip.Addr
	gatewayMAC       frame.MAC // zero: not yet resolved
}

func (s *side) resolved() bool { return !s.address.IsValid() || s.gatewayMAC != frame.MAC{} }

func newInternet(l *link, o *options) *internet {
	return &internet{
		link: l, mac: o.internetMAC,
		four: side{address: o.address, gateway: o.gateway}, six: side{address: o.address6, gateway: o.gateway6},
	}
}

func (n *internet) side(ipv6 bool) *side {
	if ipv6 {
		return &n.six
	}
	return &n.four
}

// address is ours in a family; invalid: none.
func (n *internet) address(ipv6 bool) netip.Addr { return n.side(ipv6).address }

func (n *internet) has(ipv6 bool) bool { return n.address(ipv6).IsValid() }

func (n *internet) owns(a netip.Addr) bool {
	return a.IsValid() && (a == n.four.address || a == n.six.address)
}

func (n *internet) resolved() bool { return n.four.resolved() && n.six.resolved() }

// resolve asks for the gateways until they answer.
func (n *internet) resolve(now time.Duration) {
	if n.resolved() || now < n.nextAsk {
		return
	}
	n.nextAsk = now + resolveInterval
	if !n.four.resolved() {
		n.sendARP(frame.Broadcast, frame.ARP{
			Operation: frame.ARPRequest, SenderMAC: n.mac, SenderAddr: n.four.address.As4(), TargetAddr: n.four.gateway.As4(),
		})
	}
	if !n.six.resolved() {
		group := frame.GroupMAC(frame.SolicitedNode(n.six.gateway))
		n.sendIP(group, frame.NeighborSolicitation(n.six.address, n.six.gateway, n.mac))
	}
}

func (n *internet) sendARP(to frame.MAC, a frame.ARP) {
	b := frame.AppendEthernet(nil, to, n.mac, frame.Tags{}, frame.TypeARP)
	n.link.send(frame.Pad(frame.AppendARP(b, a)))
}

func (n *internet) receiveARP(b []byte) {
	a, err := frame.ParseARP(b)
	if err != nil || !n.has(false) {
		return
	}
	// Only an answer to our own request will do: from an announcement we would know the gateway, but it not us, and the
	// first packets would be lost.
	toUs := a.Operation == frame.ARPReply && a.TargetAddr == n.four.address.As4()
	if toUs && a.SenderAddr == n.four.gateway.As4() {
		n.four.gatewayMAC = a.SenderMAC
	}
	if a.Operation == frame.ARPRequest && a.TargetAddr == n.four.address.As4() {
		n.sendARP(a.SenderMAC, frame.ARP{
			Operation: frame.ARPReply, SenderMAC: n.mac, SenderAddr: a.TargetAddr,
			TargetMAC: a.SenderMAC, TargetAddr: a.SenderAddr,
		})
	}
}

// receiveDiscovery answers for our address and for our link-local one, and learns the gateway's.
func (n *internet) receiveDiscovery(from frame.MAC, p frame.IPv6) {
	kind, body, err := frame.ParseICMP6(p)
	if err != nil || kind < frame.TypeNeighborSolicitation {
		return
	}
	m, err := frame.ParseNeighbor(body)
	if err != nil {
		return
	}
	if kind == frame.TypeNeighborAdvertisement && m.Target == n.six.gateway && m.Link != (frame.MAC{}) {
		n.six.gatewayMAC = m.Link
	}
	ours := m.Target == n.six.address || m.Target == frame.LinkLocal(n.mac.EUI64())
	if kind == frame.TypeNeighborSolicitation && ours && !p.Src.IsUnspecified() {
		n.sendIP(from, frame.NeighborAdvertisement(p.Src, m.Target, n.mac))
	}
}

// receiveInternet takes a frame of the Internet port.
func (c *Crowd) receiveInternet(b []byte) {
	e, err := frame.ParseEthernet(b)
	n := c.internet
	if err != nil || e.Tags != (frame.Tags{}) || e.Dst != n.mac && !e.Dst.Group() {
		return
	}
	switch {
	case e.Type == frame.TypeARP:
		n.receiveARP(e.Payload)
	case e.Type == frame.TypeIPv6 && n.has(true):
		if p, err := frame.ParseIPv6(e.Payload); err == nil && p.IsDiscovery() {
			n.receiveDiscovery(e.Src, p)
			return
		}
		c.receiveUpstream(e)
	case e.Type == frame.TypeIPv4:
		c.receiveUpstream(e)
	}
}

// receiveUpstream takes an IP packet from the router. Which session it came through is known only by
// its source address, which the router is bound to check. A damaged packet for another simulator's host is that one's.
func (c *Crowd) receiveUpstream(e frame.Ethernet) {
	if e.Dst.Group() {
		return
	}
	p, err := traffic.Parse(e.Payload, c.run)
	if err == traffic.ErrNotProbe {
		c.internet.answerPing(e)
		return
	}
	if err != nil && !c.internet.owns(destination(e)) {
		return
	}
	p.Flow = flowOf(p, e.Payload)
	i, known := c.byAddr[p.Src]
	from := c.internet.side(p.Flow != traffic.IPv4)
	at := traffic.Arrival{Session: i, Known: known && e.Src == from.gatewayMAC, Dst: from.address}
	if known {
		at.Src = c.subscribers[i].addresses[p.Flow]
	}
	if v := c.meters[traffic.Upstream][p.Flow].Arrive(c.now, at, p, err); v >= traffic.Foreign {
		c.complain("upstream", v, i, p, err)
	}
}

// destination reads an address where it stands, as the packet may be damaged; invalid: it is too short.
func destination(e frame.Ethernet) netip.Addr {
	switch b := e.Payload; {
	case e.Type == frame.TypeIPv6 && len(b) >= frame.IPv6Bytes:
		return netip.AddrFrom16([16]byte(b[24:40]))
	case e.Type == frame.TypeIPv4 && len(b) >= frame.IPv4Bytes:
		return netip.AddrFrom4([4]byte(b[16:20]))
	}
	return netip.Addr{}
}

func (n *internet) answerPing(e frame.Ethernet) {
	if reply, ok := pong(e.Payload, n.owns); ok {
		n.sendIP(e.Src, reply)
	}
}

func (n *internet) sendIP(to frame.MAC, b []byte) {
	ethertype := uint16(frame.TypeIPv4)
	if b[0]>>4 == 6 {
		ethertype = frame.TypeIPv6
	}
	f := frame.AppendEthernet(n.scratch[:0], to, n.mac, frame.Tags{}, ethertype)
	n.scratch = frame.Pad(append(f, b...))
	n.link.send(n.scratch)
}
