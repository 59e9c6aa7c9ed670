package rib

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/forwarding/entry"
)

// plane is a forwarder that keeps routes and groups by key and refuses what refers to nothing.
type plane struct {
	t         *testing.T
	neighbors *adjacencies
	routes    map[entry.Key]entry.Route
	groups    map[entry.GroupID]entry.Group
	pending   []func()
	hold      bool
	refuse    func(entry.Op) string
	fail      error
	puts      int
}

func (p *plane) Inject(entry.PortID, []byte) bool { return true }

func (p *plane) Apply(b *entry.Batch, done func(entry.Result)) {
	var res entry.Result
	res.Err, p.fail = p.fail, nil
	for i, op := range b.Ops {
		if p.refuse != nil && res.Err == nil {
			if reason := p.refuse(op); reason != "" {
				res.Err = &entry.Refused{Op: i, Reason: reason}
			}
		}
	}
	if res.Err == nil {
		for _, op := range b.Ops {
			p.apply(op)
		}
		p.check()
	}
	p.pending = append(p.pending, func() { done(res) })
	if !p.hold {
		p.release(len(p.pending))
	}
}

func (p *plane) release(n int) {
	for ; n > 0 && len(p.pending) > 0; n-- {
		answer := p.pending[0]
		p.pending = p.pending[1:]
		answer()
	}
}

func (p *plane) apply(op entry.Op) {
	p.puts++
	switch e := op.Entry.(type) {
	case entry.Group:
		if op.Verb == entry.Delete {
			if _, ok := p.groups[e.ID]; !ok {
				p.t.Errorf("delete of group %d that is not there", e.ID)
			}
			delete(p.groups, e.ID)
			return
		}
		p.groups[e.ID] = e
	case entry.Route:
		if op.Verb == entry.Delete {
			if _, ok := p.routes[entry.KeyOf(e)]; !ok {
				p.t.Errorf("delete of route %v that is not there", e.Prefix)
			}
			delete(p.routes, entry.KeyOf(e))
			return
		}
		if e.Target.Kind == entry.TargetGroup && p.groups[e.Target.Group].Count == 0 {
			p.t.Errorf("route %v leads to group %d before it is there", e.Prefix, e.Target.Group)
		}
		p.routes[entry.KeyOf(e)] = e
	}
}

// check tells whether everything stands on something.
func (p *plane) check() {
	p.t.Helper()
	for _, r := range p.routes {
		for _, h := range p.hops(r.Target) {
			if p.neighbors.wanted[h] == 0 {
				p.t.Errorf("route %v leads to %v, which nobody wants", r.Prefix, h)
			}
		}
	}
}

// hops returns where a target leads in the end.
func (p *plane) hops(t entry.Target) []NextHop {
	switch t.Kind {
	case entry.TargetNeighbor:
		return []NextHop{{Interface: t.Interface, Addr: t.Addr}}
	case entry.TargetGroup:
		g := p.groups[t.Group]
		if g.Count == 0 {
			p.t.Errorf("group %d is not there", t.Group)
		}
		return slices.Clone(g.Hops[:g.Count])
	}
	return nil
}

func newPlane(t *testing.T) (*RIB, *plane, *clock.Fake) {
	c := clock.NewFake(time.Unix(1000, 0))
	p := &plane{t: t, neighbors: &adjacencies{wanted: map[NextHop]int{}}, routes: map[entry.Key]entry.Route{}, groups: map[entry.GroupID]entry.Group{}}
	r := New(Options{Clock: c, Programmer: p, Log: slog.New(slog.DiscardHandler)})
	r.Bind(p.neighbors)
	return r, p, c
}

// candidate is a route as the model has it.
type candidate struct {
	prefix   netip.Prefix
	source   Source
	distance uint8
	iface    entry.InterfaceID // Connected
	next     []netip.Addr      // none: drop
}

// model is routes in no structure.
type model struct{ routes []*candidate }

func (m *model) remove(match func(*candidate) bool) { m.routes = slices.DeleteFunc(m.routes, match) }

func (m *model) put(c *candidate) {
	m.remove(func(o *candidate) bool {
		return o.prefix == c.prefix && o.source == c.source && o.iface == c.iface && (c.source != Static || o.distance == c.distance)
	})
	m.routes = append(m.routes, c)
}

// over returns what covers an address, the longest first, and of each prefix the best first. Connected
// routes of one prefix are made at different times by the test, the newer one is better.
func (m *model) over(a netip.Addr) []*candidate {
	var found []*candidate
	for i := len(m.routes) - 1; i >= 0; i-- {
		if m.routes[i].prefix.Contains(a) {
			found = append(found, m.routes[i])
		}
	}
	slices.SortStableFunc(found, func(x, y *candidate) int {
		return cmp.Or(y.prefix.Bits()-x.prefix.Bits(), int(x.distance)-int(y.distance), int(x.source)-int(y.source))
	})
	return found
}

