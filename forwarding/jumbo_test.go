package forwarding

import (
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/wire"
)

// jumboRig has interfaces and ports with an MTU of 9,000, and a second core interface.
func jumboRig(t testing.TB) *rig {
	r := newRig(t).base6()
	r.put(
		entry.Interface{ID: coreInterface, Port: corePort, VRF: defaultVRF, MTU: 9000, Source4: ownIP, Source6: ownIP6},
		entry.Interface{ID: vlanInterface, Port: corePort, OuterTPID: 0x88a8, OuterVLAN: 5, InnerVLAN: 6, VRF: defaultVRF, MTU: 9000},
		entry.Neighbor{Interface: vlanInterface, Addr: addr("10.9.0.2"), MAC: routerMAC, Resolved: true},
		entry.Neighbor{Interface: vlanInterface, Addr: addr("2001:db8:9::2"), MAC: routerMAC, Resolved: true},
		entry.Route{Prefix: prefix("10.9.0.0/16"), Target: entry.Target{Kind: entry.TargetNeighbor, Interface: vlanInterface, Addr: addr("10.9.0.2")}},
		entry.Route{Prefix: prefix("2001:db8:9::/48"), Target: entry.Target{Kind: entry.TargetNeighbor, Interface: vlanInterface, Addr: addr("2001:db8:9::2")}},
	)
	return r
}

// TestJumbo sends packets of 9,000 bytes through every encapsulation both ways, and from interface to interface
// (RFC 4638 for PPPoE): they come out whole.
func TestJumbo(t *testing.T) {
	const four, six = 9000 - wire.IPv4Length - wire.UDPLength, 9000 - wire.IPv6Length - wire.UDPLength
	for name, s := range encapsulations() {
		r := jumboRig(t)
		s.MTU = 9000
		r.subscribe6(s)
		same(t, name+": IPv4 up", r.through(accessPort, append(lineFrame(s, ipPacket(s.IPv4, farIP, 64, four)), 0, 0, 0), corePort),
			etherFrame(routerMAC, coreMAC, wire.TypeIPv4, ipPacket(s.IPv4, farIP, 63, four)))
		same(t, name+": IPv6 up", r.through(accessPort, append(lineFrame(s, ip6Packet(host6(s), farIP6, 64, six)), 0, 0, 0), corePort),
			etherFrame(routerMAC, coreMAC, wire.TypeIPv6, ip6Packet(host6(s), farIP6, 63, six)))
		same(t, name+": IPv4 down", r.through(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv4, ipPacket(farIP, s.IPv4, 64, four)), accessPort),
			toPeer(s, lineFrame(s, ipPacket(farIP, s.IPv4, 63, four))))
		same(t, name+": IPv6 down", r.through(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ip6Packet(farIP6, host6(s), 64, six)), accessPort),
			toPeer(s, lineFrame(s, ip6Packet(farIP6, host6(s), 63, six))))
		r.balanced()
	}
	r := jumboRig(t)
	out := r.through(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv4, ipPacket(farIP, addr("10.9.1.1"), 64, four)), corePort)
	tagged := func(etherType uint16, ip []byte) []byte {
		b := make([]byte, 64)
		return append(b[:wire.PutTagged(b, routerMAC, coreMAC, 0x88a8, 5, 6, etherType)], ip...)
	}
	same(t, "interface to interface, IPv4", out, tagged(wire.TypeIPv4, ipPacket(farIP, addr("10.9.1.1"), 63, four)))
	out = r.through(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ip6Packet(farIP6, addr("2001:db8:9::1"), 64, six)), corePort)
	same(t, "interface to interface, IPv6", out, tagged(wire.TypeIPv6, ip6Packet(farIP6, addr("2001:db8:9::1"), 63, six)))
	same(t, "to the host stack", r.through(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv4, ipPacket(farIP, ownIP, 64, four)), tunPort), ipPacket(farIP, ownIP, 64, four))
	r.balanced()
}

