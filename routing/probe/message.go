package probe

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"vbng/forwarding/wire"
)

// The ICMP errors that may quote a request (RFC 792).
const (
	icmpUnreachable  = 3
	icmpTimeExceeded = 11
	icmpParameter    = 12

	codeFragmentationNeeded = 4 // of icmpUnreachable (RFC 1191 4)
)

// errorHeaderBytes stand before the quoted packet, in both families.
const errorHeaderBytes = 8

// request returns an echo request with some bytes of data. The checksum of ICMPv6 is left to the kernel.
func request(to netip.Addr, identifier, sequence uint16, dataBytes int) []byte {
	b := make([]byte, wire.ICMPLength+dataBytes)
	for i := range dataBytes {
		b[wire.ICMPLength+i] = byte(i)
	}
	kind := uint8(wire.ICMPEchoRequest)
	if to.Is6() {
		kind = wire.ICMPv6EchoRequest
	}
	wire.PutICMPEcho(b, kind, identifier, sequence, dataBytes)
	return b
}

// answer is a message about a request of ours.
type answer struct {
	identifier, sequence uint16
	reply                bool // by whom we asked; else an error about the request
	expired              bool // the error is that its TTL has run out
	text                 string
}

// decode reads a message, from its ICMP header on. ok is false when it is about no echo request.
func decode(b []byte, four bool) (a answer, ok bool) {
	if len(b) < wire.ICMPLength {
		return a, false
	}
	if four {
		return decode4(b)
	}
	return decode6(b)
}

func decode4(b []byte) (a answer, ok bool) {
	switch b[0] {
	case wire.ICMPEchoReply:
		return echoed(b), true
	case icmpUnreachable:
		a.text = fmt.Sprintf("destination unreachable (code %d)", b[1])
		if b[1] == codeFragmentationNeeded {
			a.text = fmt.Sprintf("fragmentation needed, MTU %d", binary.BigEndian.Uint16(b[6:8]))
		}
	case icmpTimeExceeded:
		a.text, a.expired = "time to live exceeded", b[1] == 0
	case icmpParameter:
		a.text = "parameter problem"
	default:
		return a, false
	}
	quoted := wire.IPv4(b[errorHeaderBytes:])
	if len(quoted) < wire.IPv4Length || quoted[0]>>4 != 4 || quoted.Protocol() != wire.IPProtocolICMP {
		return a, false
	}
	header := int(quoted[0]&0x0f) * 4
	if header < wire.IPv4Length || len(quoted) < header+wire.ICMPLength {
		return a, false
	}
	return a.about(wire.ICMP(quoted[header:]), wire.ICMPEchoRequest)
}

func decode6(b []byte) (a answer, ok bool) {
	switch b[0] {
	case wire.ICMPv6EchoReply:
		return echoed(b), true
	case wire.ICMPv6Unreachable:
		a.text = fmt.Sprintf("destination unreachable (code %d)", b[1])
	case wire.ICMPv6PacketTooBig:
		a.text = fmt.Sprintf("packet too big, MTU %d", binary.BigEndian.Uint32(b[4:8]))
	case wire.ICMPv6TimeExceeded:
		a.text, a.expired = "hop limit exceeded", b[1] == 0
	case wire.ICMPv6ParameterProblem:
		a.text = "parameter problem"
	default:
		return a, false
	}
	quoted := wire.IPv6(b[errorHeaderBytes:])
	if len(quoted) < wire.IPv6Length+wire.ICMPLength || quoted[0]>>4 != 6 || quoted.NextHeader() != wire.NextICMPv6 {
		return a, false
	}
	return a.about(wire.ICMP(quoted[wire.IPv6Length:]), wire.ICMPv6EchoRequest)
}

// about takes identifier and sequence number from a quoted request.
func (a answer) about(quoted wire.ICMP, kind uint8) (answer, bool) {
	a.identifier, a.sequence = quoted.Identifier(), quoted.Sequence()
	return a, quoted.Type() == kind
}

func echoed(m wire.ICMP) answer {
	return answer{identifier: m.Identifier(), sequence: m.Sequence(), reply: true}
}
