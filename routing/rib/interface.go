package rib

import (
	"net/netip"

	"vbng/forwarding/entry"
)

// AddInterfaceRoute adds a route of an interface. What it is follows from the target: Connected (or
// Drop, for an interface without a link) is the interface's prefix, Local an address of ours,
// Neighbor a resolved host, whose neighbour entry must exist until DeleteInterfaceRoute is done.
//
// A connected prefix of link-local addresses is no route, for every interface has the same. It only
// tells that next hops of this family that name the interface are reached.
func (r *RIB) AddInterfaceRoute(vrf entry.VRFID, prefix netip.Prefix, i entry.InterfaceID, target entry.Target) {
	r.loop.Post(addInterface{addRoute{vrf: vrf, prefix: prefix.Masked(), route: &route{
		source: interfaceSource(target.Kind), owner: uint64(i), given: leadsTo(target),
	}}})
}

// DeleteInterfaceRoute takes it back. done is called once, when no entry of the forwarder refers to
// the interface or the neighbour on account of this route; next hops that were resolved by it have
// their own neighbour entries (see Neighbors).
func (r *RIB) DeleteInterfaceRoute(vrf entry.VRFID, prefix netip.Prefix, i entry.InterfaceID, target entry.Target, done func()) {
	r.loop.Post(deleteInterface{deleteRoute{vrf: vrf, prefix: prefix.Masked(), source: interfaceSource(target.Kind), owner: uint64(i), done: done}})
}

func interfaceSource(k entry.TargetKind) Source {
	switch k {
	case entry.TargetLocal:
		return Local
	case entry.TargetNeighbor:
		return Host
	}
	return Connected
}

type addInterface struct{ addRoute }

func (m addInterface) handle(r *RIB) {
	t := r.table(m.vrf)
	if linkLocal(m.prefix, m.route.source) {
		r.countLink(t, linkOf(m.route.owner, m.prefix), 1)
		return
	}
	d := t.destination(m.prefix)
	replaced := d.find(m.route.source, m.route.owner)
	m.addRoute.handle(r)
	if m.route.given.kind == entry.TargetConnected {
		r.countLink(t, linkOf(m.route.owner, m.prefix), 1)
	}
	if replaced != nil && replaced.given.kind == entry.TargetConnected {
		r.countLink(t, linkOf(m.route.owner, m.prefix), -1)
	}
}

type deleteInterface struct{ deleteRoute }

func (m deleteInterface) handle(r *RIB) {
	t := r.table(m.vrf)
	if linkLocal(m.prefix, m.source) {
		r.countLink(t, linkOf(m.owner, m.prefix), -1)
		m.done()
		return
	}
	rt := t.destination(m.prefix).find(m.source, m.owner)
	m.deleteRoute.handle(r)
	if rt != nil && rt.given.kind == entry.TargetConnected {
		r.countLink(t, linkOf(m.owner, m.prefix), -1)
	}
}

func linkLocal(p netip.Prefix, s Source) bool {
	return s == Connected && p.Addr().IsLinkLocalUnicast() && p.Addr().Is6()
}

func linkOf(i uint64, p netip.Prefix) link {
	return link{entry.InterfaceID(i), familyOf(p.Addr())}
}

// addRoute adds or replaces one candidate.
type addRoute struct {
	vrf    entry.VRFID
	prefix netip.Prefix
	route  *route
	done   func(error) // may be nil
}

func (m addRoute) handle(r *RIB) {
	m.route.distance = m.route.source.Distance()
	d := r.table(m.vrf).destination(m.prefix.Masked())
	r.addTo(d, m.route)
	if m.done != nil {
		r.waiting[d] = append(r.waiting[d], waiter{route: m.route, done: m.done})
	}
}

// deleteRoute takes one candidate away.
type deleteRoute struct {
	vrf    entry.VRFID
	prefix netip.Prefix
	source Source
	owner  uint64
	done   func()
}

func (m deleteRoute) handle(r *RIB) {
	d := r.table(m.vrf).destination(m.prefix.Masked())
	if rt := d.find(m.source, m.owner); rt != nil {
		r.removeFrom(d, rt)
	}
	// Also when there was nothing: an earlier change of this prefix may still be on its way.
	r.mark(d, true)
	r.waiting[d] = append(r.waiting[d], waiter{done: func(error) { m.done() }})
}
