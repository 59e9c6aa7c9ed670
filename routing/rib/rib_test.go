package rib

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// forwarder records batches and answers them when told. It keeps a table of the 256 addresses of
// 10.0.0.0/24 the way a forwarder does: per address the length of its prefix and where that leads.
type forwarder struct {
	t       *testing.T
	batches []string
	pending []func()
	hold    bool                                // answer only on release
	refuse  func(entry.Op) (reason string)      // nil: nothing
	fail    error                               // of the next batch
	slots   [256]struct{ depth, target uint64 } // depth is length+1, 0: empty
	names   map[uint64]entry.Target             // target by number
	numbers map[entry.Target]uint64
}

func newForwarder(t *testing.T) *forwarder {
	return &forwarder{t: t, names: map[uint64]entry.Target{}, numbers: map[entry.Target]uint64{}}
}

func (f *forwarder) Inject(entry.PortID, []byte) bool { return true }

func (f *forwarder) Apply(b *entry.Batch, done func(entry.Result)) {
	var res entry.Result
	if f.fail != nil {
		res.Err, f.fail = f.fail, nil
	}
	for i, op := range b.Ops {
		if f.refuse != nil && res.Err == nil {
			if reason := f.refuse(op); reason != "" {
				res.Err = &entry.Refused{Op: i, Reason: reason}
			}
		}
	}
	if res.Err == nil {
		f.batches = append(f.batches, b.String())
		for _, op := range b.Ops {
			f.apply(op)
		}
	}
	if f.hold {
		f.pending = append(f.pending, func() { done(res) })
		return
	}
	done(res)
}

func (f *forwarder) apply(op entry.Op) {
	r, ok := op.Entry.(entry.Route)
	if !ok {
		return
	}
	for i := range f.slots {
		if !r.Prefix.Contains(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})) {
			continue
		}
		s, depth := &f.slots[i], uint64(r.Prefix.Bits())+1
		switch {
		case op.Verb == entry.Put && s.depth <= depth:
			s.depth, s.target = depth, f.number(r.Target)
		case op.Verb == entry.Delete && s.depth == depth && r.Cover.Kind == 0:
			s.depth, s.target = 0, 0
		case op.Verb == entry.Delete && s.depth == depth:
			s.depth, s.target = uint64(r.CoverLength)+1, f.number(r.Cover)
		}
	}
}

func (f *forwarder) number(t entry.Target) uint64 {
	if n, ok := f.numbers[t]; ok {
		return n
	}
	n := uint64(len(f.numbers) + 1)
	f.numbers[t], f.names[n] = n, t
	return n
}

// take returns the batches since the last call.
func (f *forwarder) take() string {
	s := strings.Join(f.batches, "--\n")
	f.batches = nil
	return s
}

// adjacencies is a Neighbors that counts what is wanted.
type adjacencies struct {
	wanted map[NextHop]int
	ready  []func() // held back while hold is set
	hold   bool
}

func (a *adjacencies) Want(i entry.InterfaceID, addr netip.Addr, ready func()) {
	a.wanted[NextHop{Interface: i, Addr: addr}]++
	if a.hold {
		a.ready = append(a.ready, ready)
		return
	}
	ready()
}

func (a *adjacencies) Unwant(i entry.InterfaceID, addr netip.Addr) {
	h := NextHop{Interface: i, Addr: addr}
	if a.wanted[h]--; a.wanted[h] == 0 {
		delete(a.wanted, h)
	}
}

type bench struct {
	*RIB
	forwarder *forwarder
	neighbors *adjacencies
	clock     *clock.Fake
}

func newBench(t *testing.T) *bench {
	b := &bench{forwarder: newForwarder(t), neighbors: &adjacencies{wanted: map[NextHop]int{}}, clock: clock.NewFake(time.Unix(1000, 0))}
	b.RIB = New(Options{Clock: b.clock, Programmer: b.forwarder, Log: slog.New(slog.DiscardHandler)})
	b.Bind(b.neighbors)
	return b
}

func (b *bench) settle() { b.loop.Drain(b.handle) }

// expect compares what was programmed since the last call.
func (b *bench) expect(t *testing.T, want string) {
	t.Helper()
	b.settle()
	if got := b.forwarder.take(); got != want {
		t.Errorf("programmed\n%swant\n%s", got, want)
	}
}

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }
func addr(s string) netip.Addr     { return netip.MustParseAddr(s) }

