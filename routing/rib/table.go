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
	// holders are the destinations that have a route of a source; BGP's are too many to be kept twice.
	holders    [numSources]map[*destination]struct{}
	links      map[link]int // connected prefixes of each interface and family
	aggregates map[string]*aggregate
	owners     []string // names of aggregates' owners, by number
	statics    map[staticKey]*route
	gateways   map[gatewayKey]*gateway
	tracked    *prefixes[[]*gateway] // the same by address
	sets       map[string]*nexthops
	watchers   []*watcher
	candidates [numFamilies][numSources]int
	installed  [numFamilies][numSources]int
}

// destination is one prefix: the routes that lead there, and what the forwarder holds. There may be a
// million of them.
type destination struct {
	table     *table
	prefix    netip.Prefix
	routes    *route // best first, linked by next
	installed leads  // zero: nothing
	source    Source // of what is installed
	announced Source // what the watchers know of the prefix, 0: nothing
	changed   queue
}

// route is one candidate of a destination. Source and owner are its key there.
type route struct {
	next        *route
	destination *destination
	owner       uint64        // tells routes of one source apart: interface, session, number of a name
	since       time.Duration // after the RIB's birth
	given       leads         // where it leads, if it has no next hops of its own
	via         *nexthops     // nil: given
	user        uint32        // index in via.users
	metric      uint32
	source      Source
	distance    uint8
	refused     bool // the forwarder did not take it, see RIB.refused
	doomed      bool // it is about to be taken away
}

// leads is where a route leads to, resolved. Equal values mean the same to the forwarder, whatever
// becomes of the members of a group.
type leads struct {
	kind entry.TargetKind // 0: nowhere, not usable
	id   uint64           // interface or session
	via  *bundle          // neighbor or group
}

// target returns what the forwarder is told.
func (l leads) target() entry.Target {
	t := entry.Target{Kind: l.kind}
	switch l.kind {
	case entry.TargetConnected:
		t.Interface = entry.InterfaceID(l.id)
	case entry.TargetSession:
		t.Session = entry.SessionID(l.id)
	case entry.TargetNeighbor:
		t.Interface, t.Addr = l.via.hops[0].key.Interface, l.via.hops[0].key.Addr
	case entry.TargetGroup:
		t.Group = l.via.group
	}
	return t
}

// leadsTo is the reverse for targets that are given as they are.
func leadsTo(t entry.Target) leads {
	switch t.Kind {
	case entry.TargetConnected:
		return leads{kind: t.Kind, id: uint64(t.Interface)}
	case entry.TargetSession:
		return leads{kind: t.Kind, id: uint64(t.Session)}
	case entry.TargetNeighbor:
		h := &hop{key: NextHop{Interface: t.Interface, Addr: t.Addr}, ready: true}
		return leads{kind: t.Kind, via: &bundle{hops: []*hop{h}, given: true}}
	}
	return leads{kind: t.Kind}
}

// same reports whether two ways are one to the forwarder.
func same(a, b leads) bool {
	return a == b || a.kind == b.kind && a.kind == entry.TargetNeighbor && a.via.hops[0].key == b.via.hops[0].key && a.via.given == b.via.given
}

// leads returns where a route leads now.
func (rt *route) leads() leads {
	if rt.via != nil {
		return rt.via.leads()
	}
	return rt.given
}

func (r *RIB) table(vrf entry.VRFID) *table {
	t, ok := r.tables[vrf]
	if !ok {
		t = newTable(vrf)
		r.tables[vrf] = t
	}
	return t
}

