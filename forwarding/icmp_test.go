package forwarding

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// sources gives the core interface addresses to speak from.
func (r *rig) sources() *rig {
	r.t.Helper()
	r.put(entry.Interface{ID: coreInterface, Port: corePort, VRF: defaultVRF, Source4: ownIP, Source6: ownIP6})
	return r
}

// tell turns a frame in, expects one drop of a name, and returns what comes out of the port it came from.
func (r *rig) tell(in entry.PortID, frame []byte, name string) []byte {
	r.t.Helper()
	before := r.word(name)
	r.send(in, frame)
	r.round()
	if got := r.word(name) - before; got != 1 {
		r.t.Errorf("%s counted %d", name, got)
	}
	return r.take(in)
}

// icmp4 is an ICMP error, written by hand after RFC 792: its IP header has TOS 0xc0 and a TTL of 64.
func icmp4(source, destination netip.Addr, identification uint16, icmpType, code uint8, mtu uint16, quote []byte) []byte {
	m := append([]byte{icmpType, code, 0, 0, 0, 0, byte(mtu >> 8), byte(mtu)}, quote...)
	binary.BigEndian.PutUint16(m[2:], ^wordSum(m))
	h := []byte{0x45, 0xc0, 0, 0, byte(identification >> 8), byte(identification), 0, 0, 64, 1, 0, 0}
	s, d := source.As4(), destination.As4()
	h = append(append(h, s[:]...), d[:]...)
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+len(m)))
	binary.BigEndian.PutUint16(h[10:], ^wordSum(h))
	return append(h, m...)
}

// icmp6Error is an ICMPv6 error, written by hand after RFC 4443 section 2.1.
func icmp6Error(source, destination netip.Addr, icmpType, code uint8, mtu uint32, quote []byte) []byte {
	m := append([]byte{icmpType, code, 0, 0, byte(mtu >> 24), byte(mtu >> 16), byte(mtu >> 8), byte(mtu)}, quote...)
	s, d := source.As16(), destination.As16()
	pseudo := append(append(append([]byte{}, s[:]...), d[:]...), 0, 0, byte(len(m)>>8), byte(len(m)), 0, 0, 0, 58)
	binary.BigEndian.PutUint16(m[2:], ^wordSum(append(pseudo, m...)))
	h := []byte{0x6c, 0, 0, 0, byte(len(m) >> 8), byte(len(m)), 58, 64}
	h = append(append(h, s[:]...), d[:]...)
	return append(h, m...)
}

// wordSum is the one's complement sum, word by word.
func wordSum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		word := uint32(b[i]) << 8
		if i+1 < len(b) {
			word |= uint32(b[i+1])
		}
		if sum += word; sum > 0xffff {
			sum -= 0xffff
		}
	}
	return uint16(sum)
}

// dontFragment sets DF.
func dontFragment(ip []byte) []byte {
	ip[6] |= 0x40
	return again(ip)
}

// again writes the IPv4 header checksum anew.
func again(ip []byte) []byte {
	header := ip[:wire.IPv4(ip).HeaderLength()]
	header[10], header[11] = 0, 0
	binary.BigEndian.PutUint16(header[10:], ^wordSum(header))
	return ip
}

