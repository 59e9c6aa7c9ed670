package table

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// encap writes the template of a session's header.
func (d *SessionDown) encap(e *entry.Session) {
	var b [EncapBytes]byte
	n := 0
	if d.IPoE {
		n = wire.PutTagged(b[:], e.PeerMAC, e.OwnMAC, e.OuterTPID, e.OuterVLAN, e.InnerVLAN, wire.TypeIPv4)
	} else {
		n = wire.PutTagged(b[:], e.PeerMAC, e.OwnMAC, e.OuterTPID, e.OuterVLAN, e.InnerVLAN, wire.TypePPPoESession)
		n += wire.PutPPPoE(b[n:], wire.CodeSession, e.PPPoE, 0)
		n += wire.PutPPP(b[n:], wire.ProtocolIPv4)
	}
	copy(d.Encap[EncapBytes-n:], b[:n])
	d.EncapLength = uint8(n)
}

// AdjacencyBytes is the longest header in front of a packet to a neighbour, rounded up: Ethernet 14, two
// tags 8.
const AdjacencyBytes = 24

// Adjacency is a next hop: what stands in front of an IP packet that goes there. It never changes; a
// neighbour that does gets a new one.
type Adjacency struct {
	Header       [AdjacencyBytes]byte // right-aligned, like SessionDown.Encap; ethertype of IPv4
	HeaderLength uint32
	Port         uint32 // slot
	MTU          uint32 // bytes of IP packet
	Resolved     bool
	Glean        uint64 // GleanKey4 or GleanKey6
	Interface    uint32 // slot
}

// NewAdjacency compiles a neighbour on an interface.
func NewAdjacency(i *Interface, interfaceSlot uint32, n *entry.Neighbor) *Adjacency {
	a := &Adjacency{
		Port: i.Access.Port(), MTU: i.MTU, Resolved: n.Resolved, Interface: interfaceSlot,
	}
	if n.Addr.Is4() {
		a.Glean = GleanKey4(interfaceSlot, Address4(n.Addr))
	} else {
		a.Glean = GleanKey6(interfaceSlot, NewAddress6(n.Addr))
	}
	var b [AdjacencyBytes]byte
	length := wire.PutTagged(b[:], n.MAC, i.MAC, i.Access.OuterTPID(), i.Access.OuterVLAN(), i.Access.InnerVLAN(), wire.TypeIPv4)
	copy(a.Header[AdjacencyBytes-length:], b[:length])
	a.HeaderLength = uint32(length)
	return a
}

// GleanKey4 tells an IPv4 neighbour from others; it is never 0.
func GleanKey4(interfaceSlot, address uint32) uint64 {
	return uint64(interfaceSlot+1)<<32 | uint64(address)
}

// GleanKey6 tells an IPv6 neighbour from others, but for chance; it is never 0.
func GleanKey6(interfaceSlot uint32, a Address6) uint64 {
	high, low := bits.Mul64(a.High^0x9E3779B97F4A7C15^uint64(interfaceSlot), a.Low^0xE7037ED1A0B428DB)
	return high ^ low | 1
}

// Address4 returns an IPv4 address as a number.
func Address4(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}
