package bgp

import (
	"net/netip"
	"strconv"
	"time"

	"vbng/control/config"
	"vbng/control/schema"
	"vbng/routing/policy"
)

// family is an address family; the subsequent one is always unicast.
type family uint8

const (
	ipv4 family = iota
	ipv6
	families
)

// String returns the family's name.
func (f family) String() string {
	if f == ipv4 {
		return "IPv4"
	}
	return "IPv6"
}

func familyOf(a netip.Addr) family {
	if a.Is4() {
		return ipv4
	}
	return ipv6
}

// settings is what one VRF is configured to do. It is a value: two are compared to find what changed.
type settings struct {
	vrf          string // "" is the default VRF
	as           uint32
	routerID     netip.Addr
	maximumPaths int
	neighbors    []neighbor // by address
	networks     []network
	sources      []redistribution
	own          map[netip.Addr]bool // the addresses of the VRF's interfaces
}

type neighbor struct {
	session
	description   string
	nextHopSelf   bool
	sendCommunity bool
	multihop      uint8 // TTL, 0: the neighbour is on link
	keepalive     time.Duration
	hold          time.Duration
	families      [families]exchange
}

// session is what a session stands on: when it changes, the session is made anew.
type session struct {
	addr     netip.Addr
	as       uint32
	password string
	source   netip.Addr // invalid: the kernel chooses
	shutdown bool
	active   [families]bool
}

// exchange is what is done with one family's routes.
type exchange struct {
	listIn, listOut  *policy.PrefixList // nil: none
	mapIn, mapOut    *policy.RouteMap
	maximum          uint32 // prefixes, 0: no limit
	warningOnly      bool
	restartAfter     time.Duration // 0: stays down
	defaultOriginate bool
}

type network struct {
	prefix   netip.Prefix
	routeMap *policy.RouteMap
}

type redistribution struct {
	source   string
	routeMap *policy.RouteMap
}

// find returns the neighbour with this address, nil when there is none.
func (s *settings) find(addr netip.Addr) *neighbor {
	for i := range s.neighbors {
		if s.neighbors[i].addr == addr {
			return &s.neighbors[i]
		}
	}
	return nil
}

// read returns the settings of each VRF by its name.
func read(t *config.Tree) map[string]*settings {
	all := map[string]*settings{}
	policies := policy.Read(t)
	for _, r := range t.List("router bgp") {
		reader := reader{tree: t, policies: policies, as: uint32(r.Uint("as"))}
		if own := reader.instance(r, ""); len(own.neighbors) > 0 || len(r.List("vrf")) == 0 {
			all[""] = own
		}
		for _, v := range r.List("vrf") {
			s := reader.instance(v, v.Text("name"))
			if !s.routerID.IsValid() {
				s.routerID = r.Addr("router-id")
			}
			all[s.vrf] = s
		}
	}
	return all
}

type reader struct {
	tree     *config.Tree
	policies policy.Policies
	as       uint32
}

func (r reader) instance(t *config.Tree, vrf string) *settings {
	s := &settings{
		vrf: vrf, as: r.as, routerID: t.Addr("router-id"), maximumPaths: int(t.Uint("maximum-paths")),
		own: addresses(r.tree, vrf),
	}
	for _, n := range t.List("neighbor") {
		s.neighbors = append(s.neighbors, r.neighbor(t, n))
	}
	for _, n := range t.List("network") {
		s.networks = append(s.networks, network{n.Prefix("prefix"), r.routeMap(n, "route-map")})
	}
	for _, n := range t.List("redistribute") {
		s.sources = append(s.sources, redistribution{n.Text("source"), r.routeMap(n, "route-map")})
	}
	return s
}

