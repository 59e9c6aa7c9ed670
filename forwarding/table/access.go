package table

import (
	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// Access is a port with the tags of a frame, packed into the 40 bits that a hash key has room for:
//
//	port slot 14 | TPID code 2 | outer VLAN 12 | inner VLAN 12
type Access uint64

// MaxPort bounds port slots.
const MaxPort = 1<<14 - 1

// TPID codes.
const (
	tpidNone = iota
	tpidVLAN
	tpidProvider
	tpidLegacy
)

// AccessPort returns the access of untagged frames on a port.
func AccessPort(portSlot uint32) Access { return Access(portSlot) << 26 }

// Tags returns the part of an access that the tags make; ok is false for a TPID that is not understood.
func Tags(outerTPID, outerVLAN, innerVLAN uint16) (a Access, ok bool) {
	code := tpidNone
	switch outerTPID {
	case 0:
	case wire.TypeVLAN:
		code = tpidVLAN
	case wire.TypeProvider:
		code = tpidProvider
	case wire.TypeLegacyProvider:
		code = tpidLegacy
	default:
		return 0, false
	}
	return Access(code)<<24 | Access(outerVLAN&0xFFF)<<12 | Access(innerVLAN&0xFFF), true
}

// Port returns the port slot.
func (a Access) Port() uint32 { return uint32(a >> 26) }

// OuterTPID returns the TPID of the outer tag, 0 without tags.
func (a Access) OuterTPID() uint16 {
	return [4]uint16{0, wire.TypeVLAN, wire.TypeProvider, wire.TypeLegacyProvider}[a>>24&3]
}

// OuterVLAN returns the outer VLAN identifier.
func (a Access) OuterVLAN() uint16 { return uint16(a>>12) & 0xFFF }

// InnerVLAN returns the inner VLAN identifier, 0 without an inner tag.
func (a Access) InnerVLAN() uint16 { return uint16(a) & 0xFFF }

// SessionKey is the hash key of a PPPoE session.
func SessionKey(a Access, peer entry.MAC, session uint16) Key {
	return Key{Low: PackMAC(peer)<<16 | uint64(session), High: uint64(a)}
}

// InterfaceKey is the hash key of an L3 interface. No session has MAC 0, so the keys could share a table.
func InterfaceKey(a Access) Key { return Key{Low: 1, High: uint64(a)} }

// LocalKey is the hash key of an own address on an interface.
func LocalKey(interfaceSlot, address uint32) Key {
	return Key{Low: 1<<32 | uint64(address), High: uint64(interfaceSlot)}
}

// PackMAC returns an address as the lower 48 bits of a word.
func PackMAC(m entry.MAC) uint64 {
	return uint64(m[0])<<40 | uint64(m[1])<<32 | uint64(m[2])<<24 | uint64(m[3])<<16 | uint64(m[4])<<8 | uint64(m[5])
}

// UnpackMAC is the inverse of PackMAC.
func UnpackMAC(v uint64) entry.MAC {
	return entry.MAC{byte(v >> 40), byte(v >> 32), byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
}
