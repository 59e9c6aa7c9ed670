package sessions

import (
	"fmt"
	"slices"
	"strings"

	"vbng/control/config"
	"vbng/forwarding/entry"
	"vbng/sessions/pool"
)

// Name implements commit.Subsystem.
func (m *Manager) Name() string { return "sessions" }

// Check implements commit.Subsystem: what the schema cannot say about pools and profiles.
func (m *Manager) Check(_, new *config.Tree) []error {
	faults := append(checkRanges(new), checkProfiles(new)...)
	if len(faults) == 0 {
		if _, err := parseSettings(new, make([]byte, cookieKeyBytes)); err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

// place is a range with where it is configured.
type place struct {
	path string
	line int
	pool.Range
}

func checkRanges(t *config.Tree) []error {
	var faults []error
	var all []place
	for _, p := range t.List("ip pool") {
		for _, r := range p.List("range") {
			at := place{
				path: "ip pool " + p.Text("name") + " / range " + strings.Join(r.Keys(), " "), line: r.Line(),
				Range: pool.Range{First: r.Addr("first"), Last: r.Addr("last")},
			}
			if text := checkRange(at.Range); text != "" {
				faults = append(faults, &config.Error{Path: at.path, Line: at.line, Text: text})
				continue
			}
			all = append(all, at)
		}
	}
	return append(faults, overlaps(all)...)
}

func checkRange(r pool.Range) string {
	switch {
	case !r.First.Is4() || !r.Last.Is4():
		return "a range is of IPv4 addresses"
	case r.Last.Less(r.First):
		return fmt.Sprintf("the last address %s lies before the first %s", r.Last, r.First)
	case r.Wide():
		return fmt.Sprintf("a range holds at most %d addresses", pool.MaxRange)
	case r.First.IsMulticast() || r.Last.IsMulticast() || r.First.IsUnspecified() || r.First.IsLoopback():
		return "addresses of the range cannot be subscribers'"
	}
	return ""
}

// overlaps compares neighbours in the order of addresses: two ranges that overlap have an overlapping
// neighbour each.
func overlaps(all []place) []error {
	var faults []error
	slices.SortStableFunc(all, func(a, b place) int { return a.First.Compare(b.First) })
	for i := 1; i < len(all); i++ {
		if before, at := all[i-1], all[i]; !before.Last.Less(at.First) {
			faults = append(faults, &config.Error{Path: at.path, Line: at.line, Text: "overlaps " + before.path})
		}
	}
	return faults
}

func checkProfiles(t *config.Tree) []error {
	var faults []error
	for _, p := range t.List("pppoe profile") {
		name := p.Text("ip unnumbered")
		if name == "" { // the schema demands it, and says so
			continue
		}
		if !t.Entry("interface", name).Prefix("ip address").IsValid() {
			faults = append(faults, &config.Error{
				Path: "pppoe profile " + p.Text("name") + " / ip unnumbered", Line: p.LineOf("ip unnumbered"),
				Text: fmt.Sprintf("interface %s has no ip address", name),
			})
		}
	}
	return faults
}

// Reserve implements commit.Subsystem; nothing needs to be reserved.
func (m *Manager) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (m *Manager) Release() {}

// Apply implements commit.Subsystem. Sessions go on as they are, but those whose port or profile is gone.
func (m *Manager) Apply(_, new *config.Tree) {
	s, err := parseSettings(new, m.cookieKey)
	if err != nil { // Check has parsed the same tree
		m.needs.Log.Error("sessions: configuration not applied", "error", err)
		return
	}
	m.settings.Store(s)
	m.loop.Post(configured{s})
}

// use makes settings the current ones, for the loop and the punt path.
func (m *Manager) use(s *settings) {
	m.settings.Store(s)
	m.current = s
}

func (m *Manager) configured(s *settings) {
	old := m.current
	m.current = s
	m.pools.Configure(s.pools, s.own)
	m.aggregate(old, s)
	m.full.Store(len(m.index.byID) >= s.boxLimit)
	ends := map[Cause][]entry.SessionID{}
	for id, session := range m.index.byID {
		if session.state == StateRestoring {
			continue // asked again when it is up
		}
		if cause := s.homeless(session); cause != "" {
			ends[cause] = append(ends[cause], id)
		}
	}
	for cause, ids := range ends {
		slices.Sort(ids)
		m.closing(closing{ids: ids, cause: cause})
	}
}

// aggregate tells the RIB the prefixes of each pool, so that the /32s need not be announced.
func (m *Manager) aggregate(old, new *settings) {
	const vrf = 0
	for _, p := range new.pools {
		m.needs.Routes.SetAggregates(vrf, "pool "+p.Name, pool.Aggregates(p.Ranges))
	}
	for _, p := range old.pools {
		if !slices.ContainsFunc(new.pools, func(q pool.Config) bool { return q.Name == p.Name }) {
			m.needs.Routes.SetAggregates(vrf, "pool "+p.Name, nil)
		}
	}
}
