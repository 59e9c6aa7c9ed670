package sessions

import (
	"net/netip"

	"vbng/forwarding/entry"
	"vbng/sessions/pool"
)

// announcer is one pool in one VRF.
type announcer struct {
	vrf   entry.VRFID
	owner string
}

// aggregates returns the prefixes of each pool in every VRF that a profile uses it in. A pool that no profile
// names, since authorization does, belongs to the default VRF.
func (c *settings) aggregates() map[announcer][]netip.Prefix {
	vrfs := c.users()
	all := map[announcer][]netip.Prefix{}
	add := func(owner string, prefixes []netip.Prefix) {
		if len(vrfs[owner]) == 0 {
			all[announcer{owner: owner}] = prefixes
		}
		for vrf := range vrfs[owner] {
			all[announcer{vrf: vrf, owner: owner}] = prefixes
		}
	}
	for _, p := range c.pools {
		add(poolOwner(slotIPv4, p.Name), pool.Aggregates(p.Ranges))
	}
	for _, p := range c.pools6 {
		add(poolOwner(slotPrefix, p.Name), pool.Aggregates6(p.Units))
	}
	return all
}

func poolOwner(x slot, name string) string {
	if x.six() {
		return "ipv6 pool " + name
	}
	return "pool " + name
}