// TestErrorsToSubscribers expects the errors about packets of subscribers, for all encapsulations (RFC 1812 section
// 4.3.2, RFC 4443): from the gateway on the subscriber's line.
func TestErrorsToSubscribers(t *testing.T) {
	for name, s := range encapsulations() {
		t.Run(name, func(t *testing.T) {
			r := newRig(t).base6()
			r.subscribe6(s)
			r.put(entry.Route{Prefix: prefix("192.0.2.0/24"), Target: entry.Target{Kind: entry.TargetDrop}},
				entry.Route{Prefix: prefix("2001:db8:dead::/48"), Target: entry.Target{Kind: entry.TargetDrop}})
			four := func(destination netip.Addr, ttl uint8, payload int) []byte {
				return ipPacket(s.IPv4, destination, ttl, payload)
			}
			six := func(destination netip.Addr, hops uint8, payload int) []byte {
				return ip6Packet(host6(s), destination, hops, payload)
			}
			id := uint16(0)
			for _, c := range []struct {
				ip, quote      []byte
				name           string
				icmpType, code uint8
				mtu            uint16
			}{
				{four(farIP, 1, 10), four(farIP, 1, 10), "ip4-lookup/ttl-expired", 11, 0, 0},
				{four(farIP, 1, 1000), four(farIP, 1, 1000)[:548], "ip4-lookup/ttl-expired", 11, 0, 0},
				{four(addr("192.0.2.7"), 9, 30), four(addr("192.0.2.7"), 9, 30), "ip4-lookup/discard-route", 3, 1, 0},
				{dontFragment(four(farIP, 9, 1500)), dontFragment(four(farIP, 8, 1500))[:548], "adjacency/mtu-exceeded", 3, 4, 1500},
				{six(farIP6, 1, 10), six(farIP6, 1, 10), "ip6-lookup/hop-limit-expired", 3, 0, 0},
				{six(farIP6, 0, 1400), six(farIP6, 0, 1400)[:1232], "ip6-lookup/hop-limit-expired", 3, 0, 0},
				{six(addr("2001:db8:dead::1"), 9, 30), six(addr("2001:db8:dead::1"), 9, 30), "ip6-lookup/discard-route", 1, 6, 0},
				{six(farIP6, 9, 1500), six(farIP6, 8, 1500)[:1232], "adjacency/mtu-exceeded", 2, 0, 1500},
			} {
				want := icmp6Error(gateway6, host6(s), c.icmpType, c.code, uint32(c.mtu), c.quote)
				if c.ip[0]>>4 == 4 {
					id++
					want = icmp4(addr("100.64.9.1"), s.IPv4, id, c.icmpType, c.code, c.mtu, c.quote)
				}
				same(t, c.name, r.tell(accessPort, lineFrame(s, c.ip), c.name), toPeer(s, lineFrame(s, want)))
			}
			r.balanced()
		})
	}
}

// TestErrorsToTheCore expects errors from the address of the receiving interface.
func TestErrorsToTheCore(t *testing.T) {
	r := newRig(t).base6().sources()
	s := r.subscribe6(dualStack(subscriber(1, 0x88a8, 10, 20)))
	core4 := func(ip []byte) []byte { return etherFrame(coreMAC, routerMAC, wire.TypeIPv4, ip) }
	core6 := func(ip []byte) []byte { return etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ip) }
	back4 := func(ip []byte) []byte { return etherFrame(routerMAC, coreMAC, wire.TypeIPv4, ip) }
	back6 := func(ip []byte) []byte { return etherFrame(routerMAC, coreMAC, wire.TypeIPv6, ip) }
	ip := ipPacket(farIP, s.IPv4, 1, 4)
	ip[1] = 0xff // the TOS bits are kept, ECN is not
	want := icmp4(ownIP, farIP, 1, 11, 0, 0, again(ip))
	want[1] = 0xdc
	same(t, "TTL", r.tell(corePort, core4(ip), "ip4-lookup/ttl-expired"), back4(again(want)))
	ip = dontFragment(ipPacket(farIP, s.IPv4, 9, 1465))
	want = icmp4(ownIP, farIP, 2, 3, 4, 1492, dontFragment(ipPacket(farIP, s.IPv4, 8, 1465))[:548])
	same(t, "session MTU", r.tell(corePort, core4(ip), "subscriber-output/mtu-exceeded"), back4(want))
	six := icmp6Error(ownIP6, farIP6, 2, 0, 1492, ip6Packet(farIP6, host6(s), 8, 1445)[:1232])
	same(t, "session MTU, IPv6", r.tell(corePort, core6(ip6Packet(farIP6, host6(s), 9, 1445)), "subscriber-output/mtu-exceeded"), back6(six))
	six = icmp6Error(ownIP6, farIP6, 3, 0, 0, ip6Packet(farIP6, host6(s), 1, 5))
	same(t, "hop limit", r.tell(corePort, core6(ip6Packet(farIP6, host6(s), 1, 5)), "ip6-lookup/hop-limit-expired"), back6(six))
	r.balanced()
}