func (r reader) neighbor(t, n *config.Tree) neighbor {
	s := neighbor{
		session: session{
			addr: n.Addr("address"), as: uint32(n.Uint("remote-as")), password: n.Text("password"),
			source: r.source(n), shutdown: n.Flag("shutdown"),
		},
		description: n.Text("description"), nextHopSelf: n.Flag("next-hop-self"), sendCommunity: n.Flag("send-community"),
		multihop:  uint8(n.Uint("ebgp-multihop")),
		keepalive: seconds(n, t, "timers keepalive"), hold: seconds(n, t, "timers hold"),
	}
	for f := range families {
		c := n.Container(familyNodes[f])
		s.active[f] = c.Flag("activate")
		s.families[f] = r.exchange(c, f)
	}
	return s
}

// seconds returns a timer of the neighbour, or the router's.
func seconds(n, t *config.Tree, name string) time.Duration {
	if n.Configured(name) {
		return n.Seconds(name)
	}
	return t.Seconds(name)
}

func (r reader) exchange(c *config.Tree, f family) exchange {
	lists := r.policies.Lists4
	if f == ipv6 {
		lists = r.policies.Lists6
	}
	list := func(name string) *policy.PrefixList {
		if !c.Configured(name) {
			return nil
		}
		if l := lists[c.Text(name)]; l != nil {
			return l
		}
		return &policy.PrefixList{Name: c.Text(name)}
	}
	x := exchange{
		listIn: list("prefix-list in"), listOut: list("prefix-list out"),
		mapIn: r.routeMap(c, "route-map in"), mapOut: r.routeMap(c, "route-map out"),
		defaultOriginate: c.Flag("default-originate"),
	}
	if words := c.Words("maximum-prefix"); len(words) > 0 {
		limit, _ := strconv.ParseUint(words[0], 10, 32)
		x.maximum = uint32(limit)
		x.warningOnly = len(words) == 2
		if len(words) == 3 {
			minutes, _ := strconv.ParseUint(words[2], 10, 16)
			x.restartAfter = time.Duration(minutes) * time.Minute
		}
	}
	return x
}

func (r reader) routeMap(t *config.Tree, name string) *policy.RouteMap {
	if !t.Configured(name) {
		return nil
	}
	if m := r.policies.Maps[t.Text(name)]; m != nil {
		return m
	}
	return &policy.RouteMap{Name: t.Text(name)}
}

// source returns a neighbour's update-source; for an interface, its address of the neighbour's family.
func (r reader) source(n *config.Tree) netip.Addr {
	text := n.Text("update-source")
	if a, ok := sourceAddress(text); ok || text == "" {
		return a
	}
	for _, p := range interfaceAddresses(r.tree.Entry("interface", text)) {
		if familyOf(p.Addr()) == familyOf(n.Addr("address")) && !p.Addr().IsLinkLocalUnicast() {
			return p.Addr()
		}
	}
	return netip.Addr{}
}

// addresses returns the addresses of a VRF's interfaces.
func addresses(t *config.Tree, vrf string) map[netip.Addr]bool {
	own := map[netip.Addr]bool{}
	for _, i := range t.List("interface") {
		if name := i.Text("vrf"); name != vrf && (name != "default" || vrf != "") {
			continue
		}
		for _, p := range interfaceAddresses(i) {
			own[p.Addr()] = true
		}
	}
	return own
}

// interfaceAddresses returns an interface's addresses, which are another subsystem's nodes: leaves or
// lists, as that has them.
func interfaceAddresses(i *config.Tree) []netip.Prefix {
	var all []netip.Prefix
	for _, name := range []string{"ip address", "ip address secondary", "ipv6 address"} {
		if i == nil || i.Node().Child(name) == nil {
			continue
		}
		if i.Node().Child(name).Kind != schema.List {
			if p := i.Prefix(name); p.IsValid() {
				all = append(all, p)
			}
			continue
		}
		for _, e := range i.List(name) {
			if p, err := netip.ParsePrefix(e.Keys()[0]); err == nil {
				all = append(all, p)
			}
		}
	}
	return all
}
