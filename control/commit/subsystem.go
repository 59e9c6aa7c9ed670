package commit

import (
	"context"

	"vbng/control/config"
	"vbng/control/schema"
)

// Subsystem is a part of the router that acts on configuration. It gets (old, new) whole, compares
// and acts; there is no callback per leaf. old is nil at start.
//
// A commit calls Check of every subsystem, then Reserve of each in order (Release in reverse order
// when one refuses), then Apply of each. Only Check and Reserve may refuse.
type Subsystem interface {
	// Name is the subsystem's name in messages and logs.
	Name() string
	// Schema returns the configuration nodes that the subsystem owns.
	Schema() []*schema.Node
	// Check is pure: it looks at the values alone. Errors should be *config.Error with the path.
	Check(old, new *config.Tree) []error
	// Reserve takes what Apply will need and may fail for want of it (a device, an address).
	Reserve(old, new *config.Tree) error
	// Release gives back what Reserve of the same pair took.
	Release()
	// Apply acts. It cannot fail: what can go wrong later is operational state.
	Apply(old, new *config.Tree)
	// Run runs the subsystem until ctx ends.
	Run(ctx context.Context) error
}
