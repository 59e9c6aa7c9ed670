package node

import (
	"vbng/forwarding/counter"
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
)

const (
	sourceNoIPv4 = iota
	sourceMismatch
)

// sourceCheck lets a subscriber send from its own addresses only (RFC 2827).
func sourceCheck() graph.Spec {
	return graph.Spec{
		Name: nameSource, Arc: arcSubscriberIn, Slot: "source-check",
		Edges:   []string{graph.Continue},
		Reasons: []string{"no-ipv4-yet", "source-not-assigned"},
		Process: sourceCheckProcess,
	}
}

func sourceCheckProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, sessions := &w.Packets, w.Tables.Sessions
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		s := &sessions[c.Session[i]].Up
		if s.Flags&(table.SessionIPv4|table.SessionSourceAny) != table.SessionIPv4 || s.IPv4 != c.Source[i] {
			if reason, bad := badSource(w, s, i); bad {
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

// badSource judges what is not simply the session's address: a prefix that is routed to the session is
// the session's as well.
func badSource(w *graph.Worker, s *table.SessionUp, i uint8) (graph.Reason, bool) {
	c := &w.Packets
	switch {
	case s.Flags&table.SessionSourceAny != 0:
		return 0, false
	case s.Flags&table.SessionIPv4 == 0:
		return sourceNoIPv4, true
	case s.IPv4 == c.Source[i]:
		return 0, false
	}
	v := w.Tables.VRFs[s.VRF].Load()
	if v != nil && v.FIB.Lookup(c.Source[i]) == table.NewTarget(table.KindSession, c.Session[i]) {
		return 0, false
	}
	return sourceMismatch, true
}

// counters returns the worker's counters. It is there for its type: the compiler inlines methods of a package
// only where that package is imported, and the calls took 2 % of the time downstream, 3 % upstream.
func counters(w *graph.Worker) *counter.Worker { return w.Count }

// subscriberCount counts what a subscriber sends: inner IP packets and bytes.
// Both families count on the same counters of the session; each arc has its member.
func subscriberCount(name, arc string) graph.Spec {
	return graph.Spec{
		Name: name, Arc: arc, Slot: "count",
		Edges:   []string{graph.Continue},
		Process: subscriberCountProcess,
	}
}

func subscriberCountProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, count := &w.Packets, counters(w)
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		count.Input(c.Session[i], c.Length[i])
	}
	w.Pass(n, 0, l)
}
