package forwarding

import (
	"fmt"
	"math/rand"
	"net/netip"
	"runtime"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/punt"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

// near6 draws from a few addresses that differ in prefix, subnet and host.
func near6(rnd *rand.Rand) netip.Addr {
	return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 4: byte(rnd.Intn(2)), 7: byte(rnd.Intn(4)), 8: byte(rnd.Intn(2)), 15: byte(rnd.Intn(4))})
}

// TestRoutes6FollowTheModel puts and deletes IPv6 routes in two VRFs by batches, with and without telling the cover.
func TestRoutes6FollowTheModel(t *testing.T) {
	r := newRig(t).base6()
	r.put(entry.VRF{ID: 5})
	rnd := rand.New(rand.NewSource(3))
	type key struct {
		vrf entry.VRFID
		p   netip.Prefix
	}
	model := map[key]entry.Target{}
	for k, target := range map[string]entry.Target{"::/0": {Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: routerIP6}} {
		model[key{0, prefix(k)}] = target
	}
	targets := []entry.Target{
		{Kind: entry.TargetDrop}, {Kind: entry.TargetLocal}, {Kind: entry.TargetConnected, Interface: coreInterface},
		{Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: routerIP6},
	}
	cover := func(vrf entry.VRFID, a netip.Addr, below int) (uint8, entry.Target) {
		for l := below; l >= 0; l-- {
			if t, ok := model[key{vrf, netip.PrefixFrom(a, l).Masked()}]; ok {
				return uint8(l), t
			}
		}
		return 0, entry.Target{}
	}
	for step := range 600 {
		var b entry.Batch
		for range rnd.Intn(6) {
			k := key{entry.VRFID(5 * rnd.Intn(2)), netip.PrefixFrom(near6(rnd), 16+rnd.Intn(113)).Masked()}
			_, there := model[k]
			if there && rnd.Intn(2) == 0 {
				delete(model, k)
				x := entry.Route{VRF: k.vrf, Prefix: k.p}
				if rnd.Intn(2) == 0 {
					x.CoverLength, x.Cover = cover(k.vrf, k.p.Addr(), k.p.Bits()-1)
				}
				b.Delete(x)
			} else if there || len(model) < 120 {
				model[k] = targets[rnd.Intn(len(targets))]
				b.Put(entry.Route{VRF: k.vrf, Prefix: k.p, Target: model[k]})
			}
		}
		if a := r.e.Apply(encode(&b)); a.Refused != nil {
			t.Fatalf("step %d: %v", step, a.Refused)
		}
		for range 20 {
			vrf, ip := entry.VRFID(5*rnd.Intn(2)), near6(rnd)
			var resolved table.Target
			if _, want := cover(vrf, ip, 128); want.Kind != 0 {
				resolved, _ = r.e.directory.resolve(&want)
			}
			v := r.e.tables.VRFs[r.e.directory.vrfs[vrf].slot].Load()
			if got := v.FIB6.Lookup(table.NewAddress6(ip)); got != resolved {
				t.Fatalf("step %d: %v in VRF %d leads to %06x, want %06x", step, ip, vrf, got, resolved)
			}
		}
	}
}

