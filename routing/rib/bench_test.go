package rib

import (
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/forwarding/entry"
)

// sink is a forwarder that takes everything.
type sink struct{ ops, largest int }

func (s *sink) Inject(entry.PortID, []byte) bool { return true }

func (s *sink) Apply(b *entry.Batch, done func(entry.Result)) {
	s.ops += len(b.Ops)
	s.largest = max(s.largest, len(b.Ops))
	done(entry.Result{})
}

// paths makes paths of the lengths that the Internet's have, over some next hops.
func paths(n int, six bool, nextHops int) []Path {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := make(map[netip.Prefix]bool, n)
	all := make([]Path, 0, n)
	for len(all) < n {
		p := randomPrefix(rng, six)
		if seen[p] {
			continue
		}
		seen[p] = true
		hop := netip.AddrFrom4([4]byte{192, 0, 2, byte(2 + rng.IntN(nextHops))})
		if six {
			hop = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: hop.As4()[3]})
		}
		all = append(all, Path{Prefix: p, NextHops: []netip.Addr{hop}})
	}
	return all
}

func randomPrefix(rng *rand.Rand, six bool) netip.Prefix {
	if six {
		a := [16]byte{0x24 + byte(rng.IntN(8))}
		for i := 1; i < 8; i++ {
			a[i] = byte(rng.IntN(256))
		}
		return netip.PrefixFrom(netip.AddrFrom16(a), []int{32, 36, 40, 44, 48, 48, 48}[rng.IntN(7)]).Masked()
	}
	a := [4]byte{byte(1 + rng.IntN(191)), byte(rng.IntN(256)), byte(rng.IntN(256)), byte(rng.IntN(256))}
	return netip.PrefixFrom(netip.AddrFrom4(a), []int{16, 20, 22, 23, 24, 24, 24, 24, 24}[rng.IntN(9)]).Masked()
}

// chunk is how many paths come in one call.
const chunk = 1000

func update(r *RIB, all []Path) {
	for len(all) > 0 {
		n := min(chunk, len(all))
		// A copy, for the RIB keeps what it is given.
		r.UpdateBGP(0, append([]Path(nil), all[:n]...), nil)
		r.Drain()
		all = all[n:]
	}
}

func newSink() (*RIB, *sink) {
	s := &sink{}
	r := New(Options{Clock: clock.NewFake(time.Unix(1000, 0)), Programmer: s, Log: slog.New(slog.DiscardHandler)})
	r.Bind(&adjacencies{wanted: map[NextHop]int{}})
	r.AddInterfaceRoute(0, netip.MustParsePrefix("192.0.2.0/24"), 7, entry.Target{Kind: entry.TargetConnected, Interface: 7})
	r.AddInterfaceRoute(0, netip.MustParsePrefix("2001:db8::/64"), 7, entry.Target{Kind: entry.TargetConnected, Interface: 7})
	r.Drain()
	return r, s
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkTable loads a million IPv4 and a quarter million IPv6 routes and reports what one costs.
// Forwarder and wire are not in it.
func BenchmarkTable(b *testing.B) {
	four, six := paths(1_000_000, false, 8), paths(250_000, true, 8)
	n := float64(len(four) + len(six))
	for b.Loop() {
		r, _ := newSink()
		before := heap()
		start := time.Now()
		update(r, four)
		update(r, six)
		took := time.Since(start)
		b.ReportMetric(float64(heap()-before)/n, "B/route")
		b.ReportMetric(took.Seconds(), "s/load")
		start = time.Now()
		r.FlushBGP(0)
		r.Drain()
		b.ReportMetric(time.Since(start).Seconds(), "s/flush")
	}
}

// BenchmarkBulk loads half a million paths of BGP.
func BenchmarkBulk(b *testing.B) {
	all := paths(500_000, false, 8)
	for b.Loop() {
		r, s := newSink()
		update(r, all)
		if s.ops < len(all) || s.largest > maxBatch+maxGroups {
			b.Fatalf("%d entries, %d in the largest batch", s.ops, s.largest)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/route")
}

// BenchmarkNextHopMoves has the one next hop of half a million routes move to another neighbour and back.
func BenchmarkNextHopMoves(b *testing.B) {
	all := paths(500_000, false, 1)
	r, s := newSink()
	via := netip.MustParseAddr("192.0.2.77")
	for i := range all {
		all[i].NextHops = []netip.Addr{netip.MustParseAddr("198.18.0.1")}
	}
	update(r, all)
	for b.Loop() {
		for _, gateway := range [...]netip.Addr{via, via.Next()} {
			before := s.ops
			r.SetStatic(0, []StaticRoute{{Prefix: netip.MustParsePrefix("198.18.0.0/24"), Gateway: gateway}})
			r.Drain()
			if s.ops-before < len(all) {
				b.Fatalf("%d entries", s.ops-before)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2/float64(len(all)), "ns/route")
}

// BenchmarkCover finds what covers an address in a table of a million.
func BenchmarkCover(b *testing.B) {
	r, _ := newSink()
	all := paths(1_000_000, false, 8)
	update(r, all)
	t := r.table(0)
	i := 0
	for b.Loop() {
		t.cover(all[i%len(all)].Prefix)
		i += 7919
	}
}
