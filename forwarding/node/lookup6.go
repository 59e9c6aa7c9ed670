package node

import (
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

// lookup6Scope follows the reasons of ip4-lookup.
const lookup6Scope = lookupUnknown + 1

// ip6Lookup finds the longest prefix in the packet's VRF and sends the packet on by its target.
func ip6Lookup() graph.Spec {
	return graph.Spec{
		Name:    nameLookup6,
		Edges:   []string{nameLocal6, nameAdjacency, nameSubscriber, nameICMP6},
		Reasons: []string{"no-route", "discard-route", "hop-limit-expired", "unknown-target", "link-local-source"},
		Process: ip6LookupProcess,
	}
}

func ip6LookupProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	w.Tables.Lookup6(c, l)
	if l.N == 0 {
		return
	}
	usual, kept := usualLookupEdge(table.Target(c.Target[l.Slot[0]&slotMask])), 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		kind := table.Target(c.Target[i]).Kind()
		edge := kindEdges[kind]
		if edge == lookupToLocal {
			if kind != table.KindGroup || !balance6(w, i) {
				lookupElse(w, n, kind, slot)
				continue
			}
			edge = lookupToAdjacency
		}
		if c.Flags[i]&packet.FlagLinkScope != 0 {
			w.Drop(n, lookup6Scope, slot)
			continue
		}
		b := (*[wire.IPv6Length + wire.TCPLength]byte)(memory[c.Offset[i]:])
		if c.Flags[i]&packet.FlagLocalOrigin == 0 {
			if b[7] <= 1 { // RFC 8200 section 3
				refuse(w, n, lookupTTL, lookupToError, faultTTL, slot)
				continue
			}
			b[7]--
		}
		if perhapsSYN6(b) {
			clampMSS6(w, i)
		}
		if edge != usual {
			w.Send(n, edge, slot)
			continue
		}
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Pass(n, usual, l)
}

// balance6 replaces a group by the next hop of the packet's flow; false: the group is gone.
func balance6(w *graph.Worker, i uint8) bool {
	c := &w.Packets
	g := w.Tables.HopGroups[table.Target(c.Target[i]).Index()].Load()
	if g == nil {
		return false
	}
	p := wire.IPv6(w.Head(i))
	c.Target[i] = uint32(g.Choose(table.Flow6(p, w.Tables.FlowSeed)))
	return true
}
