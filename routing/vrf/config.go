package vrf

import (
	"context"
	"fmt"

	"vbng/control/config"
	"vbng/control/schema"
)

// maxNameBytes keeps names short enough for a column.
const maxNameBytes = 32

// Subsystem is the VRFs as they are configured.
type Subsystem struct{ table *Table }

// New returns the subsystem.
func New(t *Table) *Subsystem { return &Subsystem{table: t} }

// Name implements commit.Subsystem.
func (s *Subsystem) Name() string { return "vrf" }

// Schema implements commit.Subsystem.
func (s *Subsystem) Schema() []*schema.Node { return Schema() }

// Schema returns the configuration of VRFs.
func Schema() []*schema.Node {
	return []*schema.Node{{
		Name: "vrf", Kind: schema.List, Mode: "config-vrf", Help: "a routing table of its own; interfaces are put into it by their vrf line",
		Keys: []*schema.Node{{Name: "name", Kind: schema.Leaf, Help: "name of the VRF", Type: NameType()}},
		Children: []*schema.Node{
			{Name: "description", Kind: schema.Leaf, Help: "what the VRF is for", Type: schema.Text()},
		},
	}}
}

// NameType is the type of a VRF's name.
func NameType() schema.Type {
	return schema.String(maxNameBytes, `[A-Za-z0-9_][A-Za-z0-9._-]*`, "NAME")
}

// Check implements commit.Subsystem.
func (s *Subsystem) Check(_, new *config.Tree) []error {
	var faults []error
	for _, e := range new.List("vrf") {
		if name := e.Text("name"); name == Default || name == Management {
			faults = append(faults, &config.Error{Path: "vrf " + name, Line: e.Line(),
				Text: fmt.Sprintf("the name %s has a meaning of its own and needs no line", name)})
		}
	}
	return faults
}

// Reserve implements commit.Subsystem.
func (s *Subsystem) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (s *Subsystem) Release() {}

// Apply implements commit.Subsystem: every VRF has its number before others speak of it.
func (s *Subsystem) Apply(_, new *config.Tree) {
	for _, e := range new.List("vrf") {
		s.table.ID(e.Text("name"))
	}
}

// Run implements commit.Subsystem. VRFs have nothing to do between configurations.
func (s *Subsystem) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
