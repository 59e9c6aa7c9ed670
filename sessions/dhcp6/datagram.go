package dhcp6

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"vbng/forwarding/wire"
)

// ErrDatagram says that a packet is not a whole UDP datagram.
var ErrDatagram = errors.New("dhcp6: not a valid UDP datagram")

// Datagram is a UDP datagram in an IPv6 packet.
type Datagram struct {
	Source, Destination netip.AddrPort
	Payload             []byte // ParseDatagram: aliases the packet
}

const (
	headerBytes    = 40
	udpBytes       = 8
	protocolUDP    = 17
	hopByHop       = 0
	destinationOpt = 60
	hopLimit       = 255
)

// ParseDatagram reads an IPv6 packet, from the IP header on. Bytes behind its length are padding. UDP must
// follow the header at once, or behind hop-by-hop and destination options; fragments are refused; the
// checksum must be there and right (RFC 8200 section 8.1).
func ParseDatagram(packet []byte) (Datagram, error) {
	if len(packet) < headerBytes || packet[0]>>4 != 6 {
		return Datagram{}, fmt.Errorf("%w: IPv6 header", ErrDatagram)
	}
	length := int(binary.BigEndian.Uint16(packet[4:]))
	if length > len(packet)-headerBytes {
		return Datagram{}, fmt.Errorf("%w: payload length %d of %d bytes", ErrDatagram, length, len(packet)-headerBytes)
	}
	source, destination := netip.AddrFrom16([16]byte(packet[8:24])), netip.AddrFrom16([16]byte(packet[24:40]))
	next, udp := packet[6], packet[headerBytes:headerBytes+length]
	for next == hopByHop || next == destinationOpt {
		if len(udp) < 8 || len(udp) < 8+8*int(udp[1]) {
			return Datagram{}, fmt.Errorf("%w: extension header", ErrDatagram)
		}
		next, udp = udp[0], udp[8+8*int(udp[1]):]
	}
	switch {
	case next != protocolUDP:
		return Datagram{}, fmt.Errorf("%w: next header %d", ErrDatagram, next)
	case len(udp) < udpBytes || int(binary.BigEndian.Uint16(udp[4:])) < udpBytes || int(binary.BigEndian.Uint16(udp[4:])) > len(udp):
		return Datagram{}, fmt.Errorf("%w: UDP length", ErrDatagram)
	}
	udp = udp[:binary.BigEndian.Uint16(udp[4:])]
	if binary.BigEndian.Uint16(udp[6:]) == 0 || udpSum(packet, udp) != 0xffff {
		return Datagram{}, fmt.Errorf("%w: UDP checksum", ErrDatagram)
	}
	return Datagram{
		Source:      netip.AddrPortFrom(source, binary.BigEndian.Uint16(udp)),
		Destination: netip.AddrPortFrom(destination, binary.BigEndian.Uint16(udp[2:])),
		Payload:     udp[udpBytes:],
	}, nil
}

// AppendDatagram appends the IPv6 packet of d to b, with hop limit 255 and the checksum.
func AppendDatagram(b []byte, d Datagram) []byte {
	start := len(b)
	b = append(b, make([]byte, headerBytes+udpBytes)...)
	b = append(b, d.Payload...)
	packet, udp := b[start:], b[start+headerBytes:]
	packet[0], packet[6], packet[7] = 0x60, protocolUDP, hopLimit
	binary.BigEndian.PutUint16(packet[4:], uint16(len(udp)))
	source, destination := d.Source.Addr().As16(), d.Destination.Addr().As16()
	copy(packet[8:], source[:])
	copy(packet[24:], destination[:])
	binary.BigEndian.PutUint16(udp, d.Source.Port())
	binary.BigEndian.PutUint16(udp[2:], d.Destination.Port())
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	sum := ^udpSum(packet, udp)
	if sum == 0 { // RFC 8200 section 8.1: a computed zero travels as all ones
		sum = 0xffff
	}
	binary.BigEndian.PutUint16(udp[6:], sum)
	return b
}

// udpSum sums the pseudo header of packet (RFC 8200 section 8.1) and the datagram, which is 0xffff when
// that holds its own right checksum.
func udpSum(packet, udp []byte) uint16 {
	pseudo := wire.Sum(packet[8:headerBytes], uint32(len(udp))+protocolUDP)
	return wire.Sum(udp, uint32(pseudo))
}
