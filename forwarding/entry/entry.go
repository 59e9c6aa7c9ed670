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
	KindGroup
	KindRoute
	KindPolicer
	KindCapture
	NumKinds
)

// Identifiers are assigned by control, and stay the same over restarts (they are kept in its store).
type (
	PortID      uint32
	VRFID       uint32 // 0 is the default VRF
	InterfaceID uint32 // SNMP ifIndex
	SessionID   uint64
	GroupID     uint32
	CaptureID   uint32
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
	DriverAFXDP
)

// XDPMode is how an AF_XDP port attaches to its device.
type XDPMode uint8

// The modes. By XDPAny the device's driver is tried first, then the kernel's generic code.
const (
	XDPAny XDPMode = iota
	XDPNative
	XDPGeneric
	numXDPModes
)

// Port is something frames come from and go to. Key: ID.
type Port struct {
	ID        PortID
	Driver    Driver
	Device    string // kernel device name, or file name for pcap; at most 63 bytes
	Namespace string // network namespace of the device, by name or path; empty: the forwarder's own
	XDP       XDPMode
	MTU       uint16 // largest L3 packet, bytes; 0: the device's
	MAC       MAC    // zero: the device's own
	PPPoE     bool   // PPPoE is terminated here, on any VLAN
	IPoE      bool   // IPoE subscribers are served here, on any tags that are no Interface's
}

// VRF is a routing table. Key: ID.
type VRF struct {
	ID  VRFID
	TUN PortID // where locally destined packets go; 0: none, they are dropped by name
}

// Verify is the reverse-path check of packets that an interface receives (RFC 3704).
type Verify uint8

// The checks.
const (
	VerifyOff    Verify = iota
	VerifyStrict        // the source's route must lead out of this interface (RFC 3704 2.2)
	VerifyLoose         // there must be a route to the source that is no discard (RFC 3704 2.4)
	numVerifies
)

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
	Source4   netip.Addr // of ICMP errors about what was received here (RFC 1812 4.3.2.4); not valid: none are sent
	Source6   netip.Addr // the same for ICMPv6 (RFC 4443 2.2)
	Verify    Verify
	MSS       uint16 // largest MSS option let through in TCP over IPv4, both ways; IPv6 20 less; 0: any
}

// Local is an address of ours on an interface: ARP or neighbour solicitations for it are answered there. Delivery to the VRF's
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
	TargetGroup                           // one of several next hops, by flow
)

// Target is a route's destination; which fields count depends on Kind.
type Target struct {
	Kind      TargetKind
	Interface InterfaceID
	Addr      netip.Addr
	Session   SessionID
	Group     GroupID
}

// MaxHops bounds a group.
const MaxHops = 64

// Hop is a next hop: the key of a Neighbor.
type Hop struct {
	Interface InterfaceID
	Addr      netip.Addr
}

// Group is next hops of equal cost; a flow keeps to one of them (RFC 2992). A next hop that stands there
// twice gets twice the share. Key: ID.
type Group struct {
	ID    GroupID
	Count uint8 // of Hops in use, 1 to MaxHops
	Hops  [MaxHops]Hop
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

// Session is a subscriber, by PPPoE or IPoE. Key: ID; the access tuple (port, tags, peer MAC, PPPoE id) is
// unique as well.
type Session struct {
	ID        SessionID
	Port      PortID
	OuterTPID uint16 // 0: untagged
	OuterVLAN uint16
	InnerVLAN uint16 // 0: one tag
	PeerMAC   MAC
	OwnMAC    MAC
	PPPoE     uint16 // PPPoE session id; 0: IPoE
	VRF       VRFID
	IPv4      netip.Addr   // not valid: no IPv4, its packets are dropped by name
	IPv6      netip.Prefix // the first prefix or address, masked; not valid: IPv6 only for what control takes
	Gateway4  netip.Addr   // ours, as the subscriber sees it: source of ICMP errors, answered by ARP on IPoE
	Gateway6  netip.Addr   // ours: source of ICMPv6 errors
	LinkLocal netip.Addr   // ours on the subscriber's link (fe80::/64): solicitations for it are answered
	MTU       uint16       // largest IP packet towards the peer, bytes
	MSS       uint16       // as Interface.MSS
	SourceAny bool         // true switches the source check off
	QoSRoot   uint32       // chooses the worker that owns the subscriber
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

// Capture sends copies of frames up to control (ClassCapture) until Packets have been sent. Exactly one of
// Port, Interface and Session is set. Frames are copied as they are received and sent, with all their headers: of
// a port all, of an interface those with its tags, of a session those of its subscriber's MAC address and tags, and of
// PPPoE sessions its session id. What it is of need not be there: the capture waits for it, and hinders nobody
// from deleting it. Key: ID.
type Capture struct {
	ID        CaptureID
	Port      PortID
	Interface InterfaceID
	Session   SessionID
	Packets   uint32 // most that are sent; per worker
	SnapBytes uint16 // of each, the first that are sent
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
func (Group) Kind() Kind { return KindGroup }

// Kind implements Entry.
func (Route) Kind() Kind { return KindRoute }

// Kind implements Entry.
func (Policer) Kind() Kind { return KindPolicer }

// Kind implements Entry.
func (Capture) Kind() Kind { return KindCapture }
