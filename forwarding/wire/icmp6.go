package wire

import "encoding/binary"

// ICMPv6 types (RFC 4443, RFC 4861).
const (
	ICMPv6Unreachable           = 1
	ICMPv6PacketTooBig          = 2
	ICMPv6TimeExceeded          = 3
	ICMPv6ParameterProblem      = 4
	ICMPv6EchoRequest           = 128
	ICMPv6EchoReply             = 129
	ICMPv6RouterSolicitation    = 133
	ICMPv6RouterAdvertisement   = 134
	ICMPv6NeighborSolicitation  = 135
	ICMPv6NeighborAdvertisement = 136
	ICMPv6Redirect              = 137
)

// Options of neighbour discovery (RFC 4861 section 4.6).
const (
	NDSourceLinkLayer = 1
	NDTargetLinkLayer = 2
)

// Flags of a neighbour advertisement, in the byte behind the checksum (RFC 4861 section 4.4).
const (
	NAFlagRouter    = 0x80
	NAFlagSolicited = 0x40
	NAFlagOverride  = 0x20
)

// Lengths in bytes.
const (
	ICMPv6Length         = 8
	NeighborLength       = 24 // solicitation and advertisement, without options
	NDLinkLayerLength    = 8  // link-layer address option for Ethernet
	NDHopLimit           = 255
	ndOptionUnit         = 8
	ndOptionHeaderLength = 2
)

// ICMPv6 is an ICMPv6 message.
type ICMPv6 []byte

// Valid reports whether the header is whole.
func (m ICMPv6) Valid() bool { return len(m) >= ICMPv6Length }

// Type returns the message type.
func (m ICMPv6) Type() uint8 { return m[0] }

// Code returns the message code.
func (m ICMPv6) Code() uint8 { return m[1] }

// ChecksumOK reports whether the checksum over the whole message is right.
func (m ICMPv6) ChecksumOK(source, destination [16]byte) bool {
	return Sum6(source, destination, NextICMPv6, m) == 0xFFFF
}

// PutChecksum writes the checksum over the whole message.
func (m ICMPv6) PutChecksum(source, destination [16]byte) {
	binary.BigEndian.PutUint16(m[2:4], 0)
	binary.BigEndian.PutUint16(m[2:4], ^Sum6(source, destination, NextICMPv6, m))
}

// Neighbor is a neighbour solicitation or advertisement (RFC 4861 sections 4.3 and 4.4), from the ICMPv6 header on.
type Neighbor []byte

// Valid reports whether the fixed part is whole and the options fill the rest (RFC 4861 section 4.6: their
// length is never 0).
func (n Neighbor) Valid() bool {
	if len(n) < NeighborLength {
		return false
	}
	for rest := n[NeighborLength:]; len(rest) > 0; {
		if len(rest) < ndOptionHeaderLength || rest[1] == 0 || int(rest[1])*ndOptionUnit > len(rest) {
			return false
		}
		rest = rest[int(rest[1])*ndOptionUnit:]
	}
	return true
}

// Target returns the target address.
func (n Neighbor) Target() [16]byte { return [16]byte(n[8:24]) }

// LinkLayer returns the Ethernet address of the first option of a type. The message must be valid.
func (n Neighbor) LinkLayer(option uint8) (mac [6]byte, ok bool) {
	for rest := n[NeighborLength:]; len(rest) > 0; rest = rest[int(rest[1])*ndOptionUnit:] {
		if rest[0] == option && rest[1] == 1 {
			return [6]byte(rest[2:8]), true
		}
	}
	return mac, false
}

// PutNeighborAdvertisement writes a message without options and without checksum, and returns its length.
func PutNeighborAdvertisement(b []byte, flags uint8, target [16]byte) int {
	b[0], b[1], b[2], b[3] = ICMPv6NeighborAdvertisement, 0, 0, 0
	b[4], b[5], b[6], b[7] = flags, 0, 0, 0
	copy(b[8:24], target[:])
	return NeighborLength
}

// PutNeighborSolicitation writes a message without options and without checksum, and returns its length.
func PutNeighborSolicitation(b []byte, target [16]byte) int {
	PutNeighborAdvertisement(b, 0, target)
	b[0] = ICMPv6NeighborSolicitation
	return NeighborLength
}

// PutLinkLayer writes a link-layer address option for Ethernet and returns its length.
func PutLinkLayer(b []byte, option uint8, mac [6]byte) int {
	b[0], b[1] = option, 1
	copy(b[2:8], mac[:])
	return NDLinkLayerLength
}
