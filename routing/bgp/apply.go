package bgp

import (
	"context"
	"maps"
	"net/netip"
	"reflect"

	api "github.com/osrg/gobgp/v3/api"
	gobgp "github.com/osrg/gobgp/v3/pkg/server"

	"vbng/routing/rib"
)

// configure brings new settings.
type configure struct{ wanted *settings }

func (m configure) handle(s *speaker) {
	if s.wanted != nil && reflect.DeepEqual(s.wanted, m.wanted) {
		return
	}
	if s.server != nil && (s.running.as != m.wanted.as || s.running.routerID != m.wanted.routerID) {
		s.log.Warn("AS number or router-id changed: every BGP session of the VRF is made anew")
		s.stop()
	}
	s.wanted = m.wanted
	s.reach()
}

// retry starts BGP again that could not be started.
type retry struct{}

func (retry) handle(s *speaker) {
	s.retrying = false
	if s.server == nil && s.wanted != nil {
		s.reach()
	}
}

// reach makes what runs agree with what is wanted.
func (s *speaker) reach() {
	if s.server == nil && !s.start() {
		return
	}
	old := s.running
	s.running = s.wanted
	s.own.Store(&s.running.own)
	changed := s.applyPolicies()
	s.applyNeighbors(old, changed)
	s.announceAll()
	if old.as != 0 && (old.maximumPaths != s.running.maximumPaths || !maps.Equal(old.own, s.running.own)) {
		s.relearn()
	}
	s.countLater()
	s.publish("")
	s.answerSettled()
}

// start starts the server; what is missing for it is waited for.
func (s *speaker) start() bool {
	srv, err := startServer(s.wanted, s.needs.Device(s.id), s.logger())
	if err != nil {
		s.notes.mu.Lock()
		first := s.notes.trouble == ""
		s.notes.mu.Unlock()
		if first {
			s.log.Error("BGP cannot be started, trying again", "error", err)
		}
		s.publish(err.Error())
		if !s.retrying {
			s.retrying = true
			s.loop.After(retryDelay, retry{})
		}
		return false
	}
	s.server = srv
	s.own.Store(&s.wanted.own)
	s.listen()
	generation := s.generation
	s.unwatch = s.needs.Routes.Watch(s.id, func(a rib.Announce) { s.loop.Post(watched{generation, a}) })
	return true
}

// listen begins to hear what GoBGP learns.
func (s *speaker) listen() {
	if err := s.server.watch(s.heard(s.boundary(), s.generation)); err != nil {
		s.log.Error("BGP's routes cannot be heard", "error", err)
	}
}

// applyPolicies gives GoBGP the filters and returns whose import and export rules have changed.
func (s *speaker) applyPolicies() (changed map[netip.Addr][2]bool) {
	next := compile(s.running)
	changed = map[netip.Addr][2]bool{}
	var before map[netip.Addr][2]string
	if s.program != nil {
		before = s.program.marks
	}
	for addr, mark := range next.marks {
		if was, there := before[addr]; there && was != mark {
			changed[addr] = [2]bool{was[0] != mark[0], was[1] != mark[1]}
		}
	}
	if s.program != nil && maps.Equal(before, next.marks) {
		return nil
	}
	old := s.program
	s.program = next
	if err := s.setPrograms(old, next, changed); err != nil {
		s.log.Error("BGP's filters cannot be set", "error", err)
	}
	return changed
}

// applyNeighbors removes, adds and changes neighbours, and evaluates anew the routes of those that stay
// and whose filters have changed.
func (s *speaker) applyNeighbors(old *settings, changed map[netip.Addr][2]bool) {
	for i := range old.neighbors {
		was := &old.neighbors[i]
		if now := s.running.find(was.addr); now == nil || now.session != was.session {
			s.removeNeighbor(was, now != nil)
		}
	}
	for i := range s.running.neighbors {
		now := &s.running.neighbors[i]
		was := old.find(now.addr)
		switch {
		case was == nil || was.session != now.session:
			s.try(now, "added", func(b *gobgp.BgpServer) error {
				return b.AddPeer(context.Background(), &api.AddPeerRequest{Peer: s.peer(now)})
			})
		default:
			if adjustable(was, now) {
				s.try(now, "changed", func(b *gobgp.BgpServer) error {
					_, err := b.UpdatePeer(context.Background(), &api.UpdatePeerRequest{Peer: s.peer(now)})
					return err
				})
			}
			s.softReset(now, changed[now.addr])
		}
	}
	s.restarting = false
}

func (s *speaker) peer(n *neighbor) *api.Peer { return n.peer(s.needs.Device(s.id), s.restarting) }

// try asks GoBGP for a change and logs its refusal.
func (s *speaker) try(n *neighbor, verb string, f func(*gobgp.BgpServer) error) {
	if err := s.server.use(f); err != nil {
		s.log.Error("neighbour cannot be "+verb, "neighbor", n.addr, "error", err)
	}
}

// removeNeighbor takes a neighbour away. GoBGP forgets its key on the listening socket only when the key
// is changed, not when the neighbour goes: so the key goes first.
func (s *speaker) removeNeighbor(n *neighbor, comesBack bool) {
	if n.password != "" {
		bare := *n
		bare.password, bare.shutdown = "", true
		s.try(n, "stripped of its key", func(b *gobgp.BgpServer) error {
			_, err := b.UpdatePeer(context.Background(), &api.UpdatePeerRequest{Peer: s.peer(&bare)})
			return err
		})
	}
	s.try(n, "removed", func(b *gobgp.BgpServer) error {
		return b.DeletePeer(context.Background(), &api.DeletePeerRequest{Address: n.addr.String()})
	})
	delete(s.told, n.addr)
	s.notes.mu.Lock()
	if delete(s.notes.causes, n.addr); comesBack {
		s.notes.causes[n.addr] = "our configuration changed"
	}
	s.notes.mu.Unlock()
}

// softReset evaluates routes anew; the session stays, and the neighbour hears of differences only.
func (s *speaker) softReset(n *neighbor, directions [2]bool) {
	for i, direction := range []api.ResetPeerRequest_SoftResetDirection{api.ResetPeerRequest_IN, api.ResetPeerRequest_OUT} {
		if directions[i] {
			s.try(n, "evaluated anew", func(b *gobgp.BgpServer) error {
				return b.ResetPeer(context.Background(), &api.ResetPeerRequest{Address: n.addr.String(), Soft: true, Direction: direction})
			})
		}
	}
}
