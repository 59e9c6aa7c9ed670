package port

import (
	"encoding/binary"

	"vbng/forwarding/wire"
)

// completeChecksum writes the transport checksum of a frame whose sender left that to its device: a
// virtual device hands such frames over unfinished. What is neither TCP nor UDP, or is a fragment, has
// nothing left to finish.
func completeChecksum(frame []byte) {
	tagged, ok := wire.ReadTags(frame)
	if !ok {
		return
	}
	packet := frame[tagged.Offset:]
	switch tagged.Type {
	case wire.TypeIPv4:
		completeIPv4(packet)
	case wire.TypeIPv6:
		completeIPv6(packet)
	case wire.TypePPPoESession:
		const header = 8 // RFC 2516 4: six bytes, and the PPP protocol
		if len(packet) < header {
			return
		}
		switch binary.BigEndian.Uint16(packet[6:]) {
		case 0x0021:
			completeIPv4(packet[header:])
		case 0x0057:
			completeIPv6(packet[header:])
		}
	}
}

func completeIPv4(b []byte) {
	p := wire.IPv4(b)
	if !p.Valid() || p.Fragment() {
		return
	}
	completeTransport(p.Protocol(), b[12:20], p.Payload())
}

// completeIPv6 knows no extension headers: the kernel leaves no checksum to a device behind them.
func completeIPv6(b []byte) {
	const header = 40
	if len(b) < header || b[0]>>4 != 6 {
		return
	}
	length := int(binary.BigEndian.Uint16(b[4:]))
	if header+length > len(b) {
		return
	}
	completeTransport(b[6], b[8:40], b[header:header+length])
}

// completeTransport sums the addresses, as the pseudo-header has them (RFC 9293 3.1, RFC 768), and the
// segment.
func completeTransport(protocol uint8, addresses, segment []byte) {
	field := 0
	switch {
	case protocol == wire.IPProtocolTCP && len(segment) >= 20:
		field = 16
	case protocol == wire.IPProtocolUDP && len(segment) >= wire.UDPLength:
		field = 6
	default:
		return
	}
	binary.BigEndian.PutUint16(segment[field:], 0)
	pseudo := uint32(protocol) + uint32(len(segment)) + uint32(wire.Sum(addresses, 0))
	sum := ^wire.Sum(segment, pseudo)
	if sum == 0 && protocol == wire.IPProtocolUDP { // RFC 768: a computed zero travels as all ones
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(segment[field:], sum)
}
