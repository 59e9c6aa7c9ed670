package rib

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"

	"vbng/forwarding/entry"
)

// NextHop is a neighbour that a route leads to.
type NextHop = entry.Hop

// nexthops is a set of next hops that routes share: a hundred thousand routes of BGP have few of them.
type nexthops struct {
	table    *table
	key      string
	gateways []*gateway // as the route has them
	users    []*route
	reached  reach   // of all of them, hops in order
	bundle   *bundle // of the hops, nil: none
	dirty    bool
	cut      bool // the hops are more than a group takes
}

// leads returns where a route with these next hops leads.
func (s *nexthops) leads() leads {
	switch b := s.bundle; {
	case b == nil && s.reached.drop:
		return leads{kind: entry.TargetDrop}
	case b == nil || b.ready == 0:
		return leads{}
	case b.group != 0:
		return leads{kind: entry.TargetGroup, via: b}
	default:
		return leads{kind: entry.TargetNeighbor, via: b}
	}
}

// nextHops returns the table's set of these next hops. It lives while a route uses it; one that is not
// used in the end must be given to r.unused.
func (r *RIB) nextHops(t *table, keys []gatewayKey) *nexthops {
	id := keyOfGateways(keys)
	s, ok := t.sets[id]
	if !ok {
		s = &nexthops{table: t, key: id, dirty: true}
		for _, k := range keys {
			g := r.takeGateway(t, k)
			g.sets = append(g.sets, s)
			s.gateways = append(s.gateways, g)
		}
		t.sets[id] = s
		r.newSets = append(r.newSets, s)
	}
	return s
}

func keyOfGateways(keys []gatewayKey) string {
	var b []byte
	for _, k := range keys {
		a := k.addr.As16()
		b = append(b, byte(k.addr.BitLen()), 0)
		if k.byDefault {
			b[len(b)-1] = 1
		}
		b = binary.BigEndian.AppendUint32(append(b, a[:]...), uint32(k.iface))
	}
	return string(b)
}

// gatewayOf reads a next hop; a link-local one has the number of its interface as zone.
func gatewayOf(a netip.Addr, i entry.InterfaceID, byDefault bool) gatewayKey {
	if zone := a.Zone(); zone != "" && i == 0 {
		if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
			i = entry.InterfaceID(n)
		}
	}
	return gatewayKey{addr: a.WithZone(""), iface: i, byDefault: byDefault && i == 0}
}

func compareGateways(a, b gatewayKey) int {
	return cmp.Or(a.addr.Compare(b.addr), cmp.Compare(a.iface, b.iface))
}

// add makes a route one of the set's.
func (s *nexthops) add(rt *route) {
	rt.user = uint32(len(s.users))
	s.users = append(s.users, rt)
}

// leave takes a route out of its set.
func (r *RIB) leave(rt *route) {
	s := rt.via
	last := len(s.users) - 1
	s.users[rt.user] = s.users[last]
	s.users[rt.user].user = rt.user
	s.users[last] = nil
	s.users = s.users[:last]
	r.unused(s)
}

// unused forgets a set that has no route.
func (r *RIB) unused(s *nexthops) {
	if len(s.users) > 0 || s.table.sets[s.key] != s {
		return
	}
	delete(s.table.sets, s.key)
	for _, g := range s.gateways {
		g.sets = slices.DeleteFunc(g.sets, func(x *nexthops) bool { return x == s })
		r.releaseGateway(g)
	}
	r.move(s, nil)
}

// settleSets looks where sets lead now.
func (r *RIB) settleSets(sets []*nexthops) {
	before := make([]leads, len(sets))
	for i, s := range sets {
		before[i] = s.leads()
		s.dirty, s.reached = false, reach{}
		r.joinGateways(s)
		slices.SortFunc(s.reached.hops, compareHops)
	}
	for _, s := range sets {
		if s.bundle != nil && s.bundle.group != 0 && !s.bundle.is(s.reached.hops) {
			r.reshape(s.bundle, s.reached.hops)
		}
	}
	for i, s := range sets {
		switch {
		case s.table.sets[s.key] != s: // gone meanwhile
		case len(s.reached.hops) == 0:
			r.move(s, nil)
		case s.bundle == nil || !s.bundle.is(s.reached.hops):
			r.move(s, r.bundleOf(s.reached.hops))
		}
		if s.leads() != before[i] {
			r.markUsers(s)
		}
	}
}

// joinGateways collects where a set leads.
func (r *RIB) joinGateways(s *nexthops) {
	cut := false
	for _, g := range s.gateways {
		if !s.reached.join(g.reached) {
			cut = true
		}
	}
	if cut && !s.cut {
		r.log.Warn("next hops of a route are resolved in part only", "vrf", s.table.vrf, "next-hops", len(s.gateways), "first", s.gateways[0].key.addr,
			"reason", tooManyHops, "most", entry.MaxHops)
	}
	s.cut = cut
}

func compareHops(a, b NextHop) int {
	return cmp.Or(cmp.Compare(a.Interface, b.Interface), a.Addr.Compare(b.Addr))
}

// markUsers notes that the routes of a set lead elsewhere, or again, or no more.
func (r *RIB) markUsers(s *nexthops) {
	for _, rt := range s.users {
		// What the forwarder refused before may pass now.
		r.unrefuse(rt)
		r.mark(rt.destination, rt.urgent())
	}
}

// move points a set at another bundle, nil for none.
func (r *RIB) move(s *nexthops, b *bundle) {
	if old := s.bundle; old != nil {
		old.sets = slices.DeleteFunc(old.sets, func(x *nexthops) bool { return x == s })
		defer r.release(old)
	}
	s.bundle = b
	if b != nil {
		b.references++
		b.sets = append(b.sets, s)
	}
}
