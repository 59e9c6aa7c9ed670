package iface

import (
	"fmt"
	"net/netip"
	"slices"

	"vbng/control/config"
	"vbng/forwarding/entry"
	"vbng/routing/vrf"
)

// Check implements commit.Subsystem.
func (i *Interfaces) Check(_, new *config.Tree) []error {
	c := checker{tree: new, byName: map[string]*settings{}}
	all := read(new)
	for _, s := range all {
		c.byName[s.name] = s
	}
	for n, s := range all {
		c.one(s)
		for _, other := range all[:n] {
			c.two(other, s)
		}
	}
	c.staticNextHops(all)
	return c.faults
}

type checker struct {
	tree   *config.Tree
	byName map[string]*settings
	faults []error
}

func (c *checker) fault(s *settings, place, format string, args ...any) {
	path, line := "interface "+s.name, s.line
	if place != "" {
		path += " / " + place
		if at := c.tree.Entry("interface", s.name).LineOf(place); at != 0 {
			line = at
		}
	}
	c.faults = append(c.faults, &config.Error{Path: path, Line: line, Text: fmt.Sprintf(format, args...)})
}

// one checks an interface by itself and against its parent.
func (c *checker) one(s *settings) {
	t := c.tree.Entry("interface", s.name)
	if vrf.OwnDevice(s.name) || vrf.OwnDevice(s.device) {
		c.fault(s, "", "the name is taken: the router's own packets use such devices")
	}
	if s.mac[0]&1 != 0 {
		c.fault(s, "mac-address", "%v is a group address", s.mac)
	}
	if t.Configured("mac-address") && s.mac == (entry.MAC{}) { // to the forwarder it means the device's own
		c.fault(s, "mac-address", "%v is nobody's address", s.mac)
	}
	if n := len(t.List("encapsulation dot1q")); n > 1 {
		c.fault(s, "encapsulation dot1q", "there are %d encapsulations, an interface has one", n)
	}
	if s.driver == entry.DriverTAP && s.mac == (entry.MAC{}) && s.class == classPort {
		c.fault(s, "driver", "tap needs a mac-address: the device's own is the kernel's")
	}
	switch s.class {
	case classSub:
		c.sub(s, t)
	case classLoopback:
		c.unfit(s, t, "a loopback has no port", "driver", "device", "xdp-mode", "mtu", "mac-address", "arp timeout",
			"pppoe profile", "ipoe profile", "ip verify unicast source reachable-via", "ip tcp adjust-mss", "ipv6 enable")
		if s.linkLocal.IsValid() {
			c.fault(s, "ipv6 address", "a loopback is no link")
		}
	}
	if s.class != classSub && s.tags.outerTPID != 0 {
		c.fault(s, "encapsulation dot1q", "only a sub-interface (%s.%d) is tagged", s.name, s.tags.outerVLAN)
	}
	c.addresses(s)
	c.addresses6(s, t)
	c.neighbors(s)
	if s.ipv6 && s.mtu != 0 && s.mtu < minMTU6 {
		c.fault(s, "mtu", "IPv6 needs %d bytes (RFC 8200 5)", minMTU6)
	}
	if t.Configured("xdp-mode") && s.driver != entry.DriverAFXDP {
		c.fault(s, "xdp-mode", "it belongs to driver af-xdp")
	}
}

func (c *checker) sub(s *settings, t *config.Tree) {
	parent := c.byName[s.parent]
	switch {
	case parent == nil:
		c.fault(s, "", "its parent interface %s is not configured", s.parent)
	case parent.class != classPort:
		c.fault(s, "", "its parent %s is a %v, which has no port", s.parent, parent.class)
	case s.mtu != 0 && parent.mtu != 0 && s.mtu > parent.mtu:
		c.fault(s, "mtu", "%d is more than the %d of its parent %s", s.mtu, parent.mtu, s.parent)
	}
	if s.tags.outerTPID == 0 {
		c.fault(s, "", "a sub-interface needs 'encapsulation dot1q'")
	}
	c.unfit(s, t, "belongs to the parent interface "+s.parent, "driver", "device", "xdp-mode")
	c.unfit(s, t, "subscribers are configured on the parent interface "+s.parent, "pppoe profile", "ipoe profile")
	if len(t.List("subscriber vlans")) > 0 {
		c.fault(s, "subscriber vlans", "subscribers are configured on the parent interface %s", s.parent)
	}
}

