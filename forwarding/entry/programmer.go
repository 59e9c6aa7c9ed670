package entry

import "fmt"

// Verb says what to do with an entry.
type Verb uint8

// The verbs.
const (
	Put    Verb = 1 + iota // add, or change what is there under the same key
	Delete                 // only the key fields of the entry count (and a Route's Cover)
)

// Op is one entry to put or delete.
type Op struct {
	Verb  Verb
	Entry Entry
}

// Batch is validated whole, then applied in order by the forwarder's one writer. Each entry is atomic
// to readers, a whole batch is not.
type Batch struct {
	Ops []Op
}

// Put appends entries to put.
func (b *Batch) Put(entries ...Entry) {
	for _, e := range entries {
		b.Ops = append(b.Ops, Op{Put, e})
	}
}

// Delete appends entries to delete.
func (b *Batch) Delete(entries ...Entry) {
	for _, e := range entries {
		b.Ops = append(b.Ops, Op{Delete, e})
	}
}

// Result answers a batch.
type Result struct {
	Err    error // a *Refused, or that of a lost forwarder; nil: applied
	Finals []Final
}

// Final is the last state of the counters of a deleted session.
type Final struct {
	Session  SessionID
	Counters SessionCounters
}

// Refused says why a batch was refused; nothing of it was applied.
type Refused struct {
	Op     int // index in the batch
	Reason string
}

// Error implements error.
func (r *Refused) Error() string { return fmt.Sprintf("program entry %d: %s", r.Op, r.Reason) }

// SessionCounters counts inner IP packets and bytes; input is from the subscriber.
type SessionCounters struct {
	InputPackets, InputBytes   uint64
	OutputPackets, OutputBytes uint64
}

// Add returns the sum.
func (a SessionCounters) Add(b SessionCounters) SessionCounters {
	a.InputPackets += b.InputPackets
	a.InputBytes += b.InputBytes
	a.OutputPackets += b.OutputPackets
	a.OutputBytes += b.OutputBytes
	return a
}

// PortCounters counts frames and their bytes without FCS.
type PortCounters struct {
	InputPackets, InputBytes   uint64
	OutputPackets, OutputBytes uint64
	InputDrops, OutputDrops    uint64
}

// Add returns the sum.
func (a PortCounters) Add(b PortCounters) PortCounters {
	a.InputPackets += b.InputPackets
	a.InputBytes += b.InputBytes
	a.OutputPackets += b.OutputPackets
	a.OutputBytes += b.OutputBytes
	a.InputDrops += b.InputDrops
	a.OutputDrops += b.OutputDrops
	return a
}

// Programmer is the road from control to forwarding.
type Programmer interface {
	// Apply carries the batch over. done is called exactly once, on a goroutine of the Programmer, in
	// the order of the Apply calls; it must not block (post to a loop). The batch must not be changed
	// afterwards. While the forwarder is away batches are kept and applied to the next one, so only a
	// refusal is an error.
	Apply(b *Batch, done func(Result))
	// Inject sends a whole Ethernet frame (with its tags) out of a port, behind everything applied
	// before. It reports false when the ring is full; the loss is counted.
	Inject(port PortID, frame []byte) bool
}

// Counters reads counters without stopping anybody. Values never go backwards, also when the
// forwarder was restarted meanwhile.
type Counters interface {
	SessionCounters(id SessionID) (SessionCounters, bool)
	PortCounters(id PortID) (PortCounters, bool)
}

// Class is a punt class: why a frame came up to control.
type Class uint8

// The punt classes.
const (
	ClassPPPoEDiscovery Class = 1 + iota // ethertype 0x8863
	ClassPPPControl                      // LCP, authentication, NCPs of a known session
	ClassPPPoEUnknown                    // 0x8864 for no session of ours
	ClassARP                             // ARP replies and requests that the forwarder does not answer
	ClassGlean                           // a packet for an unresolved neighbour
	ClassLocal                           // for ourselves, in a VRF without TUN
	ClassND                              // neighbour discovery on an interface that the forwarder does not answer (RFC 4861)
	ClassSubscriberND                    // neighbour and router discovery of a session, or from an IPoE port's stranger
	ClassDHCPv4                          // to UDP port 67, of a session or from an IPoE port's stranger
	ClassDHCPv6                          // to UDP port 547, of a session or from an IPoE port's stranger
	ClassCapture                         // copies for an entry.Capture
	NumClasses
)

// Punt is a frame on its way to control. Data is whole from the Ethernet header on and belongs to the
// receiver only during the call.
type Punt struct {
	Class     Class
	Port      PortID
	Interface InterfaceID // when known
	Session   SessionID   // when known
	Capture   CaptureID   // ClassCapture
	Output    bool        // ClassCapture: on its way out
	OuterTPID uint16      // 0: untagged
	OuterVLAN uint16
	InnerVLAN uint16
	Payload   int // offset in Data of what follows the tags (behind the last ethertype); of ClassCapture 0
	Data      []byte
	Length    int    // ClassCapture: bytes that the frame has, of which Data are the first
	Lost      uint32 // ClassCapture: copies that found no way up so far, since the capture began
	UnixNanos int64  // ClassCapture: when the frame was received or sent, by the forwarder's wall clock
}

// Receiver takes punted frames of the classes it is registered for.
type Receiver interface {
	Punt(p Punt)
}

// Event is something the forwarder tells on its own: one of the structs below.
type Event interface{ event() }

// PortState tells a port's device state: once when it opens, then at each change.
type PortState struct {
	Port PortID
	Up   bool
	MAC  MAC
	MTU  uint16
	Err  string // why it could not be opened, empty: open
}

// PeerSilent tells that a session's peer missed its echoes. It is told once.
type PeerSilent struct{ Session SessionID }

// ForwarderState tells that the forwarder was lost (Up false) or that a new one has been
// re-programmed completely (Up true).
type ForwarderState struct{ Up bool }

func (PortState) event()      {}
func (PeerSilent) event()     {}
func (ForwarderState) event() {}
