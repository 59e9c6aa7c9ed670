package frame

import (
	"encoding/binary"
	"fmt"
)

// IP protocols.
const (
	ICMP = 1
	UDP  = 17
)

// IPv4Bytes is the length of a header without options, UDPBytes that of a UDP header.
const (
	IPv4Bytes = 20
	UDPBytes  = 8
)

const dontFragment = 0x4000

// Addr is an IPv4 address.
type Addr [4]byte

// String writes the address with dots.
func (a Addr) String() string { return fmt.Sprintf("%d.%d.%d.%d", a[0], a[1], a[2], a[3]) }

// IPv4 is a decoded packet. Payload aliases the packet and ends where the total length says.
type IPv4 struct {
	Src, Dst   Addr
	Protocol   byte
	TTL        byte
	ID         uint16
	Fragment   bool // more fragments, or an offset
	TotalBytes int
	Payload    []byte
}

// ParseIPv4 decodes a packet and verifies its header checksum. Bytes behind the total length
// (Ethernet padding) are ignored.
func ParseIPv4(b []byte) (IPv4, error) {
	if len(b) < IPv4Bytes {
		return IPv4{}, fmt.Errorf("IPv4 header: %w", ErrTruncated)
	}
	header, total := int(b[0]&0x0f)*4, int(binary.BigEndian.Uint16(b[2:]))
	if b[0]>>4 != 4 || header < IPv4Bytes || total < header {
		return IPv4{}, fmt.Errorf("IPv4 header %#02x, total length %d: %w", b[0], total, ErrMalformed)
	}
	if total > len(b) {
		return IPv4{}, fmt.Errorf("IPv4 total length %d of %d: %w", total, len(b), ErrTruncated)
	}
	if fold(sum(0, b[:header])) != 0xffff {
		return IPv4{}, fmt.Errorf("IPv4 header: %w", ErrChecksum)
	}
	return IPv4{
		Src: Addr(b[12:16]), Dst: Addr(b[16:20]), Protocol: b[9], TTL: b[8],
		ID:         binary.BigEndian.Uint16(b[4:]),
		Fragment:   binary.BigEndian.Uint16(b[6:])&^dontFragment != 0,
		TotalBytes: total, Payload: b[header:total],
	}, nil
}

// AppendIPv4 appends a header without options, DF set, for a payload of the given length.
func AppendIPv4(b []byte, p IPv4, payloadBytes int) []byte {
	start := len(b)
	b = append(b, 0x45, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(IPv4Bytes+payloadBytes))
	b = binary.BigEndian.AppendUint16(b, p.ID)
	b = binary.BigEndian.AppendUint16(b, dontFragment)
	b = append(b, p.TTL, p.Protocol, 0, 0)
	b = append(b, p.Src[:]...)
	b = append(b, p.Dst[:]...)
	binary.BigEndian.PutUint16(b[start+10:], ^fold(sum(0, b[start:])))
	return b
}

// sum adds 16-bit words (RFC 1071); an odd last byte counts as the high one.
func sum(acc uint64, b []byte) uint64 {
	for len(b) >= 2 {
		acc += uint64(b[0])<<8 | uint64(b[1])
		b = b[2:]
	}
	if len(b) == 1 {
		acc += uint64(b[0]) << 8
	}
	return acc
}

// fold brings a sum down to 16 bits by adding the carries.
func fold(acc uint64) uint16 {
	for acc > 0xffff {
		acc = acc>>16 + acc&0xffff
	}
	return uint16(acc)
}
