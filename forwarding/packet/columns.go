package packet

// None in a column of indices says that there is none.
const None = 1<<32 - 1

// Flags of a packet.
const (
	FlagLocalOrigin = 1 << iota // our own host stack made it: its TTL is not decremented
	FlagIPv6                    // an IPv6 packet; without it IPv4, where it is IP at all
	FlagGroup                   // the frame was to a group address
	FlagLinkScope               // an IPv6 source that is not valid beyond its link
	FlagVerify                  // the receiving interface wants its reverse path checked
	FlagMade                    // a node made it; always with FlagLocalOrigin
)

// Columns is what the nodes know of the packets that one Receive brought, by slot: the packet's place in
// the embedded Vector, which never changes while it is on its way. Which packets a node works on is said
// by a List of slots, so sending a packet on moves one byte. All packets came from the same port.
type Columns struct {
	Vector
	Flags     [VectorSize]uint8
	Access    [VectorSize]uint64 // port and tags, as table.Access packs them
	KeyLow    [VectorSize]uint64 // the source MAC shifted left by 16; with the PPPoE session id and Access the session's key
	Protocol  [VectorSize]uint16 // of PPP; of a frame on its way to ipoe-input the ethertype
	Bucket    [VectorSize]uint32 // where the session's key hashes to; in the IPv6 lookup the entry that is read next
	Interface [VectorSize]uint32 // receiving interface, or None
	Session   [VectorSize]uint32 // receiving session, or None
	VRF       [VectorSize]uint32 // in which the destination is looked up
	Source    [VectorSize]uint32 // IPv4
	Dest      [VectorSize]uint32 // IPv4
	Target    [VectorSize]uint32 // what the lookup answered, a table.Target
	Class     [VectorSize]uint8  // punt class
	DestHigh  [VectorSize]uint64 // IPv6
	DestLow   [VectorSize]uint64
}

// List names packets by their slots in Columns, in the order of their arrival.
type List struct {
	N    int
	Slot [VectorSize]uint8
}

// Add appends a slot; the list must have room, as it always has when each slot is in one list only.
func (l *List) Add(slot uint8) {
	l.Slot[l.N&(VectorSize-1)] = slot
	l.N++
}

// Append appends the slots of another list.
func (l *List) Append(other *List) {
	l.N += copy(l.Slot[l.N:], other.Slot[:other.N])
}

// All makes l the slots 0 to n-1.
func (l *List) All(n int) {
	for i := range l.Slot[:n] {
		l.Slot[i] = uint8(i)
	}
	l.N = n
}

// Start returns where a buffer's frame began on receipt.
func Start(index uint32) uint32 { return index*Stride + Headroom }
