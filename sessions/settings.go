package sessions

import (
	"net/netip"
	"time"

	"vbng/aaa"
	"vbng/control/config"
	"vbng/forwarding/entry"
	"vbng/sessions/pool"
	"vbng/sessions/ppp"
)

// settings is the configuration in the words of this package. It is made by one commit and never
// changed: the punt path reads it while the next one is made.
type settings struct {
	boxLimit   int
	profiles   map[string]*profile // of PPPoE
	ipoe       map[string]*profile // of IPoE
	ports      map[string]*attachment
	interfaces map[string]bool // by name: whether it is in service
	pools      []pool.Config
	pools6     []pool.Config6
	own        []netip.Addr // the router's own addresses
	connected  []connected  // where its neighbours are
}

// attachment is how subscribers are served on one port.
type attachment struct {
	pair                // on any VLAN
	vlans []vlanProfile // on some
}

// pair is the profiles of a place; either may be missing.
type pair struct{ pppoe, ipoe *profile }

// vlanProfile overrides the port's profiles.
type vlanProfile struct {
	vlanRange
	pair
}

// connected is a network on an interface.
type connected struct {
	vrf    entry.VRFID
	name   string
	prefix netip.Prefix
}

// at returns the profiles of a place on a port.
func (c *settings) at(port string, p Place) pair {
	a := c.ports[port]
	if a == nil {
		return pair{}
	}
	for i := range a.vlans {
		if a.vlans[i].contains(p) {
			return a.vlans[i].pair
		}
	}
	return a.pair
}

// of returns the profile of one kind of access.
func (p pair) of(access aaa.Access) *profile {
	if access == aaa.IPoE {
		return p.ipoe
	}
	return p.pppoe
}

// named returns a profile by kind and name, nil if there is none.
func (c *settings) named(access aaa.Access, name string) *profile {
	if access == aaa.IPoE {
		return c.ipoe[name]
	}
	return c.profiles[name]
}

// onLink reports whether neighbours of the router are in a prefix, other than on the interface that lends
// the subscribers its address.
func (c *settings) onLink(of *profile, p netip.Prefix) bool {
	for _, n := range c.connected {
		if n.vrf == of.vrf && n.name != of.unnumbered && n.prefix.Overlaps(p) {
			return true
		}
	}
	return false
}

// parseSettings reads a checked tree.
func parseSettings(t *config.Tree, cookieKey []byte) (*settings, error) {
	s := &settings{
		boxLimit: int(t.Uint("subscriber limit")), profiles: map[string]*profile{}, ipoe: map[string]*profile{},
		ports: map[string]*attachment{}, interfaces: map[string]bool{},
		pools: parsePools(t), pools6: parsePools6(t), own: ownAddresses(t),
	}
	for _, each := range t.List("pppoe profile") {
		p, err := parseProfile(t, each, cookieKey)
		if err != nil {
			return nil, err
		}
		s.profiles[p.name] = p
	}
	for _, each := range t.List("ipoe profile") {
		p := parseIPoE(t, each)
		s.ipoe[p.name] = p
	}
	for _, each := range t.List("interface") {
		name := each.Text("name")
		s.interfaces[name] = !each.Flag("shutdown")
		if s.interfaces[name] {
			s.ports[name] = s.parseAttachment(each)
		}
	}
	return s, nil
}

func (c *settings) parseAttachment(t *config.Tree) *attachment {
	a := &attachment{pair: pair{pppoe: c.profiles[t.Text("pppoe profile")], ipoe: c.ipoe[t.Text("ipoe profile")]}}
	for _, each := range t.List("subscriber vlans") {
		r, err := parseVLANRange(each.Text("range"))
		if err != nil { // the schema has looked at it
			continue
		}
		a.vlans = append(a.vlans, vlanProfile{
			vlanRange: r, pair: pair{pppoe: c.profiles[each.Text("pppoe")], ipoe: c.ipoe[each.Text("ipoe")]},
		})
	}
	return a
}

// locate tells the profiles and the connected networks in which VRF they are: at Apply only, since it may
// give a VRF its number.
func (c *settings) locate(t *config.Tree, vrfs VRFs) {
	if vrfs == nil {
		vrfs = oneVRF{}
	}
	of := map[string]entry.VRFID{}
	for _, each := range t.List("interface") {
		name := each.Text("name")
		of[name] = vrfs.ID(each.Text("vrf"))
		for _, p := range prefixesOf(each) {
			if !p.IsSingleIP() {
				c.connected = append(c.connected, connected{vrf: of[name], name: name, prefix: p.Masked()})
			}
		}
	}
	for _, some := range []map[string]*profile{c.profiles, c.ipoe} {
		for _, p := range some {
			p.vrf = of[p.unnumbered]
		}
	}
}

// prefixesOf returns an interface's addresses, with the lengths of their networks. The leaves are another
// subsystem's.
func prefixesOf(t *config.Tree) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range append(t.Words("ip address"), t.Words("ipv6 address")...) {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p)
		}
	}
	for _, list := range []string{"ip address secondary", "ipv6 address"} {
		for _, each := range t.List(list) {
			for _, key := range each.Keys() {
				if p, err := netip.ParsePrefix(key); err == nil {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

func parsePools(t *config.Tree) []pool.Config {
	var pools []pool.Config
	for _, each := range t.List("ip pool") {
		c := pool.Config{Name: each.Text("name"), ThresholdPercent: int(each.Uint("threshold"))}
		for _, r := range each.List("range") {
			c.Ranges = append(c.Ranges, pool.Range{First: r.Addr("first"), Last: r.Addr("last")})
		}
		pools = append(pools, c)
	}
	return pools
}

func parsePools6(t *config.Tree) []pool.Config6 {
	var pools []pool.Config6
	for _, each := range t.List("ipv6 pool") {
		c := pool.Config6{Name: each.Text("name"), ThresholdPercent: int(each.Uint("threshold"))}
		for _, r := range each.List("prefix") {
			c.Units = append(c.Units, pool.Units{Prefix: r.Prefix("prefix"), Length: int(r.Uint("length"))})
		}
		pools = append(pools, c)
	}
	return pools
}

// ownAddresses returns the router's own addresses, which no subscriber may get.
func ownAddresses(t *config.Tree) []netip.Addr {
	var own []netip.Addr
	for _, each := range t.List("interface") {
		for _, p := range prefixesOf(each) {
			own = append(own, p.Addr())
		}
	}
	return own
}

// homeless returns why a session cannot stay, if its port or profile is gone. A port that is shut down
// stays open as long as sessions stand on it, so their clients still hear the goodbye.
func (c *settings) homeless(s *Session) Cause {
	inService, configured := c.interfaces[s.port]
	switch {
	case !configured:
		return CausePortRemoved
	case !inService:
		return CausePortShutdown
	case c.at(s.port, s.client.place).of(s.access) == nil || c.named(s.access, s.profile.name) == nil:
		return CauseProfileRemoved
	}
	return ""
}

// orphan stands in for a profile that was removed while control was away, until the session's good end.
func (c *settings) orphan(r record) *profile {
	return &profile{
		name: r.Profile, access: r.access(), local: r.Link.Net.Local, mtu: max(r.Link.PeerMRU, minMRU),
		link: ppp.Config{MRU: r.Link.LocalMRU, Restart: 3 * time.Second},
	}
}
