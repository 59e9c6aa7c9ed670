package forwarding

import (
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

const answered = wire.NAFlagRouter | wire.NAFlagSolicited | wire.NAFlagOverride

func TestNeighborSolicitationOnInterface(t *testing.T) {
	r := newRig(t).base6()
	in := func(mac entry.MAC, ip []byte) []byte { return etherFrame(mac, routerMAC, wire.TypeIPv6, ip) }
	for _, own := range []string{"2001:db8:c::1", "fe80::c1"} {
		group, mac := solicitedNode(addr(own))
		got := r.through(corePort, in(mac, solicit(peerLL, group, addr(own), routerMAC)), corePort)
		same(t, "answer", got, etherFrame(routerMAC, coreMAC, wire.TypeIPv6, advert(peerLL, addr(own), answered, coreMAC)))
		got = r.through(corePort, in(mac, solicit(addr("::"), group, addr(own), entry.MAC{})), corePort)
		same(t, "answer to a probe", got, etherFrame(entry.MAC{0x33, 0x33, 0, 0, 0, 1}, coreMAC, wire.TypeIPv6,
			advert(addr("ff02::1"), addr(own), wire.NAFlagRouter|wire.NAFlagOverride, coreMAC)))
	}
	if p, ok := r.punted(); ok {
		t.Errorf("punted %+v", p)
	}
	// Without padding, from an address that is no neighbour yet: control gets a copy.
	unicast := solicit(addr("2001:db8:c::77"), ownIP6, ownIP6, entry.MAC{})
	got := r.through(corePort, in(coreMAC, unicast), corePort)
	same(t, "unicast", got, etherFrame(routerMAC, coreMAC, wire.TypeIPv6, advert(addr("2001:db8:c::77"), ownIP6, answered, coreMAC)))
	if p, ok := r.punted(); !ok || p.Class != entry.ClassND || p.Interface != coreInterface {
		t.Errorf("a stranger's solicitation was punted as %+v, %v", p, ok)
	}
	for _, m := range []struct {
		to   string
		mac  entry.MAC
		body []byte
	}{
		{"2001:db8:c::1", coreMAC, append([]byte{wire.ICMPv6NeighborAdvertisement, 0, 0, 0, 0x60, 0, 0, 0}, make([]byte, 16)...)},
		{"ff02::1", entry.MAC{0x33, 0x33, 0, 0, 0, 1}, append([]byte{wire.ICMPv6RouterAdvertisement, 0, 0, 0, 64, 0, 0, 0}, make([]byte, 8)...)},
		{"ff02::2", entry.MAC{0x33, 0x33, 0, 0, 0, 2}, make([]byte, 8)},
	} {
		if m.body[0] == 0 {
			m.body[0] = wire.ICMPv6RouterSolicitation
		}
		r.expectPunt(corePort, in(m.mac, icmp6(peerLL, addr(m.to), m.body)), entry.ClassND, 0, wire.EthernetLength)
	}
	r.delete(entry.Local{Interface: coreInterface, Addr: ownLL})
	group, mac := solicitedNode(ownLL)
	r.dropped(corePort, in(mac, solicit(peerLL, group, ownLL, routerMAC)), "nd-input/not-our-address")
	r.balanced()
}

// TestNeighborSolicitationOfSubscribers asks for our addresses on the line, by every encapsulation.
func TestNeighborSolicitationOfSubscribers(t *testing.T) {
	for name, s := range encapsulations() {
		t.Run(name, func(t *testing.T) {
			r := newRig(t).base6()
			r.subscribe6(s)
			option := s.OwnMAC
			if s.PPPoE != 0 {
				option = entry.MAC{}
			}
			for _, own := range []string{"fe80::a1", "2001:db8:a::1"} {
				group, _ := solicitedNode(addr(own))
				got := r.through(accessPort, lineFrame(s, solicit(peerLL, group, addr(own), s.PeerMAC)), accessPort)
				same(t, "answer", got, toPeer(s, lineFrame(s, advert(peerLL, addr(own), answered, option))))
				got = r.through(accessPort, lineFrame(s, solicit(addr("::"), group, addr(own), entry.MAC{})), accessPort)
				same(t, "answer to a probe", got, toPeer(s, lineFrame(s,
					advert(addr("ff02::1"), addr(own), wire.NAFlagRouter|wire.NAFlagOverride, option))))
			}
			slot, _ := r.e.directory.session(s.ID)
			if c := r.counters.Session(slot); c != (entry.SessionCounters{}) {
				t.Errorf("neighbour discovery was accounted for: %+v", c)
			}
			r.balanced()
		})
	}
}

func TestGlean6(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	frame := lineFrame(s, ip6Packet(host6(s), addr("2001:db8:c::99"), 64, 1))
	for range 5 {
		r.send(accessPort, frame)
	}
	r.round()
	p, ok := r.punted()
	if !ok || p.Class != entry.ClassGlean || p.Interface != coreInterface || wire.IPv6(p.Data[p.Payload:]).Destination() != addr("2001:db8:c::99").As16() {
		t.Errorf("punted %+v", p)
	}
	if _, ok := r.punted(); ok || r.word("adjacency/unresolved") != 4 {
		t.Error("more than one glean a second")
	}
	r.put(entry.Neighbor{Interface: coreInterface, Addr: routerIP6}) // unresolved
	r.send(accessPort, lineFrame(s, ip6Packet(host6(s), farIP6, 64, 1)))
	r.round()
	if p, ok := r.punted(); !ok || p.Class != entry.ClassGlean {
		t.Errorf("no glean for an unresolved next hop: %+v", p)
	}
	r.balanced()
}