// TestErrorsToTheHostStack tells our own host stack of the MTU as the destination would.
func TestErrorsToTheHostStack(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	big := dontFragment(ipPacket(ownIP, s.IPv4, 64, 1472))
	same(t, "IPv4", r.tell(tunPort, big, "subscriber-output/mtu-exceeded"), icmp4(s.IPv4, ownIP, 1, 3, 4, 1492, big[:548]))
	big = ip6Packet(ownIP6, host6(s), 64, 1452)
	same(t, "IPv6", r.tell(tunPort, big, "subscriber-output/mtu-exceeded"), icmp6Error(host6(s), ownIP6, 2, 0, 1492, big[:1232]))
	r.balanced()
}

// TestNoRouteIsTold is RFC 1812 section 5.2.7.1 and RFC 4443 section 3.1.
func TestNoRouteIsTold(t *testing.T) {
	r := newRig(t).base6()
	r.put(entry.VRF{ID: 1})
	s := dualStack(subscriber(1, 0x8100, 5, 0))
	s.VRF = 1
	r.put(s, sessionRoute(s), entry.Route{VRF: 1, Prefix: s.IPv6, Target: entry.Target{Kind: entry.TargetSession, Session: s.ID}})
	four, six := ipPacket(s.IPv4, farIP, 9, 8), ip6Packet(host6(s), farIP6, 9, 8)
	same(t, "IPv4", r.tell(accessPort, lineFrame(s, four), "ip4-lookup/no-route"),
		toPeer(s, lineFrame(s, icmp4(addr("100.64.9.1"), s.IPv4, 1, 3, 0, 0, four))))
	same(t, "IPv6", r.tell(accessPort, lineFrame(s, six), "ip6-lookup/no-route"),
		toPeer(s, lineFrame(s, icmp6Error(gateway6, host6(s), 1, 0, 0, six))))
	r.balanced()
}

// TestSilentNeighborIsTold asks for a neighbour for three seconds; then senders are told, and control is asked on.
func TestSilentNeighborIsTold(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	four := func(ttl uint8) []byte { return ipPacket(s.IPv4, addr("198.51.100.77"), ttl, 8) }
	six := func(hops uint8) []byte { return ip6Packet(host6(s), addr("2001:db8:c::77"), hops, 8) }
	for range 3 {
		for _, ip := range [][]byte{four(9), six(9)} {
			if told := r.through(accessPort, lineFrame(s, ip), accessPort); told != nil {
				t.Fatalf("told too early: %x", told)
			}
			if _, ok := r.punted(); !ok {
				t.Fatal("control was not asked")
			}
		}
		r.now += 1e9
	}
	same(t, "IPv4", r.tell(accessPort, lineFrame(s, four(9)), "adjacency/unresolved"),
		toPeer(s, lineFrame(s, icmp4(addr("100.64.9.1"), s.IPv4, 1, 3, 1, 0, four(8)))))
	if p, ok := r.punted(); !ok || p.Class != entry.ClassGlean || p.Interface != coreInterface {
		t.Errorf("control is not asked on: %+v", p)
	}
	same(t, "IPv6", r.tell(accessPort, lineFrame(s, six(9)), "adjacency/unresolved"),
		toPeer(s, lineFrame(s, icmp6Error(gateway6, host6(s), 1, 3, 0, six(8)))))
}

