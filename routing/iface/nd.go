package iface

import (
	"net/netip"
	"time"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// Neighbour discovery for our interfaces. The forwarder answers solicitations for our addresses; what
// comes here is advertisements, and solicitations whose sender it does not know or that are not for us.
// Router advertisements are not for routers (RFC 4861 6.2.7 would only have us compare them), redirects are
// not believed by them (8.2): both are passed over, counted.

// probeInterval is RetransTimer between the question whether an address of ours is free and our use of it
// being announced (RFC 4862 5.4, DupAddrDetectTransmits 1). The address is in use meanwhile: a router that
// kept still for a second after each change of its link would lose more than a conflict costs, which
// is reported all the same.
const probeInterval = time.Second

var allNodes = netip.MustParseAddr("ff02::1")

// solicitedNode returns the multicast address of a target (RFC 4291 2.7.1).
func solicitedNode(target netip.Addr) netip.Addr {
	b := target.As16()
	return netip.AddrFrom16([16]byte{0: 0xff, 1: 0x02, 11: 1, 12: 0xff, 13: b[13], 14: b[14], 15: b[15]})
}

// groupMAC returns the Ethernet address of a multicast address (RFC 2464 7).
func groupMAC(group netip.Addr) entry.MAC {
	b := group.As16()
	return entry.MAC{0x33, 0x33, b[12], b[13], b[14], b[15]}
}

// solicit asks for a neighbour's MAC address (RFC 4861 7.2.2).
func (i *Interfaces) solicit(n *neighbor, source netip.Addr, alone bool) {
	destination, mac := n.addr, n.mac
	if !alone {
		destination = solicitedNode(n.addr)
		mac = groupMAC(destination)
	}
	body := make([]byte, wire.NeighborLength+wire.NDLinkLayerLength)
	wire.PutNeighborSolicitation(body, n.addr.As16())
	wire.PutLinkLayer(body[wire.NeighborLength:], wire.NDSourceLinkLayer, n.link.mac())
	i.sendND(n.link, source, destination, mac, body)
}

// advertise tells everybody where an address of ours is (RFC 4861 7.2.6): caches that hold it with another
// MAC address take ours over.
func (i *Interfaces) advertise(l *link, addr netip.Addr) {
	body := make([]byte, wire.NeighborLength+wire.NDLinkLayerLength)
	wire.PutNeighborAdvertisement(body, wire.NAFlagRouter|wire.NAFlagOverride, addr.As16())
	wire.PutLinkLayer(body[wire.NeighborLength:], wire.NDTargetLinkLayer, l.mac())
	i.sendND(l, addr, allNodes, groupMAC(allNodes), body)
}

// question asks whether somebody else has an address of ours (RFC 4862 5.4.2).
func (i *Interfaces) question(l *link, addr netip.Addr) {
	body := make([]byte, wire.NeighborLength)
	wire.PutNeighborSolicitation(body, addr.As16())
	i.sendND(l, netip.IPv6Unspecified(), solicitedNode(addr), groupMAC(solicitedNode(addr)), body)
}

// sendND sends a message of neighbour discovery, from its ICMPv6 header on.
func (i *Interfaces) sendND(l *link, source, destination netip.Addr, mac entry.MAC, body []byte) {
	wire.ICMPv6(body).PutChecksum(source.As16(), destination.As16())
	frame := make([]byte, wire.EthernetLength+2*wire.TagLength+wire.IPv6Length, wire.EthernetLength+2*wire.TagLength+wire.IPv6Length+len(body))
	t := l.want.tags
	n := wire.PutTagged(frame, mac, l.mac(), t.outerTPID, t.outerVLAN, t.innerVLAN, wire.TypeIPv6)
	n += wire.PutIPv6(frame[n:], source.As16(), destination.As16(), wire.NextICMPv6, wire.NDHopLimit, len(body))
	if !i.options.Programmer.Inject(l.port.id, append(frame[:n], body...)) {
		i.nd.unsent++
	}
}

// appear makes an address of ours known on a link that has come up.
func (i *Interfaces) appear(l *link, addr netip.Addr) {
	if addr.Is4() || l.port == nil || !l.up() {
		i.announceAddress(l, addr, announcements)
		return
	}
	i.question(l, addr)
	i.loop.After(probeInterval, announceAgain{l, addr, announcements})
}

// appearLinkLocal does so for the link-local address, which has no route that would tell when.
func (i *Interfaces) appearLinkLocal(l *link) {
	now := netip.Addr{}
	if l.up() {
		now = l.linkLocal()
	}
	before := l.linkLocal6
	l.linkLocal6 = now
	if now.IsValid() && now != before {
		i.appear(l, now)
	}
}

// heardND is a decoded solicitation or advertisement.
type heardND struct {
	id        entry.InterfaceID
	advert    bool
	flags     uint8      // of an advertisement
	source    netip.Addr // unspecified: the sender has no address yet
	target    netip.Addr
	mac       entry.MAC // of the option; zero: none
	frameMAC  entry.MAC // of the frame's sender
	multicast bool      // sent to a group
}

// decodeND reads a solicitation or advertisement from its IPv6 header on, by the rules of RFC 4861 7.1.
// Other messages are not ours: ok is false.
func decodeND(b []byte) (m heardND, ok bool) {
	ip := wire.IPv6(b)
	if !ip.Valid() || ip.NextHeader() != wire.NextICMPv6 || ip.HopLimit() != wire.NDHopLimit {
		return m, false
	}
	icmp, body := wire.ICMPv6(ip.Payload()), wire.Neighbor(ip.Payload())
	if !body.Valid() || icmp.Code() != 0 || !icmp.ChecksumOK(ip.Source(), ip.Destination()) {
		return m, false
	}
	destination := netip.AddrFrom16(ip.Destination())
	m = heardND{source: netip.AddrFrom16(ip.Source()), target: netip.AddrFrom16(body.Target()), multicast: destination.IsMulticast()}
	option := uint8(wire.NDSourceLinkLayer)
	switch icmp.Type() {
	case wire.ICMPv6NeighborSolicitation:
	case wire.ICMPv6NeighborAdvertisement:
		m.advert, m.flags, option = true, body[4], wire.NDTargetLinkLayer
	default:
		return m, false
	}
	m.mac, ok = body.LinkLayer(option)
	switch {
	case m.target.IsMulticast() || m.source.IsMulticast() || m.target.Is4In6() || m.source.Is4In6(), ok && m.mac[0]&1 != 0:
		return m, false
	case m.advert:
		return m, !m.multicast || m.flags&wire.NAFlagSolicited == 0
	case m.source.IsUnspecified():
		return m, !ok && destination == solicitedNode(m.target)
	}
	return m, true
}

func (m heardND) handle(i *Interfaces) {
	l := i.links[m.id]
	if l == nil || !l.up() || !l.want.ipv6 || m.frameMAC == l.mac() || m.mac == l.mac() {
		return
	}
	switch {
	case l.own(m.target) && (m.advert || m.source.IsUnspecified()):
		i.conflict(l, m.target, m.sender()) // RFC 4862 5.4.3 and 5.4.4
	case m.advert:
		i.advertised(l, m)
	case m.mac != entry.MAC{} && !m.source.IsUnspecified():
		i.solicited(l, m)
	}
}

func (m heardND) sender() entry.MAC {
	if m.mac != (entry.MAC{}) {
		return m.mac
	}
	return m.frameMAC
}

// solicited learns a neighbour that asks for an address of ours (RFC 4861 7.2.3): it will want an answer.
func (i *Interfaces) solicited(l *link, m heardND) {
	switch {
	case !l.own(m.target):
		return
	case l.own(m.source):
		i.conflict(l, m.source, m.mac)
		return
	case !l.onLink(m.source):
		i.nd.offLink++
		return
	}
	n := l.neighbors[m.source]
	if n == nil {
		n = i.admit(l, m.source)
	}
	if n == nil || n.state.resolved() && n.mac == m.mac {
		return
	}
	i.bind(n, m.mac, hint)
}

// advertised takes over what a neighbour says about itself (RFC 4861 7.2.5).
func (i *Interfaces) advertised(l *link, m heardND) {
	n := l.neighbors[m.target]
	if n == nil || n.state == idle && n.wants == 0 {
		i.nd.unsolicited++
		return
	}
	proven, override := m.flags&wire.NAFlagSolicited != 0, m.flags&wire.NAFlagOverride != 0
	mac := m.mac
	if mac == (entry.MAC{}) {
		if !n.state.resolved() {
			return // it says that it is there, not where
		}
		mac = n.mac
	}
	n.router = m.flags&wire.NAFlagRouter != 0
	switch {
	case n.state.resolved() && mac != n.mac && !override: // somebody speaks for it beside itself
		if n.state == reachable && !n.fixed {
			i.feed(n, hint)
		}
	case proven:
		i.bind(n, mac, answer)
	case !n.state.resolved() || mac != n.mac:
		i.bind(n, mac, hint)
	}
}
