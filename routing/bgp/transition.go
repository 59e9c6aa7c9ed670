package bgp

import (
	"context"
	"net/netip"

	api "github.com/osrg/gobgp/v3/api"
	gobgp "github.com/osrg/gobgp/v3/pkg/server"
	"google.golang.org/protobuf/proto"
)

// GoBGP withdraws a route from a neighbour when its successor is filtered and the route itself was not. It
// does not when a filter changes under routes that stay. So that a neighbour is told of what a new filter
// takes from it, without a new session, every route gets a successor twice: marked, then unmarked. While
// they are marked, the neighbours concerned see marked routes by the new filters and unmarked ones by the
// old. The mark leaves our router in no message.
const (
	mark    = "4294967295:4294967295:4294967295" // a large community (RFC 8092) of a reserved AS
	markSet = "mark"
	fresh   = "new " // before the names of what is the new program's
)

// transition returns the filters of the time between two programs.
func transition(old, next *program, losing map[netip.Addr]bool) *api.SetPoliciesRequest {
	t := &program{sets: map[string]*api.DefinedSet{
		markSet: {DefinedType: api.DefinedType_LARGE_COMMUNITY, Name: markSet, List: []string{"^" + mark + "$"}},
	}}
	for name, set := range old.sets {
		t.sets[name] = set
	}
	for name, set := range next.sets {
		set = proto.Clone(set).(*api.DefinedSet)
		set.Name = fresh + name
		t.sets[set.Name] = set
	}
	t.imports = append(t.imports, &api.Statement{Name: "mark", Conditions: &api.Conditions{}, Actions: &api.Actions{
		LargeCommunity: &api.CommunityAction{Type: api.CommunityAction_ADD, Communities: []string{mark}}}})
	for _, s := range next.imports {
		t.imports = append(t.imports, renamed(s))
	}
	for addr := range losing {
		for _, s := range next.exportsOf[addr] {
			t.exports = append(t.exports, marked(renamed(s)))
		}
	}
	strip := marked(&api.Statement{Name: "strip", Conditions: &api.Conditions{}, Actions: &api.Actions{}})
	t.exports = append(append(t.exports, strip), old.exports...)
	return t.request()
}

// renamed returns a statement that uses the new program's sets.
func renamed(s *api.Statement) *api.Statement {
	s = proto.Clone(s).(*api.Statement)
	s.Name = fresh + s.Name
	for _, m := range []*api.MatchSet{s.Conditions.PrefixSet, s.Conditions.NeighborSet, s.Conditions.AsPathSet, s.Conditions.CommunitySet} {
		if m != nil {
			m.Name = fresh + m.Name
		}
	}
	return s
}

// marked makes a statement one for marked routes, whose mark it takes off.
func marked(s *api.Statement) *api.Statement {
	s.Conditions.LargeCommunitySet = &api.MatchSet{Type: api.MatchSet_ANY, Name: markSet}
	if s.Actions.RouteAction != api.RouteAction_REJECT && s.Actions.LargeCommunity == nil {
		s.Actions.LargeCommunity = &api.CommunityAction{Type: api.CommunityAction_REMOVE, Communities: []string{"^" + mark + "$"}}
	}
	return s
}

// announcedTo returns the prefixes that the present filters let out to a neighbour.
func (s *speaker) announcedTo(addr netip.Addr) map[string]bool {
	all := map[string]bool{}
	// A neighbour without a session has been told nothing.
	_ = s.server.list(api.TableType_ADJ_OUT, addr.String(), "", func(d *api.Destination) { all[d.GetPrefix()] = true })
	return all
}

// setPrograms puts a new program in place of the old one, with withdrawals of what it takes from those
// whose export rules have changed.
func (s *speaker) setPrograms(old, next *program, changed map[netip.Addr][2]bool) error {
	before := map[netip.Addr]map[string]bool{}
	for addr, directions := range changed {
		if directions[1] {
			before[addr] = s.announcedTo(addr)
		}
	}
	if err := s.setPolicies(next.request()); err != nil {
		return err
	}
	losing := map[netip.Addr]bool{}
	for addr, had := range before {
		has := s.announcedTo(addr)
		for prefix := range had {
			if !has[prefix] {
				losing[addr] = true
				break
			}
		}
	}
	if len(losing) == 0 {
		return nil
	}
	for _, request := range []*api.SetPoliciesRequest{transition(old, next, losing), next.request()} {
		if err := s.setPolicies(request); err != nil {
			return err
		}
		if err := s.succeed(); err != nil {
			return err
		}
	}
	return nil
}

func (s *speaker) setPolicies(r *api.SetPoliciesRequest) error {
	return s.server.use(func(b *gobgp.BgpServer) error { return b.SetPolicies(context.Background(), r) })
}

// succeed gives every route a successor: our own by another announcement, learnt ones by evaluating anew
// what the neighbours have told.
func (s *speaker) succeed() error {
	return s.server.use(func(b *gobgp.BgpServer) error {
		for p, a := range s.announced {
			if _, err := b.AddPath(context.Background(), &api.AddPathRequest{Path: a.path(p)}); err != nil {
				return err
			}
		}
		return b.ResetPeer(context.Background(), &api.ResetPeerRequest{Address: "all", Soft: true, Direction: api.ResetPeerRequest_IN})
	})
}