// TestVRFsAreApart gives two VRFs the same addresses of both families, on subscribers and towards the core.
func TestVRFsAreApart(t *testing.T) {
	r := newRig(t).base6()
	vlanMAC := entry.MAC{2, 9, 9, 9, 9, 9}
	a, b := dualStack(subscriber(1, 0x8100, 10, 0)), dualStack(overIPoE(subscriber(1, 0x8100, 11, 0)))
	b.ID, b.VRF = 2001, 5
	const second entry.PortID = 4
	r.put(
		entry.Port{ID: second, Driver: entry.DriverTUN, Device: "tun5"}, entry.VRF{ID: 5, TUN: second},
		entry.Interface{ID: vlanInterface, Port: corePort, OuterTPID: 0x8100, OuterVLAN: 42, VRF: 5, MAC: vlanMAC},
		entry.Local{Interface: vlanInterface, Addr: ownIP}, entry.Local{Interface: vlanInterface, Addr: ownIP6},
		entry.Neighbor{Interface: vlanInterface, Addr: routerIP6, MAC: routerMAC, Resolved: true},
		entry.Route{VRF: 5, Prefix: prefix("::/0"), Target: entry.Target{Kind: entry.TargetNeighbor, Interface: vlanInterface, Addr: routerIP6}},
		// An IPv6 next hop of an IPv4 prefix (RFC 8950).
		entry.Route{VRF: 5, Prefix: prefix("0.0.0.0/0"), Target: entry.Target{Kind: entry.TargetNeighbor, Interface: vlanInterface, Addr: routerIP6}},
		entry.Route{VRF: 5, Prefix: netip.PrefixFrom(ownIP6, 128), Target: entry.Target{Kind: entry.TargetLocal}},
	)
	r.subscribe6(a)
	r.subscribe6(b)
	vlan := func(etherType uint16, ip []byte) []byte {
		h := make([]byte, 18)
		wire.PutTagged(h, routerMAC, vlanMAC, 0x8100, 42, 0, etherType)
		return append(h, ip...)
	}
	same(t, "IPv6 of the default VRF", r.through(accessPort, lineFrame(a, ip6Packet(host6(a), farIP6, 64, 1)), corePort),
		etherFrame(routerMAC, coreMAC, wire.TypeIPv6, ip6Packet(host6(a), farIP6, 63, 1)))
	same(t, "IPv6 of VRF 5", r.through(accessPort, lineFrame(b, ip6Packet(host6(b), farIP6, 64, 1)), corePort),
		vlan(wire.TypeIPv6, ip6Packet(host6(b), farIP6, 63, 1)))
	same(t, "IPv4 of VRF 5", r.through(accessPort, lineFrame(b, ipPacket(b.IPv4, farIP, 64, 1)), corePort),
		vlan(wire.TypeIPv4, ipPacket(b.IPv4, farIP, 63, 1)))
	in := vlan(wire.TypeIPv6, ip6Packet(farIP6, host6(b), 64, 1))
	copy(in[0:6], vlanMAC[:])
	same(t, "to the subscriber of VRF 5", r.through(corePort, in, accessPort), toPeer(b, lineFrame(b, ip6Packet(farIP6, host6(b), 63, 1))))
	in = etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ip6Packet(farIP6, host6(a), 64, 1))
	same(t, "to the subscriber of the default VRF", r.through(corePort, in, accessPort), toPeer(a, lineFrame(a, ip6Packet(farIP6, host6(a), 63, 1))))
	ping := ip6Packet(host6(b), ownIP6, 64, 1)
	same(t, "to the TUN of VRF 5", r.through(accessPort, lineFrame(b, ping), second), ping)
	r.balanced()
}

// TestSweep6 leaves nothing of IPv6, groups and IPoE behind, and deletes before it what a newer generation did not put.
func TestSweep6(t *testing.T) {
	r := newRig(t).base6()
	entries, _ := hops(4)
	kept := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	gone := r.subscribe6(dualStack(overIPoE(subscriber(2, 0, 0, 0))))
	r.put(entries...)
	r.put(overGroup...)
	r.e.Begin(1)
	r.base6()
	r.subscribe6(kept)
	swept := r.e.Sweep(1)
	want := [entry.NumKinds]int{entry.KindSession: 1, entry.KindRoute: 2, entry.KindGroup: 1, entry.KindNeighbor: 4}
	if swept.Count != want || len(swept.Kept) != 0 {
		t.Errorf("swept %+v", swept)
	}
	if r.through(accessPort, lineFrame(kept, ip6Packet(host6(kept), farIP6, 64, 1)), corePort) == nil {
		t.Error("the kept session does not forward")
	}
	if r.through(accessPort, lineFrame(gone, ip6Packet(host6(gone), farIP6, 64, 1)), corePort) != nil {
		t.Error("the other one still does")
	}
	r.e.Begin(2)
	r.e.Sweep(2)
	empty := newRig(t)
	if got, want := r.image(), empty.image(); got != want {
		t.Errorf("something is left:\n%s\nwant\n%s", got, want)
	}
}

// TestLimits6 fills the tables of IPv6 routes and of groups.
func TestLimits6(t *testing.T) {
	r := newRig(t).base6()
	limits := smallLimits()
	free := limits.Routes6 - len(r.e.directory.routes6)
	for i := range free {
		p := netip.PrefixFrom(netip.AddrFrom16([16]byte{0x30, byte(i >> 8), byte(i), byte(i), byte(i), byte(i), byte(i), byte(i)}), 64)
		r.put(entry.Route{Prefix: p, Target: entry.Target{Kind: entry.TargetDrop}})
	}
	r.refused(puts(entry.Route{Prefix: prefix("3fff::/20"), Target: entry.Target{Kind: entry.TargetDrop}}), 0, "limit of 256 IPv6 routes")
	for i := range limits.Groups {
		r.put(entry.Group{ID: entry.GroupID(1 + i), Count: 1, Hops: [entry.MaxHops]entry.Hop{{Interface: coreInterface, Addr: routerIP6}}})
	}
	over := entry.Group{ID: 99, Count: 1, Hops: [entry.MaxHops]entry.Hop{{Interface: coreInterface, Addr: routerIP6}}}
	r.refused(puts(over), 0, "limit of 8 groups of next hops")

	deep := newRig(t).base6()
	var b entry.Batch
	for i := range byte(130) { // 14 groups each at most, of 1536
		a := netip.AddrFrom16([16]byte{0x30, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i})
		b.Put(entry.Route{Prefix: netip.PrefixFrom(a, 126).Masked(), Target: entry.Target{Kind: entry.TargetDrop}})
	}
	deep.refused(b, 108, "limit of 256 IPv6 routes is reached in memory")
}

