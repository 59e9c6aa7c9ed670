package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"vbng/control/oper"
)

// RuleRow is a line of a prefix list.
type RuleRow struct {
	List     string
	Sequence uint32 `show:"Seq"`
	Action   string
	Prefix   string
	Lengths  string // of the prefixes that match, in bits: "24-28"
}

// EntryRow is an entry of a route map.
type EntryRow struct {
	Map      string
	Sequence uint32 `show:"Seq"`
	Action   string
	Match    string
	Set      string
}

// Commands returns the show commands of policies.
func (s *Subsystem) Commands() []*oper.Command {
	lists := func(words, help string, pick func(Policies) map[string]*PrefixList) *oper.Command {
		return &oper.Command{
			Words: words, Help: help,
			Args: []oper.Arg{{Name: "name", Help: "one list only", Optional: true, Complete: func() []string { return sorted(pick(s.policies())) }}},
			Run: func(_ context.Context, call oper.Call) (any, error) {
				return listRows(pick(s.policies()), call)
			},
		}
	}
	return []*oper.Command{
		lists("show ip prefix-list", "IPv4 prefix lists", func(p Policies) map[string]*PrefixList { return p.Lists4 }),
		lists("show ipv6 prefix-list", "IPv6 prefix lists", func(p Policies) map[string]*PrefixList { return p.Lists6 }),
		{
			Words: "show route-map", Help: "route maps",
			Args: []oper.Arg{{Name: "name", Help: "one map only", Optional: true, Complete: func() []string { return sorted(s.policies().Maps) }}},
			Run:  func(_ context.Context, call oper.Call) (any, error) { return mapRows(s.policies().Maps, call) },
		},
	}
}

func sorted[T any](all map[string]T) []string { return slices.Sorted(maps.Keys(all)) }

// chosen returns the names that a call asks for.
func chosen[T any](all map[string]T, call oper.Call) ([]string, error) {
	name, one := call.Args["name"]
	if !one {
		return sorted(all), nil
	}
	if _, known := all[name]; !known {
		return nil, fmt.Errorf("there is no %q", name)
	}
	return []string{name}, nil
}

func listRows(all map[string]*PrefixList, call oper.Call) (any, error) {
	names, err := chosen(all, call)
	if err != nil {
		return nil, err
	}
	var answer oper.Table[RuleRow]
	for _, name := range names {
		for _, r := range all[name].Rules {
			lengths := fmt.Sprint(r.Min)
			if r.Max != r.Min {
				lengths = fmt.Sprintf("%d-%d", r.Min, r.Max)
			}
			answer.Rows = append(answer.Rows, RuleRow{name, r.Sequence, word(r.Permit), r.Prefix.String(), lengths})
		}
	}
	return answer, nil
}

func mapRows(all map[string]*RouteMap, call oper.Call) (any, error) {
	names, err := chosen(all, call)
	if err != nil {
		return nil, err
	}
	var answer oper.Table[EntryRow]
	for _, name := range names {
		for _, e := range all[name].Entries {
			answer.Rows = append(answer.Rows, EntryRow{name, e.Sequence, word(e.Permit), e.Match.String(), e.Set.String()})
		}
	}
	return answer, nil
}

func word(permits bool) string {
	if permits {
		return permit
	}
	return deny
}

// String returns the conditions in the words of the configuration.
func (m Match) String() string {
	var all []string
	if m.PrefixList4 != nil {
		all = append(all, "ip prefix-list "+m.PrefixList4.Name)
	}
	if m.PrefixList6 != nil {
		all = append(all, "ipv6 prefix-list "+m.PrefixList6.Name)
	}
	if m.ASPathMaximum >= 0 {
		all = append(all, fmt.Sprintf("as-path maximum-length %d", m.ASPathMaximum))
	}
	if m.ASPathRegexp != "" {
		all = append(all, "as-path regexp "+m.ASPathRegexp)
	}
	if len(m.Communities) > 0 {
		all = append(all, "community "+strings.Join(m.Communities, " "))
	}
	if len(m.Sources) > 0 {
		all = append(all, "source "+strings.Join(m.Sources, " "))
	}
	return strings.Join(all, ", ")
}

// String returns the changes in the words of the configuration.
func (s Set) String() string {
	var all []string
	if s.LocalPreference != nil {
		all = append(all, fmt.Sprintf("local-preference %d", *s.LocalPreference))
	}
	if s.Metric != nil {
		all = append(all, fmt.Sprintf("metric %d", *s.Metric))
	}
	if len(s.Communities) > 0 {
		all = append(all, "community "+strings.Join(s.Communities, " "))
	}
	if s.Additive {
		all = append(all, "community-additive")
	}
	if s.PrependCount > 0 {
		all = append(all, "as-path prepend"+strings.Repeat(fmt.Sprintf(" %d", s.PrependAS), s.PrependCount))
	}
	if s.NextHop4.IsValid() {
		all = append(all, "ip next-hop "+s.NextHop4.String())
	}
	if s.NextHop6.IsValid() {
		all = append(all, "ipv6 next-hop "+s.NextHop6.String())
	}
	return strings.Join(all, ", ")
}
