package forwarding

import (
	"net/netip"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

var (
	ownIP6    = addr("2001:db8:c::1")
	routerIP6 = addr("2001:db8:c::2")
	ownLL     = addr("fe80::c1")
	farIP6    = addr("2001:db8:ffff::9")
	gateway6  = addr("2001:db8:a::1")
	lineLL    = addr("fe80::a1") // ours on every subscriber's line
	peerLL    = addr("fe80::5")
)

// base6 is base with IPv6 beside IPv4, and an access port that serves IPoE as well.
func (r *rig) base6() *rig {
	r.t.Helper()
	r.base()
	r.put(
		entry.Port{ID: accessPort, Driver: entry.DriverMemory, Device: "access", PPPoE: true, IPoE: true},
		entry.Local{Interface: coreInterface, Addr: ownIP6},
		entry.Local{Interface: coreInterface, Addr: ownLL},
		entry.Neighbor{Interface: coreInterface, Addr: routerIP6, MAC: routerMAC, Resolved: true},
		entry.Route{Prefix: prefix("2001:db8:c::/64"), Target: entry.Target{Kind: entry.TargetConnected, Interface: coreInterface}},
		entry.Route{Prefix: netip.PrefixFrom(ownIP6, 128), Target: entry.Target{Kind: entry.TargetLocal}},
		entry.Route{Prefix: netip.PrefixFrom(gateway6, 128), Target: entry.Target{Kind: entry.TargetLocal}},
		entry.Route{Prefix: prefix("::/0"), Target: entry.Target{Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: routerIP6}},
	)
	return r
}

// dualStack gives a session of the tests IPv6 and our addresses on its line.
func dualStack(s entry.Session) entry.Session {
	n := byte(s.ID)
	s.IPv6 = netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, n}), 64)
	s.Gateway4, s.Gateway6, s.LinkLocal = addr("100.64.9.1"), gateway6, lineLL
	return s
}

// mute takes our addresses on the line from a session, so that no errors are sent to it.
func mute(s entry.Session) entry.Session {
	s.Gateway4, s.Gateway6 = netip.Addr{}, netip.Addr{}
	return s
}

// overIPoE turns a session of the tests into one without PPPoE.
func overIPoE(s entry.Session) entry.Session {
	s.PPPoE, s.MTU = 0, 1500
	return s
}

// host6 is an address inside a session's prefix.
func host6(s entry.Session) netip.Addr {
	b := s.IPv6.Addr().As16()
	b[15] = 5
	return netip.AddrFrom16(b)
}

// subscribe6 adds a session with its routes of both families.
func (r *rig) subscribe6(s entry.Session) entry.Session {
	r.t.Helper()
	r.put(s, sessionRoute(s), entry.Route{VRF: s.VRF, Prefix: s.IPv6, Target: entry.Target{Kind: entry.TargetSession, Session: s.ID}})
	return s
}

// ip6Packet is a UDP packet.
func ip6Packet(source, destination netip.Addr, hopLimit uint8, payload int) []byte {
	return udp6(source, destination, hopLimit, 1000, 2000, payload)
}

func udp6(source, destination netip.Addr, hopLimit uint8, sourcePort, destinationPort uint16, payload int) []byte {
	b := make([]byte, wire.IPv6Length+wire.UDPLength+payload)
	for i := range payload {
		b[wire.IPv6Length+wire.UDPLength+i] = byte(i)
	}
	wire.PutIPv6(b, source.As16(), destination.As16(), wire.IPProtocolUDP, hopLimit, wire.UDPLength+payload)
	wire.PutUDP6(b[wire.IPv6Length:], source.As16(), destination.As16(), sourcePort, destinationPort, payload)
	return b
}

// icmp6 is an ICMPv6 packet with hop limit 255; body is the message, its checksum is written.
func icmp6(source, destination netip.Addr, body []byte) []byte {
	b := make([]byte, wire.IPv6Length, wire.IPv6Length+len(body))
	wire.PutIPv6(b, source.As16(), destination.As16(), wire.NextICMPv6, wire.NDHopLimit, len(body))
	b = append(b, body...)
	wire.ICMPv6(b[wire.IPv6Length:]).PutChecksum(source.As16(), destination.As16())
	return b
}

// solicit is a neighbour solicitation, with the option if there is a MAC address.
func solicit(source, destination, target netip.Addr, mac entry.MAC) []byte {
	b := make([]byte, wire.NeighborLength+wire.NDLinkLayerLength)
	n := wire.PutNeighborSolicitation(b, target.As16())
	if mac != (entry.MAC{}) {
		n += wire.PutLinkLayer(b[n:], wire.NDSourceLinkLayer, mac)
	}
	return icmp6(source, destination, b[:n])
}

// advert is the advertisement that answers.
func advert(destination, target netip.Addr, flags uint8, mac entry.MAC) []byte {
	b := make([]byte, wire.NeighborLength+wire.NDLinkLayerLength)
	n := wire.PutNeighborAdvertisement(b, flags, target.As16())
	if mac != (entry.MAC{}) {
		n += wire.PutLinkLayer(b[n:], wire.NDTargetLinkLayer, mac)
	}
	return icmp6(target, destination, b[:n])
}

// solicitedNode returns ff02::1:ffXX:XXXX of an address, and the MAC address of that group.
func solicitedNode(a netip.Addr) (netip.Addr, entry.MAC) {
	b := a.As16()
	group := [16]byte{0: 0xff, 1: 2, 11: 1, 12: 0xff, 13: b[13], 14: b[14], 15: b[15]}
	return netip.AddrFrom16(group), entry.MAC{0x33, 0x33, 0xff, b[13], b[14], b[15]}
}

// ipoeFrame wraps an IP packet as the subscriber sends it.
func ipoeFrame(s entry.Session, etherType uint16, payload []byte) []byte {
	b := make([]byte, 64)
	n := wire.PutTagged(b, s.OwnMAC, s.PeerMAC, s.OuterTPID, s.OuterVLAN, s.InnerVLAN, etherType)
	return append(b[:n], payload...)
}

// toPeer swaps the addresses of a frame of the subscriber.
func toPeer(s entry.Session, frame []byte) []byte {
	copy(frame[0:6], s.PeerMAC[:])
	copy(frame[6:12], s.OwnMAC[:])
	return frame
}

// towards changes a frame's destination.
func towards(mac entry.MAC, frame []byte) []byte {
	copy(frame[0:6], mac[:])
	return frame
}

// expectPunt turns one frame in and expects it in the ring.
func (r *rig) expectPunt(in entry.PortID, frame []byte, class entry.Class, session entry.SessionID, payload int) {
	r.t.Helper()
	r.send(in, frame)
	r.round()
	p, ok := r.punted()
	if !ok || p.Class != class || p.Session != session || p.Payload != payload || string(p.Data) != string(frame) || p.Port != in {
		r.t.Errorf("punted %+v, %v; want %v of session %d, payload at %d", p, ok, class, session, payload)
	}
}