func connected(i entry.InterfaceID) entry.Target {
	return entry.Target{Kind: entry.TargetConnected, Interface: i}
}

func TestStaticFollowsItsInterface(t *testing.T) {
	b := newBench(t)
	b.SetStatic(0, []StaticRoute{{Prefix: prefix("0.0.0.0/0"), Gateway: addr("198.51.100.2")}, {Prefix: prefix("192.0.2.0/24")}})
	b.expect(t, "put route 192.0.2.0/24 vrf 0 to drop\n")

	b.AddInterfaceRoute(0, prefix("198.51.100.0/24"), 7, connected(7))
	b.AddInterfaceRoute(0, prefix("198.51.100.1/32"), 7, entry.Target{Kind: entry.TargetLocal})
	b.expect(t, `put route 198.51.100.0/24 vrf 0 to connected interface 7
put route 198.51.100.1/32 vrf 0 to local
put route 0.0.0.0/0 vrf 0 to neighbor 198.51.100.2 interface 7
`)
	if b.neighbors.wanted[NextHop{Interface: 7, Addr: addr("198.51.100.2")}] != 1 {
		t.Errorf("wanted neighbours %v", b.neighbors.wanted)
	}

	// The interface goes: the route goes first, then the neighbour, then the caller is told.
	b.forwarder.hold = true
	done := 0
	b.DeleteInterfaceRoute(0, prefix("198.51.100.0/24"), 7, connected(7), func() { done++ })
	b.expect(t, `delete route 198.51.100.0/24 vrf 0 cover 0.0.0.0/0 to neighbor 198.51.100.2 interface 7
delete route 0.0.0.0/0 vrf 0
`)
	if done != 0 || len(b.neighbors.wanted) != 1 {
		t.Errorf("before the forwarder's answer: done %d, wanted %v", done, b.neighbors.wanted)
	}
	b.forwarder.pending[0]()
	b.settle()
	if done != 1 || len(b.neighbors.wanted) != 0 {
		t.Errorf("after the forwarder's answer: done %d, wanted %v", done, b.neighbors.wanted)
	}
}

func TestNextHopMustBeReadyForThisWant(t *testing.T) {
	b := newBench(t)
	b.neighbors.hold = true
	b.AddInterfaceRoute(0, prefix("10.0.0.0/24"), 7, connected(7))
	static := []StaticRoute{{Prefix: prefix("192.0.2.0/24"), Gateway: addr("10.0.0.2")}}
	b.SetStatic(0, static)
	b.settle()
	b.SetStatic(0, nil)
	b.settle()
	b.SetStatic(0, static)
	b.settle()
	b.forwarder.take()
	b.neighbors.ready[0]() // late, of the Want that was taken back
	b.expect(t, "")
	b.neighbors.ready[1]()
	b.expect(t, "put route 192.0.2.0/24 vrf 0 to neighbor 10.0.0.2 interface 7\n")
}

func TestSeveralNextHops(t *testing.T) {
	b := newBench(t)
	b.AddInterfaceRoute(0, prefix("10.0.1.0/24"), 8, connected(8))
	b.SetStatic(0, []StaticRoute{
		{Prefix: prefix("192.0.2.0/24"), Gateway: addr("10.0.0.2")}, {Prefix: prefix("192.0.2.0/24"), Gateway: addr("10.0.1.2")},
		{Prefix: prefix("192.0.2.0/24"), Distance: 250},
	})
	b.settle()
	b.forwarder.take()
	b.AddInterfaceRoute(0, prefix("10.0.0.0/24"), 7, connected(7))
	b.expect(t, `put group 3612683592 via 10.0.0.2 interface 7 via 10.0.1.2 interface 8
put route 10.0.0.0/24 vrf 0 to connected interface 7
put route 192.0.2.0/24 vrf 0 to group 3612683592
`)
	// A link that fails costs the group one entry, and its routes nothing.
	b.DeleteInterfaceRoute(0, prefix("10.0.0.0/24"), 7, connected(7), func() {})
	b.expect(t, `put group 3612683592 via 10.0.1.2 interface 8
delete route 10.0.0.0/24 vrf 0
`)
	if len(b.neighbors.wanted) != 1 {
		t.Errorf("wanted %v", b.neighbors.wanted)
	}
	b.AddInterfaceRoute(0, prefix("10.0.0.0/24"), 7, connected(7))
	b.expect(t, `put group 3612683592 via 10.0.0.2 interface 7 via 10.0.1.2 interface 8
put route 10.0.0.0/24 vrf 0 to connected interface 7
`)
	b.DeleteInterfaceRoute(0, prefix("10.0.0.0/24"), 7, connected(7), func() {})
	b.DeleteInterfaceRoute(0, prefix("10.0.1.0/24"), 8, connected(8), func() {})
	b.expect(t, `delete route 10.0.0.0/24 vrf 0
delete route 10.0.1.0/24 vrf 0
put route 192.0.2.0/24 vrf 0 to drop
--
delete group 3612683592
`)
	if len(b.neighbors.wanted) != 0 {
		t.Errorf("still wanted %v", b.neighbors.wanted)
	}
}

