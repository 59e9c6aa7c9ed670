package bgp

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"

	api "github.com/osrg/gobgp/v3/api"
	gobgp "github.com/osrg/gobgp/v3/pkg/server"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"vbng/routing/policy"
	"vbng/routing/rib"
)

// announcement is a route of ours as it is announced.
type announcement struct {
	set    policy.Set
	origin api.RouteOriginType // RFC 4271 5.1.1: IGP for network, incomplete for redistributed routes
	// fallback is the default route of default-originate: every learnt one is better.
	fallback bool
}

// watched brings what the RIB has that may be announced.
type watched struct {
	generation int
	announce   rib.Announce
}

func (m watched) handle(s *speaker) {
	if m.generation != s.generation {
		return
	}
	p := m.announce.Prefix
	if m.announce.Withdrawn {
		delete(s.routes, p)
	} else {
		s.routes[p] = m.announce.Source.String()
	}
	s.announce(p)
}

// announceAll compares every prefix with what is announced, after the configuration has changed.
func (s *speaker) announceAll() {
	for p := range s.routes {
		s.announce(p)
	}
	for p := range s.announced {
		s.announce(p)
	}
	for f := range families {
		s.announce(everything(f))
	}
}

func everything(f family) netip.Prefix {
	if f == ipv4 {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
}

// announce makes GoBGP agree with what is wanted of one prefix.
func (s *speaker) announce(p netip.Prefix) {
	wanted, want := s.running.announcement(p, s.routes[p])
	have, there := s.announced[p]
	if want == there && (!want || reflect.DeepEqual(wanted, have)) {
		return
	}
	err := s.server.use(func(b *gobgp.BgpServer) error {
		if want {
			_, err := b.AddPath(context.Background(), &api.AddPathRequest{Path: wanted.path(p)})
			return err
		}
		return b.DeletePath(context.Background(), &api.DeletePathRequest{Path: have.path(p)})
	})
	if err != nil {
		s.log.Error("a route cannot be announced", "prefix", p, "error", err)
		return
	}
	if want {
		s.announced[p] = wanted
	} else {
		delete(s.announced, p)
	}
}

// announcement tells whether and how a prefix is announced. source is "" when the RIB does not have it.
func (s *settings) announcement(p netip.Prefix, source string) (a announcement, want bool) {
	if source != "" && announceable(p) {
		for _, n := range s.networks {
			if n.prefix != p {
				continue
			}
			if set, permit := n.routeMap.Apply(policy.Own{Prefix: p, Source: source}); permit {
				return announcement{set: set, origin: api.RouteOriginType_ORIGIN_IGP}, true
			}
		}
		for _, r := range s.sources {
			if r.source != source || p.Bits() == 0 {
				continue
			}
			if set, permit := r.routeMap.Apply(policy.Own{Prefix: p, Source: source}); permit {
				return announcement{set: set, origin: api.RouteOriginType_ORIGIN_INCOMPLETE}, true
			}
		}
	}
	if p.Bits() == 0 && s.originates(familyOf(p.Addr())) {
		return announcement{origin: api.RouteOriginType_ORIGIN_IGP, fallback: true}, true
	}
	return announcement{}, false
}

func (s *settings) originates(f family) bool {
	for i := range s.neighbors {
		if n := &s.neighbors[i]; n.active[f] && n.families[f].defaultOriginate {
			return true
		}
	}
	return false
}

// path returns a route of ours in GoBGP's words. GoBGP replaces an unspecified next hop by our address in
// each session.
func (a announcement) path(p netip.Prefix) *api.Path {
	f := familyOf(p.Addr())
	nlri := pack(&api.IPAddressPrefix{Prefix: p.Addr().String(), PrefixLen: uint32(p.Bits())})
	attributes := []*anypb.Any{pack(&api.OriginAttribute{Origin: uint32(a.origin) - 1})} // RFC 4271 4.3: IGP is 0
	hop := a.set.NextHop4
	if f == ipv6 {
		hop = a.set.NextHop6
	}
	if !hop.IsValid() {
		hop = everything(f).Addr()
	}
	if f == ipv4 {
		attributes = append(attributes, pack(&api.NextHopAttribute{NextHop: hop.String()}))
	} else {
		attributes = append(attributes, pack(&api.MpReachNLRIAttribute{Family: familyMessages[f], NextHops: []string{hop.String()}, Nlris: []*anypb.Any{nlri}}))
	}
	return &api.Path{Family: familyMessages[f], Nlri: nlri, Pattrs: append(attributes, a.optional()...)}
}

// optional returns the attributes that a route map has set.
func (a announcement) optional() []*anypb.Any {
	var all []*anypb.Any
	if a.set.PrependCount > 0 {
		segment := &api.AsSegment{Type: api.AsSegment_AS_SEQUENCE}
		for range a.set.PrependCount {
			segment.Numbers = append(segment.Numbers, a.set.PrependAS)
		}
		all = append(all, pack(&api.AsPathAttribute{Segments: []*api.AsSegment{segment}}))
	}
	if a.set.Metric != nil {
		all = append(all, pack(&api.MultiExitDiscAttribute{Med: *a.set.Metric}))
	}
	switch {
	case a.fallback:
		all = append(all, pack(&api.LocalPrefAttribute{LocalPref: 0}))
	case a.set.LocalPreference != nil:
		all = append(all, pack(&api.LocalPrefAttribute{LocalPref: *a.set.LocalPreference}))
	}
	if len(a.set.Communities) > 0 {
		all = append(all, pack(&api.CommunitiesAttribute{Communities: communities(a.set.Communities)}))
	}
	return all
}

// communities returns the numbers of communities in text (RFC 1997).
func communities(words []string) []uint32 {
	var all []uint32
	for _, w := range words {
		var high, low uint32
		switch w {
		case "no-export":
			all = append(all, 0xffffff01)
		case "no-advertise":
			all = append(all, 0xffffff02)
		default:
			if _, err := fmt.Sscanf(w, "%d:%d", &high, &low); err == nil {
				all = append(all, high<<16|low)
			}
		}
	}
	return all
}

// pack wraps a message of GoBGP's, which cannot fail: the types are known.
func pack(m proto.Message) *anypb.Any {
	a, err := anypb.New(m)
	if err != nil {
		return &anypb.Any{}
	}
	return a
}
