package node

import (
	"vbng/forwarding/entry"
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
)

const verifyFailed = 0

// ip4Verify checks the reverse path of packets from interfaces that want it (RFC 3704): strictly, the source's route must
// lead out of the interface (section 2.2), by any member of a group; loosely, there must be a route (section 2.4), of
// which the default route is one, as that section says. A route that discards is none in either case, and nobody
// sends from our own addresses.
func ip4Verify() graph.Spec {
	return graph.Spec{
		Name:    nameVerify,
		Edges:   []string{nameLookup},
		Reasons: []string{"reverse-path"},
		Process: ip4VerifyProcess,
	}
}

func ip4VerifyProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c := &w.Packets
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		v := w.Tables.VRFs[c.VRF[i]].Load()
		if v == nil || !reverseOK(w, v.FIB.Lookup(c.Source[i]), i) {
			w.Drop(n, verifyFailed, slot)
			continue
		}
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Pass(n, 0, l)
}

// ip6Verify is ip4Verify for IPv6. A link-local source is right on every link, and gets no further than to us.
func ip6Verify() graph.Spec {
	return graph.Spec{
		Name:    nameVerify6,
		Edges:   []string{nameLookup6},
		Reasons: []string{"reverse-path"},
		Process: ip6VerifyProcess,
	}
}

func ip6VerifyProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		if c.Flags[i]&packet.FlagLinkScope == 0 {
			v := w.Tables.VRFs[c.VRF[i]].Load()
			source := table.ReadAddress6((*[16]byte)(memory[c.Offset[i]+8:]))
			if v == nil || !reverseOK(w, v.FIB6.Lookup(source), i) {
				w.Drop(n, verifyFailed, slot)
				continue
			}
		}
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Pass(n, 0, l)
}

// reverseOK judges the target of a packet's source.
func reverseOK(w *graph.Worker, t table.Target, i uint8) bool {
	on := w.Packets.Interface[i]
	known := w.Tables.Interfaces[on].Load()
	if known == nil {
		return false
	}
	switch t.Kind() {
	case table.KindNone, table.KindDrop, table.KindLocal:
		return false
	}
	return known.Verify == entry.VerifyLoose || leadsOut(w, t, on)
}

// leadsOut reports a target behind an interface.
func leadsOut(w *graph.Worker, t table.Target, interfaceSlot uint32) bool {
	switch t.Kind() {
	case table.KindConnected:
		return t.Index() == interfaceSlot
	case table.KindNeighbor:
		next := w.Tables.Adjacencies[t.Index()].Load()
		return next != nil && next.Interface == interfaceSlot
	case table.KindGroup:
		g := w.Tables.HopGroups[t.Index()].Load()
		if g == nil {
			return false
		}
		for _, hop := range g.Targets[:g.Count] {
			if hop.Kind() != table.KindGroup && leadsOut(w, hop, interfaceSlot) {
				return true
			}
		}
	}
	return false
}