// unfit refuses leaves that mean nothing for the kind of interface.
func (c *checker) unfit(s *settings, t *config.Tree, reason string, leaves ...string) {
	for _, leaf := range leaves {
		if t.Configured(leaf) {
			c.fault(s, leaf, "%s", reason)
		}
	}
}

func (c *checker) addresses(s *settings) {
	for n, p := range s.addresses {
		if text := unusable(p); text != "" {
			c.fault(s, addressLeaf(p), "%v %s", p, text)
		}
		for _, other := range s.addresses[:n] {
			if other.Overlaps(p) {
				c.fault(s, addressLeaf(p), "%v overlaps %v", p, other)
			}
		}
	}
}

// addressLeaf names the line of an address.
func addressLeaf(p netip.Prefix) string {
	if p.Addr().Is6() {
		return "ipv6 address"
	}
	return "ip address"
}

// unusable says why an interface cannot have the address, empty if it can.
func unusable(p netip.Prefix) string {
	a := p.Addr()
	if a.Is6() {
		return unusable6(p)
	}
	switch {
	case p.Bits() == 0:
		return "covers everything"
	case a.IsUnspecified() || a.As4()[0] == 0:
		return "is of 0.0.0.0/8, which is no host's address"
	case a.IsLoopback():
		return "is of 127.0.0.0/8, which never leaves a host"
	case a.IsMulticast() || a.As4()[0] >= 240:
		return "is no unicast address"
	case p.Bits() < 31 && a == p.Masked().Addr():
		return "is the address of the network"
	case p.Bits() < 31 && a == broadcast(p):
		return "is the broadcast address of the network"
	}
	return ""
}

// broadcast returns the last address of an IPv4 prefix.
func broadcast(p netip.Prefix) netip.Addr {
	a := p.Masked().Addr().As4()
	for bit := p.Bits(); bit < 32; bit++ {
		a[bit/8] |= 0x80 >> (bit % 8)
	}
	return netip.AddrFrom4(a)
}

// two checks a pair of interfaces, the second of which is blamed.
func (c *checker) two(a, b *settings) {
	if a.class == classPort && b.class == classPort && a.driver == b.driver && a.device == b.device {
		c.fault(b, "device", "%s is the device of interface %s already", b.device, a.name)
	}
	if a.class == classSub && b.class == classSub && a.parent == b.parent && a.tags == b.tags && a.tags.outerTPID != 0 {
		c.fault(b, "encapsulation dot1q", "interface %s has the same VLANs", a.name)
	}
	if a.vrfName != b.vrfName {
		return // the same addresses may be in several VRFs
	}
	for _, p := range a.addresses {
		for _, q := range b.addresses {
			if overlap(a, p, b, q) {
				c.fault(b, addressLeaf(q), "%v overlaps %v of interface %s", q, p, a.name)
			}
		}
	}
}

// overlap tells whether two interfaces' prefixes are in one another's way. A loopback's single
// address may lie in another one's network unless it is the same address.
func overlap(a *settings, p netip.Prefix, b *settings, q netip.Prefix) bool {
	single := a.class == classLoopback && p.IsSingleIP() || b.class == classLoopback && q.IsSingleIP()
	if single {
		return p.Addr() == q.Addr()
	}
	return p.Overlaps(q)
}

// staticNextHops refuses static routes through ourselves; the addresses are known here.
func (c *checker) staticNextHops(all []*settings) {
	for _, list := range []string{"ip route", "ipv6 route"} {
		c.routesThroughUs("", list, c.tree, all)
		for _, v := range c.tree.List("vrf") {
			c.routesThroughUs(v.Text("name"), list, v, all)
		}
	}
}

func (c *checker) routesThroughUs(vrfName, list string, t *config.Tree, all []*settings) {
	for _, r := range t.List(list) {
		next, err := netip.ParseAddr(r.Text("next-hop"))
		if err != nil {
			continue
		}
		at := slices.IndexFunc(all, func(s *settings) bool {
			return s.vrfName == vrfName && slices.ContainsFunc(s.addresses, func(p netip.Prefix) bool { return p.Addr() == next })
		})
		if at >= 0 {
			c.faults = append(c.faults, &config.Error{Path: list + " " + r.Text("prefix"), Line: r.Line(),
				Text: fmt.Sprintf("next hop %v is our own address on interface %s", next, all[at].name)})
		}
	}
}

// port returns the entry of an interface that has a port of its own.
func (s *settings) port(id entry.PortID) entry.Port {
	return entry.Port{ID: id, Driver: s.driver, Device: s.device, MTU: s.mtu, MAC: s.mac, PPPoE: s.pppoe, IPoE: s.ipoe, XDP: s.xdp}
}