func newTable(vrf entry.VRFID) *table {
	t := &table{
		vrf: vrf, destinations: newPrefixes[*destination](), links: map[link]int{},
		aggregates: map[string]*aggregate{}, statics: map[staticKey]*route{},
		gateways: map[gatewayKey]*gateway{}, tracked: newPrefixes[[]*gateway](), sets: map[string]*nexthops{},
	}
	for s := range t.holders {
		t.holders[s] = map[*destination]struct{}{}
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
	if p.Bits() == 0 {
		return 0, entry.Target{}
	}
	for c, d := range t.destinations.covering(p.Addr(), p.Bits()-1) {
		if d.installed.kind != 0 {
			return uint8(c.Bits()), d.installed.target()
		}
	}
	return 0, entry.Target{}
}

func (d *destination) find(s Source, owner uint64) *route {
	for rt := d.routes; rt != nil; rt = rt.next {
		if rt.source == s && rt.owner == owner {
			return rt
		}
	}
	return nil
}

// has reports whether a route is still a candidate.
func (d *destination) has(one *route) bool {
	for rt := d.routes; rt != nil; rt = rt.next {
		if rt == one {
			return true
		}
	}
	return false
}

// best returns the first usable route, nil when there is none.
func (d *destination) best() *route {
	for rt := d.routes; rt != nil; rt = rt.next {
		if !rt.refused && rt.leads().kind != 0 {
			return rt
		}
	}
	return nil
}

// addTo adds a candidate in place of the one with the same key.
func (r *RIB) addTo(d *destination, rt *route) {
	if rt.via != nil {
		rt.via.add(rt) // before the old one leaves: they may share what nobody else uses
	}
	if old := d.find(rt.source, rt.owner); old != nil {
		r.removeFrom(d, old)
	}
	rt.destination, rt.since = d, r.loop.Now().Sub(r.born)
	at := &d.routes
	for *at != nil && compareRoutes(*at, rt) <= 0 {
		at = &(*at).next
	}
	rt.next, *at = *at, rt
	d.table.candidates[familyOf(d.prefix.Addr())][rt.source]++
	r.mark(d, rt.urgent())
	r.touch(d)
	d.hold(rt.source)
	r.interfaceMoved(d, rt)
}

// removeFrom takes a candidate away if it is (still) one. rt may be nil.
func (r *RIB) removeFrom(d *destination, rt *route) {
	if rt == nil {
		return
	}
	at := &d.routes
	for *at != rt {
		if *at == nil {
			return
		}
		at = &(*at).next
	}
	*at, rt.next = rt.next, nil
	delete(r.refused, rt)
	d.table.candidates[familyOf(d.prefix.Addr())][rt.source]--
	r.mark(d, rt.urgent())
	r.touch(d)
	if rt.via != nil {
		r.leave(rt)
	}
	d.hold(rt.source)
	r.interfaceMoved(d, rt)
}

// hold notes whether the destination has a route of a source.
func (d *destination) hold(s Source) {
	switch holders := d.table.holders[s]; {
	case s == BGP:
	case d.hasSource(s):
		holders[d] = struct{}{}
	default:
		delete(holders, d)
	}
}

// interfaceMoved looks at the addresses of ours that may be announced otherwise when a prefix of an
// interface came or went (see announceable).
func (r *RIB) interfaceMoved(d *destination, rt *route) {
	if rt.source != Connected {
		return
	}
	for local := range d.table.holders[Local] {
		if d.prefix.Contains(local.prefix.Addr()) {
			r.mark(local, true)
		}
	}
}

func (d *destination) hasSource(s Source) bool {
	for rt := d.routes; rt != nil; rt = rt.next {
		if rt.source == s {
			return true
		}
	}
	return false
}

// compareRoutes puts the better route first: distance, source, and of the same source the newer one
// (a subscriber's address that moved to a new session).
func compareRoutes(a, b *route) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.source, b.source),
		cmp.Compare(b.since, a.since), cmp.Compare(b.owner, a.owner))
}

// queue tells in which queues of changes a destination stands, and which counts.
type queue uint8

const (
	agreed queue = iota // it agrees with the forwarder, as far as anybody knows
	bulk                // stands in RIB.bulk
	urgent              // stands in RIB.urgent
)

// urgent reports whether a route goes before the many that BGP brings: somebody waits for it.
func (rt *route) urgent() bool { return rt.source != BGP }

// mark notes that a destination may differ from what the forwarder holds.
func (r *RIB) mark(d *destination, first bool) {
	switch {
	case first && d.changed != urgent:
		// It may stand among the others too; there it is passed over when its turn comes.
		d.changed = urgent
		r.urgent = append(r.urgent, d)
	case !first && d.changed == agreed:
		d.changed = bulk
		r.bulk = append(r.bulk, d)
	}
}

// takeChanged returns the next destination to compile, nil when there is none.
func (r *RIB) takeChanged() *destination {
	for _, q := range [...]struct {
		changed *[]*destination
		which   queue
	}{{&r.urgent, urgent}, {&r.bulk, bulk}} {
		for len(*q.changed) > 0 {
			d := (*q.changed)[0]
			(*q.changed)[0] = nil
			if *q.changed = (*q.changed)[1:]; len(*q.changed) == 0 {
				*q.changed = nil
			}
			if d.changed == q.which {
				d.changed = agreed
				return d
			}
		}
	}
	return nil
}

func sortedKeys[V any](m map[netip.Prefix]V) []netip.Prefix {
	keys := make([]netip.Prefix, 0, len(m))
	for p := range m {
		keys = append(keys, p)
	}
	slices.SortFunc(keys, comparePrefixes)
	return keys
}
