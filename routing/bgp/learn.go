package bgp

import (
	"maps"
	"net/netip"
	"slices"

	api "github.com/osrg/gobgp/v3/api"

	"vbng/routing/rib"
)

// heard brings what GoBGP's watcher tells. Conversion is done on GoBGP's goroutine, so that the loop has
// the small values only.
func (s *speaker) heard(b boundary, generation int) func(*api.WatchEventResponse) {
	return func(r *api.WatchEventResponse) {
		if t := r.GetTable(); t != nil {
			if paths := t.GetPaths(); len(paths) == 1 && paths[0].GetNlri() == nil {
				s.loop.Post(endOfRIB{generation, paths[0].GetNeighborIp(), paths[0].GetFamily().GetAfi()})
			} else if len(paths) > 0 {
				s.loop.Post(learnt{generation, b.learn(paths)})
			}
			return
		}
		if p := r.GetPeer().GetPeer(); p != nil {
			s.loop.Post(peerState{generation, p.GetState().GetNeighborAddress(), p.GetState().GetSessionState(), p.GetState().GetAdminState()})
		}
	}
}

// learnt brings the best paths of some prefixes. The generation is that of the server they come from.
type learnt struct {
	generation int
	all        []learned
}

func (m learnt) handle(s *speaker) {
	if m.generation != s.generation {
		return
	}
	for _, l := range m.all {
		s.pending[l.prefix] = l.hops
	}
	s.flushLater()
}

// flushLater puts a flush behind everything that lies in the inbox: a storm becomes one update.
func (s *speaker) flushLater() {
	if !s.flushPosted {
		s.flushPosted = true
		s.loop.Post(flush{})
	}
}

type flush struct{}

// handle tells the RIB what has become of the prefixes of which something was heard.
func (flush) handle(s *speaker) {
	s.flushPosted = false
	var put []rib.Path
	var withdrawn []netip.Prefix
	for prefix, hops := range s.pending {
		if len(hops) > 0 {
			put = append(put, path(prefix, hops, s.running.maximumPaths))
			s.installed[prefix] = struct{}{}
			continue
		}
		if _, there := s.installed[prefix]; there {
			delete(s.installed, prefix)
			withdrawn = append(withdrawn, prefix)
		}
	}
	clear(s.pending)
	if len(put)+len(withdrawn) > 0 {
		s.needs.Routes.UpdateBGP(s.id, put, withdrawn)
	}
}

// path makes one route of the best paths, at most maximum of them.
func path(prefix netip.Prefix, hops []nextHop, maximum int) rib.Path {
	p := rib.Path{Prefix: prefix, Internal: hops[0].internal, Metric: hops[0].metric}
	for _, h := range hops {
		if len(p.NextHops) < maximum && !slices.Contains(p.NextHops, h.addr) {
			p.NextHops = append(p.NextHops, h.addr)
		}
	}
	return p
}

// relearn reads the whole table again, after the number of paths in use or our own addresses have changed.
func (s *speaker) relearn() {
	b := s.boundary()
	now := map[netip.Prefix][]nextHop{}
	err := s.server.list(api.TableType_GLOBAL, "", "", func(d *api.Destination) {
		for _, l := range b.learn(bestPaths(d)) {
			now[l.prefix] = l.hops
		}
	})
	if err != nil {
		s.log.Error("BGP's table could not be read", "error", err)
		return
	}
	s.replaceLearned(now)
	s.flushLater()
}

// replaceLearned makes now all that is learned: what the boundary has come to refuse is withdrawn.
func (s *speaker) replaceLearned(now map[netip.Prefix][]nextHop) {
	for prefix := range s.installed {
		s.pending[prefix] = nil
	}
	maps.Copy(s.pending, now)
}

// bestPaths returns a destination's equally good paths: GoBGP lists the best first, and those that tie with it are
// marked best as well.
func bestPaths(d *api.Destination) (best []*api.Path) {
	for _, p := range d.GetPaths() {
		if p.GetBest() {
			best = append(best, p)
		}
	}
	return best
}

// endOfRIB is the marker of RFC 4724 2: the neighbour has told all it knows.
type endOfRIB struct {
	generation int
	neighbor   string
	afi        api.Family_Afi
}

func (m endOfRIB) handle(s *speaker) {
	addr, err := netip.ParseAddr(m.neighbor)
	if m.generation != s.generation || err != nil {
		return
	}
	done := s.told[addr]
	done[familyByAFI(m.afi)] = true
	s.told[addr] = done
	s.answerSettled()
}

func familyByAFI(afi api.Family_Afi) family {
	if afi == api.Family_AFI_IP {
		return ipv4
	}
	return ipv6
}
