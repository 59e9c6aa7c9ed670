package rib

import (
	"errors"
	"fmt"
	"time"

	"vbng/forwarding/entry"
)

const (
	// maxBatch bounds the entries of one batch: small enough that an answer takes no longer than a
	// few milliseconds, large enough that 256K routes need few of them.
	maxBatch = 2048
	// retryDelay is how long we wait before sending a batch again that failed for no fault of its own.
	retryDelay = time.Second
)

// flight is a batch on its way, and what to do when it has been answered.
type flight struct {
	batch   entry.Batch
	changes []change  // one per op
	waiting []arrival // to be answered
}

// change is one op of a flight.
type change struct {
	destination *destination
	route       *route // what is put, nil: a delete
	before      installed
}

type arrival struct {
	destination *destination
	waiter      waiter
}

// flush compiles the changed destinations into a batch.
type flush struct{}

func (flush) handle(r *RIB) {
	r.flushPosted = false
	if r.flight != nil || r.paused {
		return
	}
	n := min(len(r.changed), maxBatch)
	f := &flight{}
	for i, d := range r.changed[:n] {
		r.changed[i] = nil
		r.compile(f, d)
	}
	if r.changed = r.changed[n:]; len(r.changed) == 0 {
		r.changed = nil
	}
	if len(f.batch.Ops) == 0 {
		r.answer(f)
		return
	}
	r.flight = f
	r.program.Apply(&f.batch, func(res entry.Result) { r.loop.Post(answered{f, res}) })
}

// compile adds what makes the forwarder agree with a destination, nothing if it does already.
func (r *RIB) compile(f *flight, d *destination) {
	d.changed = false
	best := d.best()
	r.refuseWorse(d, best)
	d.announce(best)
	for _, w := range d.waiting {
		f.waiting = append(f.waiting, arrival{d, w})
	}
	d.waiting = nil

	next := installed{}
	if best != nil {
		next = installed{target: best.target, source: best.source, hop: best.via.first()}
	}
	if next == d.installed {
		d.vanish()
		return
	}
	f.changes = append(f.changes, change{d, best, d.installed})
	switch {
	case best != nil:
		f.batch.Put(entry.Route{VRF: d.table.vrf, Prefix: d.prefix, Target: next.target})
	default:
		length, target := d.table.cover(d.prefix)
		f.batch.Delete(entry.Route{VRF: d.table.vrf, Prefix: d.prefix, CoverLength: length, Cover: target})
	}
	if next.hop != nil {
		next.hop.references++
	}
	d.install(next)
}

// refuseWorse answers subscribers whose route is not the best of its prefix and takes the route out.
func (r *RIB) refuseWorse(d *destination, best *route) {
	kept := d.waiting[:0]
	for _, w := range d.waiting {
		switch {
		case w.route == nil || w.route == best:
			kept = append(kept, w)
		case d.find(w.route.source, w.route.owner) != w.route:
			w.done(ErrWithdrawn)
		default:
			r.removeFrom(d, w.route)
			w.done(fmt.Errorf("add %v route %v: a %v route is preferred", w.route.source, d.prefix, best.source))
		}
	}
	d.waiting = kept
}

// install notes what the forwarder holds.
func (d *destination) install(i installed) {
	if d.installed.target.Kind != 0 {
		d.table.installed[d.installed.source]--
	}
	if i.target.Kind != 0 {
		d.table.installed[i.source]++
	}
	d.installed = i
}

// vanish takes a destination out of the table when nothing is left of it.
func (d *destination) vanish() {
	if len(d.routes) == 0 && d.installed.target.Kind == 0 && !d.changed && len(d.waiting) == 0 {
		d.table.destinations.remove(d.prefix)
	}
}

// answered brings the forwarder's answer.
type answered struct {
	flight *flight
	result entry.Result
}

func (m answered) handle(r *RIB) {
	r.flight = nil
	if m.result.Err == nil {
		for _, c := range m.flight.changes {
			r.release(c.before.hop)
			c.destination.vanish()
		}
		r.answer(m.flight)
		return
	}
	r.takeBack(m.flight)
	var refused *entry.Refused
	if errors.As(m.result.Err, &refused) && refused.Op >= 0 && refused.Op < len(m.flight.changes) {
		r.setAside(m.flight.changes[refused.Op], refused.Reason)
		return
	}
	r.log.Error("routes could not be programmed, trying again", "routes", len(m.flight.changes), "error", m.result.Err)
	r.paused = true
	r.loop.After(retryDelay, resume{})
}

// answer tells everybody who waited for the flight.
func (r *RIB) answer(f *flight) {
	for _, a := range f.waiting {
		a.waiter.done(nil)
	}
}

// takeBack restores what the forwarder held before a flight of which it applied nothing.
func (r *RIB) takeBack(f *flight) {
	for _, c := range f.changes {
		now := c.destination.installed
		c.destination.install(c.before)
		r.release(now.hop)
		r.mark(c.destination)
	}
	for _, a := range f.waiting {
		a.destination.waiting = append(a.destination.waiting, a.waiter)
		r.mark(a.destination)
	}
}

// setAside deals with the one change that the forwarder refused.
func (r *RIB) setAside(c change, reason string) {
	d := c.destination
	r.log.Error("forwarder refused a route", "prefix", d.prefix, "vrf", d.table.vrf, "reason", reason)
	switch {
	case c.route == nil:
		// It refuses to delete: it has no such route. Believe it.
		d.install(installed{})
		r.release(c.before.hop)
	case c.route.source == Subscriber:
		r.refuseSubscriber(d, c.route, reason)
	default:
		c.route.refused = reason
	}
}

func (r *RIB) refuseSubscriber(d *destination, rt *route, reason string) {
	r.removeFrom(d, rt)
	kept := d.waiting[:0]
	for _, w := range d.waiting {
		if w.route != rt {
			kept = append(kept, w)
			continue
		}
		w.done(fmt.Errorf("add subscriber route %v: forwarder refused it: %s", d.prefix, reason))
	}
	d.waiting = kept
}

// resume ends a pause.
type resume struct{}

func (resume) handle(r *RIB) { r.paused = false }
