package forwarding

import (
	"fmt"

	"vbng/forwarding/entry"
	"vbng/forwarding/table"
)

func (e *Engine) planLocal(x *entry.Local, s *step) string {
	d := e.directory
	on, reason := d.addressable(x.Interface)
	if reason != "" {
		return fmt.Sprintf("local address %v: %s", x.Addr, reason)
	}
	key := localKey{x.Interface, x.Addr}
	if l, there := d.locals[key]; there {
		before := l.generation
		l.generation = d.generation
		s.undo = func() { l.generation = before }
		return ""
	}
	if limit := table.LocalsPerInterface * d.limits.Interfaces; len(d.locals) >= limit {
		return fmt.Sprintf("limit of %d local addresses is reached", limit)
	}
	d.locals[key] = &localInfo{entry: *x, on: on, generation: d.generation}
	d.hold(entry.KindInterface, on.slot)
	s.action, s.slot = add, on.slot
	s.undo = func() {
		delete(d.locals, key)
		d.release(entry.KindInterface, on.slot)
	}
	return ""
}

func (d *directory) addressable(id entry.InterfaceID) (*interfaceInfo, string) {
	on, ok := d.interfaces[id]
	if !ok {
		return nil, fmt.Sprintf("interface %d is not there", id)
	}
	return on, ""
}

func (e *Engine) planLocalGone(x *entry.Local, s *step) string {
	d := e.directory
	key := localKey{x.Interface, x.Addr}
	l, there := d.locals[key]
	if !there {
		return fmt.Sprintf("local address %v on interface %d is not there", x.Addr, x.Interface)
	}
	delete(d.locals, key)
	d.release(entry.KindInterface, l.on.slot)
	s.action, s.slot = remove, l.on.slot
	s.undo = func() {
		d.locals[key] = l
		d.hold(entry.KindInterface, l.on.slot)
	}
	return ""
}

func (e *Engine) planNeighbor(x *entry.Neighbor, s *step) string {
	d := e.directory
	on, reason := d.addressable(x.Interface)
	if reason != "" {
		return fmt.Sprintf("neighbor %v: %s", x.Addr, reason)
	}
	if x.Resolved && x.MAC[0]&1 != 0 {
		return fmt.Sprintf("neighbor %v: MAC address is multicast", x.Addr)
	}
	key := localKey{x.Interface, x.Addr}
	if n, there := d.neighbors[key]; there {
		old := *n
		s.action, s.slot, s.info = differs(n.entry != *x), n.slot, n
		n.entry, n.generation = *x, d.generation
		s.undo = func() { *n = old }
		return ""
	}
	slot, ok := d.free[entry.KindNeighbor].take()
	if !ok {
		return d.full(entry.KindNeighbor, "neighbors")
	}
	n := &neighborInfo{entry: *x, on: on, slot: slot, generation: d.generation}
	d.neighbors[key] = n
	d.hold(entry.KindInterface, on.slot)
	s.action, s.slot, s.info = add, slot, n
	s.undo = func() {
		delete(d.neighbors, key)
		d.release(entry.KindInterface, on.slot)
		d.free[entry.KindNeighbor].give(slot)
	}
	return ""
}

func (e *Engine) planNeighborGone(x *entry.Neighbor, s *step) string {
	d := e.directory
	key := localKey{x.Interface, x.Addr}
	n, there := d.neighbors[key]
	if !there {
		return fmt.Sprintf("neighbor %v on interface %d is not there", x.Addr, x.Interface)
	}
	if reason := d.inUse(entry.KindNeighbor, n.slot, fmt.Sprintf("neighbor %v", x.Addr)); reason != "" {
		return reason
	}
	delete(d.neighbors, key)
	d.release(entry.KindInterface, n.on.slot)
	d.free[entry.KindNeighbor].rest(n.slot)
	s.action, s.slot = remove, n.slot
	s.undo = func() {
		d.neighbors[key] = n
		d.hold(entry.KindInterface, n.on.slot)
		d.free[entry.KindNeighbor].unrest()
	}
	return ""
}

func (e *Engine) planPolicer(x *entry.Policer, s *step) string {
	p := &e.directory.policers[x.Class]
	old := *p
	s.action = differs(!p.set || p.entry != *x)
	*p = policerInfo{entry: *x, generation: e.directory.generation, set: true}
	s.undo = func() { *p = old }
	return ""
}

func (e *Engine) planPolicerGone(x *entry.Policer, s *step) string {
	p := &e.directory.policers[x.Class]
	if !p.set {
		return fmt.Sprintf("policer of %v is not there", x.Class)
	}
	old := *p
	s.action = remove
	*p = policerInfo{}
	s.undo = func() { *p = old }
	return ""
}
