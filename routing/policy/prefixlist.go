package policy

import (
	"net/netip"
	"slices"
)

// PrefixList is an ordered list of rules of one address family.
type PrefixList struct {
	Name  string
	Rules []Rule // by sequence number
}

// Rule is a line of a prefix list. It matches the prefixes inside Prefix whose length is Min to Max bits.
type Rule struct {
	Sequence uint32
	Permit   bool
	Prefix   netip.Prefix // masked
	Min, Max int
}

// matches reports whether the rule decides on prefixes of this length inside a prefix that the rule covers.
func (r Rule) matches(bits int) bool { return r.Min <= bits && bits <= r.Max }

// Permits reports whether the first rule that matches permits the prefix.
func (l *PrefixList) Permits(p netip.Prefix) bool {
	for _, r := range l.Rules {
		if r.matches(p.Bits()) && r.Prefix.Bits() <= p.Bits() && r.Prefix.Contains(p.Addr()) {
			return r.Permit
		}
	}
	return false
}

// Range is the set of prefixes inside Prefix with a length of Min to Max bits. Max below the length of
// Prefix is the empty set.
type Range struct {
	Prefix   netip.Prefix
	Min, Max int
}

// Ranges returns what the list permits in a form for a longest-prefix match: of the ranges of the longest
// Prefix that covers a prefix one has its length, if and only if the list permits it. A Prefix below which
// nothing is permitted comes with an empty range, because a shorter one must not answer for it.
func (l *PrefixList) Ranges() []Range {
	byPrefix := map[netip.Prefix][]int{} // indexes into Rules, ascending
	var places []netip.Prefix
	for i, r := range l.Rules {
		if _, known := byPrefix[r.Prefix]; !known {
			places = append(places, r.Prefix)
		}
		byPrefix[r.Prefix] = append(byPrefix[r.Prefix], i)
	}
	slices.SortFunc(places, netip.Prefix.Compare)
	var all []Range
	permitted := false
	for _, p := range places {
		some := l.rangesAt(p, byPrefix)
		permitted = permitted || len(some) > 0
		if len(some) == 0 && p.Bits() > 0 {
			some = []Range{{Prefix: p, Min: 0, Max: p.Bits() - 1}}
		}
		all = append(all, some...)
	}
	if !permitted {
		return nil
	}
	return all
}

// rangesAt returns the permitted lengths of prefixes whose longest rule prefix is p.
func (l *PrefixList) rangesAt(p netip.Prefix, byPrefix map[netip.Prefix][]int) []Range {
	var covering []int
	for bits := p.Bits(); bits >= 0; bits-- {
		covering = append(covering, byPrefix[netip.PrefixFrom(p.Addr(), bits).Masked()]...)
	}
	slices.Sort(covering)
	var found []Range
	for bits := p.Bits(); bits <= p.Addr().BitLen(); bits++ {
		if !l.permitsLength(covering, bits) {
			continue
		}
		if n := len(found); n > 0 && found[n-1].Max == bits-1 {
			found[n-1].Max = bits
		} else {
			found = append(found, Range{Prefix: p, Min: bits, Max: bits})
		}
	}
	return found
}

func (l *PrefixList) permitsLength(rules []int, bits int) bool {
	for _, i := range rules {
		if l.Rules[i].matches(bits) {
			return l.Rules[i].Permit
		}
	}
	return false
}
