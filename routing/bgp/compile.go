package bgp

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	api "github.com/osrg/gobgp/v3/api"

	"vbng/routing/policy"
)

// program is the filters of all neighbours of a VRF in GoBGP's words.
type program struct {
	sets    map[string]*api.DefinedSet // by name, which tells the content's origin
	imports []*api.Statement
	exports []*api.Statement
	// marks is each neighbour's rules as text, to find whose have changed. The two are import and export.
	marks     map[netip.Addr][2]string
	exportsOf map[netip.Addr][]*api.Statement
}

func (p *program) request() *api.SetPoliciesRequest {
	r := &api.SetPoliciesRequest{Policies: []*api.Policy{
		{Name: importPolicy, Statements: p.imports}, {Name: exportPolicy, Statements: p.exports},
	}}
	for _, name := range slices.Sorted(maps.Keys(p.sets)) {
		r.DefinedSets = append(r.DefinedSets, p.sets[name])
	}
	return r
}

// compile translates the filters of a VRF's neighbours. GoBGP evaluates one list of statements per
// direction for all neighbours, so every statement names its neighbour and family.
func compile(s *settings) *program {
	p := &program{sets: map[string]*api.DefinedSet{}, marks: map[netip.Addr][2]string{}, exportsOf: map[netip.Addr][]*api.Statement{}}
	openDefault := map[family]bool{}
	for _, n := range s.networks {
		if n.prefix.Bits() == 0 {
			openDefault[familyOf(n.prefix.Addr())] = true
		}
	}
	for i := range s.neighbors {
		n := &s.neighbors[i]
		imports, exports := len(p.imports), len(p.exports)
		for f := range families {
			if n.active[f] {
				in := &direction{program: p, neighbor: n, family: f, name: fmt.Sprintf("%v %v in", n.addr, f)}
				in.imports()
				out := &direction{program: p, neighbor: n, family: f, name: fmt.Sprintf("%v %v out", n.addr, f)}
				out.exports(openDefault[f])
			}
		}
		p.exportsOf[n.addr] = p.exports[exports:len(p.exports):len(p.exports)]
		p.marks[n.addr] = [2]string{p.mark(p.imports[imports:]), p.mark(p.exports[exports:])}
	}
	return p
}

// mark returns statements and the sets they use as text.
func (p *program) mark(statements []*api.Statement) string {
	var b strings.Builder
	for _, s := range statements {
		b.WriteString(s.String())
		for _, m := range []*api.MatchSet{s.Conditions.PrefixSet, s.Conditions.AsPathSet, s.Conditions.CommunitySet} {
			if m != nil {
				b.WriteString(p.sets[m.Name].String())
			}
		}
	}
	return b.String()
}

// direction compiles what one neighbour does with one family's routes in one direction.
type direction struct {
	program  *program
	neighbor *neighbor
	family   family
	name     string // in and out are different names
	count    int
	list     []*api.Statement
}

// imports: prefix list, route map, and what neither denies is accepted.
func (d *direction) imports() {
	x := d.neighbor.families[d.family]
	d.filter(x.listIn)
	d.routeMap(x.mapIn, false)
	d.program.imports = append(d.program.imports, d.list...)
}

// exports: our own default route by its own rule, then as in imports, with what is done to every route.
func (d *direction) exports(openDefault bool) {
	x := d.neighbor.families[d.family]
	d.ownDefault(x.defaultOriginate, openDefault)
	d.filter(x.listOut)
	d.routeMap(x.mapOut, true)
	if x.mapOut == nil {
		actions := &api.Actions{RouteAction: api.RouteAction_ACCEPT}
		d.always(actions)
		d.add(&api.Conditions{}, actions)
	}
	d.program.exports = append(d.program.exports, d.list...)
}

// add appends a statement about this neighbour and family.
func (d *direction) add(c *api.Conditions, a *api.Actions) {
	name := "neighbor " + d.neighbor.addr.String()
	d.program.sets[name] = &api.DefinedSet{DefinedType: api.DefinedType_NEIGHBOR, Name: name, List: []string{
		netip.PrefixFrom(d.neighbor.addr, d.neighbor.addr.BitLen()).String()}}
	c.NeighborSet = &api.MatchSet{Type: api.MatchSet_ANY, Name: name}
	c.AfiSafiIn = []*api.Family{familyMessages[d.family]}
	d.count++
	d.list = append(d.list, &api.Statement{Name: fmt.Sprintf("%s %d", d.name, d.count), Conditions: c, Actions: a})
}

func (d *direction) reject(c *api.Conditions) {
	d.add(c, &api.Actions{RouteAction: api.RouteAction_REJECT})
}

// filter rejects what a prefix list does not permit.
func (d *direction) filter(l *policy.PrefixList) {
	if l == nil {
		return
	}
	match := d.prefixes(l, api.MatchSet_INVERT)
	if match == nil {
		d.reject(&api.Conditions{}) // nothing is permitted
		return
	}
	d.reject(&api.Conditions{PrefixSet: match})
}

