package table

import (
	"encoding/binary"
	"net/netip"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// encap writes the template of a session's PPPoE header.
func (d *SessionDown) encap(e *entry.Session) {
	var b [EncapBytes]byte
	n := wire.PutTagged(b[:], e.PeerMAC, e.OwnMAC, e.OuterTPID, e.OuterVLAN, e.InnerVLAN, wire.TypePPPoESession)
	n += wire.PutPPPoE(b[n:], wire.CodeSession, e.PPPoE, 0)
	n += wire.PutPPP(b[n:], wire.ProtocolIPv4)
	copy(d.Encap[EncapBytes-n:], b[:n])
	d.EncapLength = uint16(n)
}

// AdjacencyBytes is the longest header in front of a packet to a neighbour, rounded up: Ethernet 14, two
// tags 8.
const AdjacencyBytes = 24

// Adjacency is a next hop: what stands in front of an IP packet that goes there. It never changes; a
// neighbour that does gets a new one.
type Adjacency struct {
	Header       [AdjacencyBytes]byte // right-aligned, like SessionDown.Encap
	HeaderLength uint32
	Port         uint32 // slot
	MTU          uint32 // bytes of IP packet
	Resolved     bool
	Address      uint32
	Interface    uint32 // slot
}

// NewAdjacency compiles a neighbour on an interface.
func NewAdjacency(i *Interface, interfaceSlot uint32, n *entry.Neighbor) *Adjacency {
	a := &Adjacency{
		Port: i.Access.Port(), MTU: i.MTU, Resolved: n.Resolved, Interface: interfaceSlot,
		Address: Address4(n.Addr),
	}
	var b [AdjacencyBytes]byte
	length := wire.PutTagged(b[:], n.MAC, i.MAC, i.Access.OuterTPID(), i.Access.OuterVLAN(), i.Access.InnerVLAN(), wire.TypeIPv4)
	copy(a.Header[AdjacencyBytes-length:], b[:length])
	a.HeaderLength = uint32(length)
	return a
}

// Address4 returns an IPv4 address as a number.
func Address4(a netip.Addr) uint32 {
	b := a.As4()
	return binary.BigEndian.Uint32(b[:])
}
