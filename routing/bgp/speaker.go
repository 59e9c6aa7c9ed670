package bgp

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	api "github.com/osrg/gobgp/v3/api"
	gobgp "github.com/osrg/gobgp/v3/pkg/server"

	"vbng/control/loop"
	"vbng/forwarding/entry"
)

const (
	// retryDelay is how long we wait before BGP is started again that could not be (its device is missing).
	retryDelay = 2 * time.Second
	// countInterval is how often the prefixes of neighbours with a warning-only limit are counted.
	countInterval = 10 * time.Second
	// staleLimit is how long after a start routes of an earlier life wait for their neighbours.
	staleLimit = restartSeconds * time.Second
)

// speaker is BGP in one VRF: the owner of its GoBGP server and of everything that is known about it.
type speaker struct {
	vrf   string
	id    entry.VRFID
	needs *Needs
	loop  *loop.Loop[message]
	log   *slog.Logger
	notes notes                               // for show commands
	own   atomic.Pointer[map[netip.Addr]bool] // the VRF's addresses, for the boundary
	end   context.CancelFunc
	ended chan struct{}

	// Owned by the loop.
	generation int       // of the server: what an earlier one says is not heard
	running    *settings // what the server has been told, empty: nothing
	wanted     *settings
	server     *server
	program    *program
	unwatch    func()
	restarting bool // the first sessions after a start of control

	pending     map[netip.Prefix][]nextHop // heard and not told to the RIB yet
	installed   map[netip.Prefix]struct{}  // what the RIB has from us
	routes      map[netip.Prefix]string    // what the RIB has that may be announced, with its source
	announced   map[netip.Prefix]announcement
	told        map[netip.Addr][families]bool // End-of-RIB markers
	warned      map[netip.Addr][families]bool // warning-only limits exceeded
	settlers    []func()
	overdue     bool // staleLimit has passed
	flushPosted bool
	counting    bool
	retrying    bool // a retry is on its way
}

// message is one input of the loop.
type message interface{ handle(s *speaker) }

// notes is what show commands read without the loop.
type notes struct {
	mu       sync.Mutex
	settings *settings
	server   *server
	refused  map[string]uint64 // paths by reason
	causes   map[netip.Addr]string
	trouble  string // why BGP does not run
}

// newSpeaker starts the loop of a VRF, when the VRF's speaker of before has ended: the two would have the same
// listening socket and the same routes. before is nil when there was none.
func newSpeaker(vrf string, needs *Needs, restarting bool, before <-chan struct{}) *speaker {
	s := &speaker{
		vrf: vrf, id: needs.VRFs.ID(vrf), needs: needs, loop: loop.New[message](needs.Clock, 0), log: needs.Log.With("vrf", vrfName(vrf)),
		running: &settings{}, restarting: restarting, ended: make(chan struct{}),
		pending: map[netip.Prefix][]nextHop{}, installed: map[netip.Prefix]struct{}{}, routes: map[netip.Prefix]string{},
		announced: map[netip.Prefix]announcement{}, told: map[netip.Addr][families]bool{}, warned: map[netip.Addr][families]bool{},
	}
	s.notes.refused, s.notes.causes = map[string]uint64{}, map[netip.Addr]string{}
	ctx, cancel := context.WithCancel(context.Background())
	s.end = cancel
	go func() {
		defer close(s.ended)
		if before != nil {
			<-before
		}
		s.loop.Run(ctx, func(m message) { m.handle(s) })
	}()
	s.loop.After(staleLimit, expired{})
	return s
}

func vrfName(vrf string) string {
	if vrf == "" {
		return "default"
	}
	return vrf
}

// remove takes BGP out of the VRF.
type remove struct{}

func (remove) handle(s *speaker) {
	s.stop()
	s.end()
}

// stop takes the server away, and with it all routes.
func (s *speaker) stop() {
	s.wanted, s.running, s.program = nil, &settings{}, nil
	s.publish("")
	if s.server != nil {
		s.unwatch()
		s.server.stop(s.log)
		s.server = nil
	}
	s.generation++
	s.flushPosted = false // the flush that is on its way has nothing to tell any more
	clear(s.pending)
	clear(s.installed)
	clear(s.routes)
	clear(s.announced)
	clear(s.told)
	s.needs.Routes.FlushBGP(s.id)
	s.answerSettled()
}

// publish tells show commands how things stand.
func (s *speaker) publish(trouble string) {
	s.notes.mu.Lock()
	s.notes.settings, s.notes.server, s.notes.trouble = s.wanted, s.server, trouble
	if s.wanted == nil {
		s.notes.server = nil
	}
	s.notes.mu.Unlock()
}

