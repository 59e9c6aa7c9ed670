package forwarding

import (
	"fmt"
	"net/netip"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// encapsulations are sessions of both kinds with every kind of tagging.
func encapsulations() map[string]entry.Session {
	all := map[string]entry.Session{}
	for i, tags := range []struct{ tpid, outer, inner uint16 }{
		{0, 0, 0}, {0x8100, 10, 0}, {0x88a8, 10, 0}, {0x8100, 10, 20}, {0x88a8, 10, 20}, {0x9100, 10, 20},
	} {
		s := dualStack(subscriber(i+1, tags.tpid, tags.outer, tags.inner))
		all[fmt.Sprintf("pppoe-%04x-%d-%d", tags.tpid, tags.outer, tags.inner)] = s
		all[fmt.Sprintf("ipoe-%04x-%d-%d", tags.tpid, tags.outer, tags.inner)] = overIPoE(s)
	}
	return all
}

// lineFrame wraps an IP packet of either family as the subscriber sends it.
func lineFrame(s entry.Session, ip []byte) []byte {
	six := ip[0]>>4 == 6
	switch {
	case s.PPPoE == 0 && six:
		return ipoeFrame(s, wire.TypeIPv6, ip)
	case s.PPPoE == 0:
		return ipoeFrame(s, wire.TypeIPv4, ip)
	case six:
		return pppoeFrame(s, wire.ProtocolIPv6, ip)
	}
	return pppoeFrame(s, wire.ProtocolIPv4, ip)
}

// TestBothFamiliesBothWays compares whole frames for every encapsulation.
func TestBothFamiliesBothWays(t *testing.T) {
	for name, s := range encapsulations() {
		t.Run(name, func(t *testing.T) {
			r := newRig(t).base6()
			r.subscribe6(s)
			up := lineFrame(s, ip6Packet(host6(s), farIP6, 64, 100))
			want := etherFrame(routerMAC, coreMAC, wire.TypeIPv6, ip6Packet(host6(s), farIP6, 63, 100))
			same(t, "IPv6 upstream", r.through(accessPort, append(up, make([]byte, 9)...), corePort), want)
			down := etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ip6Packet(farIP6, host6(s), 64, 60))
			same(t, "IPv6 downstream", r.through(corePort, down, accessPort), toPeer(s, lineFrame(s, ip6Packet(farIP6, host6(s), 63, 60))))
			up = lineFrame(s, ipPacket(s.IPv4, farIP, 64, 100))
			same(t, "IPv4 upstream", r.through(accessPort, up, corePort), etherFrame(routerMAC, coreMAC, wire.TypeIPv4, ipPacket(s.IPv4, farIP, 63, 100)))
			down = etherFrame(coreMAC, routerMAC, wire.TypeIPv4, ipPacket(farIP, s.IPv4, 64, 60))
			same(t, "IPv4 downstream", r.through(corePort, down, accessPort), toPeer(s, lineFrame(s, ipPacket(farIP, s.IPv4, 63, 60))))
			slot, _ := r.e.directory.session(s.ID)
			if c := r.counters.Session(slot); c != (entry.SessionCounters{InputPackets: 2, InputBytes: 276, OutputPackets: 2, OutputBytes: 196}) {
				t.Errorf("counters: %+v", c)
			}
			r.balanced()
		})
	}
}

