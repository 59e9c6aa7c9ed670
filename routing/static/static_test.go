package static

import (
	"fmt"
	"strings"
	"testing"

	"vbng/control/config"
	"vbng/control/schema"
	"vbng/forwarding/entry"
	"vbng/routing/rib"
)

type recorder struct{ routes []rib.StaticRoute }

func (r *recorder) SetStatic(_ entry.VRFID, routes []rib.StaticRoute) { r.routes = routes }

func parse(t *testing.T, text string) *config.Tree {
	t.Helper()
	root, err := schema.Merge(Schema())
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
	tree := parse(t, "ip route 0.0.0.0/0 198.51.100.2\nip route 0.0.0.0/0 203.0.113.1 distance 200\nip route 192.0.2.0/24 blackhole\n")
	var r recorder
	s := New(&r)
	if faults := s.Check(nil, tree); len(faults) > 0 {
		t.Fatal(faults)
	}
	s.Apply(nil, tree)
	want := "[{0.0.0.0/0 198.51.100.2 1} {0.0.0.0/0 203.0.113.1 200} {192.0.2.0/24 invalid IP 1}]"
	if got := fmt.Sprint(r.routes); got != want {
		t.Errorf("routes %s, want %s", got, want)
	}
	s.Apply(tree, nil)
	if len(r.routes) != 0 {
		t.Errorf("routes left: %v", r.routes)
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct{ text, fault string }{
		{"ip route 10.0.0.0/8 224.0.0.1\n", "no unicast address"},
		{"ip route 10.0.0.0/8 0.0.0.0\n", "no unicast address"},
		{"ip route 10.0.0.0/8 192.0.2.1\nip route 10.0.0.0/8 blackhole\n", "the same route has a next hop"},
		{"ip route 224.0.0.0/4 blackhole\n", "never routed"},
		{"ip route 127.0.0.0/8 blackhole\n", "never routed"},
	} {
		faults := New(nil).Check(nil, parse(t, c.text))
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), c.fault) {
			t.Errorf("%q: faults %v, want one with %q", c.text, faults, c.fault)
		}
	}
}
