package wire

import "encoding/binary"

// IP protocol numbers.
const (
	IPProtocolICMP = 1
	IPProtocolTCP  = 6
	IPProtocolUDP  = 17
)

// Lengths in bytes.
const (
	IPv4Length = 20 // without options
	UDPLength  = 8
	TCPLength  = 20 // without options
	ICMPLength = 8
	ARPLength  = 28 // IPv4 over Ethernet
)

// IPv4 is a packet from its header on.
type IPv4 []byte

// Valid reports whether version, header length and total length agree with the bytes at hand. Bytes
// behind the total length are padding. It does not verify the checksum.
func (p IPv4) Valid() bool {
	return len(p) >= IPv4Length && p[0]>>4 == 4 && p.HeaderLength() >= IPv4Length &&
		p.HeaderLength() <= int(p.TotalLength()) && int(p.TotalLength()) <= len(p)
}

// HeaderLength returns the bytes of the header with its options.
func (p IPv4) HeaderLength() int { return int(p[0]&0x0F) * 4 }

// TotalLength returns the bytes of the packet, header included.
func (p IPv4) TotalLength() uint16 { return binary.BigEndian.Uint16(p[2:4]) }

// Identification returns the identification field.
func (p IPv4) Identification() uint16 { return binary.BigEndian.Uint16(p[4:6]) }

// DontFragment reports the DF bit.
func (p IPv4) DontFragment() bool { return p[6]&0x40 != 0 }

// Fragment reports whether the packet is a fragment, the first included.
func (p IPv4) Fragment() bool { return binary.BigEndian.Uint16(p[6:8])&0x3FFF != 0 }

// MoreFragments reports the MF bit.
func (p IPv4) MoreFragments() bool { return p[6]&0x20 != 0 }

// FragmentOffset returns the packet's place in the original one, in units of 8 bytes.
func (p IPv4) FragmentOffset() uint16 { return binary.BigEndian.Uint16(p[6:8]) & 0x1FFF }

// TOS returns the type of service byte: precedence and TOS, or DSCP and ECN.
func (p IPv4) TOS() uint8 { return p[1] }

// SetTOS changes that byte and keeps the checksum right (RFC 1624).
func (p IPv4) SetTOS(tos uint8) {
	before := binary.BigEndian.Uint16(p[0:2])
	p[1] = tos
	binary.BigEndian.PutUint16(p[10:12], UpdateChecksum(p.Checksum(), before, binary.BigEndian.Uint16(p[0:2])))
}

// TTL returns the time to live.
func (p IPv4) TTL() uint8 { return p[8] }

// Protocol returns the protocol of the payload.
func (p IPv4) Protocol() uint8 { return p[9] }

// Checksum returns the header checksum field.
func (p IPv4) Checksum() uint16 { return binary.BigEndian.Uint16(p[10:12]) }

// ChecksumOK reports whether the header checksum is right.
func (p IPv4) ChecksumOK() bool { return Sum(p[:p.HeaderLength()], 0) == 0xFFFF }

// Source returns the sender's address.
func (p IPv4) Source() [4]byte { return [4]byte(p[12:16]) }

// Destination returns the receiver's address.
func (p IPv4) Destination() [4]byte { return [4]byte(p[16:20]) }

// Payload returns what follows the header, without padding.
func (p IPv4) Payload() []byte { return p[p.HeaderLength():p.TotalLength()] }

// DecrementTTL lowers the TTL by one and keeps the checksum right (RFC 1624).
func (p IPv4) DecrementTTL() {
	before := binary.BigEndian.Uint16(p[8:10])
	p[8]--
	after := binary.BigEndian.Uint16(p[8:10])
	binary.BigEndian.PutUint16(p[10:12], UpdateChecksum(p.Checksum(), before, after))
}

// PutIPv4 writes a header without options, its checksum included, and returns its length.
func PutIPv4(b []byte, source, destination [4]byte, protocol, ttl uint8, identification uint16, payloadBytes int) int {
	b[0], b[1] = 0x45, 0
	binary.BigEndian.PutUint16(b[2:4], uint16(IPv4Length+payloadBytes))
	binary.BigEndian.PutUint16(b[4:6], identification)
	binary.BigEndian.PutUint16(b[6:8], 0)
	b[8], b[9] = ttl, protocol
	binary.BigEndian.PutUint16(b[10:12], 0)
	copy(b[12:16], source[:])
	copy(b[16:20], destination[:])
	binary.BigEndian.PutUint16(b[10:12], Checksum(b[:IPv4Length]))
	return IPv4Length
}

