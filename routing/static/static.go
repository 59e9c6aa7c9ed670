package static

import (
	"context"

	"vbng/control/config"
	"vbng/control/schema"
	"vbng/forwarding/entry"
	"vbng/routing/rib"
)

// Routes is the RIB.
type Routes interface {
	SetStatic(vrf entry.VRFID, routes []rib.StaticRoute)
}

// VRFs gives VRFs their numbers.
type VRFs interface {
	ID(name string) entry.VRFID
}

// Indexes gives interfaces their numbers.
type Indexes interface {
	Index(name string) uint32
}

// Static is the subsystem.
type Static struct {
	routes  Routes
	vrfs    VRFs
	indexes Indexes
}

// New returns the subsystem.
func New(routes Routes, vrfs VRFs, indexes Indexes) *Static {
	return &Static{routes: routes, vrfs: vrfs, indexes: indexes}
}

// Name implements commit.Subsystem.
func (s *Static) Name() string { return "static routes" }

// Schema implements commit.Subsystem.
func (s *Static) Schema() []*schema.Node { return Schema() }

// Reserve implements commit.Subsystem.
func (s *Static) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (s *Static) Release() {}

// Apply implements commit.Subsystem. The RIB compares.
func (s *Static) Apply(old, new *config.Tree) {
	s.routes.SetStatic(0, s.table(new))
	for _, v := range new.List("vrf") {
		s.routes.SetStatic(s.vrfs.ID(v.Text("name")), s.table(v))
	}
	for _, v := range old.List("vrf") {
		if name := v.Text("name"); new.Entry("vrf", name) == nil {
			s.routes.SetStatic(s.vrfs.ID(name), nil)
		}
	}
}

// table returns the routes of one VRF.
func (s *Static) table(t *config.Tree) []rib.StaticRoute {
	var routes []rib.StaticRoute
	for _, list := range [...]string{list4, list6} {
		for _, e := range t.List(list) {
			l := read(e)
			r := rib.StaticRoute{Prefix: l.prefix, Gateway: l.gateway, Distance: l.distance}
			if l.iface != "" {
				r.Interface = entry.InterfaceID(s.indexes.Index(l.iface))
			}
			routes = append(routes, r)
		}
	}
	return routes
}

// Run implements commit.Subsystem. Static routes have nothing to do between configurations.
func (s *Static) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