func TestSubscribersAndAggregates(t *testing.T) {
	b := newBench(t)
	b.SetAggregates(0, "residential", []netip.Prefix{prefix("10.0.0.0/25"), prefix("10.0.0.128/26")})
	var answers []string
	added := func(err error) { answers = append(answers, fmt.Sprint("added ", err)) }
	deleted := func() { answers = append(answers, "deleted") }
	b.AddSubscriber(0, prefix("10.0.0.5/32"), 1, added)
	b.expect(t, `put route 10.0.0.0/25 vrf 0 to drop
put route 10.0.0.128/26 vrf 0 to drop
put route 10.0.0.5/32 vrf 0 to session 1
`)
	b.DeleteSubscriber(0, prefix("10.0.0.5/32"), 2, deleted) // not the owner
	b.expect(t, "")
	// A newer session takes the address over; the old one's deletion does not touch it.
	b.AddSubscriber(0, prefix("10.0.0.5/32"), 3, added)
	b.DeleteSubscriber(0, prefix("10.0.0.5/32"), 1, deleted)
	b.expect(t, "put route 10.0.0.5/32 vrf 0 to session 3\n")
	b.DeleteSubscriber(0, prefix("10.0.0.5/32"), 3, deleted)
	b.expect(t, "delete route 10.0.0.5/32 vrf 0 cover 10.0.0.0/25 to drop\n")
	b.AddSubscriber(0, prefix("10.0.0.6/32"), 4, added)
	b.DeleteSubscriber(0, prefix("10.0.0.6/32"), 4, deleted)
	b.expect(t, "")
	b.SetAggregates(0, "residential", []netip.Prefix{prefix("10.0.0.128/26")})
	b.expect(t, "delete route 10.0.0.0/25 vrf 0\n")
	want := "added <nil> deleted added <nil> deleted deleted added " + ErrWithdrawn.Error() + " deleted"
	if got := strings.Join(answers, " "); got != want {
		t.Errorf("answers\n%s\nwant\n%s", got, want)
	}
	if n := b.table(0).destinations.len(ipv4); n != 1 {
		t.Errorf("%d destinations left, want 1", n)
	}
}

func TestSubscriberLosesToStatic(t *testing.T) {
	b := newBench(t)
	b.SetStatic(0, []StaticRoute{{Prefix: prefix("10.0.0.5/32")}})
	var err error
	b.AddSubscriber(0, prefix("10.0.0.5/32"), 1, func(e error) { err = e })
	b.expect(t, "put route 10.0.0.5/32 vrf 0 to drop\n")
	if err == nil || !strings.Contains(err.Error(), "a static route is preferred") {
		t.Errorf("error %v", err)
	}
	b.SetStatic(0, nil)
	b.expect(t, "delete route 10.0.0.5/32 vrf 0\n")
}

func TestRefusedRouteIsSetAside(t *testing.T) {
	b := newBench(t)
	b.forwarder.refuse = func(op entry.Op) string {
		if r, ok := op.Entry.(entry.Route); ok && op.Verb == entry.Put && r.Target.Session == 2 {
			return "session 2 does not exist"
		}
		return ""
	}
	answers := map[int]error{}
	for id := 1; id <= 3; id++ {
		b.AddSubscriber(0, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(id)}), 32), entry.SessionID(id), func(err error) { answers[id] = err })
	}
	b.expect(t, `put route 10.0.0.1/32 vrf 0 to session 1
put route 10.0.0.3/32 vrf 0 to session 3
`)
	if len(answers) != 3 || answers[1] != nil || answers[3] != nil || answers[2] == nil {
		t.Errorf("answers %v", answers)
	}
}

