package forwarding

import (
	"vbng/forwarding/entry"
	"vbng/forwarding/remote"
)

// Begin starts a generation: what is put from here on belongs to it. Entries that are put again with equal
// content keep their slots, state and counters.
func (e *Engine) Begin(generation uint64) { e.directory.generation = generation }

// End sweeps what belongs to older generations.
func (e *Engine) End(generation uint64) {
	s := e.Sweep(generation)
	e.config.Log.Info("generation swept", "generation", generation, "deleted", s.Deleted())
	for _, kept := range s.Kept {
		e.config.Log.Error("entry of an older generation kept", "reason", kept)
	}
}

// Swept is the result of a sweep.
type Swept struct {
	Count  [entry.NumKinds]int
	Kept   []string // what a newer entry still refers to
	Finals []entry.Final
}

// Deleted returns how many entries were swept.
func (s *Swept) Deleted() (n int) {
	for _, c := range s.Count {
		n += c
	}
	return n
}

// Sweep deletes all entries that were put last before the generation, users before what they refer to.
func (e *Engine) Sweep(generation uint64) Swept {
	w := sweep{e: e, generation: generation}
	w.captures()
	w.policers()
	w.routes()
	w.routes6()
	w.groups()
	w.sessions()
	w.neighbors()
	w.places()
	var a remote.Answer
	e.settleBatch(&a)
	w.result.Finals = a.Finals
	return w.result
}

// sweep is one sweep under way.
type sweep struct {
	e          *Engine
	generation uint64
	result     Swept
}

// delete plans and publishes one deletion.
func (w *sweep) delete(op entry.Any) {
	op.Verb = entry.Delete
	s := step{kind: op.Kind}
	if reason := w.e.planOp(&op, &s); reason != "" {
		w.result.Kept = append(w.result.Kept, reason)
		return
	}
	w.e.withdraw(&s, &op)
	w.result.Count[op.Kind]++
}

func (w *sweep) captures() {
	for id, c := range w.e.directory.captures {
		if c.generation != w.generation {
			w.delete(entry.Any{Kind: entry.KindCapture, Capture: entry.Capture{ID: id}})
		}
	}
}

func (w *sweep) policers() {
	for i := range w.e.directory.policers {
		if p := &w.e.directory.policers[i]; p.set && p.generation != w.generation {
			w.delete(entry.Any{Kind: entry.KindPolicer, Policer: p.entry})
		}
	}
}

func (w *sweep) routes() {
	d := w.e.directory
	for slot := range d.routes[:d.free[entry.KindRoute].next] {
		r := &d.routes[slot]
		if !r.used || r.generation == w.generation {
			continue
		}
		s := step{kind: entry.KindRoute}
		s.coverLength, s.target = d.cover(r.vrf, r.address, r.length)
		w.e.routeGone(uint32(slot), &s)
		w.e.withdraw(&s, nil)
		w.result.Count[entry.KindRoute]++
	}
}

func (w *sweep) routes6() {
	d := w.e.directory
	for key, r := range d.routes6 {
		if r.generation == w.generation {
			continue
		}
		s := step{kind: entry.KindRoute, is6: true}
		s.coverLength, s.target = d.cover6(key)
		w.e.route6Gone(key, &s)
		w.e.withdraw(&s, nil)
		w.result.Count[entry.KindRoute]++
	}
}

func (w *sweep) groups() {
	for id, g := range w.e.directory.groups {
		if g.generation != w.generation {
			w.delete(entry.Any{Kind: entry.KindGroup, Group: entry.Group{ID: id}})
		}
	}
}

func (w *sweep) sessions() {
	d := w.e.directory
	for slot := range d.sessions[:d.free[entry.KindSession].next] {
		s := &d.sessions[slot]
		if s.id == 0 {
			continue
		}
		old := s.generation != w.generation
		if s.echo && (old || s.echoGeneration != w.generation) {
			w.delete(entry.Any{Kind: entry.KindEcho, Echo: entry.Echo{Session: s.id}})
		}
		if old {
			w.delete(entry.Any{Kind: entry.KindSession, Session: entry.Session{ID: s.id}})
		}
	}
}

func (w *sweep) neighbors() {
	d := w.e.directory
	for _, n := range d.neighbors {
		if n.generation != w.generation {
			w.delete(entry.Any{Kind: entry.KindNeighbor, Neighbor: n.entry})
		}
	}
	for _, l := range d.locals {
		if l.generation != w.generation {
			w.delete(entry.Any{Kind: entry.KindLocal, Local: l.entry})
		}
	}
}

func (w *sweep) places() {
	d := w.e.directory
	for _, i := range d.interfaces {
		if i.generation != w.generation {
			w.delete(entry.Any{Kind: entry.KindInterface, Interface: i.entry})
		}
	}
	for _, v := range d.vrfs {
		if v.generation != w.generation {
			w.delete(entry.Any{Kind: entry.KindVRF, VRF: v.entry})
		}
	}
	for _, p := range d.ports {
		if p.generation != w.generation {
			w.delete(entry.Any{Kind: entry.KindPort, Port: p.entry})
		}
	}
}
