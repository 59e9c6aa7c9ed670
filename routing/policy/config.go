package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"vbng/control/config"
	"vbng/control/schema"
)

// The names of the nodes, which are also what a Ref to them says.
const (
	List4 = "ip prefix-list"
	List6 = "ipv6 prefix-list"
	Map   = "route-map"
)

// Sources are the words for where a redistributed route comes from.
func Sources() []string { return []string{"connected", "static", "subscriber", "aggregate"} }

// Schema returns the configuration of prefix lists and route maps.
func Schema() []*schema.Node {
	return []*schema.Node{
		listSchema(List4, "list of IPv4 prefixes to permit and deny", schema.Prefix4(), 32),
		listSchema(List6, "list of IPv6 prefixes to permit and deny", PrefixType(true), 128),
		mapSchema(),
	}
}

func leaf(name, help string, of schema.Type) *schema.Node {
	return &schema.Node{Name: name, Kind: schema.Leaf, Help: help, Type: of}
}

func ref(name, help, to string) *schema.Node {
	return &schema.Node{Name: name, Kind: schema.Leaf, Help: help, Type: schema.Name(), Ref: to}
}

func sequence() *schema.Node {
	return leaf("number", "place in the list; the first entry that matches decides", schema.Uint(1, 4294967294, ""))
}

func action() *schema.Node {
	return leaf("action", "what happens to a route that matches", schema.Enum(permit, deny))
}

func listSchema(name, help string, prefix schema.Type, most uint64) *schema.Node {
	return &schema.Node{
		Name: name, Kind: schema.List, Mode: "config-prefix-list", Help: help,
		Keys: []*schema.Node{leaf("name", "name of the list", schema.Name())},
		Children: []*schema.Node{{
			Name: "seq", Kind: schema.List, Help: "a line of the list",
			Keys: []*schema.Node{sequence(), action(), leaf("prefix", "what the routes lie in", prefix)},
			Children: []*schema.Node{
				leaf("ge", "shortest length that matches (without ge and le: the prefix's own only)", schema.Uint(1, most, "bits")),
				leaf("le", "longest length that matches", schema.Uint(1, most, "bits")),
			},
		}},
	}
}

func mapSchema() *schema.Node {
	flag := func(name, help string) *schema.Node { return &schema.Node{Name: name, Kind: schema.Flag, Help: help} }
	number := schema.Uint(0, 4294967295, "")
	return &schema.Node{
		Name: Map, Kind: schema.List, Mode: "config-route-map", Help: "list of conditions on routes and changes to them",
		Keys: []*schema.Node{leaf("name", "name of the map", schema.Name())},
		Children: []*schema.Node{{
			Name: "seq", Kind: schema.List, Mode: "config-route-map-entry", Help: "an entry of the map",
			Keys: []*schema.Node{sequence(), action()},
			Children: []*schema.Node{
				leaf("description", "free text", schema.Text()),
				ref("match ip prefix-list", "IPv4 routes that the list permits", List4),
				ref("match ipv6 prefix-list", "IPv6 routes that the list permits", List6),
				leaf("match as-path maximum-length", "routes with at most so many AS numbers in their path", schema.Uint(0, 255, "AS numbers")),
				leaf("match as-path regexp", "routes whose AS path matches; _ stands for a blank or an end", regexpType{}),
				leaf("match community", "routes with one of the communities", schema.Words(communityType{}, 1, 32)),
				leaf("match source", "redistributed routes of these sources", schema.Words(schema.Enum(Sources()...), 1, 4)),
				leaf("set local-preference", "preference inside our AS, the higher is better", schema.Uint(1, 4294967295, "")),
				leaf("set metric", "MULTI_EXIT_DISC, the lower is better", number),
				leaf("set community", "communities in place of those the route has", schema.Words(communityType{}, 1, 32)),
				flag("set community-additive", "keep the communities that the route has"),
				leaf("set as-path prepend", "an AS number, as often as it is put in front", prependType{}),
				leaf("set ip next-hop", "next hop of IPv4 routes", schema.Addr4()),
				leaf("set ipv6 next-hop", "next hop of IPv6 routes", schema.Addr()),
			},
		}},
	}
}

// Policies is all prefix lists and route maps of a configuration, by name.
type Policies struct {
	Lists4, Lists6 map[string]*PrefixList
	Maps           map[string]*RouteMap
}

// Read returns the policies of a configuration. A name that is not defined gives an empty list or map, which
// denies everything; the configuration's own check refuses such a name before.
func Read(t *config.Tree) Policies {
	p := Policies{Lists4: readLists(t.List(List4)), Lists6: readLists(t.List(List6)), Maps: map[string]*RouteMap{}}
	for _, e := range t.List(Map) {
		m := &RouteMap{Name: e.Text("name")}
		for _, s := range e.List("seq") {
			m.Entries = append(m.Entries, p.readEntry(s))
		}
		p.Maps[m.Name] = m
	}
	return p
}

func readLists(entries []*config.Tree) map[string]*PrefixList {
	all := map[string]*PrefixList{}
	for _, e := range entries {
		l := &PrefixList{Name: e.Text("name")}
		for _, s := range e.List("seq") {
			l.Rules = append(l.Rules, readRule(s))
		}
		all[l.Name] = l
	}
	return all
}