// TestRoundDoesNotAllocate6 counts over all sorts of packets of IPv6 and IPoE, and over a group.
func TestRoundDoesNotAllocate6(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(subscriber(1, 0x88a8, 10, 20)))
	i := r.subscribe6(dualStack(overIPoE(subscriber(2, 0x8100, 30, 0))))
	entries, _ := hops(4)
	r.put(entries...)
	r.put(overGroup...)
	arp := make([]byte, wire.ARPLength)
	wire.PutARP(arp, wire.ARPRequest, i.PeerMAC, i.IPv4.As4(), [6]byte{}, addr("100.64.9.1").As4())
	frames := [][]byte{ipoeFrame(i, wire.TypeARP, arp), lineFrame(i, dhcpPacket("0.0.0.0", "255.255.255.255"))}
	for _, line := range []entry.Session{s, i} {
		frames = append(frames,
			lineFrame(line, ip6Packet(host6(line), farIP6, 64, 1)),
			lineFrame(line, ip6Packet(host6(line), host6(s), 64, 1)),
			lineFrame(line, ip6Packet(host6(line), ownIP6, 64, 1)),
			lineFrame(line, ip6Packet(host6(line), addr("2001:db8:c::99"), 64, 1)),
			lineFrame(line, ipPacket(line.IPv4, farIP, 64, 1)),
			lineFrame(line, solicit(peerLL, lineLL, lineLL, line.PeerMAC)),
			lineFrame(line, udp6(peerLL, addr("ff02::1:2"), 1, 546, 547, 20)),
		)
	}
	group, mac := solicitedNode(ownIP6)
	core := [][]byte{
		etherFrame(mac, routerMAC, wire.TypeIPv6, solicit(addr("2001:db8:c::88"), group, ownIP6, routerMAC)),
		etherFrame(mac, routerMAC, wire.TypeIPv6, solicit(addr("::"), group, ownIP6, entry.MAC{})),
		etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ip6Packet(farIP6, host6(i), 64, 1)),
	}
	buffer := make([]byte, 0, packet.MaxFrame)
	allocations := testing.AllocsPerRun(200, func() {
		for _, f := range frames {
			r.ports[accessPort].Send(f)
		}
		for _, f := range core {
			r.ports[corePort].Send(f)
		}
		r.now += 50e6
		r.round()
		for _, p := range r.ports {
			for ok := true; ok; {
				_, ok = p.Take(buffer)
			}
		}
		var p entry.Punt
		var e entry.Event
		for r.punts.Pop(&p, &e) == punt.Frame {
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations per round", allocations)
	}
}

// TestSubscribersComeAndGoUnderTraffic changes IPv6 tables of every kind while the worker runs; the race detector
// watches.
func TestSubscribersComeAndGoUnderTraffic(t *testing.T) {
	r := newRig(t).base6()
	steady := r.subscribe6(dualStack(overIPoE(subscriber(1, 0x8100, 3, 0))))
	r.e.Start()
	stop, done := make(chan struct{}), make(chan int)
	frames := [][]byte{lineFrame(steady, ip6Packet(host6(steady), farIP6, 64, 1))}
	for i := range 8 {
		to := addr(fmt.Sprintf("2001:db8:1:77::%d", i))
		frames = append(frames, lineFrame(steady, ip6Packet(host6(steady), to, 64, 1)))
	}
	go func() {
		buffer := make([]byte, 0, packet.MaxFrame)
		for passed := 0; ; {
			select {
			case <-stop:
				done <- passed
				return
			default:
			}
			for _, f := range frames {
				r.ports[accessPort].Send(f)
			}
			r.ports[accessPort].Take(buffer)
			for {
				if _, ok := r.ports[corePort].Take(buffer); !ok {
					break
				}
				passed++
			}
		}
	}()
	for i := range 200 {
		s := overIPoE(dualStack(subscriber(2+i%8, 0x88a8, 5, uint16(1+i))))
		host := entry.Route{Prefix: netip.PrefixFrom(addr(fmt.Sprintf("2001:db8:1:77::%d", i%8)), 128-i%3), Target: entry.Target{Kind: entry.TargetSession, Session: s.ID}}
		host.Prefix = host.Prefix.Masked()
		r.subscribe6(s)
		r.put(host, entry.Local{Interface: coreInterface, Addr: addr("2001:db8:c::7")})
		r.delete(host, entry.Local{Interface: coreInterface, Addr: addr("2001:db8:c::7")},
			entry.Route{Prefix: s.IPv6}, sessionRoute(s), s)
	}
	for r.word("port-output/packets") == 0 {
		runtime.Gosched()
	}
	close(stop)
	<-done
	r.e.Stop()
	if n := r.word(wordPanic); n != 0 {
		t.Errorf("%d panics", n)
	}
}
