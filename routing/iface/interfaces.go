package iface

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync/atomic"

	"vbng/control/clock"
	"vbng/control/config"
	"vbng/control/loop"
	"vbng/forwarding/entry"
)

// Indexes gives names numbers that stay the same over restarts. It is asked by Apply, not by the loop.
type Indexes interface {
	Index(name string) uint32
}

// Routes is the RIB. An interface's route is Connected (Drop for a loopback's network), Local or
// Neighbor by its target. done is called once, on any goroutine, when nothing in the forwarder refers
// to the interface or neighbour on account of that route.
type Routes interface {
	AddInterfaceRoute(vrf entry.VRFID, prefix netip.Prefix, i entry.InterfaceID, target entry.Target)
	DeleteInterfaceRoute(vrf entry.VRFID, prefix netip.Prefix, i entry.InterfaceID, target entry.Target, done func())
	// NeighborState tells whether a next hop answers.
	NeighborState(i entry.InterfaceID, addr netip.Addr, answers bool)
}

// VRFs numbers the VRFs by name. It is asked by Apply, not by the loop.
type VRFs interface {
	ID(name string) entry.VRFID
}

// Options is what the interfaces stand on.
type Options struct {
	Clock      clock.Clock
	Programmer entry.Programmer
	Counters   entry.Counters
	Indexes    Indexes
	Routes     Routes
	Host       HostStack // nil: the kernel is left alone
	Memory     Memory    // nil: neighbours are forgotten at a restart
	Log        *slog.Logger
	VRFs       VRFs
	// TUNs: each VRF has a device by which the kernel serves our addresses there; else packets to them
	// are dropped by name.
	TUNs bool
	// Namespace is where the forwarder finds those devices (entry.Port); empty: in its own.
	Namespace string
	// Limits of the neighbour table; zero: the usual ones.
	Limits Limits
}

// inboxLimit bounds the punted frames that wait for the loop.
const inboxLimit = 4096

// Interfaces is the subsystem. Its exported methods may be called from any goroutine and do not wait.
type Interfaces struct {
	options  Options
	loop     *loop.Loop[message]
	host     *hostWorker
	snapshot atomic.Pointer[snapshot]
	received received // counters of the punt path

	declared map[entry.VRFID]bool // put by the last Apply; owned by Apply

	// Owned by the loop.
	ports      map[entry.PortID]*port
	links      map[entry.InterfaceID]*link
	domains    map[entry.VRFID]*domain
	settings   []*settings // as configured
	started    bool        // a configuration has come
	neighbors  int         // in all links
	arp, nd    neighborCounters
	waiting    []func() // for the ports to have told their state
	remembered remembered
	after      []func() // to be called when what the handler compiled has been handed over
}

// message is one input of the loop.
type message interface{ handle(i *Interfaces) }

// New returns a subsystem without interfaces.
func New(o Options) *Interfaces {
	o.Limits = o.Limits.orUsual()
	i := &Interfaces{
		options: o, loop: loop.New[message](o.Clock, inboxLimit),
		ports: map[entry.PortID]*port{}, links: map[entry.InterfaceID]*link{},
		domains: map[entry.VRFID]*domain{}, declared: map[entry.VRFID]bool{},
	}
	saved, err := load(o.Memory)
	if err != nil {
		o.Log.Error("neighbours of the last run are forgotten", "error", err)
	}
	i.remembered = saved
	i.host = newHostWorker(o.Host, o.Clock, o.Log)
	i.snapshot.Store(&snapshot{})
	return i
}

// Name implements commit.Subsystem.
func (i *Interfaces) Name() string { return "interface" }

// Reserve implements commit.Subsystem. A device that is not there yet is no reason to refuse: it may
// come, and the interface says meanwhile why it is down.
func (i *Interfaces) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (i *Interfaces) Release() {}

// Apply implements commit.Subsystem.
func (i *Interfaces) Apply(_, new *config.Tree) {
	i.declare(new)
	m := configured{settings: read(new), indexes: map[string]uint32{}}
	for _, s := range m.settings {
		m.indexes[s.name] = i.options.Indexes.Index(s.name)
		s.vrf = i.options.VRFs.ID(s.vrfName)
	}
	i.loop.Post(m)
}

// Run is the loop. It returns when ctx ends and what was configured in the kernel has been removed.
func (i *Interfaces) Run(ctx context.Context) error {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		i.host.run(ctx)
	}()
	i.loop.Run(ctx, i.handle)
	<-stopped
	return nil
}

func (i *Interfaces) handle(m message) {
	m.handle(i)
	// Routes and frames refer to entries, so they leave behind them.
	for len(i.after) > 0 {
		calls := i.after
		i.after = nil
		for _, call := range calls {
			call()
		}
	}
	i.answerSettled()
}

// Settled calls done once, on the loop's goroutine, when every port has told its state and what
// follows from it has been handed to the RIB and the forwarder. After a restart of control, what the
// forwarder still holds of the last one may go only then (and when the RIB has settled as well).
func (i *Interfaces) Settled(done func()) { i.loop.Post(settled{done}) }

type settled struct{ done func() }

func (m settled) handle(i *Interfaces) { i.waiting = append(i.waiting, m.done) }

func (i *Interfaces) answerSettled() {
	if len(i.waiting) == 0 || !i.started {
		return
	}
	for _, p := range i.ports {
		if p.programmed.ID != 0 && !p.known {
			return
		}
	}
	for _, done := range i.waiting {
		done()
	}
	i.waiting = nil
}

// later makes the handler call f at its end, when all entries have been handed over.
func (i *Interfaces) later(f func()) { i.after = append(i.after, f) }

// program hands a batch over. A refusal is told to refused on the loop.
func (i *Interfaces) program(b *entry.Batch, refused func(reason string)) {
	if len(b.Ops) == 0 {
		return
	}
	i.options.Programmer.Apply(b, func(res entry.Result) {
		if res.Err != nil {
			i.loop.Post(refusal{res.Err, refused})
		}
	})
}

// refusal tells that a batch was not applied.
type refusal struct {
	err     error
	refused func(reason string)
}

func (m refusal) handle(i *Interfaces) {
	i.options.Log.Error("forwarder refused an interface's entries", "error", m.err)
	m.refused(m.err.Error())
}

// configured is a new configuration.
type configured struct {
	settings []*settings
	indexes  map[string]uint32
}

func (m configured) handle(i *Interfaces) {
	i.settings, i.started = m.settings, true
	for _, p := range i.ports {
		if !p.internal {
			p.want, p.settings = nil, nil
		}
	}
	for _, l := range i.links {
		l.want = nil
	}
	for _, s := range m.settings {
		if s.class == classPort {
			i.wantPort(entry.PortID(m.indexes[s.name]), s)
		}
	}
	for _, s := range m.settings {
		i.wantLink(entry.InterfaceID(m.indexes[s.name]), s, entry.PortID(m.indexes[s.parent]))
	}
	i.converge()
}

// converge brings everything to what is wanted, as far as it can go now.
func (i *Interfaces) converge() {
	for _, id := range slices.Sorted(maps.Keys(i.ports)) {
		i.convergePort(i.ports[id])
	}
	for _, id := range slices.Sorted(maps.Keys(i.links)) {
		i.convergeLink(i.links[id])
	}
	for _, id := range slices.Sorted(maps.Keys(i.ports)) {
		i.removePort(i.ports[id])
	}
	i.removeDomains()
	i.publish()
}
