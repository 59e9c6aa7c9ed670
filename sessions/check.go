package sessions

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"vbng/control/config"
	"vbng/sessions/pool"
)

// place is a range with where it is configured.
type place struct {
	owner string // the pool, by poolOwner
	path  string
	line  int
	pool.Range
}

func checkRanges(t *config.Tree) []error {
	var faults []error
	var all []place
	for _, p := range t.List("ip pool") {
		for _, r := range p.List("range") {
			at := place{
				owner: poolOwner(slotIPv4, p.Text("name")),
				path:  "ip pool " + p.Text("name") + " / range " + strings.Join(r.Keys(), " "), line: r.Line(),
				Range: pool.Range{First: r.Addr("first"), Last: r.Addr("last")},
			}
			if text := checkRange(at.Range); text != "" {
				faults = append(faults, &config.Error{Path: at.path, Line: at.line, Text: text})
				continue
			}
			all = append(all, at)
		}
	}
	users := namedUsers(t)
	for _, vrf := range usersVRFs(users) {
		together := slices.DeleteFunc(slices.Clone(all), func(p place) bool { return !serves(users[p.owner], vrf) })
		for _, fault := range overlaps(together) {
			if !slices.ContainsFunc(faults, func(known error) bool { return known.Error() == fault.Error() }) {
				faults = append(faults, fault)
			}
		}
	}
	return faults
}

// namedUsers returns the VRFs, by name, whose profiles name a pool, by poolOwner. Pools may overlap if no VRF has both.
func namedUsers(t *config.Tree) map[string]map[string]bool {
	users := map[string]map[string]bool{}
	for _, kind := range []string{"pppoe profile", "ipoe profile"} {
		for _, p := range t.List(kind) {
			vrf := t.Entry("interface", p.Text("ip unnumbered")).Text("vrf")
			if vrf == defaultVRF {
				vrf = ""
			}
			for leaf, x := range map[string]slot{"ip pool": slotIPv4, "ipv6 prefix pool": slotPrefix, "ipv6 address pool": slotAddress6, "ipv6 delegated pool": slotDelegated} {
				owner := poolOwner(x, p.Text(leaf))
				if users[owner] == nil {
					users[owner] = map[string]bool{}
				}
				users[owner][vrf] = true
			}
		}
	}
	return users
}

const defaultVRF = "default"

// usersVRFs are all VRFs with subscribers, and the default one.
func usersVRFs(users map[string]map[string]bool) []string {
	all := map[string]bool{"": true}
	for _, vrfs := range users {
		maps.Copy(all, vrfs)
	}
	return slices.Sorted(maps.Keys(all))
}

// meet reports whether some VRF has both of two pools.
func meet(users map[string]map[string]bool, a, b string) bool {
	return slices.ContainsFunc(usersVRFs(users), func(vrf string) bool { return serves(users[a], vrf) && serves(users[b], vrf) })
}

func checkRange(r pool.Range) string {
	switch {
	case !r.First.Is4() || !r.Last.Is4():
		return "a range is of IPv4 addresses"
	case r.Last.Less(r.First):
		return fmt.Sprintf("the last address %s lies before the first %s", r.Last, r.First)
	case r.Wide():
		return fmt.Sprintf("a range holds at most %d addresses", pool.MaxRange)
	case r.First.IsMulticast() || r.Last.IsMulticast() || r.First.IsUnspecified() || r.First.IsLoopback():
		return "addresses of the range cannot be subscribers'"
	}
	return ""
}

// overlaps compares neighbours in the order of addresses: two ranges that overlap have an overlapping
// neighbour each.
func overlaps(all []place) []error {
	var faults []error
	slices.SortStableFunc(all, func(a, b place) int { return a.First.Compare(b.First) })
	for i := 1; i < len(all); i++ {
		if before, at := all[i-1], all[i]; !before.Last.Less(at.First) {
			faults = append(faults, &config.Error{Path: at.path, Line: at.line, Text: "overlaps " + before.path})
		}
	}
	return faults
}

