package wire

import "encoding/binary"

// EtherType values, and the tag protocol identifiers that stand in the same place.
const (
	TypeIPv4           = 0x0800
	TypeARP            = 0x0806
	TypeVLAN           = 0x8100 // IEEE 802.1Q customer tag
	TypeIPv6           = 0x86DD
	TypePPPoEDiscovery = 0x8863
	TypePPPoESession   = 0x8864
	TypeProvider       = 0x88A8 // IEEE 802.1ad service tag
	TypeLegacyProvider = 0x9100 // service tag of equipment older than 802.1ad
)

// Lengths in bytes.
const (
	EthernetLength = 14
	TagLength      = 4
	MACLength      = 6
)

// MaxVLAN is the highest usable VLAN identifier; 0 is "priority tag" and 0xFFF is reserved.
const MaxVLAN = 0xFFE

// IsTPID reports whether an EtherType announces a VLAN tag.
func IsTPID(etherType uint16) bool {
	return etherType == TypeVLAN || etherType == TypeProvider || etherType == TypeLegacyProvider
}

// Ethernet is a frame without FCS.
type Ethernet []byte

// Valid reports whether the header is whole.
func (e Ethernet) Valid() bool { return len(e) >= EthernetLength }

// Destination returns the receiver's address.
func (e Ethernet) Destination() [6]byte { return [6]byte(e[0:6]) }

// Source returns the sender's address.
func (e Ethernet) Source() [6]byte { return [6]byte(e[6:12]) }

// Type returns the EtherType or TPID behind the addresses.
func (e Ethernet) Type() uint16 { return binary.BigEndian.Uint16(e[12:14]) }

// Multicast reports whether the destination is a group address (broadcast included).
func (e Ethernet) Multicast() bool { return e[0]&1 != 0 }

// Payload returns what follows the header.
func (e Ethernet) Payload() []byte { return e[EthernetLength:] }

// PutEthernet writes a header and returns its length.
func PutEthernet(b []byte, destination, source [6]byte, etherType uint16) int {
	copy(b[0:6], destination[:])
	copy(b[6:12], source[:])
	binary.BigEndian.PutUint16(b[12:14], etherType)
	return EthernetLength
}

// Tag is what follows a TPID: the tag control information and the next type.
type Tag []byte

// Valid reports whether the tag is whole.
func (t Tag) Valid() bool { return len(t) >= TagLength }

// VLAN returns the VLAN identifier.
func (t Tag) VLAN() uint16 { return binary.BigEndian.Uint16(t[0:2]) & 0x0FFF }

// Priority returns the priority code point, 0 to 7.
func (t Tag) Priority() uint8 { return t[0] >> 5 }

// Type returns the EtherType or TPID behind the tag.
func (t Tag) Type() uint16 { return binary.BigEndian.Uint16(t[2:4]) }

// Payload returns what follows the tag.
func (t Tag) Payload() []byte { return t[TagLength:] }

// PutTag writes a tag's control information and the type behind it, and returns their length.
func PutTag(b []byte, priority uint8, vlan, etherType uint16) int {
	binary.BigEndian.PutUint16(b[0:2], uint16(priority)<<13|vlan&0x0FFF)
	binary.BigEndian.PutUint16(b[2:4], etherType)
	return TagLength
}

// Tagged is the result of reading a frame's tags.
type Tagged struct {
	OuterTPID uint16 // 0: untagged
	OuterVLAN uint16
	InnerVLAN uint16 // 0: not double tagged
	Type      uint16 // EtherType behind the tags
	Offset    int    // of what follows that type
}

// ReadTags reads the Ethernet header with up to two tags; the inner one must have TPID 0x8100. It
// reports false when the frame is too short.
func ReadTags(frame []byte) (t Tagged, ok bool) {
	e := Ethernet(frame)
	if !e.Valid() {
		return t, false
	}
	t.Type, t.Offset = e.Type(), EthernetLength
	if !IsTPID(t.Type) {
		return t, true
	}
	outer := Tag(frame[t.Offset:])
	if !outer.Valid() {
		return t, false
	}
	t.OuterTPID, t.OuterVLAN = t.Type, outer.VLAN()
	t.Type, t.Offset = outer.Type(), t.Offset+TagLength
	if t.Type != TypeVLAN {
		return t, true
	}
	inner := Tag(frame[t.Offset:])
	if !inner.Valid() {
		return t, false
	}
	t.InnerVLAN = inner.VLAN()
	t.Type, t.Offset = inner.Type(), t.Offset+TagLength
	return t, true
}

// PutTagged writes an Ethernet header with the tags described (TPID 0: none; inner VLAN 0: one) and
// returns its length.
func PutTagged(b []byte, destination, source [6]byte, outerTPID, outerVLAN, innerVLAN, etherType uint16) int {
	if outerTPID == 0 {
		return PutEthernet(b, destination, source, etherType)
	}
	n := PutEthernet(b, destination, source, outerTPID)
	if innerVLAN == 0 {
		return n + PutTag(b[n:], 0, outerVLAN, etherType)
	}
	n += PutTag(b[n:], 0, outerVLAN, TypeVLAN)
	return n + PutTag(b[n:], 0, innerVLAN, etherType)
}
