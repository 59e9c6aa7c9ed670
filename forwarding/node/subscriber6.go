package node

import (
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
)

const (
	source6None = iota
	source6Mismatch
)

// sourceCheck6 lets a subscriber send from its own prefixes only (RFC 2827).
func sourceCheck6() graph.Spec {
	return graph.Spec{
		Name: nameSource6, Arc: arcSubscriberIn6, Slot: "source-check",
		Edges:   []string{graph.Continue},
		Reasons: []string{"no-ipv6-yet", "source-not-assigned"},
		Process: sourceCheck6Process,
	}
}

func sourceCheck6Process(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory, sessions := &w.Packets, w.Arena.Memory, w.Tables.Sessions
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		s := &sessions[c.Session[i]].Up
		source := table.ReadAddress6((*[16]byte)(memory[c.Offset[i]+8:]))
		if s.Flags&table.SessionIPv6 == 0 || !s.Owns6(source) {
			if reason, bad := badSource6(w, s, source, i); bad {
				w.Drop(n, reason, slot)
				continue
			}
		}
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Pass(n, 0, l)
}

// badSource6 judges what is not simply of the session's first prefix: what is routed to the session (a delegated
// prefix, an address by IA_NA) is the session's as well.
func badSource6(w *graph.Worker, s *table.SessionUp, source table.Address6, i uint8) (graph.Reason, bool) {
	switch {
	case s.Flags&table.SessionIPv6 == 0:
		return source6None, true
	case s.Flags&table.SessionSourceAny != 0:
		return 0, false
	}
	v := w.Tables.VRFs[s.VRF].Load()
	if v != nil && v.FIB6.Lookup(source) == table.NewTarget(table.KindSession, w.Packets.Session[i]) {
		return 0, false
	}
	return source6Mismatch, true
}
