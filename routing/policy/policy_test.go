package policy

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"vbng/control/config"
	"vbng/control/schema"
)

const text = `ip prefix-list customers
 seq 5 deny 203.0.113.0/25
 seq 10 permit 203.0.113.0/24 le 28
 seq 20 permit 198.51.100.0/24 ge 25 le 30
!
ipv6 prefix-list six
 seq 1 permit 2001:db8::/32 ge 48
!
route-map in
 seq 10 deny
  match community 65000:1 no-export
 !
 seq 20 permit
  description "Customers first"
  match ip prefix-list customers
  match ipv6 prefix-list six
  match as-path maximum-length 10
  match as-path regexp ^65001_
  match source connected static
  set local-preference 200
  set metric 0
  set community 65000:2 65000:3
  set community-additive
  set as-path prepend 65000 65000
  set ip next-hop 192.0.2.1
  set ipv6 next-hop 2001:db8::1
 !
!
`

func parse(t *testing.T, text string) *config.Tree {
	t.Helper()
	root, err := schema.Merge(Schema())
	if err != nil {
		t.Fatal(err)
	}
	tree, faults := config.Parse(root, text)
	for _, f := range faults {
		t.Error(f)
	}
	return tree
}

func TestConfigurationRoundTrip(t *testing.T) {
	tree := parse(t, text)
	if got := config.Print(tree, config.Clear); got != text {
		t.Errorf("printed\n%s", got)
	}
	for _, f := range check(tree) {
		t.Error(f)
	}
}

func TestFaultsAreNamed(t *testing.T) {
	for piece, want := range map[string]string{
		"ip prefix-list a\n seq 1 permit 10.0.0.0/8\n seq 1 deny 10.0.0.0/8\n": "two entries 1",
		"ip prefix-list a\n seq 1 permit 10.0.0.0/8 ge 7\n":                    "shorter",
		"ip prefix-list a\n seq 1 permit 10.0.0.0/8 ge 20 le 10\n":             "no length",
		"ip prefix-list a\n seq 1 permit 10.0.0.0/8 le 7\n":                    "no length",
		"route-map a\n seq 1 permit\n  set community-additive\n":               "goes with",
		"route-map a\n seq 1 permit\n  set ipv6 next-hop fe80::1\n":            "no global",
		"route-map a\n seq 1 deny\n  set metric 5\n":                           "sets nothing",
		"route-map a\n seq 1 permit\n !\n seq 1 deny\n":                        "two entries 1",
		"route-map a\n seq 1 permit\n  set ip next-hop 224.0.0.1\n":            "no unicast",
	} {
		faults := check(parse(t, piece))
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), want) {
			t.Errorf("%q: faults %v, want one with %q", piece, faults, want)
		}
	}
}

// TestRangesAgreeWithTheList asks both forms of random lists about random prefixes.
func TestRangesAgreeWithTheList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	prefix := func() netip.Prefix {
		a := netip.AddrFrom4([4]byte{10, byte(random.IntN(4)), byte(random.IntN(4)) << 6, 0})
		return netip.PrefixFrom(a, random.IntN(25)).Masked()
	}
	for range 300 {
		l := &PrefixList{}
		for i := range 1 + random.IntN(8) {
			r := Rule{Sequence: uint32(i), Permit: random.IntN(2) == 0, Prefix: prefix()}
			r.Min = r.Prefix.Bits() + random.IntN(33-r.Prefix.Bits())
			r.Max = r.Min + random.IntN(33-r.Min)
			l.Rules = append(l.Rules, r)
		}
		ranges := l.Ranges()
		for range 300 {
			p := prefix()
			if got, want := longestMatch(ranges, p), l.Permits(p); got != want {
				t.Fatalf("%v: ranges say %v, the list %v\n%+v\n%+v", p, got, want, l.Rules, ranges)
			}
		}
	}
}

func longestMatch(ranges []Range, p netip.Prefix) bool {
	longest := -1
	for _, r := range ranges {
		if r.Prefix.Bits() <= p.Bits() && r.Prefix.Contains(p.Addr()) {
			longest = max(longest, r.Prefix.Bits())
		}
	}
	for _, r := range ranges {
		if r.Prefix.Bits() == longest && r.Prefix.Contains(p.Addr()) && r.Min <= p.Bits() && p.Bits() <= r.Max {
			return true
		}
	}
	return false
}

func TestRouteMapDecidesOnOwnRoutes(t *testing.T) {
	p := Read(parse(t, `ip prefix-list lan
 seq 10 permit 10.0.0.0/8 le 32
!
route-map out
 seq 10 deny
  match source static
 !
 seq 20 permit
  match ip prefix-list lan
  set metric 7
 !
 seq 30 deny
  match ip prefix-list lan
 !
!
`))
	m := p.Maps["out"]
	for _, c := range []struct {
		route  Own
		permit bool
	}{
		{Own{netip.MustParsePrefix("10.1.0.0/16"), "connected"}, true},
		{Own{netip.MustParsePrefix("10.1.0.0/16"), "static"}, false},
		{Own{netip.MustParsePrefix("192.0.2.0/24"), "connected"}, false},
		{Own{netip.MustParsePrefix("2001:db8::/32"), "connected"}, false},
	} {
		set, permit := m.Apply(c.route)
		if permit != c.permit {
			t.Errorf("%v: permit %v", c.route, permit)
		}
		if permit && (set.Metric == nil || *set.Metric != 7) {
			t.Errorf("%v: set %v", c.route, set)
		}
	}
	if _, permit := (*RouteMap)(nil).Apply(Own{}); !permit {
		t.Error("no map denies")
	}
}