// resolve is the definition: the longest prefix with a usable route; what leads through itself leads nowhere.
func (m *model) resolve(a netip.Addr, byDefault bool, stack []*candidate) (hops []NextHop, drop bool) {
	for _, c := range m.over(a) {
		switch {
		case c.prefix.Bits() == 0 && !byDefault:
			return nil, false
		case c.source == Connected:
			return []NextHop{{Interface: c.iface, Addr: a}}, false
		case len(c.next) == 0:
			return nil, c.source == Static
		case slices.Contains(stack, c) || len(stack) == maxRecursion:
			return nil, false
		}
		if hops, drop = m.way(c, slices.Concat(stack, []*candidate{c})); len(hops) > 0 || drop {
			return hops, drop
		}
	}
	return nil, false
}

func (m *model) way(c *candidate, stack []*candidate) (hops []NextHop, drop bool) {
	for _, a := range c.next {
		h, d := m.resolve(a, c.source == BGP, stack)
		drop = drop || d
		hops = append(hops, h...)
	}
	slices.SortFunc(hops, compareHops)
	return slices.Compact(hops), drop
}

// best returns the best usable route of a prefix as text, and its source.
func (m *model) best(p netip.Prefix) (text string, source Source) {
	for _, c := range m.over(p.Addr()) {
		if c.prefix != p {
			continue
		}
		switch {
		case c.source == Connected:
			return fmt.Sprintf("connected %d", c.iface), c.source
		case len(c.next) == 0:
			return "drop", c.source
		}
		// A route may stand in its own way: its next hops are resolved like anybody's.
		switch hops, drop := m.way(c, nil); {
		case len(hops) > 0:
			return fmt.Sprint(hops), c.source
		case drop:
			return "drop", c.source
		}
	}
	return "", 0
}

func (p *plane) text(prefix netip.Prefix) string {
	r, ok := p.routes[entry.KeyOf(entry.Route{Prefix: prefix})]
	switch {
	case !ok:
		return ""
	case r.Target.Kind == entry.TargetConnected:
		return fmt.Sprintf("connected %d", r.Target.Interface)
	case r.Target.Kind == entry.TargetDrop:
		return "drop"
	}
	return fmt.Sprint(p.hops(r.Target))
}

// TestRoutesAgreeWithModel changes connected, static and BGP routes of a small world at random, so that
// next hops lie in each other's prefixes and in their own, and compares what the forwarder holds.
func TestRoutesAgreeWithModel(t *testing.T) {
	for seed := range uint64(24) {
		for _, six := range []bool{false, true} {
			w := newWorld(t, seed, six)
			for step := range 250 {
				w.step()
				if w.rng.IntN(3) == 0 {
					w.settle()
					w.compare(step)
				}
			}
			w.compare(-1)
			w.clear()
			if t.Failed() {
				t.Fatalf("seed %d six %v", seed, six)
			}
		}
	}
}

type world struct {
	*RIB
	*model
	t         *testing.T
	plane     *plane
	clock     *clock.Fake
	rng       *rand.Rand
	six       bool
	used      map[netip.Prefix]bool
	announced map[netip.Prefix]Source
}

func newWorld(t *testing.T, seed uint64, six bool) *world {
	w := &world{model: &model{}, t: t, rng: rand.New(rand.NewPCG(seed, 2)), six: six, used: map[netip.Prefix]bool{}, announced: map[netip.Prefix]Source{}}
	w.RIB, w.plane, w.clock = newPlane(t)
	w.Watch(0, func(a Announce) {
		if now := w.announced[a.Prefix]; a.Withdrawn && now != a.Source {
			t.Errorf("%v of %v is withdrawn, but it was of %v", a.Prefix, a.Source, now)
		}
		if w.announced[a.Prefix] = a.Source; a.Withdrawn {
			delete(w.announced, a.Prefix)
		}
	})
	switch seed % 4 {
	case 1: // a full table now and then
		w.plane.refuse = func(op entry.Op) string {
			if op.Verb == entry.Put && w.rng.IntN(30) == 0 {
				return "at random"
			}
			return ""
		}
	case 2:
		w.plane.hold = true
	}
	return w
}

// addr returns one of the 64 addresses of the world.
func (w *world) addr(n int) netip.Addr {
	if w.six {
		return netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 15: byte(n)})
	}
	return netip.AddrFrom4([4]byte{10, 0, 0, byte(n)})
}

// prefix returns one of some lengths, the default route among them.
func (w *world) prefix() netip.Prefix {
	a := w.addr(w.rng.IntN(64))
	host := []int{0, 1, 2, 3, 4, 6}[w.rng.IntN(6)]
	p := netip.PrefixFrom(a, a.BitLen()-host).Masked()
	if w.rng.IntN(12) == 0 {
		p = netip.PrefixFrom(a, 0).Masked()
	}
	w.used[p] = true
	return p
}