// TestNoErrorAbout goes through what is never answered (RFC 1812 section 4.3.2.7, RFC 4443 section 2.4 e).
func TestNoErrorAbout(t *testing.T) {
	r := newRig(t).base6().sources()
	s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	mute := r.subscribe(subscriber(2, 0, 0, 0))
	core := func(etherType uint16, ip []byte) []byte { return etherFrame(coreMAC, routerMAC, etherType, ip) }
	message := func(icmpType byte) []byte {
		ip := ipPacket(farIP, s.IPv4, 1, 40)
		ip[9], ip[20] = wire.IPProtocolICMP, icmpType
		return core(wire.TypeIPv4, again(ip))
	}
	options := func(icmpType byte) []byte {
		ip := append([]byte{}, ipPacket(farIP, s.IPv4, 1, 40)...)
		ip[0], ip[9], ip[24] = 0x46, wire.IPProtocolICMP, icmpType
		return core(wire.TypeIPv4, again(ip))
	}
	message6 := func(next ...byte) []byte { // next header, then the bytes behind the header
		ip := ip6Packet(farIP6, host6(s), 1, 40)
		ip[6] = next[0]
		copy(ip[40:], next[1:])
		return core(wire.TypeIPv6, ip)
	}
	later := ipPacket(farIP, s.IPv4, 1, 40)
	later[7] = 1
	const mf = 0x20
	first := ipPacket(farIP, s.IPv4, 1, 40)
	first[6] = mf
	for _, c := range []struct {
		in     entry.PortID
		frame  []byte
		reason string
	}{
		{corePort, message(3), "icmp-error/about-error"},
		{corePort, message(4), "icmp-error/about-error"},
		{corePort, message(5), "icmp-error/about-error"},
		{corePort, message(11), "icmp-error/about-error"},
		{corePort, message(12), "icmp-error/about-error"},
		{corePort, options(3), "icmp-error/about-error"},
		{corePort, message(8), "icmp-error/sent-time-exceeded"},
		{corePort, options(8), "icmp-error/sent-time-exceeded"},
		{corePort, core(wire.TypeIPv4, again(later)), "icmp-error/not-answerable"},
		{corePort, core(wire.TypeIPv4, again(first)), "icmp-error/sent-time-exceeded"},
		{accessPort, lineFrame(mute, ipPacket(mute.IPv4, farIP, 1, 1)), "icmp-error/no-source"},
		{corePort, message6(58, 1), "icmp6-error/about-error"},
		{corePort, message6(58, 127), "icmp6-error/about-error"},
		{corePort, message6(58, 128), "icmp6-error/sent-time-exceeded"},
		{corePort, message6(60, 58, 0, 0, 0, 0, 0, 0, 0, 2), "icmp6-error/about-error"},
		{corePort, message6(51, 58, 0, 0, 0, 0, 0, 0, 0, 2), "icmp6-error/about-error"},
		{corePort, message6(44, 58, 0, 0, 1, 0, 0, 0, 0, 2), "icmp6-error/about-error"},
		{corePort, message6(44, 58, 0, 0, 8, 0, 0, 0, 0, 2), "icmp6-error/not-answerable"},
		{corePort, message6(60, 58, 200), "icmp6-error/not-answerable"},
		{corePort, core(wire.TypeIPv6, ip6Packet(addr("fe80::9"), addr("2001:db8:dddd::1"), 1, 8)), ""},
	} {
		if c.reason == "" {
			r.send(c.in, c.frame)
			r.round()
			continue
		}
		before := r.word(c.reason)
		r.send(c.in, c.frame)
		r.round()
		if r.word(c.reason) != before+1 {
			t.Errorf("%s not counted for %x", c.reason, c.frame)
		}
	}
	r.balanced()
}

// TestErrorsAreLimited sends more than may be answered.
func TestErrorsAreLimited(t *testing.T) {
	r := newRig(t).base6().sources()
	s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	for range 60 {
		r.send(accessPort, lineFrame(s, ipPacket(s.IPv4, farIP, 1, 1)))
		r.send(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ip6Packet(farIP6, host6(s), 1, 1)))
	}
	r.round()
	for name, want := range map[string]uint64{
		"icmp-error/sent-time-exceeded": 50, "icmp-error/source-rate-limited": 10, "ip4-lookup/ttl-expired": 60,
		"icmp6-error/sent-time-exceeded": 50, "icmp6-error/source-rate-limited": 10, "ip6-lookup/hop-limit-expired": 60,
	} {
		if got := r.word(name); got != want {
			t.Errorf("%s = %d, want %d", name, got, want)
		}
	}
	r.balanced()
}
