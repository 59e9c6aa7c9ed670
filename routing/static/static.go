// Package static gives the RIB the operator's own routes.
//
//	ip route 0.0.0.0/0 198.51.100.2
//	ip route 0.0.0.0/0 203.0.113.1 distance 200
//	ip route 192.0.2.0/24 blackhole
//
// Lines of the same prefix and distance are one route with several next hops. A next hop must lie on
// the prefix of an interface; while it does not, the route is kept and shown as unresolved.
package static

import (
	"context"
	"fmt"
	"net/netip"

	"vbng/control/config"
	"vbng/control/schema"
	"vbng/forwarding/entry"
	"vbng/routing/rib"
)

const blackhole = "blackhole"

// Routes is the RIB.
type Routes interface {
	SetStatic(vrf entry.VRFID, routes []rib.StaticRoute)
}

// Static is the subsystem.
type Static struct{ routes Routes }

// New returns the subsystem.
func New(routes Routes) *Static { return &Static{routes: routes} }

// Name implements commit.Subsystem.
func (s *Static) Name() string { return "static routes" }

// Schema implements commit.Subsystem.
func (s *Static) Schema() []*schema.Node { return Schema() }

// Schema returns the configuration of static routes.
func Schema() []*schema.Node {
	return []*schema.Node{{
		Name: "ip route", Kind: schema.List, Help: "a static route",
		Keys: []*schema.Node{
			{Name: "prefix", Kind: schema.Leaf, Help: "where to: A.B.C.D/LEN", Type: schema.Prefix4()},
			{Name: "next-hop", Kind: schema.Leaf, Help: "router to send to, or blackhole: drop", Type: nextHop{schema.Addr4()}},
		},
		Children: []*schema.Node{{Name: "distance", Kind: schema.Leaf, Default: "1",
			Help: "the lower one is preferred among sources", Type: schema.Uint(1, 254, "")}},
	}}
}

// nextHop is the type of a next hop: an address or the word blackhole.
type nextHop struct{ schema.Type }

// Parse implements schema.Type.
func (t nextHop) Parse(word string) (string, error) {
	if word == blackhole {
		return word, nil
	}
	text, err := t.Type.Parse(word)
	if err != nil {
		return "", fmt.Errorf("expected a next hop (A.B.C.D) or %s, found %q", blackhole, word)
	}
	return text, nil
}

// Hint implements schema.Type.
func (t nextHop) Hint() string { return t.Type.Hint() + "|" + blackhole }

// Check implements commit.Subsystem.
func (s *Static) Check(_, new *config.Tree) []error {
	var faults []error
	drops := map[string]bool{}  // routes, by prefix and distance
	others := map[string]bool{} // with a next hop
	for _, e := range new.List("ip route") {
		fault := func(format string, args ...any) {
			faults = append(faults, &config.Error{Path: "ip route " + e.Text("prefix") + " " + e.Text("next-hop"), Line: e.Line(), Text: fmt.Sprintf(format, args...)})
		}
		r := read(e)
		key := fmt.Sprintf("%v distance %d", r.Prefix, r.Distance)
		if !r.Gateway.IsValid() {
			drops[key] = true
		} else {
			others[key] = true
			if !unicast(r.Gateway) {
				fault("next hop %v is no unicast address", r.Gateway)
			}
		}
		if drops[key] && others[key] {
			fault("the same route has a next hop and is a blackhole; give one of them another distance")
		}
		if a := r.Prefix.Addr(); a.IsMulticast() || r.Prefix.Bits() >= 8 && (a.IsLoopback() || a.As4()[0] == 0) {
			fault("%v is never routed", r.Prefix)
		}
	}
	return faults
}

func unicast(a netip.Addr) bool {
	return !a.IsMulticast() && !a.IsLoopback() && a.As4()[0] != 0 && a.As4()[0] < 240
}

// Reserve implements commit.Subsystem.
func (s *Static) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (s *Static) Release() {}

// Apply implements commit.Subsystem. The RIB compares.
func (s *Static) Apply(_, new *config.Tree) {
	var routes []rib.StaticRoute
	for _, e := range new.List("ip route") {
		routes = append(routes, read(e))
	}
	s.routes.SetStatic(0, routes)
}

func read(e *config.Tree) rib.StaticRoute {
	return rib.StaticRoute{Prefix: e.Prefix("prefix"), Gateway: e.Addr("next-hop"), Distance: uint8(e.Uint("distance"))}
}

// Run implements commit.Subsystem. Static routes have nothing to do between configurations.
func (s *Static) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
