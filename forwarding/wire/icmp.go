package wire

import "encoding/binary"

// ICMP types of errors (RFC 792; RFC 1122 section 3.2.2 lists them).
const (
	ICMPUnreachable      = 3
	ICMPSourceQuench     = 4
	ICMPRedirect         = 5
	ICMPTimeExceeded     = 11
	ICMPParameterProblem = 12
)

// Codes of Destination Unreachable (RFC 792, RFC 1191).
const (
	ICMPNetUnreachable      = 0
	ICMPHostUnreachable     = 1
	ICMPFragmentationNeeded = 4
)

// Codes of ICMPv6 Destination Unreachable (RFC 4443 section 3.1).
const (
	ICMPv6NoRoute            = 0
	ICMPv6AddressUnreachable = 3
	ICMPv6RejectRoute        = 6
)

// ICMPIsError reports the types about which no error is ever sent (RFC 1812 section 4.3.2.7).
func ICMPIsError(icmpType uint8) bool {
	switch icmpType {
	case ICMPUnreachable, ICMPSourceQuench, ICMPRedirect, ICMPTimeExceeded, ICMPParameterProblem:
		return true
	}
	return false
}

// ICMPv6IsError reports the types about which no error is ever sent: errors, whose types are below 128, and redirects
// (RFC 4443 sections 2.1 and 2.4 e).
func ICMPv6IsError(icmpType uint8) bool { return icmpType < 128 || icmpType == ICMPv6Redirect }

// PutICMPError writes the header in front of the quoteBytes of the offending packet that stand behind it in b, checksum
// included, and returns its length. mtu is that of the next hop where the code is "fragmentation needed" (RFC 1191
// section 4), else 0.
func PutICMPError(b []byte, icmpType, code uint8, mtu uint16, quoteBytes int) int {
	b[0], b[1], b[2], b[3] = icmpType, code, 0, 0
	binary.BigEndian.PutUint32(b[4:8], uint32(mtu))
	binary.BigEndian.PutUint16(b[2:4], Checksum(b[:ICMPLength+quoteBytes]))
	return ICMPLength
}

// PutICMPv6Error is PutICMPError of ICMPv6 between two addresses; mtu is that of Packet Too Big (RFC 4443 section 3.2).
func PutICMPv6Error(b []byte, source, destination [16]byte, icmpType, code uint8, mtu uint32, quoteBytes int) int {
	b[0], b[1] = icmpType, code
	binary.BigEndian.PutUint32(b[4:8], mtu)
	ICMPv6(b[:ICMPv6Length+quoteBytes]).PutChecksum(source, destination)
	return ICMPv6Length
}