// boundary returns the judge of learnt paths.
func (s *speaker) boundary() boundary {
	return boundary{as: s.wanted.as, own: func(a netip.Addr) bool { return (*s.own.Load())[a] }, refused: func(reason string) {
		s.notes.mu.Lock()
		s.notes.refused[reason]++
		s.notes.mu.Unlock()
	}}
}

// logger returns what GoBGP logs to.
func (s *speaker) logger() *logger {
	return &logger{log: s.log, down: func(neighbor, reason string) {
		addr, err := netip.ParseAddr(neighbor)
		if err != nil {
			return
		}
		s.notes.mu.Lock()
		s.notes.causes[addr] = reason
		s.notes.mu.Unlock()
	}}
}

// peerState brings a neighbour's new state.
type peerState struct {
	generation int
	neighbor   string
	session    api.PeerState_SessionState
	admin      api.PeerState_AdminState
}

func (m peerState) handle(s *speaker) {
	addr, err := netip.ParseAddr(m.neighbor)
	if m.generation != s.generation || err != nil {
		return
	}
	if m.session != api.PeerState_ESTABLISHED {
		delete(s.told, addr)
		delete(s.warned, addr)
	}
	n := s.running.find(addr)
	if m.admin != api.PeerState_PFX_CT || n == nil {
		return
	}
	for f := range families {
		if after := n.families[f].restartAfter; after > 0 {
			s.log.Warn("neighbour announced more prefixes than its maximum-prefix", "neighbor", addr, "restart-after", after)
			s.loop.After(after, comeBack{s.generation, addr})
			return
		}
	}
	s.log.Warn("neighbour announced more prefixes than its maximum-prefix; it stays down until it is cleared", "neighbor", addr)
}

// comeBack ends the rest of a neighbour that had announced too much.
type comeBack struct {
	generation int
	neighbor   netip.Addr
}

func (m comeBack) handle(s *speaker) {
	if m.generation != s.generation || s.running.find(m.neighbor) == nil {
		return
	}
	if err := s.server.enable(m.neighbor); err != nil {
		s.log.Error("neighbour cannot be enabled", "neighbor", m.neighbor, "error", err)
	}
}

// settle asks to be told when the neighbours have told what they know.
type settle struct{ done func() }

func (m settle) handle(s *speaker) {
	s.settlers = append(s.settlers, m.done)
	s.answerSettled()
}

type expired struct{}

func (expired) handle(s *speaker) {
	s.overdue = true
	s.answerSettled()
}

func (s *speaker) answerSettled() {
	if len(s.settlers) == 0 || !s.settled() {
		return
	}
	if s.flushPosted { // what was heard before the last marker is still to be told to the RIB
		s.loop.Post(settleAgain{})
		return
	}
	for _, done := range s.settlers {
		done()
	}
	s.settlers = nil
}

type settleAgain struct{}

func (settleAgain) handle(s *speaker) { s.answerSettled() }

func (s *speaker) settled() bool {
	if s.overdue || s.wanted == nil {
		return true
	}
	for i := range s.wanted.neighbors {
		n := &s.wanted.neighbors[i]
		if told := s.told[n.addr]; !n.shutdown && told != n.active {
			return false
		}
	}
	return true
}

// count looks for neighbours beyond a limit that only warns.
type count struct{}

func (count) handle(s *speaker) {
	s.counting = false
	s.countLater()
	for i := range s.running.neighbors {
		n := &s.running.neighbors[i]
		warned := s.warned[n.addr]
		for f := range families {
			x := n.families[f]
			if !x.warningOnly || warned[f] {
				continue
			}
			if c := s.server.counts(n.addr)[f]; c.received > uint64(x.maximum) {
				warned[f] = true
				s.log.Warn("neighbour announces more prefixes than its maximum-prefix warning-only", "neighbor", n.addr, "family", f.String(), "prefixes", c.received, "maximum", x.maximum)
			}
		}
		s.warned[n.addr] = warned
	}
}

// countLater goes on counting while there is something to count.
func (s *speaker) countLater() {
	if s.counting || s.server == nil {
		return
	}
	for i := range s.running.neighbors {
		for f := range families {
			if s.running.neighbors[i].families[f].warningOnly {
				s.counting = true
				s.loop.After(countInterval, count{})
				return
			}
		}
	}
}

// enable ends a neighbour's administrative rest.
func (srv *server) enable(addr netip.Addr) error {
	return srv.use(func(b *gobgp.BgpServer) error {
		return b.EnablePeer(context.Background(), &api.EnablePeerRequest{Address: addr.String()})
	})
}
