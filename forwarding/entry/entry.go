// Package entry holds everything that can be programmed into the forwarder: plain data with stable
// keys. A subsystem compiles its decision into entries; Programmer.Apply carries them over. There is
// no other road from control to forwarding.
//
// Entries refer to one another by key. Inside a batch referents come first when added and last when
// deleted; a batch with a dangling reference is refused whole.
package entry

import "net/netip"

// Kind is the type of an entry.
type Kind uint8

// The kinds, in the order in which referents stand before their users.
const (
	KindPort Kind = 1 + iota
	KindVRF
	KindInterface
	KindLocal
	KindNeighbor
	KindSession
	KindEcho
	KindRoute
	KindPolicer
	NumKinds
)

// Identifiers are assigned by control, and stay the same over restarts (they are kept in its store).
type (
	PortID      uint32
	VRFID       uint32 // 0 is the default VRF
	InterfaceID uint32 // SNMP ifIndex
	SessionID   uint64
)

// MAC is an Ethernet address.
type MAC [6]byte

// Entry is one of the structs below, as a value.
type Entry interface {
	Kind() Kind
}

// Driver is how a port moves frames.
type Driver uint8

// The drivers.
const (
	DriverAFPacket Driver = 1 + iota
	DriverTUN             // L3: frames have no Ethernet header
	DriverMemory          // in-process rings: tests and benchmarks
	DriverPCAP            // file to file: tests
	DriverTAP
)

// Port is something frames come from and go to. Key: ID.
type Port struct {
	ID     PortID
	Driver Driver
	Device string // kernel device name, or file name for pcap; at most 63 bytes
	MTU    uint16 // largest L3 packet, bytes; 0: the device's
	MAC    MAC    // zero: the device's own
	PPPoE  bool   // PPPoE is terminated here, on any VLAN
}

// VRF is a routing table. Key: ID.
type VRF struct {
	ID  VRFID
	TUN PortID // where locally destined packets go; 0: none, they are dropped by name
}

// Interface is an L3 interface on a port: untagged, one tag or two. Key: ID.
type Interface struct {
	ID        InterfaceID
	Port      PortID
	OuterTPID uint16 // 0: untagged
	OuterVLAN uint16
	InnerVLAN uint16 // 0: one tag; the inner TPID is always 0x8100
	VRF       VRFID
	MAC       MAC // zero: the port's
	MTU       uint16
}

// Local is an address of ours on an interface: ARP for it is answered there. Delivery to the VRF's
// TUN is a Route with TargetLocal. Key: Interface, Addr.
type Local struct {
	Interface InterfaceID
	Addr      netip.Addr
}

// Neighbor is an adjacency: a next hop on an interface. Key: Interface, Addr.
type Neighbor struct {
	Interface InterfaceID
	Addr      netip.Addr
	MAC       MAC
	Resolved  bool // false: packets are dropped by name and gleaned (punted once per second)
}

// TargetKind is what a route leads to.
type TargetKind uint8

// The targets.
const (
	TargetDrop      TargetKind = 1 + iota // discard by name (blackhole, aggregate)
	TargetLocal                           // our own address: to the VRF's TUN
	TargetConnected                       // on-link: glean on Interface
	TargetNeighbor                        // via Interface and Addr
	TargetSession                         // a subscriber
)

// Target is a route's destination; which fields count depends on Kind.
type Target struct {
	Kind      TargetKind
	Interface InterfaceID
	Addr      netip.Addr
	Session   SessionID
}

// Route is one prefix. Key: VRF, Prefix. A Delete carries in CoverLength and Cover the longest prefix
// that still covers it and where that leads: control knows it, so the forwarder need not search.
type Route struct {
	VRF         VRFID
	Prefix      netip.Prefix // masked
	Target      Target
	CoverLength uint8  // Delete only
	Cover       Target // Delete only; zero Kind: nothing covers it
}

// Session is a PPPoE subscriber (later also IPoE). Key: ID; the access tuple is unique as well.
type Session struct {
	ID        SessionID
	Port      PortID
	OuterTPID uint16 // 0: untagged
	OuterVLAN uint16
	InnerVLAN uint16 // 0: one tag
	PeerMAC   MAC
	OwnMAC    MAC
	PPPoE     uint16 // PPPoE session id
	VRF       VRFID
	IPv4      netip.Addr // not valid: no IPv4 yet, its packets are dropped by name
	MTU       uint16     // largest IP packet towards the peer, bytes
	SourceAny bool       // true switches the source check off
	QoSRoot   uint32     // chooses the worker that owns the subscriber
}

// Echo makes the forwarder send LCP Echo-Requests to a session's peer and answer those of the peer
// (RFC 1661 5.8). A peer that stays silent for Misses intervals is reported once as PeerSilent. Key: Session.
type Echo struct {
	Session         SessionID
	LocalMagic      uint32
	PeerMagic       uint32
	IntervalSeconds uint16 // 0: answer only
	Misses          uint8
	PeerMRU         uint16 // an answer is never longer
}

// Policer bounds a punt class. Key: Class.
type Policer struct {
	Class            Class
	PacketsPerSecond uint32 // whole class
	Burst            uint32 // packets
	SourcePerSecond  uint32 // per source MAC; 0: no such bound
	SourceBurst      uint32
}

// Kind implements Entry.
func (Port) Kind() Kind { return KindPort }

// Kind implements Entry.
func (VRF) Kind() Kind { return KindVRF }

// Kind implements Entry.
func (Interface) Kind() Kind { return KindInterface }

// Kind implements Entry.
func (Local) Kind() Kind { return KindLocal }

// Kind implements Entry.
func (Neighbor) Kind() Kind { return KindNeighbor }

// Kind implements Entry.
func (Session) Kind() Kind { return KindSession }

// Kind implements Entry.
func (Echo) Kind() Kind { return KindEcho }

// Kind implements Entry.
func (Route) Kind() Kind { return KindRoute }

// Kind implements Entry.
func (Policer) Kind() Kind { return KindPolicer }