// UDP is a datagram from its header on.
type UDP []byte

// Valid reports whether the length field agrees with the bytes at hand.
func (u UDP) Valid() bool {
	return len(u) >= UDPLength && int(u.Length()) >= UDPLength && int(u.Length()) <= len(u)
}

// SourcePort returns the sender's port.
func (u UDP) SourcePort() uint16 { return binary.BigEndian.Uint16(u[0:2]) }

// DestinationPort returns the receiver's port.
func (u UDP) DestinationPort() uint16 { return binary.BigEndian.Uint16(u[2:4]) }

// Length returns the bytes of header and payload.
func (u UDP) Length() uint16 { return binary.BigEndian.Uint16(u[4:6]) }

// Checksum returns the checksum field; 0 means that the sender made none.
func (u UDP) Checksum() uint16 { return binary.BigEndian.Uint16(u[6:8]) }

// Payload returns what follows the header.
func (u UDP) Payload() []byte { return u[UDPLength:u.Length()] }

// ChecksumOK reports whether the checksum is absent or right.
func (u UDP) ChecksumOK(source, destination [4]byte) bool {
	if u.Checksum() == 0 {
		return true
	}
	return Sum(u[:u.Length()], pseudoSum(source, destination, IPProtocolUDP, u.Length())) == 0xFFFF
}

// PutUDP writes the header in front of the payloadBytes that already stand behind it in b, checksum
// included, and returns its length.
func PutUDP(b []byte, source, destination [4]byte, sourcePort, destinationPort uint16, payloadBytes int) int {
	length := uint16(UDPLength + payloadBytes)
	binary.BigEndian.PutUint16(b[0:2], sourcePort)
	binary.BigEndian.PutUint16(b[2:4], destinationPort)
	binary.BigEndian.PutUint16(b[4:6], length)
	binary.BigEndian.PutUint16(b[6:8], 0)
	sum := ^Sum(b[:length], pseudoSum(source, destination, IPProtocolUDP, length))
	if sum == 0 { // RFC 768: a computed zero travels as all ones
		sum = 0xFFFF
	}
	binary.BigEndian.PutUint16(b[6:8], sum)
	return UDPLength
}

func pseudoSum(source, destination [4]byte, protocol uint8, length uint16) uint32 {
	return uint32(Sum(source[:], uint32(Sum(destination[:], uint32(protocol)+uint32(length)))))
}

// ICMP types of the echo.
const (
	ICMPEchoReply   = 0
	ICMPEchoRequest = 8
)

// ICMP is an ICMP message; the accessors behind Checksum are those of the echo.
type ICMP []byte

// Valid reports whether the header is whole.
func (m ICMP) Valid() bool { return len(m) >= ICMPLength }

// Type returns the message type.
func (m ICMP) Type() uint8 { return m[0] }

// Code returns the message code.
func (m ICMP) Code() uint8 { return m[1] }

// ChecksumOK reports whether the checksum over the whole message is right.
func (m ICMP) ChecksumOK() bool { return Sum(m, 0) == 0xFFFF }

// Identifier returns an echo's identifier.
func (m ICMP) Identifier() uint16 { return binary.BigEndian.Uint16(m[4:6]) }

// Sequence returns an echo's sequence number.
func (m ICMP) Sequence() uint16 { return binary.BigEndian.Uint16(m[6:8]) }

// Payload returns an echo's data.
func (m ICMP) Payload() []byte { return m[ICMPLength:] }

// PutICMPEcho writes the header in front of the payloadBytes that already stand behind it in b,
// checksum included, and returns its length.
func PutICMPEcho(b []byte, icmpType uint8, identifier, sequence uint16, payloadBytes int) int {
	b[0], b[1], b[2], b[3] = icmpType, 0, 0, 0
	binary.BigEndian.PutUint16(b[4:6], identifier)
	binary.BigEndian.PutUint16(b[6:8], sequence)
	binary.BigEndian.PutUint16(b[2:4], Checksum(b[:ICMPLength+payloadBytes]))
	return ICMPLength
}