func TestFailedBatchIsSentAgain(t *testing.T) {
	b := newBench(t)
	b.forwarder.fail = errors.New("codec")
	done := 0
	b.AddSubscriber(0, prefix("10.0.0.1/32"), 1, func(error) { done++ })
	b.expect(t, "")
	b.clock.Advance(retryDelay)
	b.expect(t, "put route 10.0.0.1/32 vrf 0 to session 1\n")
	if done != 1 {
		t.Errorf("done %d times", done)
	}
}

// TestForwarderAgreesWithLinearModel changes routes at random, with answers late and some routes
// refused, and compares every address with a longest match by linear search over the candidates.
func TestForwarderAgreesWithLinearModel(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		b := newBench(t)
		if seed%3 == 0 {
			b.forwarder.refuse = func(op entry.Op) string {
				if op.Verb == entry.Put && rng.IntN(20) == 0 {
					return "at random"
				}
				return ""
			}
		}
		asked, answered := 0, 0
		for range 300 {
			b.forwarder.hold = rng.IntN(2) == 0
			b.step(rng, func() { asked++ }, func() { answered++ })
			if rng.IntN(3) == 0 {
				b.settle()
			}
			if rng.IntN(4) == 0 {
				b.release(rng.IntN(3))
				b.compare(t, seed)
			}
		}
		b.release(1000)
		b.compare(t, seed)
		if asked != answered {
			t.Fatalf("seed %d: %d answers to %d questions", seed, answered, asked)
		}
	}
}

// step makes one random change.
func (b *bench) step(rng *rand.Rand, asked, answered func()) {
	bits := 20 + rng.IntN(13)
	p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(rng.IntN(256))}), bits).Masked()
	id := 1 + rng.IntN(3)
	target := connected(entry.InterfaceID(id))
	switch rng.IntN(8) {
	case 0:
		b.AddInterfaceRoute(0, p, entry.InterfaceID(id), target)
	case 1:
		asked()
		b.DeleteInterfaceRoute(0, p, entry.InterfaceID(id), target, answered)
	case 2:
		b.SetAggregates(0, fmt.Sprint(id), []netip.Prefix{p})
	case 3:
		var routes []StaticRoute
		for range rng.IntN(4) {
			s := StaticRoute{Prefix: netip.PrefixFrom(p.Addr(), 20+rng.IntN(13)).Masked(), Gateway: addr("10.0.0.9")}
			if rng.IntN(2) == 0 {
				s.Gateway = netip.Addr{}
			}
			routes = append(routes, s)
		}
		b.SetStatic(0, routes)
	case 4, 5:
		asked()
		b.AddSubscriber(0, netip.PrefixFrom(p.Addr(), 32), entry.SessionID(id), func(error) { answered() })
	default:
		asked()
		b.DeleteSubscriber(0, netip.PrefixFrom(p.Addr(), 32), entry.SessionID(id), answered)
	}
}

// release answers pending batches; with settling each may be followed by another, so it is bounded.
func (b *bench) release(n int) {
	b.settle()
	for ; n >= 0 && len(b.forwarder.pending) > 0; n-- {
		answer := b.forwarder.pending[0]
		b.forwarder.pending = b.forwarder.pending[1:]
		answer()
		b.settle()
	}
}

// compare checks every address, when nothing is on its way.
func (b *bench) compare(t *testing.T, seed uint64) {
	t.Helper()
	if b.flight != nil || b.pending() {
		return
	}
	for i, s := range b.forwarder.slots {
		var want entry.Target
		longest := -1
		for p, d := range b.table(0).destinations.all() {
			if best := d.best(); best != nil && p.Bits() > longest && p.Contains(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})) {
				longest, want = p.Bits(), best.leads().target()
			}
		}
		if got := b.forwarder.names[s.target]; got != want || int(s.depth) != longest+1 {
			t.Fatalf("seed %d: 10.0.0.%d leads to %v by /%d, want %v by /%d", seed, i, got, int(s.depth)-1, want, longest)
		}
	}
}

