package table

import (
	"unsafe"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// Flags of a session.
const (
	SessionIPv4      = 1 << iota // IPv4 is set
	SessionSourceAny             // no source check
)

// EncapBytes is the longest header in front of a subscriber's IP packet, rounded up: Ethernet 14, two
// tags 8, PPPoE 6, PPP protocol 2.
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
	IPv4    uint32
	Flags   uint32
	VRF     uint32 // slot
	QoSRoot uint32
	ID      uint64
	Access  Access
	KeyLow  uint64 // peer MAC and PPPoE session id
	_       [24]byte
}

// SessionDown is the line that a packet to the subscriber needs. The header in front of the IP packet is
// stored right-aligned, so that it can be copied with its fixed length whatever its real one.
type SessionDown struct {
	Encap       [EncapBytes]byte // PPPoE length left 0
	EncapLength uint16
	MTU         uint16
	Port        uint32 // slot
	_           [24]byte
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
		Up:   SessionUp{VRF: vrfSlot, QoSRoot: e.QoSRoot, ID: uint64(e.ID), Access: access, KeyLow: key.Low},
		Down: SessionDown{MTU: e.MTU, Port: portSlot},
	}
	if e.IPv4.Is4() {
		s.Up.IPv4, s.Up.Flags = Address4(e.IPv4), SessionIPv4
	}
	if e.SourceAny {
		s.Up.Flags |= SessionSourceAny
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