// readRule gives ge and le their meaning: alone, ge reaches to the longest length, and le begins at the
// prefix's own.
func readRule(s *config.Tree) Rule {
	r := Rule{Sequence: uint32(s.Uint("number")), Permit: s.Text("action") == permit, Prefix: s.Prefix("prefix")}
	r.Min, r.Max = r.Prefix.Bits(), r.Prefix.Bits()
	if s.Configured("ge") {
		r.Min, r.Max = int(s.Uint("ge")), r.Prefix.Addr().BitLen()
	}
	if s.Configured("le") {
		r.Max = int(s.Uint("le"))
	}
	return r
}

func (p Policies) readEntry(s *config.Tree) Entry {
	e := Entry{Sequence: uint32(s.Uint("number")), Permit: s.Text("action") == permit}
	e.Match = Match{
		PrefixList4: named(p.Lists4, s, "match ip prefix-list"), PrefixList6: named(p.Lists6, s, "match ipv6 prefix-list"),
		ASPathMaximum: -1, ASPathRegexp: s.Text("match as-path regexp"),
		Communities: s.Words("match community"), Sources: s.Words("match source"),
	}
	if s.Configured("match as-path maximum-length") {
		e.Match.ASPathMaximum = int(s.Uint("match as-path maximum-length"))
	}
	e.Set = Set{
		LocalPreference: number(s, "set local-preference"), Metric: number(s, "set metric"),
		Communities: s.Words("set community"), Additive: s.Flag("set community-additive"),
		NextHop4: s.Addr("set ip next-hop"), NextHop6: s.Addr("set ipv6 next-hop"),
	}
	if words := s.Words("set as-path prepend"); len(words) > 0 {
		as, _ := strconv.ParseUint(words[0], 10, 32)
		e.Set.PrependAS, e.Set.PrependCount = uint32(as), len(words)
	}
	return e
}

func named(all map[string]*PrefixList, s *config.Tree, name string) *PrefixList {
	if !s.Configured(name) {
		return nil
	}
	if l := all[s.Text(name)]; l != nil {
		return l
	}
	return &PrefixList{Name: s.Text(name)}
}

func number(s *config.Tree, name string) *uint32 {
	if !s.Configured(name) {
		return nil
	}
	n := uint32(s.Uint(name))
	return &n
}

// check finds what no single line shows.
func check(t *config.Tree) []error {
	var faults []error
	for _, kind := range []string{List4, List6} {
		for _, e := range t.List(kind) {
			path := config.Path{{Name: kind, Keys: e.Keys()}}
			faults = append(faults, sequences(e, path)...)
			for _, s := range e.List("seq") {
				faults = append(faults, checkRule(s, path)...)
			}
		}
	}
	for _, e := range t.List(Map) {
		path := config.Path{{Name: Map, Keys: e.Keys()}}
		faults = append(faults, sequences(e, path)...)
		for _, s := range e.List("seq") {
			faults = append(faults, checkEntry(s, path)...)
		}
	}
	return faults
}

// sequences refuses two entries of one number.
func sequences(e *config.Tree, path config.Path) []error {
	var faults []error
	var seen []string
	for _, s := range e.List("seq") {
		n := s.Text("number")
		if slices.Contains(seen[max(0, len(seen)-1):], n) { // sorted by number
			faults = append(faults, fault(s, path, "there are two entries %s", n))
		}
		seen = append(seen, n)
	}
	return faults
}

func fault(s *config.Tree, path config.Path, format string, args ...any) error {
	return &config.Error{Path: path.Down(config.Step{Name: "seq", Keys: s.Keys()}).String(), Line: s.Line(), Text: fmt.Sprintf(format, args...)}
}

func checkRule(s *config.Tree, path config.Path) []error {
	r := readRule(s)
	var faults []error
	if s.Configured("ge") && r.Min < r.Prefix.Bits() {
		faults = append(faults, fault(s, path, "ge %d is shorter than the prefix's own length", r.Min))
	}
	if r.Min > r.Max {
		faults = append(faults, fault(s, path, "no length is at least %d and at most %d", r.Min, r.Max))
	}
	return faults
}

func checkEntry(s *config.Tree, path config.Path) []error {
	var faults []error
	e := Policies{}.readEntry(s)
	if e.Set.Additive && len(e.Set.Communities) == 0 {
		faults = append(faults, fault(s, path, "set community-additive goes with set community"))
	}
	if h := e.Set.NextHop6; h.IsValid() && (h.Is4() || h.IsLinkLocalUnicast()) {
		faults = append(faults, fault(s, path, "set ipv6 next-hop: %v is no global IPv6 address", h))
	}
	for _, h := range []netip.Addr{e.Set.NextHop4, e.Set.NextHop6} {
		if h.IsValid() && (h.IsMulticast() || h.IsLoopback() || h.IsUnspecified()) {
			faults = append(faults, fault(s, path, "next hop %v is no unicast address", h))
		}
	}
	if set := e.Set; !e.Permit && (set.LocalPreference != nil || set.Metric != nil || len(set.Communities) > 0 || set.PrependCount > 0 ||
		set.NextHop4.IsValid() || set.NextHop6.IsValid()) {
		faults = append(faults, fault(s, path, "an entry that denies sets nothing"))
	}
	return faults
}
