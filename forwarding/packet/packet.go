// Package packet holds the words of the data path: buffers in an index-addressed arena, and vectors
// of them.
package packet

// VectorSize is how many packets the nodes work on at once. 64 was measured best of 32..512 and is
// also the batch of AF_XDP.
const VectorSize = 64

const (
	// Stride is the distance of two buffers in bytes. An odd multiple of 64 spreads the headers over
	// all L1 sets (2048 would put them into two of 64): 19 % downstream.
	Stride = 2112
	// Headroom is where a received frame begins in its buffer; what lies before it takes
	// encapsulations. It equals the XDP headroom, so AF_XDP ports can share the arena.
	Headroom = 256
	// MaxFrame is the longest frame that one buffer holds, in bytes.
	MaxFrame = Stride - Headroom
)

// Vector is up to VectorSize packets on their way, as a struct of arrays: a node that reads one
// column touches one run of memory. Nodes compact survivors in place.
type Vector struct {
	N      int
	Index  [VectorSize]uint32 // buffer
	Offset [VectorSize]uint32 // first byte of the current header, from the arena's start
	Length [VectorSize]uint32 // bytes from there to the packet's end
	Port   [VectorSize]uint32 // forwarder's index of the receiving port; before transmission, of the sending one
}
