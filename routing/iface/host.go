package iface

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"time"

	"vbng/control/clock"
	"vbng/control/loop"
	"vbng/forwarding/entry"
)

// HostStack is the kernel, which serves our own addresses (ping, and the router's sockets) behind the
// TUN of each VRF. Its method may take milliseconds; one goroutine calls it.
type HostStack interface {
	// Configure makes the kernel agree with the state, whatever it found. It does what it can and
	// returns all that failed.
	Configure(s HostState) error
}

// HostState is what the kernel should have.
type HostState struct {
	VRFs  []HostVRF // in the order of their numbers
	Quiet []string  // devices that are our ports: the kernel must not speak there beside us; in order
}

// HostVRF is a VRF's part of it.
type HostVRF struct {
	ID        entry.VRFID
	TUN       string
	Open      bool         // the forwarder has the TUN; else what stands on it stays as it is
	MTU       uint16       // of the TUN
	Addresses []netip.Addr // ours, served behind the TUN; in order
	// Source4 and Source6 are what a socket speaks from that is bound to no address; not valid: none.
	Source4, Source6 netip.Addr
}

func (s HostState) equal(o HostState) bool {
	return slices.Equal(s.Quiet, o.Quiet) && slices.EqualFunc(s.VRFs, o.VRFs, HostVRF.equal)
}

func (v HostVRF) equal(o HostVRF) bool {
	return v.ID == o.ID && v.TUN == o.TUN && v.Open == o.Open && v.MTU == o.MTU && v.Source4 == o.Source4 && v.Source6 == o.Source6 &&
		slices.Equal(v.Addresses, o.Addresses)
}

// hostWorker keeps the kernel's slowness away from the loop.
type hostWorker struct {
	stack HostStack // nil: none
	loop  *loop.Loop[hostOrder]
	log   *slog.Logger
	last  HostState // posted; owned by the interfaces' loop

	// Owned by the worker's loop.
	newest int // order
	failed string
}

// hostOrder asks for a state.
type hostOrder struct {
	state HostState
	again int // the order that this one tries again, 0: it is a new one
}

// hostRetry is how long the kernel is left alone after something has failed.
const hostRetry = 5 * time.Second

func newHostWorker(stack HostStack, c clock.Clock, log *slog.Logger) *hostWorker {
	return &hostWorker{stack: stack, loop: loop.New[hostOrder](c, 0), log: log}
}

// want posts a state if it is another one.
func (w *hostWorker) want(s HostState) {
	if w.stack == nil || s.equal(w.last) {
		return
	}
	w.last = s
	w.loop.Post(hostOrder{state: s})
}

// again makes the next state be posted, whatever it is.
func (w *hostWorker) again() { w.last = HostState{} }

// configure carries an order out, and again as long as something fails and nothing newer is asked for: a device or an
// address that is in the way for a moment must not leave a VRF without its sockets.
func (w *hostWorker) configure(o hostOrder) {
	if o.again == 0 {
		w.newest++
	} else if o.again != w.newest {
		return
	}
	err := w.stack.Configure(o.state)
	if err == nil {
		w.failed = ""
		return
	}
	if err.Error() != w.failed {
		w.log.Error("kernel could not be configured for our addresses, trying again", "error", err)
	}
	w.failed = err.Error()
	w.loop.After(hostRetry, hostOrder{o.state, w.newest})
}

// run leaves everything as it is at its end: the forwarder goes on, and so do the addresses that it
// serves. What takes them away is the end of the router as a whole ("vbngd stop").
func (w *hostWorker) run(ctx context.Context) {
	if w.stack != nil {
		w.loop.Run(ctx, w.configure)
	}
}

// updateHost compiles what the kernel should have.
func (i *Interfaces) updateHost() {
	var s HostState
	for _, id := range slices.Sorted(maps.Keys(i.ports)) {
		if p := i.ports[id]; !p.internal && p.open() && shares(p.programmed.Driver) {
			s.Quiet = append(s.Quiet, p.programmed.Device)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(i.domains)) {
		d := i.domains[id]
		if p := i.ports[d.tun.ID]; p != nil {
			s.VRFs = append(s.VRFs, i.hostVRF(d, p))
		}
	}
	i.host.want(s)
}

// open reports whether the forwarder has the port's device.
func (p *port) open() bool { return p.known && p.state.Err == "" && p.programmed.ID != 0 }

// shares reports whether a driver shares its device with the kernel's stack. A TAP's kernel end is our peer,
// not ourselves.
func shares(d entry.Driver) bool { return d == entry.DriverAFPacket || d == entry.DriverAFXDP }

func (i *Interfaces) hostVRF(d *domain, tun *port) HostVRF {
	v := HostVRF{ID: d.id, TUN: tun.name, Open: tun.open(), MTU: tun.programmed.MTU}
	for _, l := range i.links {
		if !l.inService() || l.want.vrf != d.id {
			continue
		}
		for _, p := range l.want.addresses {
			v.Addresses = append(v.Addresses, p.Addr())
		}
	}
	slices.SortFunc(v.Addresses, netip.Addr.Compare)
	v.Source4, _ = i.ownSource(d.id, netip.Addr.Is4)
	v.Source6, _ = i.ownSource(d.id, netip.Addr.Is6)
	return v
}

// ownSource returns the address of one family that the router speaks from in a VRF when no interface
// decides: the lowest of a loopback, else the lowest of all; not valid: there is none.
func (i *Interfaces) ownSource(id entry.VRFID, family func(netip.Addr) bool) (best netip.Addr, ofLoopback bool) {
	for _, l := range i.links {
		if !l.inService() || l.want.vrf != id {
			continue
		}
		for _, p := range l.want.addresses {
			a, loopback := p.Addr(), l.port == nil
			if !family(a) {
				continue
			}
			if !best.IsValid() || loopback && !ofLoopback || loopback == ofLoopback && a.Less(best) {
				best, ofLoopback = a, loopback
			}
		}
	}
	return best, ofLoopback
}