// TestJumboEndsEverywhere lets long frames end in every node that reads them, in the last buffer of the arena among
// others: nothing is read beyond a buffer, and every buffer comes back.
func TestJumboEndsEverywhere(t *testing.T) {
	r := jumboRig(t)
	s := dualStack(subscriber(1, 0x88a8, 10, 20))
	s.MTU, s.MSS = 9000, 1000
	r.subscribe6(s)
	i := dualStack(overIPoE(subscriber(2, 0x8100, 30, 0)))
	i.MTU = 9000
	r.subscribe6(i)
	r.put(entry.Echo{Session: s.ID, LocalMagic: 7, IntervalSeconds: 0, PeerMRU: 9000})
	long := func(b []byte) []byte { return append(b, make([]byte, 9200-len(b))...) }
	arp := make([]byte, wire.ARPLength)
	wire.PutARP(arp, wire.ARPRequest, routerMAC, routerIP.As4(), [6]byte{}, ownIP.As4())
	nd := long(solicit(routerIP6, ownIP6, ownIP6, routerMAC))
	nd[4], nd[5] = byte((len(nd)-40)>>8), byte(len(nd)-40)
	echo := long(echoPacket(wire.CodeEchoRequest, 1, 9, 4))
	echo[2], echo[3] = byte(len(echo)>>8), byte(len(echo))
	extended := ip6Packet(host6(s), farIP6, 9, 9000)
	extended[6] = wire.NextOptions
	for at := 40; at+2048 < len(extended); at += 2048 { // destination options as long as can be, one behind the other
		extended[at], extended[at+1] = wire.NextOptions, 255
	}
	options := ipPacket(s.IPv4, farIP, 9, 9000)
	options[0] = 0x4f
	all := [][]byte{
		lineFrame(s, ipPacket(s.IPv4, farIP, 1, 9000)),
		lineFrame(s, ipPacket(s.IPv4, farIP, 9, 9100)),
		lineFrame(s, dontFragment(ipPacket(s.IPv4, farIP, 9, 9100))),
		lineFrame(s, again(options)),
		lineFrame(s, options[:5000]),
		lineFrame(s, ip6Packet(host6(s), farIP6, 1, 9000)),
		lineFrame(s, ip6Packet(host6(s), farIP6, 9, 9100)),
		lineFrame(s, extended),
		lineFrame(s, extended[:8000]),
		lineFrame(s, ipPacket(farIP, farIP, 9, 9000)),
		lineFrame(s, ipPacket(s.IPv4, addr("198.51.100.99"), 9, 8000)),
		pppoeFrame(s, wire.ProtocolLCP, echo),
		pppoeFrame(s, wire.ProtocolIPCP, long(nil)),
		pppoeFrame(subscriber(9, 0, 0, 0), wire.ProtocolIPv4, long(nil)),
		lineFrame(i, dhcpPacket("0.0.0.0", "255.255.255.255")),
		long(lineFrame(i, dhcpPacket("0.0.0.0", "255.255.255.255"))),
		long(ipoeFrame(i, wire.TypeARP, arp)),
		lineFrame(i, nd),
		long(etherFrame(accessMAC, routerMAC, 0x1234, nil)),
		long(etherFrame(accessMAC, routerMAC, wire.TypePPPoEDiscovery, nil)),
	}
	for round := range 40 {
		r.now += 2e9
		for at, frame := range all {
			if (at+round)%3 != 0 { // so that each frame meets each buffer
				r.send(accessPort, frame)
			}
		}
		r.send(corePort, long(etherFrame(coreMAC, routerMAC, wire.TypeARP, arp)))
		r.send(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv6, nd))
		r.round()
		for id := range r.ports {
			for r.take(id) != nil {
			}
		}
		for p, ok := r.punted(); ok; p, ok = r.punted() {
			if len(p.Data) > packet.MaxFrame {
				t.Fatalf("%d bytes punted", len(p.Data))
			}
		}
	}
	if r.word(wordPanic) != 0 {
		t.Error("a node panicked")
	}
	r.balanced()
}
