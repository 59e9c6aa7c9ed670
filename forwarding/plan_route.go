package forwarding

import (
	"fmt"
	"net/netip"

	"vbng/forwarding/entry"
	"vbng/forwarding/table"
)

func (e *Engine) planRoute(x *entry.Route, s *step) string {
	d := e.directory
	vrf, reason := d.routeVRF(x)
	if reason != "" {
		return reason
	}
	target, reason := d.resolve(&x.Target)
	if reason != "" {
		return fmt.Sprintf("route %v: %s", x.Prefix, reason)
	}
	address, length := table.Address4(x.Prefix.Addr()), uint8(x.Prefix.Bits())
	slot, there := d.route(vrf.slot, address, length)
	s.action = keep
	if !there {
		var ok bool
		if slot, ok = d.free[entry.KindRoute].take(); !ok {
			return d.full(entry.KindRoute, "routes")
		}
		s.action = add
		d.routeByPrefix.Insert(routeKey(vrf.slot, address, length), slot)
	} else if d.routes[slot].target != target {
		s.action = change
	}
	s.slot, s.route, s.target, s.vrf = slot, d.routes[slot], target, vrf.slot
	e.bindRoute(slot, routeInfo{
		address: address, length: length, used: true, vrf: vrf.slot, target: target, generation: d.generation,
	})
	return ""
}

func (d *directory) routeVRF(x *entry.Route) (*vrfInfo, string) {
	vrf, ok := d.vrfs[x.VRF]
	if !ok {
		return nil, fmt.Sprintf("route %v: VRF %d is not there", x.Prefix, x.VRF)
	}
	return vrf, ""
}

// resolve turns an entry's target into that of the tables.
func (d *directory) resolve(t *entry.Target) (table.Target, string) {
	switch t.Kind {
	case entry.TargetDrop:
		return table.NewTarget(table.KindDrop, 0), ""
	case entry.TargetLocal:
		return table.NewTarget(table.KindLocal, 0), ""
	case entry.TargetConnected:
		if i, ok := d.interfaces[t.Interface]; ok {
			return table.NewTarget(table.KindConnected, i.slot), ""
		}
		return 0, fmt.Sprintf("interface %d is not there", t.Interface)
	case entry.TargetNeighbor:
		if n, ok := d.neighbors[localKey{t.Interface, t.Addr}]; ok {
			return table.NewTarget(table.KindNeighbor, n.slot), ""
		}
		return 0, fmt.Sprintf("neighbor %v on interface %d is not there", t.Addr, t.Interface)
	case entry.TargetSession:
		if slot, ok := d.session(t.Session); ok {
			return table.NewTarget(table.KindSession, slot), ""
		}
		return 0, fmt.Sprintf("session %d is not there", t.Session)
	case entry.TargetGroup:
		if g, ok := d.groups[t.Group]; ok {
			return table.NewTarget(table.KindGroup, g.slot), ""
		}
		return 0, fmt.Sprintf("group %d is not there", t.Group)
	}
	return 0, "unknown kind of target"
}

// bindRoute replaces what is known of a route's slot, with its references.
func (e *Engine) bindRoute(slot uint32, next routeInfo) {
	d := e.directory
	now := &d.routes[slot]
	if next.used {
		d.hold(entry.KindVRF, next.vrf)
		d.holdTarget(next.target, 1)
	}
	if now.used {
		d.release(entry.KindVRF, now.vrf)
		d.holdTarget(now.target, ^uint32(0))
	}
	*now = next
}

func (e *Engine) planRouteGone(x *entry.Route, s *step) string {
	vrf, reason := e.directory.routeVRF(x)
	if reason != "" {
		return reason
	}
	address, length := table.Address4(x.Prefix.Addr()), uint8(x.Prefix.Bits())
	slot, there := e.directory.route(vrf.slot, address, length)
	if !there {
		return fmt.Sprintf("route %v in VRF %d is not there", x.Prefix, x.VRF)
	}
	s.coverLength, s.target = e.coverOf(x, vrf.slot, address, length)
	e.routeGone(slot, s)
	return ""
}

// coverOf believes the covering prefix that control names if there is one like that, and searches
// otherwise: a wrong one would send packets astray until the next change.
func (e *Engine) coverOf(x *entry.Route, vrf, address uint32, length uint8) (uint8, table.Target) {
	d := e.directory
	if x.Cover.Kind != 0 && x.CoverLength > 0 {
		target, reason := d.resolve(&x.Cover)
		over := netip.PrefixFrom(x.Prefix.Addr(), int(x.CoverLength)).Masked()
		slot, there := d.route(vrf, table.Address4(over.Addr()), x.CoverLength)
		if reason == "" && there && d.routes[slot].target == target {
			return x.CoverLength, target
		}
	}
	return d.cover(vrf, address, length)
}

// routeGone takes a route out of the directory.
func (e *Engine) routeGone(slot uint32, s *step) {
	d := e.directory
	s.action, s.slot, s.route = remove, slot, d.routes[slot]
	forget(d.routeByPrefix, routeKey(s.route.vrf, s.route.address, s.route.length))
	e.bindRoute(slot, routeInfo{})
	d.free[entry.KindRoute].rest(slot)
}

func (e *Engine) undoRoute(s *step) {
	d := e.directory
	switch s.action {
	case add:
		now := d.routes[s.slot]
		forget(d.routeByPrefix, routeKey(now.vrf, now.address, now.length))
		d.free[entry.KindRoute].give(s.slot)
	case remove:
		d.routeByPrefix.Insert(routeKey(s.route.vrf, s.route.address, s.route.length), s.slot)
		d.free[entry.KindRoute].unrest()
	}
	e.bindRoute(s.slot, s.route)
}
