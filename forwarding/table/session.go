package table

import (
	"net/netip"
	"unsafe"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/wire"
)

// Flags of a session.
const (
	SessionIPv4      = 1 << iota // IPv4 is set
	SessionSourceAny             // no source check
	SessionIPv6                  // IPv6 is set
	SessionIPoE                  // no PPPoE
)

// EncapBytes is the longest header in front of a subscriber's IP packet, rounded up: Ethernet 14, two
// tags 8, PPPoE 6, PPP protocol 2. With IPoE it ends behind the tags. The last two bytes always say the protocol.
const EncapBytes = 32

// Session is a subscriber as the packet path sees it, a group of cache lines by direction. Three lines
// are an odd number, so neighbours do not fall into the same sets of the cache. A free slot is all zero.
// Once a session can be found, only its owning worker writes it.
type Session struct {
	Up   SessionUp
	Down SessionDown
	Echo SessionEcho
}

// SessionUp is the line that a packet from the subscriber needs.
type SessionUp struct {
	IPv4       uint32
	Flags      uint32
	VRF        uint32 // slot
	QoSRoot    uint32
	ID         uint64
	Access     Access
	KeyLow     uint64 // peer MAC and PPPoE session id
	IPv6       Address6
	IPv6Length uint8 // of the prefix
	_          uint8
	MSS        uint16 // 0: any
	Gateway4   uint32 // ours, 0: none
}

// Owns6 reports whether an address is inside the session's own IPv6 prefix.
func (u *SessionUp) Owns6(a Address6) bool { return a.Mask(int(u.IPv6Length)) == u.IPv6 }

// SessionDown is the line that a packet to the subscriber needs. The header in front of the IP packet is
// stored right-aligned, so that it can be copied with its fixed length whatever its real one.
type SessionDown struct {
	Encap       [EncapBytes]byte // PPPoE length left 0, protocol of IPv4
	EncapLength uint8
	IPoE        bool
	MTU         uint16
	Port        uint32   // slot
	Gateway6    Address6 // ours, or unspecified
	LinkLocal   uint64   // the lower half of our fe80::/64 address on the subscriber's link, 0: none
}

// Protocol6 is what stands in the last two bytes of Encap before an IPv6 packet.
func (d *SessionDown) Protocol6() uint16 {
	if d.IPoE {
		return wire.TypeIPv6
	}
	return wire.ProtocolIPv6
}

// OwnMAC returns our address on the subscriber's link.
func (d *SessionDown) OwnMAC() entry.MAC {
	start := EncapBytes - int(d.EncapLength)
	return entry.MAC(d.Encap[start+6 : start+12])
}

// linkLocalHigh is the upper half of every address of fe80::/64.
const linkLocalHigh = 0xfe80 << 48

// LinkLocalHalf returns the lower half of an address of fe80::/64.
func LinkLocalHalf(a netip.Addr) (low uint64, ok bool) {
	x := NewAddress6(a)
	return x.Low, x.High == linkLocalHigh && x.Low != 0
}

// Owns6 reports whether an address is ours on the subscriber's link.
func (d *SessionDown) Owns6(a Address6) bool {
	return a == d.Gateway6 && !a.Unspecified() || a.High == linkLocalHigh && a.Low == d.LinkLocal && a.Low != 0
}

// SessionEcho is the state of LCP echo (RFC 1661 section 5.8), with the links of the timer wheel.
type SessionEcho struct {
	LocalMagic, PeerMagic uint32
	PeerMRU               uint16
	Misses                uint8
	Outstanding           uint8 // requests since the last sign of life
	Identifier            uint8
	Active                bool // an entry.Echo is there
	Silent                bool // the peer missed its echoes
	Told                  bool // and control has been told
	IntervalNanos         int64
	DueTick               uint64
	Next, Prev            uint32 // session slot + 1 in the same wheel position, 0: none
	Position              uint32 // wheel position + 1, 0: not armed
	_                     [16]byte
}

// sessionLines checks the layout when it is compiled.
var _ [3 * 64]byte = [unsafe.Sizeof(Session{})]byte{}

// NewSession compiles an entry whose port and VRF lie in the slots named.
func NewSession(e *entry.Session, access Access, portSlot, vrfSlot uint32) Session {
	key := SessionKey(access, e.PeerMAC, e.PPPoE)
	s := Session{
		Up:   SessionUp{VRF: vrfSlot, QoSRoot: e.QoSRoot, ID: uint64(e.ID), Access: access, KeyLow: key.Low, MSS: e.MSS},
		Down: SessionDown{MTU: e.MTU, Port: portSlot},
	}
	if e.IPv4.Is4() {
		s.Up.IPv4, s.Up.Flags = Address4(e.IPv4), SessionIPv4
	}
	if e.IPv6.IsValid() {
		s.Up.IPv6, s.Up.IPv6Length = NewAddress6(e.IPv6.Addr()), uint8(e.IPv6.Bits())
		s.Up.Flags |= SessionIPv6
	}
	if e.SourceAny {
		s.Up.Flags |= SessionSourceAny
	}
	if e.PPPoE == 0 {
		s.Up.Flags |= SessionIPoE
		s.Down.IPoE = true
	}
	if e.Gateway4.Is4() {
		s.Up.Gateway4 = Address4(e.Gateway4)
	}
	if e.Gateway6.IsValid() {
		s.Down.Gateway6 = NewAddress6(e.Gateway6)
	}
	if e.LinkLocal.IsValid() {
		s.Down.LinkLocal, _ = LinkLocalHalf(e.LinkLocal)
	}
	s.Down.encap(e)
	return s
}

// Key returns the hash key.
func (s *Session) Key() Key { return Key{Low: s.Up.KeyLow, High: uint64(s.Up.Access)} }

// Peer returns the subscriber's address.
func (s *Session) Peer() entry.MAC { return UnpackMAC(s.Up.KeyLow >> 16) }

// Reconfigure takes over what control decides and leaves the state of echo alone.
func (s *Session) Reconfigure(next *Session) { s.Up, s.Down = next.Up, next.Down }

// Configured reports whether s already is what control wants.
func (s *Session) Configured(want *Session) bool { return s.Up == want.Up && s.Down == want.Down }

// PrefetchUp asks the cache for the upstream lines of the sessions in a column of slots or targets.
func PrefetchUp(sessions []Session, column *[packet.VectorSize]uint32, l *packet.List) {
	packet.Prefetch(unsafe.Pointer(unsafe.SliceData(sessions)), column, l, MaxIndex, unsafe.Sizeof(Session{}))
}

// PrefetchDown asks the cache for the downstream lines of the sessions in a column of slots or targets.
func PrefetchDown(sessions []Session, column *[packet.VectorSize]uint32, l *packet.List) {
	base := unsafe.Add(unsafe.Pointer(unsafe.SliceData(sessions)), unsafe.Offsetof(Session{}.Down))
	packet.Prefetch(base, column, l, MaxIndex, unsafe.Sizeof(Session{}))
}
