package forwarding

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// hops are n neighbours of both families behind the core interface, and a group of them.
func hops(n int) (all []entry.Entry, g entry.Group) {
	g = entry.Group{ID: 7, Count: uint8(n)}
	for i := range n {
		a := netip.AddrFrom4([4]byte{198, 51, 100, byte(10 + i)})
		if i%2 == 1 {
			a = netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 0, 0xc, 15: byte(10 + i)})
		}
		all = append(all, entry.Neighbor{Interface: coreInterface, Addr: a, MAC: entry.MAC{2, 3, 0, 0, 0, byte(i)}, Resolved: true})
		g.Hops[i] = entry.Hop{Interface: coreInterface, Addr: a}
	}
	return append(all, g), g
}

var overGroup = []entry.Entry{
	entry.Route{Prefix: netip.MustParsePrefix("0.0.0.0/0"), Target: entry.Target{Kind: entry.TargetGroup, Group: 7}},
	entry.Route{Prefix: netip.MustParsePrefix("::/0"), Target: entry.Target{Kind: entry.TargetGroup, Group: 7}},
}

// flow4 and flow6 are packets of flow number n.
func flow4(s entry.Session, n int) []byte {
	ip := ipPacket(s.IPv4, farIP, 64, 8)
	binary.BigEndian.PutUint16(ip[wire.IPv4Length:], uint16(n))
	return ip
}

func flow6(s entry.Session, n int) []byte {
	return udp6(host6(s), farIP6, 64, uint16(n), 2000, 8)
}

// TestFlowsSpreadOverAGroup sends many flows of both families and expects all hops to get their share, each flow one hop.
func TestFlowsSpreadOverAGroup(t *testing.T) {
	for _, count := range []int{1, 2, 3, 64} {
		r := newRig(t).base6()
		s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
		entries, _ := hops(min(count, 12)) // the rig has room for 16 neighbours
		g := entries[len(entries)-1].(entry.Group)
		for i := range count { // a hop that stands there twice gets twice the share
			g.Hops[i] = g.Hops[i%min(count, 12)]
		}
		g.Count = uint8(count)
		r.put(entries[:len(entries)-1]...)
		r.put(g)
		r.put(overGroup...)
		for name, flow := range map[string]func(entry.Session, int) []byte{"IPv4": flow4, "IPv6": flow6} {
			share := map[byte]int{}
			const flows = 3000
			for n := range flows {
				first := r.through(accessPort, lineFrame(s, flow(s, n)), corePort)
				again := r.through(accessPort, lineFrame(s, flow(s, n)), corePort)
				if first == nil || string(first) != string(again) {
					t.Fatalf("%s, %d hops, flow %d: %x, then %x", name, count, n, first, again)
				}
				share[first[5]]++
			}
			members := min(count, 12)
			for hop := range members {
				weight := 0
				for i := range count {
					if i%members == hop {
						weight++
					}
				}
				want := flows * weight / count
				if got := share[byte(hop)]; got < want*7/10 || got > want*13/10 {
					t.Errorf("%s, %d hops: hop %d got %d of %d flows, want about %d", name, count, hop, got, flows, want)
				}
			}
		}
		r.balanced()
	}
}

// TestFragmentsStayTogether gives the fragments of one datagram the same hop, whatever stands where ports would.
func TestFragmentsStayTogether(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	entries, _ := hops(8)
	r.put(entries...)
	r.put(overGroup...)
	seen := map[string]map[byte]bool{"IPv4": {}, "IPv6": {}}
	for n := range 50 {
		four := flow4(s, n)
		binary.BigEndian.PutUint16(four[6:], 0x2000|uint16(n)) // more fragments, offset
		four[10], four[11] = 0, 0
		sum := wire.Checksum(four[:20])
		four[10], four[11] = byte(sum>>8), byte(sum)
		six := ip6Packet(host6(s), farIP6, 64, 32)
		six[6] = wire.NextFragment
		six[3] = byte(n) // flow label
		six[40], six[43], six[48] = wire.IPProtocolUDP, byte(n)<<3, byte(n)
		for name, ip := range map[string][]byte{"IPv4": four, "IPv6": six} {
			if got := r.through(accessPort, lineFrame(s, ip), corePort); got != nil {
				seen[name][got[5]] = true
			}
		}
	}
	if len(seen["IPv4"]) != 1 || len(seen["IPv6"]) != 1 {
		t.Errorf("hops of fragments: %v", seen)
	}
}

// TestFlowLabelCountsWithoutPorts spreads the ESP of one pair of addresses by flow label (RFC 6438).
func TestFlowLabelCountsWithoutPorts(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	entries, _ := hops(8)
	r.put(entries...)
	r.put(overGroup...)
	seen := map[byte]bool{}
	for n := range 60 {
		six := ip6Packet(host6(s), farIP6, 64, 32)
		six[6], six[3] = 50, byte(n)
		if got := r.through(accessPort, lineFrame(s, six), corePort); got != nil {
			seen[got[5]] = true
		}
	}
	if len(seen) < 6 {
		t.Errorf("%d of 8 hops used", len(seen))
	}
}

// TestGroupChange takes hops away: the flows of those that stay mostly stay.
func TestGroupChange(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	entries, g := hops(4)
	r.put(entries...)
	r.put(overGroup...)
	const flows = 1000
	before := [flows]byte{}
	for n := range flows {
		before[n] = r.through(accessPort, lineFrame(s, flow6(s, n)), corePort)[5]
	}
	batch := deletes(entries[3])
	r.refused(batch, 0, "still referred to by 1")
	r.refused(deletes(g), 0, "still referred to by 2")
	g.Count, g.Hops[3] = 3, entry.Hop{}
	change := puts(g)
	change.Delete(entries[3])
	if a := r.e.Apply(encode(&change)); a.Refused != nil {
		t.Fatal(a.Refused)
	}
	moved := 0
	for n := range flows {
		now := r.through(accessPort, lineFrame(s, flow6(s, n)), corePort)[5]
		if now == 3 {
			t.Fatal("a hop that is gone is still used")
		}
		if now != before[n] {
			moved++
		}
	}
	if moved < flows/5 || moved > flows*6/10 { // hash-threshold: between a quarter and a half
		t.Errorf("%d of %d flows moved", moved, flows)
	}
	r.balanced()
}

// TestGroupChangesUnderTraffic changes a group, and its neighbours, while the worker runs.
func TestGroupChangesUnderTraffic(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
	entries, g := hops(4)
	r.put(entries...)
	r.put(overGroup...)
	r.e.Start()
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		n, out := 0, 0
		for ; ; n++ {
			select {
			case <-stop:
				done <- out
				return
			default:
			}
			r.ports[accessPort].Send(lineFrame(s, flow6(s, n)))
			for r.take(corePort) != nil {
				out++
			}
		}
	}()
	for i := range 300 {
		smaller := g
		smaller.Count, smaller.Hops[3] = 3, entry.Hop{}
		change := puts(smaller)
		change.Delete(entries[3])
		change.Put(entries[3], g)
		if i%2 == 0 {
			change.Put(smaller)
			change.Put(g)
		}
		if a := r.e.Apply(encode(&change)); a.Refused != nil {
			t.Fatal(a.Refused)
		}
	}
	for r.word("port-output/packets") == 0 {
		runtime.Gosched()
	}
	close(stop)
	<-done
	r.e.Stop()
	for _, name := range []string{"ip6-lookup/unknown-target", "ip6-lookup/no-route", wordPanic} {
		if v := r.word(name); v != 0 {
			t.Errorf("%s = %d", name, v)
		}
	}
}
