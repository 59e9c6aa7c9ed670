package static

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vbng/control/config"
	grammarline "vbng/control/line"
	"vbng/control/schema"
	"vbng/forwarding/entry"
	"vbng/routing/rib"
)

// world is the RIB, and numbers for VRFs and interfaces.
type world struct{ routes map[entry.VRFID]string }

func (w *world) SetStatic(vrf entry.VRFID, routes []rib.StaticRoute) {
	var lines []string
	for _, r := range routes {
		lines = append(lines, fmt.Sprintf("%v %v interface %d distance %d", r.Prefix, r.Gateway, r.Interface, r.Distance))
	}
	w.routes[vrf] = strings.Join(lines, "\n")
}

func (w *world) ID(name string) entry.VRFID { return map[string]entry.VRFID{"red": 1, "blue": 2}[name] }
func (w *world) Index(name string) uint32   { return map[string]uint32{"core0": 7, "red0": 8}[name] }

// interfaces is the part of routing/iface that static routes look at.
func interfaces() []*schema.Node {
	return []*schema.Node{{
		Name: "interface", Kind: schema.List, Mode: "config-if", Help: "an interface",
		Keys:     []*schema.Node{{Name: "name", Kind: schema.Leaf, Help: "name", Type: schema.Name()}},
		Children: []*schema.Node{{Name: "vrf", Kind: schema.Leaf, Help: "its VRF", Type: schema.Name(), Ref: "vrf"}},
	}}
}

func parse(t *testing.T, text string) *config.Tree {
	t.Helper()
	root, err := schema.Merge(Schema(), interfaces())
	if err != nil {
		t.Fatal(err)
	}
	if faults := schema.Validate(root); len(faults) > 0 {
		t.Fatal(faults)
	}
	tree, faults := config.Parse(root, text)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return tree
}

func TestApply(t *testing.T) {
	tree := parse(t, `interface core0
!
vrf blue
 ip route 10.0.0.0/8 192.0.2.1
!
vrf red
 ipv6 route ::/0 2001:db8::1 distance 9
!
ip route 0.0.0.0/0 198.51.100.2
ip route 0.0.0.0/0 203.0.113.1 distance 200
ip route 192.0.2.0/24 blackhole
ipv6 route ::/0 FE80:0::1%core0
`)
	w := &world{routes: map[entry.VRFID]string{}}
	s := New(w, w, w)
	if faults := s.Check(nil, tree); len(faults) > 0 {
		t.Fatal(faults)
	}
	s.Apply(nil, tree)
	for vrf, want := range map[entry.VRFID]string{
		0: `0.0.0.0/0 198.51.100.2 interface 0 distance 1
0.0.0.0/0 203.0.113.1 interface 0 distance 200
192.0.2.0/24 invalid IP interface 0 distance 1
::/0 fe80::1 interface 7 distance 1`,
		1: "::/0 2001:db8::1 interface 0 distance 9",
		2: "10.0.0.0/8 192.0.2.1 interface 0 distance 1",
	} {
		if got := w.routes[vrf]; got != want {
			t.Errorf("VRF %d: routes\n%s\nwant\n%s", vrf, got, want)
		}
	}
	s.Apply(tree, parse(t, "vrf red\n!\n"))
	for vrf, routes := range w.routes {
		if routes != "" {
			t.Errorf("VRF %d: routes left: %v", vrf, routes)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	many := ""
	for i := range entry.MaxHops + 1 {
		many += fmt.Sprintf("ip route 10.0.0.0/8 192.0.2.%d\n", i+1)
	}
	for _, c := range []struct{ text, fault string }{
		{"ip route 10.0.0.0/8 224.0.0.1\n", "no unicast address"},
		{"ip route 10.0.0.0/8 0.0.0.0\n", "no unicast address"},
		{"ip route 10.0.0.0/8 192.0.2.1\nip route 10.0.0.0/8 blackhole\n", "the same route has a next hop"},
		{"ip route 224.0.0.0/4 blackhole\n", "never routed"},
		{"ip route 127.0.0.0/8 blackhole\n", "never routed"},
		{"ipv6 route ff00::/8 blackhole\n", "never routed"},
		{"ipv6 route fe80::/10 blackhole\n", "never routed"},
		{"ipv6 route ::1/128 blackhole\n", "never routed"},
		{"ipv6 route 2001:db8::/32 ff02::1\n", "no unicast address"},
		{"ipv6 route 2001:db8::/32 fe80::1\n", "it needs its interface: fe80::1%INTERFACE"},
		{"ipv6 route 2001:db8::/32 fe80::1%core9\n", "there is no interface core9"},
		{"vrf red\n!\ninterface red0\n vrf red\n!\nip route 10.0.0.0/8 192.0.2.1%red0\n", "interface red0 is in VRF red"},
		{"interface core0\n!\nvrf red\n ip route 10.0.0.0/8 192.0.2.1%core0\n!\n", "interface core0 is in VRF default"},
		{many, "more than 64 next hops"},
	} {
		faults := New(nil, nil, nil).Check(nil, parse(t, c.text))
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), c.fault) {
			t.Errorf("%q: faults %v, want one with %q", c.text, faults, c.fault)
		}
	}
}

func TestTypes(t *testing.T) {
	root, err := schema.Merge(Schema(), interfaces())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"ip route 10.0.0.0/8 2001:db8::1\n", "ip route 2001:db8::/32 192.0.2.1\n", "ip route 10.0.0.1/8 192.0.2.1\n",
		"ipv6 route 10.0.0.0/8 2001:db8::1\n", "ipv6 route 2001:db8::1/32 2001:db8::1\n", "ipv6 route ::/0 192.0.2.1\n",
		"ipv6 route ::ffff:10.0.0.0/104 2001:db8::1\n", "ipv6 route ::/0 fe80::1%\n", "ipv6 route ::/0 fe80::1%a/b\n", "ip route 10.0.0.0/8 nowhere\n",
	} {
		if _, faults := config.Parse(root, text); len(faults) != 1 {
			t.Errorf("%q: faults %v, want one", text, faults)
		}
	}
}

// TestInterfacesAreCompleted types a next hop up to its percent sign.
func TestInterfacesAreCompleted(t *testing.T) {
	running := parse(t, "interface core0\n!\ninterface core1\n!\n")
	grammar := config.NewLiveGrammar(running.Node(), func() []*config.Tree { return []*config.Tree{running} })
	words, err := grammarline.Split("ipv6 route ::/0")
	if err != nil {
		t.Fatal(err)
	}
	items, _, err := grammarline.Expect(grammar.Set(running.Node()), words)
	if err != nil || len(items) != 1 || items[0].Tails == nil {
		t.Fatalf("%v %v", items, err)
	}
	for typed, want := range map[string][]string{"fe80::1": nil, "fe80::1%": {"fe80::1%core0", "fe80::1%core1"}} {
		if got := items[0].Tails(typed); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
}
