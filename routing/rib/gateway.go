package rib

import (
	"fmt"
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
)

const (
	// maxRecursion bounds how many routes a next hop may be resolved through, one behind the other.
	maxRecursion = 8
	// maxVisits bounds the next hops that are looked at to resolve one: only routes made to hurt come near.
	maxVisits = 1024
	// unresolved is longer than any prefix.
	unresolved = 255
)

// tooManyHops is why some neighbours are left out of a route that leads to more than entry.MaxHops.
const tooManyHops = "it leads to more neighbours than packets are spread over"

// gatewayKey is a next hop as a route names it.
type gatewayKey struct {
	addr      netip.Addr // without zone
	iface     entry.InterfaceID
	byDefault bool // a default route may lead there
}

// gateway is a next hop that routes name, however many: it is resolved once. What it depends on is
// noted: the prefixes that cover its address down to length, and the next hops of the routes that it
// was resolved through.
type gateway struct {
	key        gatewayKey
	table      *table
	references int // of sets
	sets       []*nexthops
	reached    reach
	length     int // of the shortest prefix that was looked at
	through    []*gateway
	dependents map[*gateway]struct{}
	dirty      bool   // stands in RIB.dirty
	trouble    string // why the resolution is not whole, empty: it is
}

// reach is where next hops lead to.
type reach struct {
	hops []NextHop
	drop bool // to a discard of the operator; hops go before it
}

func (a reach) usable() bool { return len(a.hops) > 0 || a.drop }

func (a reach) equal(b reach) bool { return a.drop == b.drop && slices.Equal(a.hops, b.hops) }

// link is an interface's half of one family.
type link struct {
	iface  entry.InterfaceID
	family family
}

// takeGateway returns the table's record of a next hop.
func (r *RIB) takeGateway(t *table, key gatewayKey) *gateway {
	g, ok := t.gateways[key]
	if !ok {
		g = &gateway{key: key, table: t, dependents: map[*gateway]struct{}{}}
		t.gateways[key] = g
		at := netip.PrefixFrom(key.addr, key.addr.BitLen())
		there, _ := t.tracked.get(at)
		t.tracked.set(at, append(there, g))
		r.soil(g)
	}
	g.references++
	return g
}

func (r *RIB) releaseGateway(g *gateway) {
	if g.references--; g.references > 0 {
		return
	}
	delete(g.table.gateways, g.key)
	at := netip.PrefixFrom(g.key.addr, g.key.addr.BitLen())
	there, _ := g.table.tracked.get(at)
	if there = slices.DeleteFunc(there, func(x *gateway) bool { return x == g }); len(there) == 0 {
		g.table.tracked.remove(at)
	} else {
		g.table.tracked.set(at, there)
	}
	g.depend(nil)
}

// depend notes the next hops that a resolution looked at.
func (g *gateway) depend(through []*gateway) {
	for _, x := range g.through {
		delete(x.dependents, g)
	}
	for _, x := range through {
		x.dependents[g] = struct{}{}
	}
	g.through = through
}

// soil notes that a next hop must be resolved anew, and with it those that were resolved through it.
func (r *RIB) soil(g *gateway) {
	if g.dirty {
		return
	}
	g.dirty = true
	r.dirty = append(r.dirty, g)
	for x := range g.dependents {
		r.soil(x)
	}
}

// touch soils the next hops whose resolution may change with the candidates of a destination.
func (r *RIB) touch(d *destination) {
	t := d.table
	if len(t.gateways) == 0 {
		return
	}
	for _, there := range t.tracked.within(d.prefix) {
		for _, g := range there {
			if g.key.iface == 0 && d.prefix.Bits() >= g.length {
				r.soil(g)
			}
		}
	}
}

// countLink notes that an interface got or lost a connected prefix.
func (r *RIB) countLink(t *table, l link, by int) {
	before := t.links[l]
	if t.links[l] += by; t.links[l] <= 0 {
		delete(t.links, l)
	}
	if (before > 0) == (t.links[l] > 0) {
		return
	}
	for key, g := range t.gateways {
		if key.iface == l.iface && familyOf(key.addr) == l.family {
			r.soil(g)
		}
	}
}

// resolveDirty resolves what must be, and points the sets at what has changed.
func (r *RIB) resolveDirty() {
	sets, dirty := r.newSets, r.dirty
	r.newSets, r.dirty = nil, nil
	for _, g := range dirty {
		g.dirty, g.length = false, unresolved
	}
	for _, g := range dirty {
		if g.references == 0 || !r.resolve(g) {
			continue
		}
		for _, s := range g.sets {
			if !s.dirty {
				s.dirty = true
				sets = append(sets, s)
			}
		}
	}
	r.settleSets(sets)
}

