package iface

import (
	"fmt"
	"net/netip"

	"vbng/control/config"
	"vbng/control/schema"
	"vbng/forwarding/entry"
)

// address6 is the type of an IPv6 address on an interface: with a prefix length, or a link-local one
// without.
type address6 struct{}

// Parse implements schema.Type.
func (address6) Parse(word string) (string, error) {
	if a, err := netip.ParseAddr(word); err == nil && a.Is6() && a.Zone() == "" && a.IsLinkLocalUnicast() {
		return a.String(), nil
	}
	text, err := schema.InterfacePrefix6().Parse(word)
	if err != nil {
		return "", fmt.Errorf("expected an IPv6 address with its prefix length (X:X::X:X/LEN) or a link-local one without, found %q", word)
	}
	return text, nil
}

// Hint implements schema.Type.
func (address6) Hint() string { return "X:X::X:X/LEN|FE80::X" }

// Words implements schema.Type.
func (address6) Words() []string { return nil }

// Secret implements schema.Type.
func (address6) Secret() bool { return false }

func readIPv6(t *config.Tree, s *settings) {
	s.ipv6 = t.Flag("ipv6 enable")
	for _, e := range t.List("ipv6 address") {
		s.ipv6 = true
		if p := e.Prefix("prefix"); p.IsValid() {
			s.addresses = append(s.addresses, p)
		} else {
			s.linkLocal = e.Addr("prefix")
		}
	}
}

// readFixed returns the neighbours that the operator has named.
func readFixed(t *config.Tree) map[netip.Addr]entry.MAC {
	fixed := map[netip.Addr]entry.MAC{}
	for _, list := range []string{"ip arp", "ipv6 neighbor"} {
		for _, e := range t.List(list) {
			if mac, ok := e.MAC("mac"); ok {
				fixed[e.Addr("address")] = mac
			}
		}
	}
	return fixed
}

// primary returns the first address of a family, not valid when there is none.
func (s *settings) primary(family func(netip.Addr) bool) netip.Addr {
	for _, p := range s.addresses {
		if family(p.Addr()) {
			return p.Addr()
		}
	}
	return netip.Addr{}
}

// linkLocal6 returns the link-local address that a MAC address makes: fe80::/64 and the modified EUI-64
// (RFC 4291 2.5.1, RFC 2464 4 and 5).
func linkLocal6(mac entry.MAC) netip.Addr {
	return netip.AddrFrom16([16]byte{0: 0xfe, 1: 0x80, 8: mac[0] ^ 2, 9: mac[1], 10: mac[2], 11: 0xff, 12: 0xfe, 13: mac[3], 14: mac[4], 15: mac[5]})
}

// addresses6 checks what an IPv6 address line says.
func (c *checker) addresses6(s *settings, t *config.Tree) {
	locals := 0
	for _, e := range t.List("ipv6 address") {
		p, flagged := e.Prefix("prefix"), e.Flag("link-local")
		switch {
		case !p.IsValid():
			if locals++; locals > 1 {
				c.fault(s, "ipv6 address", "there is more than one link-local address")
			}
			if !flagged {
				c.fault(s, "ipv6 address", "%s needs a prefix length, or the word link-local", e.Text("prefix"))
			}
		case flagged:
			c.fault(s, "ipv6 address", "a link-local address is written without prefix length: %v link-local", p.Addr())
		case p.Addr().IsLinkLocalUnicast():
			c.fault(s, "ipv6 address", "%v is link-local: write %v link-local", p, p.Addr())
		}
	}
}

// unusable6 says why an interface cannot have an IPv6 address, empty if it can.
func unusable6(p netip.Prefix) string {
	a := p.Addr()
	switch {
	case p.Bits() == 0:
		return "covers everything"
	case a.IsUnspecified() || a.IsLoopback():
		return "never leaves a host"
	case a.IsMulticast():
		return "is no unicast address"
	case p.Bits() < 127 && a == p.Masked().Addr(): // RFC 4291 2.6.1; not on RFC 6164 links
		return "is the anycast address of the network's routers"
	}
	return ""
}

// neighbors checks the neighbours that the operator named: each must be one of this link.
func (c *checker) neighbors(s *settings) {
	for a, mac := range s.fixed {
		place := "ip arp"
		if a.Is6() {
			place = "ipv6 neighbor"
		}
		switch {
		case mac[0]&1 != 0 || mac == (entry.MAC{}):
			c.fault(s, place, "%v: %v is nobody's MAC address", a, mac)
		case a.Is6() && a.IsLinkLocalUnicast() && s.ipv6:
		case !s.onLink(a):
			c.fault(s, place, "%v is on no network of the interface", a)
		}
	}
}

// onLink reports whether a neighbour may have an address, link-local ones aside.
func (s *settings) onLink(a netip.Addr) bool { return s.sourceFor(a).IsValid() }

// sourceFor returns our address on the network of another one that a neighbour may have, else none.
func (s *settings) sourceFor(a netip.Addr) netip.Addr {
	for _, p := range s.addresses {
		switch {
		case !p.Contains(a), p.Addr() == a:
		case p.Bits() >= p.Addr().BitLen()-1, a != p.Masked().Addr() && (a.Is6() || a != broadcast(p)):
			return p.Addr()
		}
	}
	return netip.Addr{}
}

// fixed is what of the named neighbours can be reached.
func (l *link) fixed() map[netip.Addr]entry.MAC {
	if !l.up() {
		return nil
	}
	return l.want.fixed
}
