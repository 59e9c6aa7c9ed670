package frame

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Datagram is a decoded UDP datagram. Payload aliases the packet.
type Datagram struct {
	SrcPort, DstPort uint16
	Payload          []byte
}

// ParseUDP decodes the datagram of a packet and verifies its checksum; one without checksum is
// refused, as the simulator never sends such.
func ParseUDP(p IPv4) (Datagram, error) {
	return parseUDP(p.Payload, pseudo(p.Src, p.Dst, len(p.Payload)))
}

// ParseUDP6 does the same for IPv6, where RFC 8200 section 8.1 demands the checksum.
func ParseUDP6(p IPv6) (Datagram, error) {
	return parseUDP(p.Payload, pseudo6(p.Src, p.Dst, UDP, len(p.Payload)))
}

func parseUDP(b []byte, pseudoSum uint64) (Datagram, error) {
	if len(b) < UDPBytes {
		return Datagram{}, fmt.Errorf("UDP header: %w", ErrTruncated)
	}
	if length := int(binary.BigEndian.Uint16(b[4:])); length != len(b) {
		return Datagram{}, fmt.Errorf("UDP length %d of %d: %w", length, len(b), ErrMalformed)
	}
	if binary.BigEndian.Uint16(b[6:]) == 0 || fold(sum(pseudoSum, b)) != 0xffff {
		return Datagram{}, fmt.Errorf("UDP datagram: %w", ErrChecksum)
	}
	return Datagram{binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:]), b[UDPBytes:]}, nil
}

// AppendUDP appends a datagram with its checksum.
func AppendUDP(b []byte, src, dst Addr, d Datagram) []byte {
	return appendUDP(b, d, pseudo(src, dst, UDPBytes+len(d.Payload)))
}

// AppendUDP6 does the same for IPv6.
func AppendUDP6(b []byte, src, dst netip.Addr, d Datagram) []byte {
	return appendUDP(b, d, pseudo6(src, dst, UDP, UDPBytes+len(d.Payload)))
}

func appendUDP(b []byte, d Datagram, pseudoSum uint64) []byte {
	start := len(b)
	b = binary.BigEndian.AppendUint16(b, d.SrcPort)
	b = binary.BigEndian.AppendUint16(b, d.DstPort)
	b = binary.BigEndian.AppendUint16(b, uint16(UDPBytes+len(d.Payload)))
	b = append(b, 0, 0)
	b = append(b, d.Payload...)
	check := ^fold(sum(pseudoSum, b[start:]))
	if check == 0 { // RFC 768: zero means none
		check = 0xffff
	}
	binary.BigEndian.PutUint16(b[start+6:], check)
	return b
}

// pseudo is the sum over the pseudo header of RFC 768.
func pseudo(src, dst Addr, length int) uint64 {
	return sum(sum(UDP+uint64(length), src[:]), dst[:])
}

// pseudo6 is the sum over the pseudo header of RFC 8200 section 8.1.
func pseudo6(src, dst netip.Addr, protocol byte, length int) uint64 {
	from, to := src.As16(), dst.As16()
	return sum(sum(uint64(protocol)+uint64(length), from[:]), to[:])
}

const (
	icmpEchoReply   = 0
	icmpEchoRequest = 8
	icmpBytes       = 8
	replyTTL        = 64
)

// EchoReply answers an ICMP Echo-Request with a whole packet; ok is false for anything else, and
// for a request whose checksum is wrong.
func EchoReply(p IPv4) (reply []byte, ok bool) {
	b := p.Payload
	if p.Protocol != ICMP || p.Fragment || len(b) < icmpBytes || b[0] != icmpEchoRequest || b[1] != 0 {
		return nil, false
	}
	if fold(sum(0, b)) != 0xffff {
		return nil, false
	}
	header := IPv4{Src: p.Dst, Dst: p.Src, Protocol: ICMP, TTL: replyTTL, ID: p.ID}
	reply = AppendIPv4(make([]byte, 0, IPv4Bytes+len(b)), header, len(b))
	reply = append(reply, icmpEchoReply, 0, 0, 0)
	reply = append(reply, b[4:]...)
	binary.BigEndian.PutUint16(reply[IPv4Bytes+2:], ^fold(sum(0, reply[IPv4Bytes:])))
	return reply, true
}
