package policy

import (
	"context"
	"sync/atomic"

	"vbng/control/config"
	"vbng/control/schema"
)

// Subsystem declares, checks and shows policies. Those who apply them read them from the same tree.
type Subsystem struct{ running atomic.Pointer[Policies] }

// New returns the subsystem.
func New() *Subsystem { return &Subsystem{} }

// Name implements commit.Subsystem.
func (s *Subsystem) Name() string { return "routing policy" }

// Schema implements commit.Subsystem.
func (s *Subsystem) Schema() []*schema.Node { return Schema() }

// Check implements commit.Subsystem.
func (s *Subsystem) Check(_, new *config.Tree) []error { return check(new) }

// Reserve implements commit.Subsystem.
func (s *Subsystem) Reserve(_, _ *config.Tree) error { return nil }

// Release implements commit.Subsystem.
func (s *Subsystem) Release() {}

// Apply implements commit.Subsystem.
func (s *Subsystem) Apply(_, new *config.Tree) {
	p := Read(new)
	s.running.Store(&p)
}

// Run implements commit.Subsystem. Policies have nothing to do between configurations.
func (s *Subsystem) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (s *Subsystem) policies() Policies {
	if p := s.running.Load(); p != nil {
		return *p
	}
	return Policies{}
}
