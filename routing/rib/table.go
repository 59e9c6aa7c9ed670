package rib

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"vbng/forwarding/entry"
)

// table is the routing table of one VRF.
type table struct {
	vrf          entry.VRFID
	destinations *prefixes[*destination]
	aggregates   map[string][]netip.Prefix
	statics      map[staticKey]*route
	bgp          map[netip.Prefix]*route
	watchers     []*watcher
	recursive    []*route // routes whose next hops must be resolved, in the order of their arrival
	candidates   [numSources]int
	installed    [numSources]int
}

// destination is one prefix: the routes that lead there, and what the forwarder holds.
type destination struct {
	table     *table
	prefix    netip.Prefix
	routes    []*route // best first
	installed installed
	changed   bool     // stands in RIB.changed
	announced Source   // what the watchers know of the prefix, 0: nothing
	waiting   []waiter // answered when the forwarder holds what the routes say
}

// installed is what the forwarder holds for a prefix, or will when the batch in flight is applied.
type installed struct {
	target entry.Target // zero Kind: nothing
	source Source
	hop    *hop // of a recursive route
}

// route is one candidate of a destination. Source and owner are its key there.
type route struct {
	source   Source
	distance uint8
	owner    owner
	since    time.Time
	target   entry.Target // zero Kind: not usable (its next hops are not resolved)
	via      *recursion   // nil: the target is given
	refused  string       // why the forwarder did not take it
}

// owner tells routes of one source apart: an interface or session by number, others by name.
type owner struct {
	id   uint64
	name string
}

// waiter is somebody who waits for a change to be programmed.
type waiter struct {
	route *route // whose programming is waited for; nil: a removal
	done  func(error)
}

func (r *RIB) table(vrf entry.VRFID) *table {
	t, ok := r.tables[vrf]
	if !ok {
		t = &table{
			vrf: vrf, destinations: newPrefixes[*destination](), aggregates: map[string][]netip.Prefix{},
			statics: map[staticKey]*route{}, bgp: map[netip.Prefix]*route{},
		}
		r.tables[vrf] = t
	}
	return t
}

// destination returns the prefix's destination, a new one when there is none.
func (t *table) destination(p netip.Prefix) *destination {
	d, ok := t.destinations.get(p)
	if !ok {
		d = &destination{table: t, prefix: p}
		t.destinations.set(p, d)
	}
	return d
}

// cover returns the longest prefix that covers p in the forwarder, and where it leads there.
func (t *table) cover(p netip.Prefix) (length uint8, target entry.Target) {
	t.destinations.covering(p.Addr(), p.Bits()-1, func(c netip.Prefix, d *destination) bool {
		length, target = uint8(c.Bits()), d.installed.target
		return target.Kind == 0
	})
	if target.Kind == 0 {
		length = 0
	}
	return length, target
}

func (d *destination) find(s Source, o owner) *route {
	for _, rt := range d.routes {
		if rt.source == s && rt.owner == o {
			return rt
		}
	}
	return nil
}

// best returns the first usable route, nil when there is none.
func (d *destination) best() *route {
	for _, rt := range d.routes {
		if rt.target.Kind != 0 && rt.refused == "" {
			return rt
		}
	}
	return nil
}

// addTo adds a candidate in place of the one with the same key.
func (r *RIB) addTo(d *destination, rt *route) {
	if old := d.find(rt.source, rt.owner); old != nil {
		r.removeFrom(d, old)
	}
	rt.since = r.loop.Now()
	d.routes = append(d.routes, rt)
	slices.SortStableFunc(d.routes, compareRoutes)
	d.table.candidates[rt.source]++
	r.mark(d)
	if rt.source == Connected {
		r.resolveAll(d.table)
	}
}

// compareRoutes puts the better route first: distance, source, and of the same source the newer one
// (a subscriber's address that moved to a new session).
func compareRoutes(a, b *route) int {
	switch {
	case a.distance != b.distance:
		return int(a.distance) - int(b.distance)
	case a.source != b.source:
		return int(a.source) - int(b.source)
	case !a.since.Equal(b.since):
		return b.since.Compare(a.since)
	}
	return cmp.Compare(b.owner.id, a.owner.id)
}

// removeFrom takes a candidate away if it is (still) one.
func (r *RIB) removeFrom(d *destination, rt *route) {
	at := slices.Index(d.routes, rt)
	if at < 0 {
		return
	}
	d.routes = slices.Delete(d.routes, at, at+1)
	d.table.candidates[rt.source]--
	r.mark(d)
	if rt.via != nil {
		r.forget(d.table, rt)
	}
	if rt.source == Connected {
		r.resolveAll(d.table)
	}
}

// mark notes that a destination may differ from what the forwarder holds.
func (r *RIB) mark(d *destination) {
	if !d.changed {
		d.changed = true
		r.changed = append(r.changed, d)
	}
}
