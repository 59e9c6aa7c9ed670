package rib

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
)

// StaticRoute is a route that the operator configured.
type StaticRoute struct {
	Prefix   netip.Prefix
	Gateway  netip.Addr // not valid: blackhole
	Distance uint8      // 0: the usual one
}

// staticKey is what makes one route of several lines: same prefix and distance, several next hops.
type staticKey struct {
	prefix   netip.Prefix
	distance uint8
}

// SetStatic says what the operator's routes of a VRF are, in place of what was said before. The
// prefixes must be valid.
func (r *RIB) SetStatic(vrf entry.VRFID, routes []StaticRoute) {
	r.loop.Post(setStatic{vrf: vrf, routes: slices.Clone(routes)})
}

type setStatic struct {
	vrf    entry.VRFID
	routes []StaticRoute
}

func (m setStatic) handle(r *RIB) {
	t := r.table(m.vrf)
	order, wanted := groupStatics(m.routes)
	for _, key := range slices.SortedFunc(maps.Keys(t.statics), compareStatics) {
		rt := t.statics[key]
		if gateways, ok := wanted[key]; !ok || !slices.Equal(gateways, rt.gateways()) {
			r.removeFrom(t.destination(key.prefix), rt)
			delete(t.statics, key)
		}
	}
	for _, key := range order {
		if t.statics[key] == nil {
			t.statics[key] = r.addStatic(t, key, wanted[key])
		}
	}
}

func compareStatics(a, b staticKey) int {
	return cmp.Or(comparePrefixes(a.prefix, b.prefix), cmp.Compare(a.distance, b.distance))
}

// groupStatics collects the gateways of each route, none for a blackhole, and the routes' order.
func groupStatics(routes []StaticRoute) (order []staticKey, gateways map[staticKey][]netip.Addr) {
	gateways = map[staticKey][]netip.Addr{}
	for _, s := range routes {
		key := staticKey{s.Prefix.Masked(), s.Distance}
		if key.distance == 0 {
			key.distance = Static.Distance()
		}
		if _, ok := gateways[key]; !ok {
			order = append(order, key)
			gateways[key] = nil
		}
		if s.Gateway.IsValid() {
			gateways[key] = append(gateways[key], s.Gateway)
		}
	}
	return order, gateways
}

func (r *RIB) addStatic(t *table, key staticKey, gateways []netip.Addr) *route {
	rt := &route{source: Static, distance: key.distance, owner: owner{name: fmt.Sprintf("distance %d", key.distance)}}
	d := t.destination(key.prefix)
	if len(gateways) == 0 {
		rt.target.Kind = entry.TargetDrop
		r.addTo(d, rt)
		return rt
	}
	rt.via = &recursion{destination: d, gateways: gateways}
	r.addTo(d, rt)
	t.recursive = append(t.recursive, rt)
	r.resolveRoute(rt)
	return rt
}

func (rt *route) gateways() []netip.Addr {
	if rt.via == nil {
		return nil
	}
	return rt.via.gateways
}
