package bgp

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"vbng/control/schema"
	"vbng/routing/policy"
	"vbng/routing/vrf"
)

// Effects of what BGP cannot change in a running session.
const (
	resetsNeighbor = "resets the session with this neighbour"
	endsNeighbor   = "ends the session with this neighbour, or lets it come back"
	removesPeer    = "its session ends"
	removesAll     = "its BGP sessions end (another AS number is another router bgp)"
	resetsAll      = "resets every session of the VRF"
	nextSession    = "with the next session"
)

// The address families as they stand in the text, by family.
var familyNodes = [families]string{"address-family ipv4 unicast", "address-family ipv6 unicast"}

func leaf(name, help string, of schema.Type) *schema.Node {
	return &schema.Node{Name: name, Kind: schema.Leaf, Help: help, Type: of}
}

func flag(name, help string) *schema.Node {
	return &schema.Node{Name: name, Kind: schema.Flag, Help: help}
}

func acting(effect string, n *schema.Node) *schema.Node {
	n.Effect = effect
	return n
}

func to(ref, name, help string) *schema.Node {
	return &schema.Node{Name: name, Kind: schema.Leaf, Help: help, Type: schema.Name(), Ref: ref}
}

// Schema returns the configuration of BGP.
func Schema() []*schema.Node {
	inVRF := &schema.Node{
		Name: "vrf", Kind: schema.List, Mode: "config-router-vrf", Help: "BGP in a VRF", Removal: "its BGP sessions end",
		Keys:     []*schema.Node{{Name: "name", Kind: schema.Leaf, Help: "name of the VRF", Type: vrf.NameType(), Ref: "vrf"}},
		Children: instance(),
	}
	return []*schema.Node{{
		Name: "router bgp", Kind: schema.List, Mode: "config-router", Help: "BGP", Removal: removesAll,
		Keys:     []*schema.Node{leaf("as", "our AS number", policy.ASNumber())},
		Children: append(instance(), inVRF),
	}}
}

// instance is what BGP has in the default VRF and in every other.
func instance() []*schema.Node {
	return append([]*schema.Node{
		acting(resetsAll, leaf("router-id", "BGP identifier; a VRF without its own has that of the default VRF", schema.Addr4())),
		timer("timers keepalive", "interval of KEEPALIVE messages", 1, "60"),
		timer("timers hold", "silence after which a neighbour is dead", 3, "180"),
		{Name: "maximum-paths", Kind: schema.Leaf, Default: "1", Help: "equal paths to one prefix that are used at once", Type: schema.Uint(1, 64, "")},
		neighborSchema(),
	}, announcements()...)
}

// timer is a leaf of seconds. RFC 4271 4.2: a hold time is 3 seconds or more.
func timer(name, help string, least uint64, value string) *schema.Node {
	return &schema.Node{Name: name, Kind: schema.Leaf, Default: value, Help: help, Type: schema.Uint(least, 65535, "seconds"), Effect: nextSession}
}

func announcements() []*schema.Node {
	routeMap := func() []*schema.Node {
		return []*schema.Node{to(policy.Map, "route-map", "which of them, and changes to them")}
	}
	return []*schema.Node{
		{Name: "network", Kind: schema.List, Help: "a prefix to announce while the router has it", Children: routeMap(),
			Keys: []*schema.Node{leaf("prefix", "the prefix", policy.PrefixType(false))}},
		{Name: "redistribute", Kind: schema.List, Help: "announce routes of a source (never the default route)", Children: routeMap(),
			Keys: []*schema.Node{leaf("source", "where the routes come from; aggregate: the prefixes of subscribers' pools", schema.Enum(policy.Sources()...))}},
	}
}