// resolve finds where the next hop leads and reports whether that is news.
func (r *RIB) resolve(g *gateway) (changed bool) {
	w := walk{table: g.table, from: g}
	answer := w.gateway(g)
	g.depend(w.through)
	if w.trouble != "" && w.trouble != g.trouble {
		r.log.Warn("next hop is resolved in part only", "vrf", g.table.vrf, "next-hop", g.key.addr, "reason", w.trouble)
	}
	g.trouble = w.trouble
	changed = !g.reached.equal(answer)
	g.reached = answer
	return changed
}

// walk is one resolution. The answer follows from the candidates of the table alone, not from what
// was resolved before, so an order of events cannot matter.
type walk struct {
	table   *table
	from    *gateway
	stack   []*route // that lead from the next hop to where we are
	through []*gateway
	visits  int
	trouble string // a bound that was met
}

// gateway follows the longest prefix that has a usable route. A route that would lead through itself
// is not usable for this purpose.
func (w *walk) gateway(g *gateway) reach {
	answer, length := w.longest(g)
	// In another's resolution it may come down to a shorter prefix than in its own.
	g.length = min(g.length, length)
	return answer
}

func (w *walk) longest(g *gateway) (answer reach, length int) {
	w.visits++
	if g != w.from && !slices.Contains(w.through, g) {
		w.through = append(w.through, g)
	}
	if g.key.iface != 0 {
		if w.table.links[link{g.key.iface, familyOf(g.key.addr)}] == 0 {
			return reach{}, 0
		}
		return reach{hops: []NextHop{{Interface: g.key.iface, Addr: g.key.addr}}}, 0
	}
	if g.key.addr.Is6() && g.key.addr.IsLinkLocalUnicast() {
		return reach{}, 0 // which link?
	}
	for p, d := range w.table.destinations.covering(g.key.addr, g.key.addr.BitLen()) {
		if p.Bits() == 0 && !g.key.byDefault {
			break
		}
		for rt := d.routes; rt != nil; rt = rt.next {
			if rt.refused {
				continue
			}
			if answer, final := w.route(rt, g.key.addr); final || answer.usable() {
				return answer, p.Bits()
			}
		}
	}
	return reach{}, 0
}

// route follows one route. final: there is no looking at worse ones, whatever the answer.
func (w *walk) route(rt *route, addr netip.Addr) (answer reach, final bool) {
	if rt.via == nil {
		return rt.reach(addr), true
	}
	switch {
	case slices.Contains(w.stack, rt):
		return reach{}, true
	case len(w.stack) >= maxRecursion:
		w.trouble = fmt.Sprintf("it leads through more than %d routes, one behind the other", maxRecursion)
		return reach{}, true
	case w.visits >= maxVisits:
		w.trouble = fmt.Sprintf("it leads through more than %d next hops", maxVisits)
		return reach{}, true
	}
	w.stack = append(w.stack, rt)
	for _, g := range rt.via.gateways {
		if !answer.join(w.gateway(g)) {
			w.trouble = tooManyHops
		}
	}
	w.stack = w.stack[:len(w.stack)-1]
	return answer, false
}

// reach returns where a route with a given target leads an address. Our own addresses and loopbacks
// are nobody's next hop; neither are subscribers, whose sessions must be able to go at any time.
func (rt *route) reach(addr netip.Addr) reach {
	switch {
	case rt.given.kind == entry.TargetConnected:
		return reach{hops: []NextHop{{Interface: entry.InterfaceID(rt.given.id), Addr: addr}}}
	case rt.given.kind == entry.TargetNeighbor:
		return reach{hops: []NextHop{rt.given.via.hops[0].key}}
	case rt.given.kind == entry.TargetDrop && rt.source == Static:
		return reach{drop: true}
	}
	return reach{}
}

// join adds what another next hop of the same route reaches, and reports whether all of it found room.
func (a *reach) join(b reach) (all bool) {
	a.drop = a.drop || b.drop
	all = true
	for _, h := range b.hops {
		switch {
		case slices.Contains(a.hops, h):
		case len(a.hops) == entry.MaxHops:
			all = false
		default:
			a.hops = append(a.hops, h)
		}
	}
	return all
}
