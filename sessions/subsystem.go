package sessions

import (
	"net/netip"
	"slices"

	"vbng/control/config"
	"vbng/forwarding/entry"
)

// Name implements commit.Subsystem.
func (m *Manager) Name() string { return "sessions" }

// Check implements commit.Subsystem: what the schema cannot say about pools and profiles.
func (m *Manager) Check(_, new *config.Tree) []error {
	faults := slices.Concat(checkRanges(new), checkUnits(new), checkProfiles(new), checkVLANs(new))
	if len(faults) == 0 {
		if _, err := parseSettings(new, make([]byte, cookieKeyBytes)); err != nil {
			faults = append(faults, err)
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
	s.locate(new, m.needs.VRFs)
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
	m.configureSpaces()
	m.crossings()
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
	now := new.aggregates()
	for at := range old.aggregates() {
		if _, stays := now[at]; !stays {
			m.needs.Routes.SetAggregates(at.vrf, at.owner, nil)
		}
	}
	for at, prefixes := range now {
		m.needs.Routes.SetAggregates(at.vrf, at.owner, prefixes)
	}
}

// own6 is the router's own IPv6 addresses.
func (c *settings) own6() []netip.Prefix {
	var own []netip.Prefix
	for _, a := range c.own {
		if a.Is6() {
			own = append(own, single(a))
		}
	}
	return own
}

// own4 is the router's own IPv4 addresses.
func (c *settings) own4() []netip.Addr {
	return slices.DeleteFunc(slices.Clone(c.own), netip.Addr.Is6)
}

// crossings logs the pools that are nearly used up, or are no longer.
func (m *Manager) crossings() {
	for _, vrf := range m.vrfs() {
		sp := m.spaces[vrf]
		for _, c := range append(sp.pools.Crossings(), sp.prefixes.Crossings()...) {
			if c.Above {
				m.log.warn("threshold", "address pool is nearly used up", "pool", c.Pool, "vrf", m.vrfNamed(vrf), "used_percent", c.Percent)
			} else {
				m.log.info("threshold", "address pool has room again", "pool", c.Pool, "vrf", m.vrfNamed(vrf), "used_percent", c.Percent)
			}
		}
	}
}
