package iface

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"slices"

	"vbng/control/clock"
	"vbng/control/loop"
	"vbng/forwarding/entry"
)

// HostStack is the kernel, which serves our own addresses (ping, and the router's sockets) behind the
// default VRF's TUN. Its methods may take milliseconds; one goroutine calls them.
type HostStack interface {
	// Configure makes the kernel agree with the state, whatever it found. It does what it can and
	// returns all that failed.
	Configure(s HostState) error
	// Clear takes away what Configure made.
	Clear() error
}

// HostState is what the kernel should have.
type HostState struct {
	TUN       string       // empty: none, or it is not open
	MTU       uint16       // of the TUN
	Addresses []netip.Addr // ours, served behind the TUN; in order
	Quiet     []string     // devices that are our ports: the kernel must not speak there beside us; in order
}

func (s HostState) equal(o HostState) bool {
	return s.TUN == o.TUN && s.MTU == o.MTU && slices.Equal(s.Addresses, o.Addresses) && slices.Equal(s.Quiet, o.Quiet)
}

// hostWorker keeps the kernel's slowness away from the loop.
type hostWorker struct {
	stack HostStack // nil: none
	loop  *loop.Loop[HostState]
	log   *slog.Logger
	last  HostState // posted; owned by the interfaces' loop
}

func newHostWorker(stack HostStack, c clock.Clock, log *slog.Logger) *hostWorker {
	return &hostWorker{stack: stack, loop: loop.New[HostState](c, 0), log: log}
}

// want posts a state if it is another one.
func (w *hostWorker) want(s HostState) {
	if w.stack == nil || s.equal(w.last) {
		return
	}
	w.last = s
	w.loop.Post(s)
}

// again makes the next state be posted, whatever it is.
func (w *hostWorker) again() { w.last = HostState{} }

func (w *hostWorker) configure(s HostState) {
	if err := w.stack.Configure(s); err != nil {
		w.log.Error("kernel could not be configured for our addresses", "device", s.TUN, "error", err)
	}
}

func (w *hostWorker) run(ctx context.Context) {
	if w.stack == nil {
		return
	}
	w.loop.Run(ctx, w.configure)
	if err := w.stack.Clear(); err != nil {
		w.log.Error("kernel keeps something of our addresses", "error", err)
	}
}

// updateHost compiles what the kernel should have.
func (i *Interfaces) updateHost() {
	var s HostState
	for _, id := range slices.Sorted(maps.Keys(i.ports)) {
		p := i.ports[id]
		open := p.known && p.state.Err == "" && p.programmed.ID != 0
		switch {
		case !open:
		case p.internal:
			s.TUN, s.MTU = p.name, p.programmed.MTU
		case p.programmed.Driver == entry.DriverAFPacket: // a TAP's kernel end is our peer, not ourselves
			s.Quiet = append(s.Quiet, p.programmed.Device)
		}
	}
	for _, l := range i.links {
		if !l.inService() {
			continue
		}
		for _, p := range l.want.addresses {
			s.Addresses = append(s.Addresses, p.Addr())
		}
	}
	slices.SortFunc(s.Addresses, netip.Addr.Compare)
	i.host.want(s)
}
