package forwarding

import (
	"fmt"

	"vbng/forwarding/entry"
	"vbng/forwarding/table"
)

// groupInfo is a group of next hops, as the tables have it.
type groupInfo struct {
	hops       table.HopGroup
	slot       uint32
	generation uint64
}

func (e *Engine) planGroup(x *entry.Group, s *step) string {
	d := e.directory
	hops, reason := d.resolveHops(x)
	if reason != "" {
		return reason
	}
	if g, there := d.groups[x.ID]; there {
		old := *g
		s.action, s.slot, s.info = differs(g.hops != hops), g.slot, &hops
		d.holdHops(&hops, 1)
		d.holdHops(&old.hops, ^uint32(0))
		g.hops, g.generation = hops, d.generation
		s.undo = func() {
			d.holdHops(&old.hops, 1)
			d.holdHops(&hops, ^uint32(0))
			*g = old
		}
		return ""
	}
	slot, ok := d.free[entry.KindGroup].take()
	if !ok {
		return d.full(entry.KindGroup, "groups of next hops")
	}
	id := x.ID // x is read into again
	d.groups[id] = &groupInfo{hops: hops, slot: slot, generation: d.generation}
	d.holdHops(&hops, 1)
	s.action, s.slot, s.info = add, slot, &hops
	s.undo = func() {
		d.holdHops(&hops, ^uint32(0))
		delete(d.groups, id)
		d.free[entry.KindGroup].give(slot)
	}
	return ""
}

// resolveHops finds the neighbours that a group names.
func (d *directory) resolveHops(x *entry.Group) (hops table.HopGroup, reason string) {
	hops.Count = uint32(x.Count)
	for i, h := range x.Hops[:x.Count] {
		n, ok := d.neighbors[localKey{h.Interface, h.Addr}]
		if !ok {
			return hops, fmt.Sprintf("group %d: neighbor %v on interface %d is not there", x.ID, h.Addr, h.Interface)
		}
		hops.Targets[i] = table.NewTarget(table.KindNeighbor, n.slot)
	}
	return hops, ""
}

func (d *directory) holdHops(hops *table.HopGroup, change uint32) {
	for _, t := range hops.Targets[:hops.Count] {
		d.holdTarget(t, change)
	}
}

func (e *Engine) planGroupGone(x *entry.Group, s *step) string {
	d := e.directory
	g, there := d.groups[x.ID]
	if !there {
		return fmt.Sprintf("group %d is not there", x.ID)
	}
	if reason := d.inUse(entry.KindGroup, g.slot, fmt.Sprintf("group %d", x.ID)); reason != "" {
		return reason
	}
	id := x.ID
	delete(d.groups, id)
	d.holdHops(&g.hops, ^uint32(0))
	d.free[entry.KindGroup].rest(g.slot)
	s.action, s.slot = remove, g.slot
	s.undo = func() {
		d.groups[id] = g
		d.holdHops(&g.hops, 1)
		d.free[entry.KindGroup].unrest()
	}
	return ""
}

// publishGroup gives the workers a group. The one that it replaces lives on for those who have it in hand.
func (e *Engine) publishGroup(s *step) {
	if s.action != keep {
		e.tables.HopGroups[s.slot].Store(s.info.(*table.HopGroup))
	}
}
