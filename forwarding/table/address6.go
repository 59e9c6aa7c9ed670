package table

import (
	"encoding/binary"
	"net/netip"
)

// Address6 is an IPv6 address as numbers.
type Address6 struct{ High, Low uint64 }

// NewAddress6 returns an IPv6 address as numbers.
func NewAddress6(a netip.Addr) Address6 {
	b := a.As16()
	return ReadAddress6(&b)
}

// ReadAddress6 reads an address as it stands in a packet.
func ReadAddress6(b *[16]byte) Address6 {
	return Address6{binary.BigEndian.Uint64(b[0:8]), binary.BigEndian.Uint64(b[8:16])}
}

// Bytes returns the address as it stands in a packet.
func (a Address6) Bytes() (b [16]byte) {
	binary.BigEndian.PutUint64(b[0:8], a.High)
	binary.BigEndian.PutUint64(b[8:16], a.Low)
	return b
}

// Mask returns the address with the bits behind a length of 0 to 128 cleared.
func (a Address6) Mask(length int) Address6 {
	if length <= 64 {
		return Address6{a.High & mask64(length), 0}
	}
	return Address6{a.High, a.Low & mask64(length-64)}
}

// mask64 returns the upper length bits, 0 to 64. A shift by 64 gives 0.
func mask64(length int) uint64 { return ^uint64(0) << (64 - length) }

// index returns the 8 bits that end with bit number bits: the place in a group of the level of so many bits.
func (a Address6) index(bits int) uint32 {
	if bits <= 64 {
		return uint32(a.High>>(64-bits)) & (groupSize - 1)
	}
	return uint32(a.Low>>(128-bits)) & (groupSize - 1)
}

// LinkLocal reports an address of fe80::/10 (RFC 4291 section 2.5.6).
func (a Address6) LinkLocal() bool { return a.High>>54 == 0xfe80>>6 }

// Multicast reports an address of ff00::/8 (RFC 4291 section 2.7).
func (a Address6) Multicast() bool { return a.High>>56 == 0xff }

// Unspecified reports :: (RFC 4291 section 2.5.2).
func (a Address6) Unspecified() bool { return a == Address6{} }