// TestDropsHaveNames6 sends one frame for each reason of the IPv6 and IPoE nodes.
func TestDropsHaveNames6(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(mute(dualStack(subscriber(1, 0x8100, 10, 0))))
	i := r.subscribe6(mute(dualStack(overIPoE(subscriber(3, 0x8100, 10, 0)))))
	v4only := subscriber(2, 0x8100, 10, 0)
	r.subscribe(v4only)
	r.put(entry.Route{Prefix: prefix("2001:db8:dead::/48"), Target: entry.Target{Kind: entry.TargetDrop}})
	up := func(mutate func(ip []byte)) []byte {
		ip := ip6Packet(host6(s), farIP6, 64, 10)
		mutate(ip)
		return pppoeFrame(s, wire.ProtocolIPv6, ip)
	}
	from := func(s entry.Session, source, destination string) []byte {
		return lineFrame(s, ip6Packet(addr(source), addr(destination), 64, 10))
	}
	core := func(ip []byte) []byte { return etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ip) }
	nd := func(mutate func(ip []byte), sum bool) []byte {
		ip := solicit(routerIP6, ownIP6, ownIP6, routerMAC)
		mutate(ip)
		if sum {
			m := wire.IPv6(ip)
			wire.ICMPv6(ip[wire.IPv6Length:]).PutChecksum(m.Source(), m.Destination())
		}
		return core(ip)
	}
	own := host6(s).String()
	strange := overIPoE(subscriber(9, 0x8100, 10, 0))
	probe := solicit(addr("::"), addr("2001:db8::1"), ownIP6, entry.MAC{})
	for _, c := range []struct {
		in    entry.PortID
		frame []byte
		name  string
	}{
		{accessPort, lineFrame(s, ip6Packet(host6(s), farIP6, 64, 0)[:39]), "ip6-input/packet-too-short"},
		{accessPort, up(func(ip []byte) { ip[0] = 0x45 }), "ip6-input/bad-version"},
		{accessPort, up(func(ip []byte) { ip[5]++ }), "ip6-input/bad-payload-length"},
		{accessPort, from(s, "ff02::5", "2001:db8::1"), "ip6-input/martian-source"},
		{accessPort, from(s, "::1", "2001:db8::1"), "ip6-input/martian-source"},
		{accessPort, from(s, "::", "2001:db8::1"), "ip6-input/martian-source"},
		{accessPort, from(s, own, "::1"), "ip6-input/martian-destination"},
		{accessPort, from(s, own, "::ffff:1.2.3.4"), "ip6-input/martian-destination"},
		{accessPort, from(s, own, "ff0e::1"), "ip6-input/multicast-destination"},
		{accessPort, from(s, own, "fe80::77"), "ip6-input/link-local-destination"},
		{accessPort, from(i, "fe80::5", "fe80::a1"), "ip6-input/link-local-destination"},
		{corePort, towards(entry.MAC{0x33, 0x33, 0, 0, 0, 1}, core(ip6Packet(farIP6, host6(s), 9, 0))), "ip6-input/group-frame"},
		{corePort, towards(entry.MAC{0x33, 0x33, 0, 0, 0, 0x16}, core(ip6Packet(farIP6, host6(s), 9, 0))), "ethernet-input/multicast"},
		{accessPort, lineFrame(strange, ip6Packet(host6(s), farIP6, 9, 0)), "ip6-input/unknown-subscriber"},
		{corePort, nd(func(ip []byte) { ip[7] = 254 }, true), "nd-input/bad-hop-limit"},
		{corePort, nd(func(ip []byte) { ip[41] = 1 }, true), "nd-input/malformed"},
		{corePort, nd(func(ip []byte) { ip[48] = 0xff }, true), "nd-input/malformed"},
		{corePort, nd(func(ip []byte) { ip[65] = 0 }, true), "nd-input/malformed"},
		{corePort, core(probe), "nd-input/malformed"},
		{corePort, nd(func(ip []byte) { ip[50] ^= 1 }, false), "nd-input/bad-checksum"},
		{corePort, nd(func(ip []byte) { ip[63] ^= 7 }, true), "nd-input/not-our-address"},
		{accessPort, from(s, "2001:db8:77::1", "2001:db8::1"), "source-check6/source-not-assigned"},
		{accessPort, from(s, "fe80::5", "2001:db8::1"), "source-check6/source-not-assigned"},
		{accessPort, from(v4only, own, "2001:db8::1"), "source-check6/no-ipv6-yet"},
		{accessPort, lineFrame(s, ip6Packet(host6(s), farIP6, 1, 0)), "ip6-lookup/hop-limit-expired"},
		{accessPort, from(s, own, "2001:db8:dead::1"), "ip6-lookup/discard-route"},
		{corePort, core(ip6Packet(addr("fe80::9"), host6(s), 64, 0)), "ip6-lookup/link-local-source"},
		{corePort, core(ip6Packet(farIP6, host6(s), 64, 1492-47)), "subscriber-output/mtu-exceeded"},
		{accessPort, lineFrame(strange, ipPacket(s.IPv4, farIP, 9, 0)), "ipoe-input/unknown-subscriber"},
		{accessPort, towards(entry.MAC{255, 255, 255, 255, 255, 255}, lineFrame(i, ipPacket(i.IPv4, farIP, 9, 0))), "ipoe-input/multicast"},
		{accessPort, ipoeFrame(i, wire.TypeARP, make([]byte, 28)), "ipoe-input/malformed-arp"},
		{accessPort, lineFrame(i, ipPacket(s.IPv4, farIP, 9, 0)), "source-check/source-not-assigned"},
		{tunPort, ip6Packet(ownLL, addr("ff02::2"), 255, 0), "ip6-input/multicast-destination"},
	} {
		r.dropped(c.in, c.frame, c.name)
	}
	r.put(entry.VRF{ID: 1})
	other := mute(dualStack(subscriber(4, 0, 0, 0)))
	other.VRF = 1
	r.subscribe6(other)
	r.dropped(accessPort, from(other, host6(other).String(), "2001:db8::1"), "ip6-lookup/no-route")
	r.balanced()
}

