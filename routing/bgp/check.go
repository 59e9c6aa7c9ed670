package bgp

import (
	"fmt"
	"net/netip"

	"vbng/control/config"
	"vbng/routing/policy"
)

// check finds what no single line shows.
func check(t *config.Tree) []error {
	c := checker{tree: t}
	routers := t.List("router bgp")
	for i, r := range routers {
		path := config.Path{{Name: "router bgp", Keys: r.Keys()}}
		if i > 0 {
			c.fault(path, r, "there is a router bgp %s already; a router has one AS number", routers[0].Text("as"))
			continue
		}
		if !r.Configured("router-id") {
			c.fault(path, r, "router-id must be set")
		}
		c.instance(path, r, "")
		for _, v := range r.List("vrf") {
			c.instance(path.Down(config.Step{Name: "vrf", Keys: v.Keys()}), v, v.Text("name"))
		}
	}
	return c.faults
}

type checker struct {
	tree   *config.Tree
	faults []error
}

func (c *checker) fault(path config.Path, at *config.Tree, format string, args ...any) {
	c.faults = append(c.faults, &config.Error{Path: path.String(), Line: at.Line(), Text: fmt.Sprintf(format, args...)})
}

func (c *checker) instance(path config.Path, t *config.Tree, vrf string) {
	if vrf == "default" || vrf == "management" {
		c.fault(path, t, "the VRF %s has no BGP of its own here", vrf)
	}
	if t.Configured("router-id") && !unicast(t.Addr("router-id")) {
		c.fault(path, t, "router-id %v is no unicast address", t.Addr("router-id"))
	}
	s := reader{tree: c.tree, policies: policy.Read(c.tree)}.instance(t, vrf)
	for i, n := range t.List("neighbor") {
		c.neighbor(path.Down(config.Step{Name: "neighbor", Keys: n.Keys()}), n, s, &s.neighbors[i])
	}
	for _, n := range t.List("network") {
		if p := n.Prefix("prefix"); p.Addr().IsMulticast() || p.Bits() > 0 && !announceable(p) {
			c.fault(path.Down(config.Step{Name: "network", Keys: n.Keys()}), n, "%v is never announced", p)
		}
	}
}

func (c *checker) neighbor(path config.Path, t *config.Tree, s *settings, n *neighbor) {
	if !unicast(n.addr) || n.addr.IsLinkLocalUnicast() {
		c.fault(path, t, "%v is no global unicast address", n.addr)
	}
	if s.own[n.addr] {
		c.fault(path, t, "%v is our own address", n.addr)
	}
	if n.active == ([families]bool{}) {
		c.fault(path, t, "no address family is activated: %s / activate", familyNodes[familyOf(n.addr)])
	}
	if n.hold < 3*n.keepalive { // RFC 4271 4.4: a third of the hold time is the most that is reasonable
		c.fault(path, t, "timers hold %d must be at least three times timers keepalive %d", n.hold/1e9, n.keepalive/1e9)
	}
	if n.multihop > 0 && c.tree.List("router bgp")[0].Uint("as") == uint64(n.as) {
		c.fault(path, t, "ebgp-multihop is for neighbours in another AS")
	}
	c.source(path, t, s, n)
	for f := range families {
		c.exchange(path.Down(config.Step{Name: familyNodes[f]}), t, n, f)
	}
}

func (c *checker) source(path config.Path, t *config.Tree, s *settings, n *neighbor) {
	text := t.Text("update-source")
	if text == "" {
		return
	}
	if _, given := sourceAddress(text); !given && c.tree.Node().Child("interface") != nil {
		i := c.tree.Entry("interface", text)
		switch {
		case i == nil:
			c.fault(path, t, "update-source: interface %q is not defined", text)
			return
		case !n.source.IsValid():
			c.fault(path, t, "update-source: interface %s has no %v address", text, familyOf(n.addr))
			return
		}
	}
	if n.source.IsValid() && familyOf(n.source) != familyOf(n.addr) {
		c.fault(path, t, "update-source %v is of another address family", n.source)
	}
	if n.source.IsValid() && len(s.own) > 0 && !s.own[n.source] {
		c.fault(path, t, "update-source %v is no address of an interface of this VRF", n.source)
	}
}

// exchange refuses filters that would never act, and conditions that a neighbour's routes do not have.
func (c *checker) exchange(path config.Path, t *config.Tree, n *neighbor, f family) {
	x := n.families[f]
	if !n.active[f] && x != (exchange{}) {
		c.fault(path, t, "is configured but not activated")
	}
	for _, m := range []*policy.RouteMap{x.mapIn, x.mapOut} {
		if m == nil {
			continue
		}
		for _, e := range m.Entries {
			if len(e.Match.Sources) > 0 {
				c.fault(path, t, "route-map %s entry %d matches a source, which only redistributed routes have", m.Name, e.Sequence)
			}
		}
	}
}

func unicast(a netip.Addr) bool {
	return !a.IsMulticast() && !a.IsLoopback() && !a.IsUnspecified() && (!a.Is4() || a.As4()[0] != 0 && a.As4()[0] < 240)
}
