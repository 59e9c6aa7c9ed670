package policy

import (
	"net/netip"
	"slices"
)

// RouteMap is an ordered list of entries.
type RouteMap struct {
	Name    string
	Entries []Entry // by sequence number
}

// Entry is one entry of a route map: when Match holds, the route is permitted with Set done, or denied.
type Entry struct {
	Sequence uint32
	Permit   bool
	Match    Match
	Set      Set
}

// Match is the conditions of an entry; all that are given must hold.
type Match struct {
	PrefixList4   *PrefixList // of an IPv4 route; an IPv6 route does not match
	PrefixList6   *PrefixList // the other way round; with both, each family has its own
	ASPathMaximum int         // longest AS path, -1: any
	ASPathRegexp  string      // of the AS path in text, "_" as between numbers; empty: any
	Communities   []string    // one of them is enough; none: any
	Sources       []string    // of a redistributed route ("connected"); none: any
}

// Set is the changes that an entry makes. What is not given stays as it was.
type Set struct {
	LocalPreference *uint32
	Metric          *uint32 // MULTI_EXIT_DISC, RFC 4271 5.1.4
	Communities     []string
	Additive        bool // communities are added, not put in place of the others
	PrependAS       uint32
	PrependCount    int
	NextHop4        netip.Addr
	NextHop6        netip.Addr
}

// Own is a route of this router that a protocol announces: it has a source and no AS path.
type Own struct {
	Prefix netip.Prefix
	Source string
}

// Apply finds the entry that decides about a route of our own. A nil map permits everything.
func (m *RouteMap) Apply(r Own) (set Set, permit bool) {
	if m == nil {
		return Set{}, true
	}
	for _, e := range m.Entries {
		if e.Match.own(r) {
			return e.Set, e.Permit
		}
	}
	return Set{}, false
}

func (m Match) own(r Own) bool {
	if len(m.Sources) > 0 && !slices.Contains(m.Sources, r.Source) {
		return false
	}
	// A route of our own has neither communities nor an AS path yet.
	return m.prefix(r.Prefix) && len(m.Communities) == 0 && m.ASPathRegexp == ""
}

func (m Match) prefix(p netip.Prefix) bool {
	if m.PrefixList4 == nil && m.PrefixList6 == nil {
		return true
	}
	list := m.PrefixList6
	if p.Addr().Is4() {
		list = m.PrefixList4
	}
	return list != nil && list.Permits(p)
}