func TestLocalDeliveryAndOrigin6(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	ping := icmp6(host6(s), ownIP6, []byte{wire.ICMPv6EchoRequest, 0, 0, 0, 0, 1, 0, 1})
	ping[7] = 1
	same(t, "to the TUN", r.through(accessPort, lineFrame(s, ping), tunPort), ping)
	ping = icmp6(addr("fe80::9"), ownLL, []byte{wire.ICMPv6EchoRequest, 0, 0, 0, 0, 1, 0, 1})
	same(t, "to our link-local address", r.through(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ping), tunPort), ping)
	own := ip6Packet(ownIP6, farIP6, 1, 10)
	same(t, "from the TUN", r.through(tunPort, own, corePort), etherFrame(routerMAC, coreMAC, wire.TypeIPv6, own))
	own = ip6Packet(ownIP6, host6(s), 1, 10)
	same(t, "from the TUN to a subscriber", r.through(tunPort, own, accessPort), toPeer(s, lineFrame(s, own)))
	r.balanced()
}

// TestSourceOfDelegatedPrefix lets a subscriber send from what is routed to it, and nobody else.
func TestSourceOfDelegatedPrefix(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(overIPoE(subscriber(1, 0x88a8, 1, 2))))
	other := r.subscribe6(dualStack(subscriber(2, 0, 0, 0)))
	r.put(entry.Route{Prefix: prefix("2001:db8:d00::/56"), Target: entry.Target{Kind: entry.TargetSession, Session: s.ID}},
		entry.Route{Prefix: prefix("2001:db8:e::7/128"), Target: entry.Target{Kind: entry.TargetSession, Session: s.ID}})
	for _, source := range []string{"2001:db8:d00:17::1", "2001:db8:e::7"} {
		ip := ip6Packet(addr(source), farIP6, 64, 1)
		if r.through(accessPort, lineFrame(s, ip), corePort) == nil {
			t.Errorf("%s did not pass", source)
		}
		r.dropped(accessPort, lineFrame(other, ip6Packet(addr(source), farIP6, 64, 1)), "source-check6/source-not-assigned")
	}
	other.SourceAny = true
	r.put(other)
	if r.through(accessPort, lineFrame(other, ip6Packet(addr("2001:db8:99::1"), farIP6, 64, 1)), corePort) == nil {
		t.Error("any source is allowed, and it did not pass")
	}
	r.balanced()
}

// TestControlOfSubscribers expects what a client needs before it has an address up in control, for all encapsulations.
func TestControlOfSubscribers(t *testing.T) {
	for name, s := range encapsulations() {
		t.Run(name, func(t *testing.T) {
			r := newRig(t).base6()
			bare := s
			bare.IPv6, bare.IPv4 = netip.Prefix{}, netip.Addr{}
			r.put(bare)
			payload := 14
			if s.OuterTPID != 0 {
				payload += 4
			}
			if s.InnerVLAN != 0 {
				payload += 4
			}
			group := func(mac entry.MAC, frame []byte) []byte {
				if s.PPPoE == 0 {
					return towards(mac, frame)
				}
				return frame
			}
			rs := icmp6(peerLL, addr("ff02::2"), []byte{wire.ICMPv6RouterSolicitation, 0, 0, 0, 0, 0, 0, 0})
			r.expectPunt(accessPort, group(entry.MAC{0x33, 0x33, 0, 0, 0, 2}, lineFrame(s, rs)), entry.ClassSubscriberND, s.ID, payload)
			dad, mac := solicitedNode(peerLL)
			r.expectPunt(accessPort, group(mac, lineFrame(s, solicit(addr("::"), dad, peerLL, entry.MAC{}))), entry.ClassSubscriberND, s.ID, payload)
			dhcp := udp6(peerLL, addr("ff02::1:2"), 1, 546, 547, 40)
			r.expectPunt(accessPort, group(entry.MAC{0x33, 0x33, 0, 1, 0, 2}, lineFrame(s, dhcp)), entry.ClassDHCPv6, s.ID, payload)
			r.dropped(accessPort, lineFrame(s, ip6Packet(host6(s), farIP6, 9, 1)), "source-check6/no-ipv6-yet")
			r.balanced()
		})
	}
}
