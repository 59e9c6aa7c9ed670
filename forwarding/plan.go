package forwarding

import (
	"fmt"

	"vbng/forwarding/entry"
	"vbng/forwarding/table"
)

// action is what a planned step does to the tables.
type action uint8

const (
	keep   action = iota // equal content: nothing but the generation
	add                  // a new entry
	change               // another content under the same key
	remove
)

// step is one op of a batch as it was planned on the directory: what publish needs beyond the op itself,
// and what undo needs.
type step struct {
	kind   entry.Kind
	action action
	slot   uint32

	// Routes: the target, of a removed one the cover's.
	route       routeInfo // before
	target      table.Target
	coverLength uint8
	// Sessions; port and vrf are slots.
	session sessionInfo // before
	key     table.Key
	port    uint32
	vrf     uint32 // of routes as well
	// IPv6 routes.
	is6    bool
	key6   route6Key
	route6 route6Info // before

	// The small kinds: what takes the step back, what the directory keeps of the entry (a pointer; a later
	// step may have changed it), and a copy of what it kept before.
	undo func()
	info any
	gone any
}

// plan decodes a batch and carries it out on the directory. On failure it leaves no trace.
func (e *Engine) plan(encoded []byte) *entry.Refused {
	e.steps = e.steps[:0]
	r := entry.NewReader(encoded)
	for {
		more, err := r.Next(&e.op)
		if err != nil {
			e.undo()
			return refused(len(e.steps), err)
		}
		if !more {
			return nil
		}
		e.steps = append(e.steps, step{kind: e.op.Kind})
		if reason := e.planOp(&e.op, &e.steps[len(e.steps)-1]); reason != "" {
			e.steps = e.steps[:len(e.steps)-1]
			index := len(e.steps)
			e.undo()
			return &entry.Refused{Op: index, Reason: reason}
		}
	}
}

func refused(op int, err error) *entry.Refused {
	if r, ok := err.(*entry.Refused); ok {
		return r
	}
	return &entry.Refused{Op: op, Reason: err.Error()}
}

// planOp plans one op, and returns why it cannot be, without having changed anything.
func (e *Engine) planOp(a *entry.Any, s *step) string {
	put := a.Verb == entry.Put
	switch a.Kind {
	case entry.KindPort:
		return choose(put, e.planPort, e.planPortGone, &a.Port, s)
	case entry.KindVRF:
		return choose(put, e.planVRF, e.planVRFGone, &a.VRF, s)
	case entry.KindInterface:
		return choose(put, e.planInterface, e.planInterfaceGone, &a.Interface, s)
	case entry.KindLocal:
		return choose(put, e.planLocal, e.planLocalGone, &a.Local, s)
	case entry.KindNeighbor:
		return choose(put, e.planNeighbor, e.planNeighborGone, &a.Neighbor, s)
	case entry.KindSession:
		return choose(put, e.planSession, e.planSessionGone, &a.Session, s)
	case entry.KindEcho:
		return choose(put, e.planEcho, e.planEchoGone, &a.Echo, s)
	case entry.KindGroup:
		return choose(put, e.planGroup, e.planGroupGone, &a.Group, s)
	case entry.KindRoute:
		if a.Route.Prefix.Addr().Is6() {
			return choose(put, e.planRoute6, e.planRoute6Gone, &a.Route, s)
		}
		return choose(put, e.planRoute, e.planRouteGone, &a.Route, s)
	case entry.KindPolicer:
		return choose(put, e.planPolicer, e.planPolicerGone, &a.Policer, s)
	case entry.KindCapture:
		return choose(put, e.planCapture, e.planCaptureGone, &a.Capture, s)
	}
	return "unknown kind of entry"
}

func choose[T any](put bool, forPut, forDelete func(*T, *step) string, t *T, s *step) string {
	if put {
		return forPut(t, s)
	}
	return forDelete(t, s)
}

// undo takes all planned steps back, the last one first.
func (e *Engine) undo() {
	for i := len(e.steps) - 1; i >= 0; i-- {
		s := &e.steps[i]
		switch {
		case s.kind == entry.KindSession:
			e.undoSession(s)
		case s.kind == entry.KindEcho:
			e.undoEcho(s)
		case s.kind == entry.KindRoute && s.is6:
			e.undoRoute6(s)
		case s.kind == entry.KindRoute:
			e.undoRoute(s)
		case s.undo != nil:
			s.undo()
		}
	}
	e.steps = e.steps[:0]
}

func (d *directory) full(kind entry.Kind, what string) string {
	if resting := len(d.free[kind].resting); resting > 0 {
		return fmt.Sprintf("limit of %d %s is reached (%d more are free when this batch is through)", len(d.free[kind].list), what, resting)
	}
	return fmt.Sprintf("limit of %d %s is reached", len(d.free[kind].list), what)
}

// inUse says why something cannot be deleted, empty if nobody refers to it.
func (d *directory) inUse(kind entry.Kind, slot uint32, what string) string {
	if n := d.references[kind][slot]; n > 0 {
		return fmt.Sprintf("%s is still referred to by %d entries", what, n)
	}
	return ""
}
