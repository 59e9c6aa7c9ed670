package rib

import (
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
)

// NextHop is a neighbour that a route leads to.
type NextHop struct {
	Interface entry.InterfaceID
	Addr      netip.Addr
}

// recursion is a route's next hops: as they were given, and those that are resolved, in the same
// order. The first ready one is installed.
type recursion struct {
	destination *destination // of the route
	gateways    []netip.Addr
	hops        []*hop
}

// hop is a neighbour entry that we hold. It lives while a route is resolved to it or the forwarder
// holds a route that leads there.
type hop struct {
	key        hopKey
	ready      bool // the forwarder has been given the neighbour entry
	references int
}

type hopKey = NextHop

// resolve returns the neighbour through which a gateway is reached: it must lie on a connected
// prefix. (Resolution through routes of other sources would continue here with their next hops.)
func (t *table) resolve(gateway netip.Addr) (h NextHop, ok bool) {
	t.destinations.covering(gateway, gateway.BitLen(), func(_ netip.Prefix, d *destination) bool {
		for _, rt := range d.routes {
			if rt.source == Connected && rt.target.Kind == entry.TargetConnected {
				h, ok = NextHop{Interface: rt.target.Interface, Addr: gateway}, true
				return false
			}
		}
		return true
	})
	return h, ok
}

// resolveAll looks again at every recursive route of the table.
func (r *RIB) resolveAll(t *table) {
	for _, rt := range t.recursive {
		r.resolveRoute(rt)
	}
}

// resolveRoute finds a route's next hops and takes the neighbour entries it needs before it gives
// back those it needed.
func (r *RIB) resolveRoute(rt *route) {
	var hops []*hop
	for _, g := range rt.via.gateways {
		if key, ok := rt.via.destination.table.resolve(g); ok {
			hops = append(hops, r.take(key))
		}
	}
	before := rt.via.hops
	rt.via.hops = hops
	for _, h := range before {
		r.release(h)
	}
	if !slices.Equal(before, hops) {
		// A next hop that changed is a new route for the forwarder: what it refused before may pass.
		rt.refused = ""
	}
	r.retarget(rt)
}

// retarget points a recursive route at its first ready next hop.
func (r *RIB) retarget(rt *route) {
	var target entry.Target
	if h := rt.via.first(); h != nil {
		target = entry.Target{Kind: entry.TargetNeighbor, Interface: h.key.Interface, Addr: h.key.Addr}
	}
	if rt.target != target {
		rt.target = target
		r.mark(rt.via.destination)
	}
}

// first returns the first ready next hop, nil when there is none.
func (v *recursion) first() *hop {
	if v == nil {
		return nil
	}
	for _, h := range v.hops {
		if h.ready {
			return h
		}
	}
	return nil
}

// forget gives back what a removed recursive route holds.
func (r *RIB) forget(t *table, rt *route) {
	t.recursive = slices.DeleteFunc(t.recursive, func(x *route) bool { return x == rt })
	for _, h := range rt.via.hops {
		r.release(h)
	}
	rt.via.hops = nil
}

func (r *RIB) take(key hopKey) *hop {
	h, ok := r.hops[key]
	if !ok {
		h = &hop{key: key}
		r.hops[key] = h
		r.neighbors.Want(key.Interface, key.Addr, func() { r.loop.Post(hopReady{h}) })
	}
	h.references++
	return h
}

// release gives one reference back. h may be nil.
func (r *RIB) release(h *hop) {
	if h == nil {
		return
	}
	if h.references--; h.references == 0 {
		delete(r.hops, h.key)
		r.neighbors.Unwant(h.key.Interface, h.key.Addr)
	}
}

// hopReady tells that a neighbour entry stands. It is for this very hop: one that was given back and
// taken again meanwhile is another.
type hopReady struct{ hop *hop }

func (m hopReady) handle(r *RIB) {
	m.hop.ready = true
	for _, t := range r.tables {
		for _, rt := range t.recursive {
			if slices.Contains(rt.via.hops, m.hop) {
				r.retarget(rt)
			}
		}
	}
}