func (w *world) next(most int) []netip.Addr {
	all := make([]netip.Addr, 1+w.rng.IntN(most))
	for i := range all {
		all[i] = w.addr(w.rng.IntN(64))
	}
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

func (w *world) step() {
	w.clock.Advance(time.Millisecond) // so that the newer of two connected routes is known
	w.plane.fail = nil
	if w.rng.IntN(50) == 0 {
		w.plane.fail = errors.New("lost")
	}
	p, i := w.prefix(), entry.InterfaceID(1+w.rng.IntN(3))
	switch w.rng.IntN(9) {
	case 0:
		w.AddInterfaceRoute(0, p, i, connected(i))
		w.Drain() // at this very time
		w.put(&candidate{prefix: p, source: Connected, iface: i})
	case 1, 2:
		for _, c := range w.routes {
			if c.source == Connected && w.rng.IntN(2) == 0 {
				w.DeleteInterfaceRoute(0, c.prefix, c.iface, connected(c.iface), func() {})
				w.remove(func(o *candidate) bool { return o == c })
				break
			}
		}
	case 3:
		var lines []StaticRoute
		w.remove(func(c *candidate) bool { return c.source == Static })
		for range w.rng.IntN(5) {
			c := &candidate{prefix: w.prefix(), source: Static, distance: 1}
			if w.rng.IntN(5) > 0 {
				c.next = w.next(2)
			}
			for _, a := range c.next {
				lines = append(lines, StaticRoute{Prefix: c.prefix, Gateway: a})
			}
			if len(c.next) == 0 {
				lines = append(lines, StaticRoute{Prefix: c.prefix})
			}
			if slices.ContainsFunc(w.routes, func(o *candidate) bool { return o.source == Static && o.prefix == c.prefix }) {
				lines = lines[:len(lines)-max(1, len(c.next))]
				continue
			}
			w.put(c)
		}
		w.SetStatic(0, lines)
	case 4:
		w.UpdateBGP(0, nil, []netip.Prefix{p})
		w.remove(func(c *candidate) bool { return c.source == BGP && c.prefix == p })
	case 5:
		if w.rng.IntN(10) == 0 {
			w.FlushBGP(0)
			w.remove(func(c *candidate) bool { return c.source == BGP })
		}
	default:
		// Few enough that no resolution is cut short by maxVisits, which the model does not know.
		for n := 0; n < len(w.routes); n++ {
			if c := w.routes[n]; c.source == BGP && len(w.routes) > 10 {
				w.UpdateBGP(0, nil, []netip.Prefix{c.prefix})
				w.remove(func(o *candidate) bool { return o == c })
			}
		}
		c := &candidate{prefix: p, source: BGP, distance: externalBGP, next: w.next(2)}
		path := Path{Prefix: p, NextHops: slices.Clone(c.next)}
		if w.rng.IntN(2) == 0 {
			path.Internal, c.distance = true, internalBGP
		}
		w.UpdateBGP(0, []Path{path}, nil)
		w.put(c)
	}
	if w.rng.IntN(2) == 0 {
		w.Drain()
		w.plane.release(w.rng.IntN(2))
	}
}

// settle lets everything come to rest: answers, pauses, routes that were refused.
func (w *world) settle() {
	refuse := w.plane.refuse
	w.plane.refuse = nil
	for range 20 {
		w.Drain()
		w.plane.release(len(w.plane.pending))
		w.Drain()
		if w.flight == nil && !w.pending() && len(w.refused) == 0 && !w.groupsRefused {
			break
		}
		w.clock.Advance(retryRefused)
	}
	w.plane.refuse = refuse
}

func (w *world) compare(step int) {
	w.t.Helper()
	if step < 0 {
		w.settle()
	}
	for p := range w.used {
		want, source := w.best(p)
		if got := w.plane.text(p); got != want {
			w.t.Errorf("step %d: %v leads to %q, want %q", step, p, got, want)
		}
		if source == BGP {
			source = 0
		}
		if got := w.announced[p]; got != source {
			w.t.Errorf("step %d: %v is announced as %v, want %v", step, p, got, source)
		}
	}
}

// clear takes everything away: nothing may be left anywhere.
func (w *world) clear() {
	w.FlushBGP(0)
	w.SetStatic(0, nil)
	for _, c := range w.routes {
		if c.source == Connected {
			w.DeleteInterfaceRoute(0, c.prefix, c.iface, connected(c.iface), func() {})
		}
	}
	w.settle()
	t := w.table(0)
	held := 0
	for _, h := range t.holders {
		held += len(h)
	}
	left := []int{len(w.plane.routes), len(w.plane.groups), len(w.plane.neighbors.wanted), len(w.hops), len(w.bundles), len(w.ids),
		len(t.gateways), len(t.sets), len(t.links), held, t.destinations.len(ipv4) + t.destinations.len(ipv6),
		t.tracked.len(ipv4) + t.tracked.len(ipv6), len(w.waiting), len(w.refused)}
	if slices.Max(left) > 0 {
		w.t.Errorf("left behind: %v", left)
	}
}
