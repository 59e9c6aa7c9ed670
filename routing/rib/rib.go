package rib

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

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
	// VRFs names VRFs for show commands, nil: there is the default one only.
	VRFs VRFs
}

// VRFs are the VRFs of the configuration. They must not wait for a loop.
type VRFs interface {
	Names() []string // without the default one
	ID(name string) entry.VRFID
}

// RIB holds the routing tables. Its exported methods may be called from any goroutine and do not wait.
type RIB struct {
	loop      *loop.Loop[message]
	program   entry.Programmer
	neighbors Neighbors
	nameOf    func(entry.InterfaceID) string
	vrfs      VRFs
	log       *slog.Logger
	born      time.Time

	// Owned by the loop.
	tables map[entry.VRFID]*table

	// What next hops stand on: gateways resolve to hops, sets of gateways to bundles of hops.
	hops    map[NextHop]*hop
	bundles map[string]*bundle
	ids     map[entry.GroupID]*bundle
	dirty   []*gateway  // to be resolved
	newSets []*nexthops // to be pointed at a bundle
	groups  []*bundle   // that the forwarder may have otherwise

	// What is to be programmed.
	urgent, bulk []*destination // in the order of their changes
	waiting      map[*destination][]waiter
	handovers    map[*destination]bool // whose old next hops are kept, see handover.go; true: no longer
	flight       *flight               // the batch that the forwarder has not answered, nil: none
	batchLimit   int                   // routes of the next batch
	flushPosted  bool
	paused       bool // waiting before a batch is sent again
	settlers     []func()

	// What the forwarder refused, see refused.go.
	refused       map[*route]string
	refusedQueue  []*route
	groupsRefused bool
	probe         int // how many to try next time
	retryTimer    clock.Timer
	retryAt       time.Time
	retrySerial   int
}

// message is one input of the loop.
type message interface{ handle(r *RIB) }

// New returns a RIB without routes. Bind must be called before Run.
func New(o Options) *RIB {
	r := &RIB{
		loop: loop.New[message](o.Clock, 0), program: o.Programmer, nameOf: o.InterfaceName, vrfs: o.VRFs, log: o.Log,
		tables: map[entry.VRFID]*table{}, hops: map[NextHop]*hop{}, bundles: map[string]*bundle{},
		ids: map[entry.GroupID]*bundle{}, waiting: map[*destination][]waiter{}, handovers: map[*destination]bool{}, refused: map[*route]string{}, batchLimit: maxBatch,
	}
	if o.Clock != nil {
		r.born = o.Clock.Now()
	}
	return r
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
	if r.pending() && r.flight == nil && !r.flushPosted && !r.paused {
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
	if len(r.settlers) == 0 || r.pending() || r.flight != nil {
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

// Drain handles what lies in the inbox and returns: for tests with a fake clock, in place of Run.
func (r *RIB) Drain() { r.loop.Drain(r.handle) }
