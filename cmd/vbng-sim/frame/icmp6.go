package frame

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// ICMPv6 types (RFC 4443 section 4, RFC 4861 section 4).
const (
	icmp6EchoRequest = 128
	icmp6EchoReply   = 129
	icmp6Bytes       = 4 // type, code, checksum

	TypeRouterSolicitation    = 133
	TypeRouterAdvertisement   = 134
	TypeNeighborSolicitation  = 135
	TypeNeighborAdvertisement = 136
)

// AppendICMP6 appends an ICMPv6 message of code 0 with its checksum; body is what follows that.
func AppendICMP6(b []byte, src, dst netip.Addr, kind byte, body []byte) []byte {
	start := len(b)
	b = append(append(b, kind, 0, 0, 0), body...)
	check := ^fold(sum(pseudo6(src, dst, ICMPv6, len(b)-start), b[start:]))
	binary.BigEndian.PutUint16(b[start+2:], check)
	return b
}

// ParseICMP6 verifies the checksum and splits a message into type and what follows the checksum; a code other
// than 0 is refused, as none of the messages known here has one.
func ParseICMP6(p IPv6) (kind byte, body []byte, err error) {
	b := p.Payload
	if p.NextHeader != ICMPv6 || len(b) < icmp6Bytes {
		return 0, nil, fmt.Errorf("ICMPv6 message: %w", ErrTruncated)
	}
	if fold(sum(pseudo6(p.Src, p.Dst, ICMPv6, len(b)), b)) != 0xffff {
		return 0, nil, fmt.Errorf("ICMPv6 message: %w", ErrChecksum)
	}
	if b[1] != 0 {
		return 0, nil, fmt.Errorf("ICMPv6 type %d code %d: %w", b[0], b[1], ErrMalformed)
	}
	return b[0], b[icmp6Bytes:], nil
}

// EchoReply6 answers an ICMPv6 Echo-Request with a whole packet; ok is false for anything else, and for a
// request whose checksum is wrong.
func EchoReply6(p IPv6) (reply []byte, ok bool) {
	kind, body, err := ParseICMP6(p)
	if err != nil || kind != icmp6EchoRequest {
		return nil, false
	}
	header := IPv6{Src: p.Dst, Dst: p.Src, NextHeader: ICMPv6, HopLimit: replyTTL}
	reply = AppendIPv6(make([]byte, 0, IPv6Bytes+len(p.Payload)), header, len(p.Payload))
	return AppendICMP6(reply, p.Dst, p.Src, icmp6EchoReply, body), true
}
