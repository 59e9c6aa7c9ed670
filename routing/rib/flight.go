package rib

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"vbng/forwarding/entry"
)

const (
	// maxBatch bounds the entries of one batch: small enough that an answer takes no longer than a
	// few milliseconds, large enough that a million routes need few of them.
	maxBatch = 2048
	// minBatch is with how few we go on after a refusal: a batch is refused whole, so while many are
	// (the forwarder's table is full) each costs little.
	minBatch = 16
	// maxGroups bounds the groups at the head of a batch; they are larger than routes.
	maxGroups = 256
	// retryDelay is how long we wait before sending a batch again that failed for no fault of its own.
	retryDelay = time.Second
)

// flight is a batch on its way, and what to do when it has been answered.
type flight struct {
	batch   entry.Batch
	changes []change  // one per op
	waiting []arrival // to be answered
}

// change is one op of a flight: of a route or of a group.
type change struct {
	destination *destination
	route       *route // what is put, nil: a delete
	before      leads
	source      Source // of before

	group   *bundle
	members []*hop // before
}

type arrival struct {
	destination *destination
	waiter      waiter
}

// waiter is somebody who waits for a change to be programmed.
type waiter struct {
	route *route // whose programming is waited for; nil: a removal
	done  func(error)
}

// flush compiles the changed destinations into a batch.
type flush struct{}

func (flush) handle(r *RIB) {
	r.flushPosted = false
	if r.flight != nil || r.paused {
		return
	}
	if len(r.dirty) > 0 || len(r.newSets) > 0 {
		r.resolveDirty()
		// Neighbours that are ready at once belong into the same batch.
		r.flushPosted = true
		r.loop.Post(flush{})
		return
	}
	f := &flight{}
	n := min(len(r.groups), maxGroups)
	groups := r.groups[:n]
	r.groups = slices.Clone(r.groups[n:])
	for _, b := range groups {
		r.compileGroup(f, b)
	}
	for range r.batchLimit {
		d := r.takeChanged()
		if d == nil {
			break
		}
		r.compile(f, d)
	}
	if len(f.batch.Ops) == 0 {
		r.answer(f)
		return
	}
	r.flight = f
	r.program.Apply(&f.batch, func(res entry.Result) { r.loop.Post(answered{f, res}) })
}

// pending reports whether there is something that a flush would do.
func (r *RIB) pending() bool {
	return len(r.urgent) > 0 || len(r.bulk) > 0 || len(r.groups) > 0 || len(r.dirty) > 0 || len(r.newSets) > 0
}

// compile adds what makes the forwarder agree with a destination, nothing if it does already.
func (r *RIB) compile(f *flight, d *destination) {
	best := d.best()
	r.refuseWorse(d, best)
	d.announce(best)
	if waiting := r.waiting[d]; len(waiting) > 0 {
		for _, w := range waiting {
			f.waiting = append(f.waiting, arrival{d, w})
		}
		delete(r.waiting, d)
	}
	next, source := leads{}, Source(0)
	if best != nil {
		next, source = best.leads(), best.source
	}
	if same(next, d.installed) {
		d.install(d.installed, source)
		r.vanish(d)
		return
	}
	if r.keepsOld(d, best) {
		return
	}
	if next.kind == entry.TargetGroup && (next.via.members == nil || next.via.dirty) {
		r.compileGroup(f, next.via)
	}
	f.changes = append(f.changes, change{destination: d, route: best, before: d.installed, source: d.source})
	if best != nil {
		f.batch.Put(entry.Route{VRF: d.table.vrf, Prefix: d.prefix, Target: next.target()})
	} else {
		length, target := d.table.cover(d.prefix)
		f.batch.Delete(entry.Route{VRF: d.table.vrf, Prefix: d.prefix, CoverLength: length, Cover: target})
	}
	if next.via != nil {
		next.via.references++
	}
	d.install(next, source)
}

// refuseWorse answers subscribers whose route is not the best of its prefix and takes the route out.
func (r *RIB) refuseWorse(d *destination, best *route) {
	waiting := r.waiting[d]
	if len(waiting) == 0 {
		return
	}
	kept := waiting[:0]
	for _, w := range waiting {
		switch {
		case w.route == nil || w.route == best:
			kept = append(kept, w)
		case !d.has(w.route):
			w.done(ErrWithdrawn)
		default:
			reason := "no route is usable"
			if best != nil {
				reason = fmt.Sprintf("a %v route is preferred", best.source)
			}
			r.removeFrom(d, w.route)
			w.done(fmt.Errorf("add %v route %v: %s", w.route.source, d.prefix, reason))
		}
	}
	r.waiting[d] = kept
}