func checkProfiles(t *config.Tree) []error {
	var faults []error
	for _, kind := range []string{"pppoe profile", "ipoe profile"} {
		for _, p := range t.List(kind) {
			faults = append(faults, checkProfile(t, p, kind+" "+p.Text("name"))...)
		}
	}
	return faults
}

func checkProfile(t, p *config.Tree, path string) []error {
	var faults []error
	fault := func(leaf, format string, args ...any) {
		faults = append(faults, &config.Error{Path: path + " / " + leaf, Line: p.LineOf(leaf), Text: fmt.Sprintf(format, args...)})
	}
	if name := p.Text("ip unnumbered"); name != "" && !t.Entry("interface", name).Prefix("ip address").IsValid() {
		fault("ip unnumbered", "interface %s has no ip address", name) // without the leaf, the schema says so
	}
	if p.Uint("ipv6 preferred-lifetime") > p.Uint("ipv6 valid-lifetime") {
		fault("ipv6 preferred-lifetime", "is longer than the valid lifetime of %d seconds", p.Uint("ipv6 valid-lifetime"))
	}
	interval := p.Uint("ipv6 ra interval")
	if life := p.Uint("ipv6 ra lifetime"); life != 0 && life < interval { // RFC 4861 6.2.1: AdvDefaultLifetime
		fault("ipv6 ra lifetime", "is shorter than the time between two router advertisements, %d seconds", interval)
	}
	if p.Text("ipv6 prefix pool") != "" && p.Uint("ipv6 preferred-lifetime") < interval {
		fault("ipv6 preferred-lifetime", "is shorter than the time between two router advertisements, %d seconds: addresses would be over in between", interval)
	}
	for leaf, lengths := range map[string]func(int) bool{
		"ipv6 prefix pool":    func(n int) bool { return n == slaacBits },
		"ipv6 address pool":   func(n int) bool { return n == 128 },
		"ipv6 delegated pool": func(n int) bool { return n <= slaacBits },
	} {
		name := p.Text(leaf)
		for _, u := range t.Entry("ipv6 pool", name).List("prefix") {
			if n := int(u.Uint("length")); name != "" && !lengths(n) {
				fault(leaf, "pool %s has pieces of /%d, which do not fit", name, n)
				break
			}
		}
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return faults
}

// checkUnits looks at the lines of IPv6 pools, each for itself and all together.
func checkUnits(t *config.Tree) []error {
	var faults []error
	type unit struct {
		owner  string
		prefix netip.Prefix
		path   string
	}
	users := namedUsers(t)
	var before []unit
	for _, p := range t.List("ipv6 pool") {
		owner := poolOwner(slotPrefix, p.Text("name"))
		for _, r := range p.List("prefix") {
			u := pool.Units{Prefix: r.Prefix("prefix"), Length: int(r.Uint("length"))}
			path := "ipv6 pool " + p.Text("name") + " / prefix " + strings.Join(r.Keys(), " ")
			fault := func(text string) {
				faults = append(faults, &config.Error{Path: path, Line: r.Line(), Text: text})
			}
			if text := pool.CheckUnits(u); text != "" {
				fault(text)
				continue
			}
			for _, b := range before {
				if b.prefix.Overlaps(u.Prefix) && meet(users, b.owner, owner) {
					fault("overlaps " + b.path)
					break
				}
			}
			before = append(before, unit{owner: owner, prefix: u.Prefix, path: path})
		}
	}
	return faults
}

// checkVLANs finds the ranges of a port that overlap: a place must have one answer.
func checkVLANs(t *config.Tree) []error {
	var faults []error
	for _, each := range t.List("interface") {
		var before []vlanRange
		for _, v := range each.List("subscriber vlans") {
			r, err := parseVLANRange(v.Text("range"))
			if err != nil { // the schema says so
				continue
			}
			for _, b := range before {
				if b.overlaps(r) {
					faults = append(faults, &config.Error{
						Path: "interface " + each.Text("name") + " / subscriber vlans " + r.String(), Line: v.Line(),
						Text: "overlaps subscriber vlans " + b.String(),
					})
					break
				}
			}
			before = append(before, r)
		}
	}
	return faults
}
