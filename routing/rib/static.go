package rib

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
)

// StaticRoute is a route that the operator configured. Its next hop is resolved by the longest prefix
// that covers it, whatever the source, the default route excepted; or it lies on the interface given,
// whatever prefix that has.
type StaticRoute struct {
	Prefix    netip.Prefix
	Gateway   netip.Addr        // not valid: blackhole
	Interface entry.InterfaceID // of the gateway, a must if that is link-local; 0: to be found
	Distance  uint8             // 0: the usual one
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
	var stale []*route
	for _, key := range slices.SortedFunc(maps.Keys(t.statics), compareStatics) {
		rt := t.statics[key]
		if gateways, ok := wanted[key]; !ok || !slices.Equal(gateways, rt.gateways()) {
			delete(t.statics, key)
			stale = append(stale, rt)
		}
	}
	for _, key := range order {
		if t.statics[key] == nil {
			t.statics[key] = r.addStatic(t, key, wanted[key])
		}
	}
	// What came in the place of another has taken its next hops already, and is not taken away here.
	for _, rt := range stale {
		r.removeFrom(rt.destination, rt)
	}
}

func compareStatics(a, b staticKey) int {
	return cmp.Or(comparePrefixes(a.prefix, b.prefix), cmp.Compare(a.distance, b.distance))
}

// groupStatics collects the gateways of each route, none for a blackhole, and the routes' order.
func groupStatics(routes []StaticRoute) (order []staticKey, gateways map[staticKey][]gatewayKey) {
	gateways = map[staticKey][]gatewayKey{}
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
			gateways[key] = append(gateways[key], gatewayOf(s.Gateway, s.Interface, false))
		}
	}
	return order, gateways
}

func (r *RIB) addStatic(t *table, key staticKey, gateways []gatewayKey) *route {
	rt := &route{source: Static, distance: key.distance, owner: uint64(key.distance)}
	if len(gateways) == 0 {
		rt.given.kind = entry.TargetDrop
	} else {
		rt.via = r.nextHops(t, gateways)
	}
	r.addTo(t.destination(key.prefix), rt)
	return rt
}

// gateways returns a route's next hops as they were given.
func (rt *route) gateways() []gatewayKey {
	if rt.via == nil {
		return nil
	}
	keys := make([]gatewayKey, len(rt.via.gateways))
	for i, g := range rt.via.gateways {
		keys[i] = g.key
	}
	return keys
}
