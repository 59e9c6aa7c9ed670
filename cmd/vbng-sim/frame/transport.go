package frame

import (
	"encoding/binary"
	"fmt"
)

// Datagram is a decoded UDP datagram. Payload aliases the packet.
type Datagram struct {
	SrcPort, DstPort uint16
	Payload          []byte
}

// ParseUDP decodes the datagram of a packet and verifies its checksum; one without checksum is
// refused, as the simulator never sends such.
func ParseUDP(p IPv4) (Datagram, error) {
	b := p.Payload
	if len(b) < UDPBytes {
		return Datagram{}, fmt.Errorf("UDP header: %w", ErrTruncated)
	}
	if length := int(binary.BigEndian.Uint16(b[4:])); length != len(b) {
		return Datagram{}, fmt.Errorf("UDP length %d of %d: %w", length, len(b), ErrMalformed)
	}
	if binary.BigEndian.Uint16(b[6:]) == 0 || fold(sum(pseudo(p.Src, p.Dst, len(b)), b)) != 0xffff {
		return Datagram{}, fmt.Errorf("UDP datagram: %w", ErrChecksum)
	}
	return Datagram{binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:]), b[UDPBytes:]}, nil
}

// AppendUDP appends a datagram with its checksum.
func AppendUDP(b []byte, src, dst Addr, d Datagram) []byte {
	start := len(b)
	b = binary.BigEndian.AppendUint16(b, d.SrcPort)
	b = binary.BigEndian.AppendUint16(b, d.DstPort)
	b = binary.BigEndian.AppendUint16(b, uint16(UDPBytes+len(d.Payload)))
	b = append(b, 0, 0)
	b = append(b, d.Payload...)
	check := ^fold(sum(pseudo(src, dst, len(b)-start), b[start:]))
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