func neighborSchema() *schema.Node {
	children := []*schema.Node{
		{Name: "remote-as", Kind: schema.Leaf, Required: true, Help: "the neighbour's AS number", Type: policy.ASNumber(), Effect: resetsNeighbor},
		leaf("description", "free text", schema.Text()),
		acting(endsNeighbor, flag("shutdown", "end the session and make none")),
		acting(resetsNeighbor, leaf("password", "TCP MD5 key (RFC 2385)", keyType{schema.Secret()})),
		acting(resetsNeighbor, leaf("update-source", "our address in this session: the address, or the interface that has it", schema.Name())),
		leaf("ebgp-multihop", "TTL of packets to a neighbour in another AS that is not on link", schema.Uint(2, 255, "hops")),
		flag("next-hop-self", "announce ourselves as next hop"),
		flag("send-community", "announce standard and large communities (extended ones always are)"),
		timer("timers keepalive", "in place of the router's", 1, ""),
		timer("timers hold", "in place of the router's", 3, ""),
	}
	for f := range families {
		children = append(children, familySchema(f))
	}
	return &schema.Node{
		Name: "neighbor", Kind: schema.List, Mode: "config-router-neighbor", Help: "a BGP neighbour", Removal: removesPeer,
		Keys:     []*schema.Node{leaf("address", "its address", schema.Addr())},
		Children: children,
	}
}

func familySchema(f family) *schema.Node {
	list := policy.List4
	if f == ipv6 {
		list = policy.List6
	}
	return &schema.Node{
		Name: familyNodes[f], Kind: schema.Container, Mode: "config-router-neighbor-af", Help: f.String() + " routes with this neighbour",
		Children: []*schema.Node{
			acting(resetsNeighbor, flag("activate", "exchange these routes")),
			to(list, "prefix-list in", "prefixes accepted from the neighbour"),
			to(list, "prefix-list out", "prefixes announced to the neighbour"),
			to(policy.Map, "route-map in", "routes accepted from the neighbour, and changes to them"),
			to(policy.Map, "route-map out", "routes announced to the neighbour, and changes to them"),
			leaf("maximum-prefix", "prefixes beyond which the session ends (warning-only: is reported; restart: comes back after so many minutes)", maximumType{}),
			flag("default-originate", "announce a default route, whether we have one or not"),
		},
	}
}

// keyType is a secret no longer than the kernel's TCP MD5 key.
type keyType struct{ schema.Type }

const maxKeyBytes = 80 // TCP_MD5SIG_MAXKEYLEN

// Parse implements schema.Type.
func (t keyType) Parse(word string) (string, error) {
	if len(word) > maxKeyBytes {
		return "", fmt.Errorf("expected a key of at most %d bytes, found %d bytes", maxKeyBytes, len(word))
	}
	return t.Type.Parse(word)
}

// maximumType is "N [warning-only | restart MINUTES]".
type maximumType struct{}

const (
	warningOnly = "warning-only"
	restart     = "restart"
)

// Parse implements schema.Type.
func (t maximumType) Parse(text string) (string, error) {
	words := strings.Fields(text)
	expected := fmt.Errorf("expected %s, found %q", t.Hint(), text)
	if len(words) == 0 {
		return "", expected
	}
	limit, err := schema.Uint(1, 10_000_000, "prefixes").Parse(words[0])
	if err != nil {
		return "", err
	}
	words[0] = limit
	switch {
	case len(words) == 1, len(words) == 2 && words[1] == warningOnly:
	case len(words) == 3 && words[1] == restart:
		if words[2], err = schema.Uint(1, 65535, "minutes").Parse(words[2]); err != nil {
			return "", err
		}
	default:
		return "", expected
	}
	return strings.Join(words, " "), nil
}

// Hint implements schema.Type.
func (maximumType) Hint() string { return "<1-10000000> [warning-only|restart MINUTES]" }

// Words implements schema.Type.
func (maximumType) Words() []string { return nil }

// Secret implements schema.Type.
func (maximumType) Secret() bool { return false }

// Count implements schema.Several.
func (maximumType) Count() (least, most int) { return 1, 3 }

// Element implements schema.Several.
func (t maximumType) Element() schema.Type { return maximumWord{} }

// Separate implements schema.Several.
func (maximumType) Separate() bool { return true }

// maximumWord is a word of a maximumType.
type maximumWord struct{ maximumType }

// Parse implements schema.Type.
func (maximumWord) Parse(word string) (string, error) {
	for _, w := range []string{warningOnly, restart} {
		if strings.HasPrefix(w, word) && word != "" {
			return w, nil
		}
	}
	if _, err := strconv.ParseUint(word, 10, 32); err != nil {
		return "", fmt.Errorf("expected %s, found %q", maximumType{}.Hint(), word)
	}
	return word, nil
}

// sourceAddress reports whether an update-source is an address; otherwise it names an interface.
func sourceAddress(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(text)
	return a, err == nil
}
