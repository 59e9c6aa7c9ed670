package static

import (
	"fmt"
	"net/netip"
	"strings"

	"vbng/control/config"
	"vbng/control/schema"
	"vbng/routing/vrf"
)

const blackhole = "blackhole"

// The lists of routes, at top level (the default VRF) and in each VRF.
const (
	list4 = "ip route"
	list6 = "ipv6 route"
)

// Schema returns the configuration of static routes.
func Schema() []*schema.Node {
	routes := func() []*schema.Node {
		return []*schema.Node{
			routeNode(list4, "an IPv4 static route", "A.B.C.D", prefixType{Type: schema.Prefix4()}),
			routeNode(list6, "an IPv6 static route", "X:X::X", prefixType{six: true}),
		}
	}
	return append(routes(), &schema.Node{
		Name: "vrf", Kind: schema.List, Mode: "config-vrf", Help: "a routing table of its own; interfaces are put into it by their vrf line",
		Keys:     []*schema.Node{{Name: "name", Kind: schema.Leaf, Help: "name of the VRF", Type: vrf.NameType()}},
		Children: routes(),
	})
}

func routeNode(name, help, address string, prefix prefixType) *schema.Node {
	return &schema.Node{
		Name: name, Kind: schema.List, Help: help,
		Keys: []*schema.Node{
			{Name: "prefix", Kind: schema.Leaf, Help: "where to: " + address + "/LEN", Type: prefix},
			{Name: "next-hop", Kind: schema.Leaf, Help: "router to send to, with % and an interface if it lies on no prefix of ours; or blackhole: drop",
				Type: nextHopType{six: prefix.six, address: address}},
		},
		Children: []*schema.Node{{Name: "distance", Kind: schema.Leaf, Default: "1",
			Help: "the lower one is preferred among sources", Type: schema.Uint(1, 254, "")}},
	}
}

// prefixType is a prefix of one family.
type prefixType struct {
	schema.Type // of IPv4
	six         bool
}

// Parse implements schema.Type.
func (t prefixType) Parse(word string) (string, error) {
	if !t.six {
		return t.Type.Parse(word)
	}
	p, err := netip.ParsePrefix(word)
	switch {
	case err != nil || !p.Addr().Is6() || p.Addr().Is4In6():
		return "", fmt.Errorf("expected an IPv6 prefix (X:X::X/LEN), found %q", word)
	case p != p.Masked():
		return "", fmt.Errorf("%s has host bits set; the prefix is %s", word, p.Masked())
	}
	return p.String(), nil
}

// Hint implements schema.Type.
func (t prefixType) Hint() string {
	if t.six {
		return "X:X::X/LEN"
	}
	return t.Type.Hint()
}

// Words implements schema.Type.
func (prefixType) Words() []string { return nil }

// Secret implements schema.Type.
func (prefixType) Secret() bool { return false }

// nextHopType is the type of a next hop: ADDRESS, ADDRESS%INTERFACE or the word blackhole.
type nextHopType struct {
	six     bool
	address string
}

// maxInterfaceBytes bounds the name behind the percent sign; whether there is such an interface is
// checked with the whole configuration.
const maxInterfaceBytes = 15

// Parse implements schema.Type.
func (t nextHopType) Parse(word string) (string, error) {
	if word == blackhole {
		return word, nil
	}
	address, name, named := strings.Cut(word, "%")
	a, err := netip.ParseAddr(address)
	switch {
	case err != nil || a.Is4() == t.six || a.Is4In6():
		return "", fmt.Errorf("expected a next hop (%s) or %s, found %q", t.address, blackhole, word)
	case !named:
		return a.String(), nil
	case name == "" || len(name) > maxInterfaceBytes || strings.ContainsFunc(name, func(c rune) bool { return !interfaceByte(c) }):
		return "", fmt.Errorf("expected the name of an interface behind %%, found %q", word)
	}
	return a.String() + "%" + name, nil
}

// interfaceByte reports whether names of interfaces may have a character.
func interfaceByte(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_'
}

// Hint implements schema.Type.
func (t nextHopType) Hint() string { return t.address + "[%INTERFACE]|" + blackhole }

// Words implements schema.Type.
func (nextHopType) Words() []string { return nil }

// Secret implements schema.Type.
func (nextHopType) Secret() bool { return false }

// Tail implements schema.Tailed.
func (nextHopType) Tail(word string) (head, ref string, ok bool) {
	address, _, ok := strings.Cut(word, "%")
	return address + "%", "interface", ok
}

// line is one line of the configuration.
type line struct {
	prefix   netip.Prefix
	gateway  netip.Addr // not valid: blackhole
	iface    string     // empty: to be found
	distance uint8
}

func read(e *config.Tree) line {
	l := line{prefix: e.Prefix("prefix"), distance: uint8(e.Uint("distance"))}
	address, iface, _ := strings.Cut(e.Text("next-hop"), "%")
	l.gateway, _ = netip.ParseAddr(address) // blackhole: none
	l.iface = iface
	return l
}
