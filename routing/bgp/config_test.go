package bgp

import (
	"reflect"
	"strings"
	"testing"

	"vbng/control/config"
	"vbng/control/schema"
	"vbng/routing/policy"
	"vbng/routing/vrf"
)

const whole = `ip prefix-list few
 seq 10 permit 10.0.0.0/8 le 24
!
route-map mark
 seq 10 permit
  set metric 5
 !
!
router bgp 4200000000
 router-id 192.0.2.1
 timers keepalive 10
 timers hold 30
 maximum-paths 4
 neighbor 192.0.2.2
  remote-as 65001
  description "The other side"
  shutdown
  password "two words"
  update-source 192.0.2.1
  ebgp-multihop 3
  next-hop-self
  send-community
  timers keepalive 5
  timers hold 15
  address-family ipv4 unicast
   activate
   prefix-list in few
   prefix-list out few
   route-map in mark
   route-map out mark
   maximum-prefix 1000 restart 5
   default-originate
  !
 !
 network 10.1.0.0/16 route-map mark
 redistribute aggregate route-map mark
 redistribute connected
 vrf red
  neighbor 192.0.2.2
   remote-as 65002
   address-family ipv4 unicast
    activate
    maximum-prefix 1000 warning-only
   !
  !
 !
!
`

func tree(t *testing.T, text string) *config.Tree {
	t.Helper()
	root, err := schema.Merge(vrf.Schema(), policy.Schema(), Schema())
	if err != nil {
		t.Fatal(err)
	}
	if faults := schema.Validate(root); len(faults) > 0 {
		t.Fatal(faults)
	}
	tree, faults := config.Parse(root, text)
	for _, f := range faults {
		t.Fatal(f)
	}
	return tree
}

func TestConfigurationRoundTrip(t *testing.T) {
	c := tree(t, whole)
	if got := config.Print(c, config.Clear); got != whole {
		t.Errorf("printed\n%s", got)
	}
	if shown := config.Print(c, config.Hide); strings.Contains(shown, "two words") {
		t.Error("a password is shown")
	}
	for _, f := range check(c) {
		t.Error(f)
	}
	all := read(c)
	if len(all) != 2 || all["red"].routerID != all[""].routerID || all["red"].as != 4200000000 {
		t.Fatalf("settings %+v", all)
	}
	x := all[""].neighbors[0].families[ipv4]
	if x.maximum != 1000 || x.warningOnly || x.restartAfter.Minutes() != 5 || !all["red"].neighbors[0].families[ipv4].warningOnly {
		t.Errorf("maximum-prefix %+v", x)
	}
	if !reflect.DeepEqual(all, read(tree(t, whole))) {
		t.Error("the same configuration is another value")
	}
}

func TestFaultsAreNamed(t *testing.T) {
	const head = "route-map src\n seq 1 permit\n  match source static\n !\n!\nrouter bgp 65000\n router-id 192.0.2.1\n"
	const af = "  address-family ipv4 unicast\n   activate\n"
	for body, want := range map[string]string{
		" neighbor 192.0.2.2\n  remote-as 65001\n":                                                                     "no address family is activated",
		" neighbor 224.0.0.1\n  remote-as 65001\n" + af:                                                                "no global unicast address",
		" neighbor 192.0.2.2\n  remote-as 65001\n" + af + "   route-map in src\n":                                      "only redistributed routes",
		" neighbor 192.0.2.2\n  remote-as 65001\n  timers keepalive 20\n  timers hold 30\n" + af:                       "three times",
		" neighbor 192.0.2.2\n  remote-as 65000\n  ebgp-multihop 5\n" + af:                                             "another AS",
		" neighbor 192.0.2.2\n  remote-as 65001\n  update-source 2001:db8::1\n" + af:                                   "another address family",
		" neighbor 192.0.2.2\n  remote-as 65001\n" + af + "  !\n  address-family ipv6 unicast\n   default-originate\n": "not activated",
		"!\nrouter bgp 65001\n":  "one AS number",
		" network 224.0.0.0/4\n": "never announced",
	} {
		faults := check(tree(t, head+body))
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), want) {
			t.Errorf("%q: faults %v, want one with %q", body, faults, want)
		}
	}
}

func TestEffectsTellWhatResets(t *testing.T) {
	old := tree(t, whole)
	for from, to := range map[string]string{
		`"The other side"`: `other`, "metric 5": "metric 6", "maximum-prefix 1000 restart": "maximum-prefix 900 restart",
	} {
		if notes := config.Effects(old, tree(t, strings.Replace(whole, from, to, 1))); len(notes) != 0 {
			t.Errorf("%s: %v", from, notes)
		}
	}
	notes := config.Effects(old, tree(t, strings.Replace(whole, `"two words"`, "one", 1)))
	if len(notes) != 1 || !strings.Contains(notes[0], resetsNeighbor) {
		t.Errorf("a new password: %v", notes)
	}
	for change, want := range map[[2]string]string{
		{"  shutdown\n", ""}:                                       "router bgp 4200000000 / neighbor 192.0.2.2 / shutdown: " + endsNeighbor,
		{"router bgp 4200000000", "router bgp 65000"}:              "router bgp 4200000000: " + removesAll,
		{"neighbor 192.0.2.2\n  rem", "neighbor 192.0.2.3\n  rem"}: "router bgp 4200000000 / neighbor 192.0.2.2: " + removesPeer,
		{" vrf red\n", " vrf blue\n"}:                              "router bgp 4200000000 / vrf red: its BGP sessions end",
	} {
		notes := config.Effects(old, tree(t, strings.Replace(whole, change[0], change[1], 1)))
		if len(notes) != 1 || notes[0] != want {
			t.Errorf("%q: notes %q, want %q", change, notes, want)
		}
	}
}

// TestCompileSaysWhoseFiltersChanged changes one neighbour's list.
func TestCompileSaysWhoseFiltersChanged(t *testing.T) {
	one := compile(read(tree(t, whole))[""])
	two := compile(read(tree(t, strings.Replace(whole, "le 24", "le 23", 1)))[""])
	addr := read(tree(t, whole))[""].neighbors[0].addr
	if one.marks[addr] == two.marks[addr] {
		t.Error("another prefix list is the same filter")
	}
	if same := compile(read(tree(t, strings.Replace(whole, "maximum-paths 4", "maximum-paths 8", 1)))[""]); one.marks[addr] != same.marks[addr] {
		t.Error("the number of paths is part of a filter")
	}
	names := map[string]bool{}
	for _, s := range append(one.imports, one.exports...) {
		if names[s.Name] {
			t.Errorf("statement %q is there twice", s.Name)
		}
		names[s.Name] = true
	}
}
