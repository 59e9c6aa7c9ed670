package table

import "vbng/forwarding/entry"

// Target is where a route leads: a kind in the upper 4 of 24 bits and an index in the lower 20. Zero
// leads nowhere.
type Target uint32

// The kinds of targets, with what their index is.
const (
	KindNone      = 0
	KindDrop      = uint32(entry.TargetDrop)      // none
	KindLocal     = uint32(entry.TargetLocal)     // none
	KindConnected = uint32(entry.TargetConnected) // interface slot
	KindNeighbor  = uint32(entry.TargetNeighbor)  // adjacency slot
	KindSession   = uint32(entry.TargetSession)   // session slot
	KindGroup     = uint32(entry.TargetGroup)     // group slot
	NumKinds      = 16
)

// MaxIndex bounds the index of a target.
const MaxIndex = 1<<20 - 1

// NewTarget joins kind and index.
func NewTarget(kind, index uint32) Target { return Target(kind<<20 | index&MaxIndex) }

// Kind returns the kind.
func (t Target) Kind() uint32 { return uint32(t) >> 20 & (NumKinds - 1) }

// Index returns the index.
func (t Target) Index() uint32 { return uint32(t) & MaxIndex }
