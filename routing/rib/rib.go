package rib

import (
	"context"
	"log/slog"
	"net/netip"

	"vbng/control/clock"
	"vbng/control/loop"
	"vbng/forwarding/entry"
)

// Neighbors owns the neighbour entries that next hops need.
type Neighbors interface {
	// Want makes the entry of a neighbour exist, resolved or not, and keeps it until Unwant. ready is
	// called once the entry has been handed to the forwarder, on any goroutine.
	Want(i entry.InterfaceID, addr netip.Addr, ready func())
	// Unwant takes back one Want.
	Unwant(i entry.InterfaceID, addr netip.Addr)
}

// Options is what a RIB stands on.
type Options struct {
	Clock      clock.Clock
	Programmer entry.Programmer
	Log        *slog.Logger
	// InterfaceName names an interface for show commands. It must not wait for a loop.
	InterfaceName func(entry.InterfaceID) string
}

// RIB holds the routing tables. Its exported methods may be called from any goroutine and do not wait.
type RIB struct {
	loop      *loop.Loop[message]
	program   entry.Programmer
	neighbors Neighbors
	nameOf    func(entry.InterfaceID) string
	log       *slog.Logger

	// Owned by the loop.
	tables      map[entry.VRFID]*table
	hops        map[hopKey]*hop
	changed     []*destination // in the order of their changes
	flight      *flight        // the batch that the forwarder has not answered, nil: none
	flushPosted bool
	paused      bool // waiting before a batch is sent again
	settlers    []func()
}

// message is one input of the loop.
type message interface{ handle(r *RIB) }

// New returns a RIB without routes. Bind must be called before Run.
func New(o Options) *RIB {
	return &RIB{
		loop: loop.New[message](o.Clock, 0), program: o.Programmer, nameOf: o.InterfaceName, log: o.Log,
		tables: map[entry.VRFID]*table{}, hops: map[hopKey]*hop{},
	}
}

// Bind tells who owns the neighbours; the two know each other, so one of them is told late.
func (r *RIB) Bind(n Neighbors) { r.neighbors = n }

// Run is the loop. It returns when ctx ends.
func (r *RIB) Run(ctx context.Context) error {
	r.loop.Run(ctx, r.handle)
	return nil
}

func (r *RIB) handle(m message) {
	m.handle(r)
	if len(r.changed) > 0 && r.flight == nil && !r.flushPosted && !r.paused {
		// Behind everything that lies in the inbox: all of it goes into one batch.
		r.flushPosted = true
		r.loop.Post(flush{})
	}
	r.answerSettled()
}

// Settled calls done once, on the loop's goroutine, when the forwarder has confirmed everything that
// was said to the RIB before, next hops' neighbours included.
func (r *RIB) Settled(done func()) { r.loop.Post(settled{done}) }

type settled struct{ done func() }

func (m settled) handle(r *RIB) { r.settlers = append(r.settlers, m.done) }

func (r *RIB) answerSettled() {
	if len(r.settlers) == 0 || len(r.changed) > 0 || r.flight != nil {
		return
	}
	for _, h := range r.hops {
		if !h.ready {
			return
		}
	}
	for _, done := range r.settlers {
		done()
	}
	r.settlers = nil
}

// AddInterfaceRoute adds a route of an interface. What it is follows from the target: Connected (or
// Drop, for an interface without a link) is the interface's prefix, Local an address of ours,
// Neighbor a resolved host, whose neighbour entry must exist until DeleteInterfaceRoute is done.
func (r *RIB) AddInterfaceRoute(vrf entry.VRFID, prefix netip.Prefix, i entry.InterfaceID, target entry.Target) {
	r.loop.Post(addRoute{vrf: vrf, prefix: prefix, route: &route{
		source: interfaceSource(target.Kind), owner: owner{id: uint64(i)}, target: target,
	}})
}

// DeleteInterfaceRoute takes it back. done is called once, when no entry of the forwarder refers to
// the interface or the neighbour on account of this route.
func (r *RIB) DeleteInterfaceRoute(vrf entry.VRFID, prefix netip.Prefix, i entry.InterfaceID, target entry.Target, done func()) {
	r.loop.Post(deleteRoute{vrf: vrf, prefix: prefix, source: interfaceSource(target.Kind), owner: owner{id: uint64(i)}, done: done})
}

func interfaceSource(k entry.TargetKind) Source {
	switch k {
	case entry.TargetLocal:
		return Local
	case entry.TargetNeighbor:
		return Host
	}
	return Connected
}

// addRoute adds or replaces one candidate.
type addRoute struct {
	vrf    entry.VRFID
	prefix netip.Prefix
	route  *route
	done   func(error) // may be nil
}

func (m addRoute) handle(r *RIB) {
	m.route.distance = m.route.source.Distance()
	d := r.table(m.vrf).destination(m.prefix.Masked())
	r.addTo(d, m.route)
	if m.done != nil {
		d.waiting = append(d.waiting, waiter{route: m.route, done: m.done})
	}
}

// deleteRoute takes one candidate away.
type deleteRoute struct {
	vrf    entry.VRFID
	prefix netip.Prefix
	source Source
	owner  owner
	done   func()
}

func (m deleteRoute) handle(r *RIB) {
	d := r.table(m.vrf).destination(m.prefix.Masked())
	if rt := d.find(m.source, m.owner); rt != nil {
		r.removeFrom(d, rt)
	}
	// Also when there was nothing: an earlier change of this prefix may still be on its way.
	r.mark(d)
	d.waiting = append(d.waiting, waiter{done: func(error) { m.done() }})
}

// Drain handles what lies in the inbox and returns: for tests with a fake clock, in place of Run.
func (r *RIB) Drain() { r.loop.Drain(r.handle) }
