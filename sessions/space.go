package sessions

import (
	"maps"
	"slices"

	"vbng/forwarding/entry"
	"vbng/sessions/pool"
)

// space is the addresses and prefixes of one VRF. VRFs know nothing of each other: the same address may be two
// subscribers', each in his own.
type space struct {
	pools    *pool.Set
	prefixes *pool.Prefixes
}

// space returns that of a VRF, which is made when it is first asked for.
func (m *Manager) space(vrf entry.VRFID) *space {
	sp := m.spaces[vrf]
	if sp == nil {
		sp = &space{pools: pool.NewSet(), prefixes: pool.NewPrefixes()}
		sp.configure(m.current, vrf)
		m.spaces[vrf] = sp
	}
	return sp
}

// spaceOf returns that of a session's VRF.
func (m *Manager) spaceOf(s *Session) *space { return m.space(s.profile.vrf) }

// configureSpaces gives every VRF its pools.
func (m *Manager) configureSpaces() {
	for vrf, sp := range m.spaces {
		sp.configure(m.current, vrf)
	}
	for _, vrfs := range m.current.users() {
		for vrf := range vrfs {
			m.space(vrf)
		}
	}
	m.space(0)
}

// vrfs returns the VRFs that have a space, in order.
func (m *Manager) vrfs() []entry.VRFID { return slices.Sorted(maps.Keys(m.spaces)) }

func (sp *space) configure(c *settings, vrf entry.VRFID) {
	users := c.users()
	var pools []pool.Config
	for _, p := range c.pools {
		if serves(users[poolOwner(slotIPv4, p.Name)], vrf) {
			pools = append(pools, p)
		}
	}
	var pools6 []pool.Config6
	for _, p := range c.pools6 {
		if serves(users[poolOwner(slotPrefix, p.Name)], vrf) {
			pools6 = append(pools6, p)
		}
	}
	sp.pools.Configure(pools, c.own4())
	sp.prefixes.Configure(pools6, c.own6())
}

// users returns the VRFs whose profiles name a pool, by poolOwner.
func (c *settings) users() map[string]map[entry.VRFID]bool {
	users := map[string]map[entry.VRFID]bool{}
	for _, some := range []map[string]*profile{c.profiles, c.ipoe} {
		for _, p := range some {
			for x, name := range p.pools {
				owner := poolOwner(slot(x), name)
				if users[owner] == nil {
					users[owner] = map[entry.VRFID]bool{}
				}
				users[owner][p.vrf] = true
			}
		}
	}
	return users
}

// serves reports whether a VRF's subscribers have addresses of a pool with such users. One that no profile names is
// there for authorization to name, in any VRF.
func serves[VRF comparable](users map[VRF]bool, vrf VRF) bool { return len(users) == 0 || users[vrf] }

// listed reports whether a pool is shown with a VRF: one that no profile names, with the default VRF and where it
// is in use.
func listed(users map[entry.VRFID]bool, vrf entry.VRFID, used bool) bool {
	return users[vrf] || used || len(users) == 0 && vrf == 0
}
