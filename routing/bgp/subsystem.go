package bgp

import (
	"context"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"vbng/control/clock"
	"vbng/control/config"
	"vbng/control/schema"
	"vbng/forwarding/entry"
	"vbng/routing/rib"
)

// Routes is the RIB.
type Routes interface {
	UpdateBGP(vrf entry.VRFID, put []rib.Path, withdrawn []netip.Prefix)
	FlushBGP(vrf entry.VRFID)
	Watch(vrf entry.VRFID, tell func(rib.Announce)) (stop func())
}

// VRFs knows the VRFs' numbers.
type VRFs interface {
	ID(name string) entry.VRFID
}

// Needs is what BGP stands on.
type Needs struct {
	Clock  clock.Clock
	Log    *slog.Logger
	Routes Routes
	VRFs   VRFs
	// Device names the device that a VRF's sockets are bound to, "" for none.
	Device func(entry.VRFID) string
}

// BGP is the subsystem. Its zero Needs serve for Schema and Check.
type BGP struct {
	needs Needs

	mu       sync.Mutex
	speakers map[string]*speaker        // by VRF name
	leaving  map[string]<-chan struct{} // by VRF name: closed when the one that was removed last has ended
	started  bool                       // a configuration was applied: what comes now is no restart
}

// New returns the subsystem. Nothing runs until "router bgp" is configured.
func New(n Needs) *BGP {
	return &BGP{needs: n, speakers: map[string]*speaker{}, leaving: map[string]<-chan struct{}{}}
}

// Name implements commit.Subsystem.
func (b *BGP) Name() string { return "bgp" }

// Schema implements commit.Subsystem.
func (b *BGP) Schema() []*schema.Node { return Schema() }

// Check implements commit.Subsystem.
func (b *BGP) Check(_, new *config.Tree) []error { return check(new) }

// Reserve implements commit.Subsystem.
func (b *BGP) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (b *BGP) Release() {}

// Apply implements commit.Subsystem. Each speaker compares for itself.
func (b *BGP) Apply(_, new *config.Tree) {
	wanted := read(new)
	b.mu.Lock()
	defer b.mu.Unlock()
	for vrf, s := range b.speakers {
		if wanted[vrf] == nil {
			s.loop.Post(remove{})
			b.leaving[vrf] = s.ended
			delete(b.speakers, vrf)
		}
	}
	for vrf, settings := range wanted {
		if b.speakers[vrf] == nil {
			b.speakers[vrf] = newSpeaker(vrf, &b.needs, !b.started, b.leaving[vrf])
		}
		b.speakers[vrf].loop.Post(configure{settings})
	}
	b.started = true
}

// Run implements commit.Subsystem. At the end the sessions are left as they are: the neighbours see the
// connections close with the process and, by graceful restart, keep our routes for the next control.
func (b *BGP) Run(ctx context.Context) error {
	<-ctx.Done()
	for _, s := range b.all() {
		s.end()
	}
	return nil
}

// all returns the speakers by VRF name.
func (b *BGP) all() []*speaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []*speaker
	for _, vrf := range slices.Sorted(maps.Keys(b.speakers)) {
		all = append(all, b.speakers[vrf])
	}
	return all
}

// Settled calls done once the RIB has heard what all neighbours know, or staleLimit after the start: until
// then the forwarder should keep routes that an earlier control had learned. It may call from any goroutine.
func (b *BGP) Settled(done func()) {
	speakers := b.all()
	if len(speakers) == 0 {
		done()
		return
	}
	var left atomic.Int32
	left.Store(int32(len(speakers)))
	for _, s := range speakers {
		s.loop.Post(settle{func() {
			if left.Add(-1) == 0 {
				done()
			}
		}})
	}
}