// install notes what the forwarder holds.
func (d *destination) install(l leads, s Source) {
	count := &d.table.installed[familyOf(d.prefix.Addr())]
	if d.installed.kind != 0 {
		count[d.source]--
	}
	if d.installed, d.source = l, s; l.kind != 0 {
		count[s]++
	}
}

// vanish takes a destination out of the table when nothing is left of it. It may be out already, and
// another be there for its prefix: one that had nothing to change is remembered by those who wait for
// the rest of its batch.
func (r *RIB) vanish(d *destination) {
	if d.routes != nil || d.installed.kind != 0 || d.changed != agreed || len(r.waiting[d]) > 0 {
		return
	}
	if there, ok := d.table.destinations.get(d.prefix); ok && there == d {
		d.table.destinations.remove(d.prefix)
	}
	delete(r.waiting, d)
}

// answered brings the forwarder's answer.
type answered struct {
	flight *flight
	result entry.Result
}

func (m answered) handle(r *RIB) {
	r.flight = nil
	if m.result.Err == nil {
		r.confirm(m.flight)
		return
	}
	r.takeBack(m.flight)
	var refused *entry.Refused
	if errors.As(m.result.Err, &refused) && refused.Op >= 0 && refused.Op < len(m.flight.changes) {
		r.batchLimit = minBatch
		r.setAside(m.flight.changes[refused.Op], refused.Reason)
		return
	}
	r.log.Error("routes could not be programmed, trying again", "routes", len(m.flight.changes), "error", m.result.Err)
	r.paused = true
	r.loop.After(retryDelay, resume{})
}

// confirm follows the forwarder's yes.
func (r *RIB) confirm(f *flight) {
	r.batchLimit = min(2*r.batchLimit, maxBatch)
	deleted := 0
	for _, c := range f.changes {
		if c.group != nil {
			r.confirmGroup(c)
			continue
		}
		if c.route == nil {
			deleted++
		}
		r.release(c.before.via)
		r.vanish(c.destination)
	}
	r.answer(f)
	r.retryDeleted(deleted)
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
		if c.group != nil {
			continue
		}
		now := c.destination.installed
		c.destination.install(c.before, c.source)
		r.release(now.via)
		r.mark(c.destination, c.route == nil || c.route.urgent())
	}
	for _, c := range f.changes {
		if c.group != nil {
			r.undoGroup(c)
		}
	}
	for _, a := range f.waiting {
		r.waiting[a.destination] = append(r.waiting[a.destination], a.waiter)
		r.mark(a.destination, true)
	}
}

// setAside deals with the one change that the forwarder refused.
func (r *RIB) setAside(c change, reason string) {
	if c.group != nil {
		r.refuseGroup(c.group, reason)
		return
	}
	d := c.destination
	switch {
	case c.route == nil:
		// It refuses to delete: it has no such route. Believe it.
		r.log.Error("forwarder refused to delete a route", "prefix", d.prefix, "vrf", d.table.vrf, "reason", reason)
		d.install(leads{}, 0)
		r.release(c.before.via)
	case !d.has(c.route): // withdrawn meanwhile
	case c.route.source == Subscriber:
		r.log.Error("forwarder refused a route", "prefix", d.prefix, "vrf", d.table.vrf, "reason", reason)
		r.refuseSubscriber(d, c.route, reason)
	default:
		r.refuse(c.route, reason)
	}
}

func (r *RIB) refuseSubscriber(d *destination, rt *route, reason string) {
	r.removeFrom(d, rt)
	kept := r.waiting[d][:0]
	for _, w := range r.waiting[d] {
		if w.route != rt {
			kept = append(kept, w)
			continue
		}
		w.done(fmt.Errorf("add subscriber route %v: forwarder refused it: %s", d.prefix, reason))
	}
	r.waiting[d] = kept
}

// resume ends a pause.
type resume struct{}

func (resume) handle(r *RIB) { r.paused = false }
