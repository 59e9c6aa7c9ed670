package graph

import "vbng/forwarding/packet"

// Process works on the packets of a list: Worker.Packets at its slots. It must end each one's way exactly
// once: Send, Pass, Drop, or one of the terminal calls of Worker.
type Process func(w *Worker, n *Node, l *packet.List)

// Edge and Reason are indices into a Spec's Edges and Reasons.
type (
	Edge   uint8
	Reason uint8
)

// Continue is the name of the edge to the next member of the arc that a node has joined.
const Continue = "continue"

// Spec is what a node declares.
type Spec struct {
	Name    string
	Edges   []string // nodes or arcs that stand later in packet order, or Continue
	Reasons []string // why it drops
	Process Process
	Arc     string // joined, if any,
	Slot    string // in this slot
}

// Arc is a chain of nodes in the order of slots, not all of which must be taken.
type Arc struct {
	Name  string
	Slots []string
	End   string // where the last member's packets go
}

const (
	maxNodes = 64
	maxEdges = 12
)

// Node is a built node.
type Node struct {
	Name    string
	process Process
	index   uint8
	edges   [maxEdges]uint8
	packets uint32 // counter words
	vectors uint32
	reasons uint32 // the first one's
	names   []string
}