// prefixes makes a set of what a list permits, nil when that is nothing.
func (d *direction) prefixes(l *policy.PrefixList, how api.MatchSet_Type) *api.MatchSet {
	name := fmt.Sprintf("prefix-list %v %s", d.family, l.Name)
	if d.program.sets[name] == nil {
		ranges := l.Ranges()
		if len(ranges) == 0 {
			return nil
		}
		set := &api.DefinedSet{DefinedType: api.DefinedType_PREFIX, Name: name}
		for _, r := range ranges {
			set.Prefixes = append(set.Prefixes, &api.Prefix{IpPrefix: r.Prefix.String(), MaskLengthMin: uint32(r.Min), MaskLengthMax: uint32(r.Max)})
		}
		d.program.sets[name] = set
	}
	return &api.MatchSet{Type: how, Name: name}
}

// routeMap appends the entries of a map, and the denial of what none of them matches.
func (d *direction) routeMap(m *policy.RouteMap, out bool) {
	if m == nil {
		return
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		conditions := d.conditions(m, e)
		if conditions == nil {
			continue // it matches nothing
		}
		if !e.Permit {
			d.reject(conditions)
			continue
		}
		actions := setActions(e.Set, d.family)
		if out {
			d.always(actions)
		}
		d.add(conditions, actions)
	}
	d.reject(&api.Conditions{})
}

// conditions translates an entry's match, nil when no route of the family can match.
func (d *direction) conditions(m *policy.RouteMap, e *policy.Entry) *api.Conditions {
	c := &api.Conditions{}
	if e.Match.PrefixList4 != nil || e.Match.PrefixList6 != nil {
		list := e.Match.PrefixList4
		if d.family == ipv6 {
			list = e.Match.PrefixList6
		}
		if list == nil {
			return nil
		}
		if c.PrefixSet = d.prefixes(list, api.MatchSet_ANY); c.PrefixSet == nil {
			return nil
		}
	}
	if e.Match.ASPathMaximum >= 0 {
		c.AsPathLength = &api.AsPathLength{Type: api.AsPathLength_LE, Length: uint32(e.Match.ASPathMaximum)}
	}
	if e.Match.ASPathRegexp != "" {
		c.AsPathSet = d.set(api.DefinedType_AS_PATH, "as-path", m, e, []string{e.Match.ASPathRegexp})
	}
	if len(e.Match.Communities) > 0 {
		c.CommunitySet = d.set(api.DefinedType_COMMUNITY, "community", m, e, e.Match.Communities)
	}
	return c
}

func (d *direction) set(kind api.DefinedType, what string, m *policy.RouteMap, e *policy.Entry, list []string) *api.MatchSet {
	name := fmt.Sprintf("%s %s %d", what, m.Name, e.Sequence)
	d.program.sets[name] = &api.DefinedSet{DefinedType: kind, Name: name, List: list}
	return &api.MatchSet{Type: api.MatchSet_ANY, Name: name}
}

// setActions translates what a permitting entry changes.
func setActions(s policy.Set, f family) *api.Actions {
	a := &api.Actions{RouteAction: api.RouteAction_ACCEPT}
	if s.LocalPreference != nil {
		a.LocalPref = &api.LocalPrefAction{Value: *s.LocalPreference}
	}
	if s.Metric != nil {
		a.Med = &api.MedAction{Type: api.MedAction_REPLACE, Value: int64(*s.Metric)}
	}
	if len(s.Communities) > 0 {
		a.Community = &api.CommunityAction{Type: api.CommunityAction_REPLACE, Communities: s.Communities}
		if s.Additive {
			a.Community.Type = api.CommunityAction_ADD
		}
	}
	if s.PrependCount > 0 {
		a.AsPrepend = &api.AsPrependAction{Asn: s.PrependAS, Repeat: uint32(s.PrependCount)}
	}
	hop := s.NextHop4
	if f == ipv6 {
		hop = s.NextHop6
	}
	if hop.IsValid() {
		a.Nexthop = &api.NexthopAction{Address: hop.String()}
	}
	return a
}

// always adds what the neighbour's settings do to every route that is announced to it.
func (d *direction) always(a *api.Actions) {
	if !d.neighbor.sendCommunity {
		none := func() *api.CommunityAction { return &api.CommunityAction{Type: api.CommunityAction_REPLACE} }
		a.Community, a.LargeCommunity = none(), none() // GoBGP makes a malformed attribute of no extended ones
	}
	if d.neighbor.nextHopSelf && a.Nexthop == nil {
		a.Nexthop = &api.NexthopAction{Self: true}
	}
}

// ownDefault lets our own default route out to those who are promised one, and to nobody else. It stands
// before the filters: they are for the routes that we have, not for this promise.
func (d *direction) ownDefault(promised, open bool) {
	everything := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	if d.family == ipv6 {
		everything = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	name := fmt.Sprintf("default route %v", d.family)
	conditions := &api.Conditions{
		PrefixSet: &api.MatchSet{Type: api.MatchSet_ANY, Name: name}, RouteType: api.Conditions_ROUTE_TYPE_LOCAL,
	}
	switch {
	case promised:
		actions := &api.Actions{RouteAction: api.RouteAction_ACCEPT, LocalPref: &api.LocalPrefAction{Value: 100}}
		d.always(actions)
		d.add(conditions, actions)
	case !open:
		d.reject(conditions)
	default:
		return
	}
	d.program.sets[name] = &api.DefinedSet{DefinedType: api.DefinedType_PREFIX, Name: name, Prefixes: []*api.Prefix{{IpPrefix: everything.String()}}}
}
