package static

import (
	"fmt"
	"net/netip"

	"vbng/control/config"
	"vbng/forwarding/entry"
	"vbng/routing/vrf"
)

// Check implements commit.Subsystem.
func (s *Static) Check(_, new *config.Tree) []error {
	c := checker{tree: new}
	c.table("", "", new)
	for _, v := range new.List("vrf") {
		c.table(v.Text("name"), "vrf "+v.Text("name")+" ", v)
	}
	return c.faults
}

type checker struct {
	tree   *config.Tree
	faults []error
}

// table checks the routes of one VRF.
func (c *checker) table(vrfName, path string, t *config.Tree) {
	for _, list := range [...]string{list4, list6} {
		drops := map[string]bool{} // routes, by prefix and distance
		hops := map[string]int{}   // next hops of each
		for _, e := range t.List(list) {
			l := read(e)
			fault := func(format string, args ...any) {
				c.faults = append(c.faults, &config.Error{Path: path + list + " " + e.Text("prefix") + " " + e.Text("next-hop"),
					Line: e.Line(), Text: fmt.Sprintf(format, args...)})
			}
			key := fmt.Sprintf("%v distance %d", l.prefix, l.distance)
			if l.gateway.IsValid() {
				hops[key]++
			} else {
				drops[key] = true
			}
			if reason := l.check(); reason != "" {
				fault("%s", reason)
			}
			if reason := c.onInterface(l, vrfName); reason != "" {
				fault("%s", reason)
			}
			if drops[key] && hops[key] > 0 {
				fault("the same route has a next hop and is a blackhole; give one of them another distance")
			}
			if hops[key] == entry.MaxHops+1 {
				fault("the same route has more than %d next hops", entry.MaxHops)
			}
		}
	}
}

// check returns what is wrong with a line by itself.
func (l line) check() string {
	switch {
	case neverRouted(l.prefix):
		return fmt.Sprintf("%v is never routed", l.prefix)
	case !l.gateway.IsValid():
		return ""
	case !unicast(l.gateway):
		return fmt.Sprintf("next hop %v is no unicast address", l.gateway)
	case l.gateway.IsLinkLocalUnicast() && l.gateway.Is6() && l.iface == "":
		return fmt.Sprintf("next hop %v is link-local, it needs its interface: %v%%INTERFACE", l.gateway, l.gateway)
	}
	return ""
}

func neverRouted(p netip.Prefix) bool {
	a := p.Addr()
	switch {
	case a.IsMulticast():
		return true
	case a.Is4():
		return p.Bits() >= 8 && (a.IsLoopback() || a.As4()[0] == 0)
	}
	return p.Bits() >= 10 && a.IsLinkLocalUnicast() || p.Bits() == 128 && (a.IsLoopback() || a.IsUnspecified())
}

func unicast(a netip.Addr) bool {
	if a.IsMulticast() || a.IsLoopback() || a.IsUnspecified() {
		return false
	}
	return a.Is6() || a.As4()[0] != 0 && a.As4()[0] < 240
}

// onInterface returns what is wrong with the interface that a next hop is on.
func (c *checker) onInterface(l line, vrfName string) string {
	if l.iface == "" {
		return ""
	}
	i := c.tree.Entry("interface", l.iface)
	if i == nil {
		return fmt.Sprintf("there is no interface %s", l.iface)
	}
	if of := i.Text("vrf"); of != vrfName {
		return fmt.Sprintf("interface %s is in VRF %s", l.iface, name(of))
	}
	return ""
}

func name(vrfName string) string {
	if vrfName == "" {
		return vrf.Default
	}
	return vrfName
}
