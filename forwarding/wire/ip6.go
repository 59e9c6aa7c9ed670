package wire

import "encoding/binary"

// IPv6 next headers, beside those that IPv4 has as protocols.
const (
	NextHopByHop       = 0
	NextRouting        = 43
	NextFragment       = 44
	NextAuthentication = 51
	NextICMPv6         = 58
	NextNone           = 59
	NextOptions        = 60 // for the destination
	IPProtocolSCTP     = 132
	NextMobility       = 135
	NextHIP            = 139
	NextShim6          = 140
)

// IPv6Length is the bytes of the header (RFC 8200 section 3).
const IPv6Length = 40

// IPv6 is a packet from its header on.
type IPv6 []byte

// Valid reports whether the version is 6 and what the header announces is there. Bytes behind it are padding.
func (p IPv6) Valid() bool {
	return len(p) >= IPv6Length && p[0]>>4 == 6 && IPv6Length+int(p.PayloadLength()) <= len(p)
}

// TrafficClass returns the traffic class.
func (p IPv6) TrafficClass() uint8 { return uint8(binary.BigEndian.Uint16(p[0:2]) >> 4) }

// SetTrafficClass changes the traffic class.
func (p IPv6) SetTrafficClass(class uint8) {
	p[0], p[1] = p[0]&0xF0|class>>4, p[1]&0x0F|class<<4
}

// FlowLabel returns the 20 bits of the flow label (RFC 6437).
func (p IPv6) FlowLabel() uint32 { return binary.BigEndian.Uint32(p[0:4]) & 0xFFFFF }

// PayloadLength returns the bytes behind the header.
func (p IPv6) PayloadLength() uint16 { return binary.BigEndian.Uint16(p[4:6]) }

// NextHeader returns the protocol of what follows the header.
func (p IPv6) NextHeader() uint8 { return p[6] }

// HopLimit returns the hop limit.
func (p IPv6) HopLimit() uint8 { return p[7] }

// Source returns the sender's address.
func (p IPv6) Source() [16]byte { return [16]byte(p[8:24]) }

// Destination returns the receiver's address.
func (p IPv6) Destination() [16]byte { return [16]byte(p[24:40]) }

// Payload returns what follows the header, without padding.
func (p IPv6) Payload() []byte { return p[IPv6Length : IPv6Length+int(p.PayloadLength())] }

// PutIPv6 writes a header with traffic class and flow label 0, and returns its length.
func PutIPv6(b []byte, source, destination [16]byte, nextHeader, hopLimit uint8, payloadBytes int) int {
	b[0], b[1], b[2], b[3] = 0x60, 0, 0, 0
	binary.BigEndian.PutUint16(b[4:6], uint16(payloadBytes))
	b[6], b[7] = nextHeader, hopLimit
	copy(b[8:24], source[:])
	copy(b[24:40], destination[:])
	return IPv6Length
}

// Sum6 returns the sum over an upper-layer packet and its pseudo-header (RFC 8200 section 8.1): 0xFFFF if the
// packet contains its right checksum.
func Sum6(source, destination [16]byte, nextHeader uint8, packet []byte) uint16 {
	start := uint32(nextHeader) + uint32(len(packet))
	start = uint32(Sum(destination[:], start))
	start = uint32(Sum(source[:], start))
	return Sum(packet, start)
}

// ChecksumOK6 reports whether the checksum of a datagram over IPv6 is right; there it must be present.
func (u UDP) ChecksumOK6(source, destination [16]byte) bool {
	return u.Checksum() != 0 && Sum6(source, destination, IPProtocolUDP, u[:u.Length()]) == 0xFFFF
}

// PutUDP6 is PutUDP over IPv6.
func PutUDP6(b []byte, source, destination [16]byte, sourcePort, destinationPort uint16, payloadBytes int) int {
	length := UDPLength + payloadBytes
	binary.BigEndian.PutUint16(b[0:2], sourcePort)
	binary.BigEndian.PutUint16(b[2:4], destinationPort)
	binary.BigEndian.PutUint16(b[4:6], uint16(length))
	binary.BigEndian.PutUint16(b[6:8], 0)
	sum := ^Sum6(source, destination, IPProtocolUDP, b[:length])
	if sum == 0 { // RFC 8200 section 8.1
		sum = 0xFFFF
	}
	binary.BigEndian.PutUint16(b[6:8], sum)
	return UDPLength
}

// maxExtensions bounds how many extension headers Upper walks over.
const maxExtensions = 8

// Upper finds the upper-layer header behind the extension headers (RFC 8200 section 4): its protocol, where it begins,
// and in which place of a fragmented packet, in units of 8 bytes, it would stand (only at 0 it is there). p may be the
// packet's beginning; ok is false when the headers go on beyond it, or are too many.
func (p IPv6) Upper() (protocol uint8, offset int, fragmentOffset uint16, ok bool) {
	protocol, offset = p.NextHeader(), IPv6Length
	for range maxExtensions {
		length := 0
		switch protocol {
		case NextHopByHop, NextRouting, NextOptions, NextMobility, NextHIP, NextShim6:
			length = 8
		case NextFragment:
			if offset+8 > len(p) {
				return protocol, offset, 0, false
			}
			if fragmentOffset = binary.BigEndian.Uint16(p[offset+2:]) >> 3; fragmentOffset != 0 {
				return p[offset], offset + 8, fragmentOffset, true
			}
			protocol, offset = p[offset], offset+8
			continue
		case NextAuthentication:
			length = 4
		default:
			return protocol, offset, 0, offset <= len(p)
		}
		if offset+8 > len(p) {
			return protocol, offset, 0, false
		}
		// RFC 4302 section 2.2: the length of an authentication header is in words of 4 bytes, and two less.
		words := int(p[offset+1]) + 1
		if length == 4 {
			words++
		}
		protocol, offset = p[offset], offset+words*length
	}
	return protocol, offset, 0, false
}