func TestManySubscribersTravelInFewBatches(t *testing.T) {
	b := newBench(t)
	const n = 20_000
	answered := 0
	for i := range n {
		a := netip.AddrFrom4([4]byte{100, 64, byte(i >> 8), byte(i)})
		b.AddSubscriber(0, netip.PrefixFrom(a, 32), entry.SessionID(i+1), func(err error) {
			if err == nil {
				answered++
			}
		})
	}
	b.settle()
	if want := (n + maxBatch - 1) / maxBatch; len(b.forwarder.batches) != want || answered != n {
		t.Errorf("%d batches, %d answers; want %d and %d", len(b.forwarder.batches), answered, want, n)
	}
}

// show asks while the loop is emptied by hand.
func (b *bench) show(t *testing.T, args map[string]string) any {
	t.Helper()
	q := make(chan any, 1)
	go func() {
		answer, err := b.Commands()[0].Run(context.Background(), oper.Call{Args: args})
		if err != nil {
			answer = err
		}
		q <- answer
	}()
	for {
		select {
		case answer := <-q:
			return answer
		default:
			b.settle()
		}
	}
}

func TestShow(t *testing.T) {
	b := newBench(t)
	b.AddInterfaceRoute(0, prefix("198.51.100.0/24"), 7, connected(7))
	b.SetStatic(0, []StaticRoute{
		{Prefix: prefix("0.0.0.0/0"), Gateway: addr("198.51.100.2")}, {Prefix: prefix("0.0.0.0/0"), Gateway: addr("203.0.113.1")},
		{Prefix: prefix("0.0.0.0/0"), Distance: 200},
	})
	b.SetAggregates(0, "residential", []netip.Prefix{prefix("10.0.0.0/24")})
	for i := range 50 {
		b.AddSubscriber(0, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 32), entry.SessionID(i+1), func(error) {})
	}
	b.settle()
	b.clock.Advance(3*time.Hour + 5*time.Minute)
	for _, c := range []struct {
		args map[string]string
		want string
	}{
		{map[string]string{"prefix": "8.8.8.8"}, `S> 0.0.0.0/0 1 via 198.51.100.2 on 7 3h05m active
S 0.0.0.0/0 1 via 203.0.113.1 on  3h05m unresolved
S 0.0.0.0/0 200 via discard on  3h05m backup
1 prefixes`},
		{map[string]string{"prefix": "198.51.100.0/24"}, "C> 198.51.100.0/24 0 via on link on 7 3h05m active\n1 prefixes"},
		{map[string]string{"prefix": "198.51.0.0/16"}, "0 prefixes"},
		{map[string]string{"limit": "2"}, `S> 0.0.0.0/0 1 via 198.51.100.2 on 7 3h05m active
S 0.0.0.0/0 1 via 203.0.113.1 on  3h05m unresolved
S 0.0.0.0/0 200 via discard on  3h05m backup
A> 10.0.0.0/24 254 via discard (residential) on  3h05m active
the first 2 of 53 prefixes; 'limit' shows more, 'summary' counts`},
		{map[string]string{"source": "connected"}, "C> 198.51.100.0/24 0 via on link on 7 3h05m active\n1 prefixes"},
		{map[string]string{"source": "bgp"}, "0 prefixes"},
		{map[string]string{"source": "subscriber", "limit": "1"}, "U> 10.0.0.0/32 2 via session 1 on  3h05m active\nthe first 1 of 50 prefixes; 'limit' shows more, 'summary' counts"},
	} {
		table, ok := b.show(t, c.args).(oper.Table[RouteRow])
		if !ok {
			t.Fatalf("%v: no table", c.args)
		}
		var got strings.Builder
		for _, r := range table.Rows {
			fmt.Fprintf(&got, "%s %s %d via %s on %s %s %s\n", r.Code, r.Prefix, r.Distance, r.Via, r.Interface, r.Age, r.State)
		}
		got.WriteString(table.Summary)
		if got.String() != c.want {
			t.Errorf("show ip route %v\n%s\nwant\n%s", c.args, got.String(), c.want)
		}
	}
	summary := b.show(t, map[string]string{"summary": "true"}).(oper.Table[SummaryRow])
	if summary.Summary != "53 prefixes, 54 routes, 53 active" {
		t.Errorf("summary %q %v", summary.Summary, summary.Rows)
	}
}
