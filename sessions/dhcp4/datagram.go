package dhcp4

import (
	"errors"
	"fmt"
	"net/netip"

	"vbng/forwarding/wire"
)

// ErrDatagram says that a packet is not a whole UDP datagram.
var ErrDatagram = errors.New("dhcp4: not a valid UDP datagram")

// Datagram is a UDP datagram in an IPv4 packet.
type Datagram struct {
	Source, Destination netip.AddrPort
	Payload             []byte // ParseDatagram: aliases the packet
}

// ParseDatagram reads an IPv4 packet, from the IP header on. Bytes behind its total length are padding.
// Fragments are refused; the header's checksum must be right, and UDP's when it has one.
func ParseDatagram(packet []byte) (Datagram, error) {
	ip := wire.IPv4(packet)
	switch {
	case !ip.Valid():
		return Datagram{}, fmt.Errorf("%w: IPv4 header", ErrDatagram)
	case !ip.ChecksumOK():
		return Datagram{}, fmt.Errorf("%w: checksum of the IPv4 header", ErrDatagram)
	case ip.Fragment():
		return Datagram{}, fmt.Errorf("%w: a fragment", ErrDatagram)
	case ip.Protocol() != wire.IPProtocolUDP:
		return Datagram{}, fmt.Errorf("%w: protocol %d", ErrDatagram, ip.Protocol())
	}
	udp := wire.UDP(ip.Payload())
	switch {
	case !udp.Valid():
		return Datagram{}, fmt.Errorf("%w: UDP length", ErrDatagram)
	case !udp.ChecksumOK(ip.Source(), ip.Destination()):
		return Datagram{}, fmt.Errorf("%w: UDP checksum", ErrDatagram)
	}
	return Datagram{
		Source:      netip.AddrPortFrom(netip.AddrFrom4(ip.Source()), udp.SourcePort()),
		Destination: netip.AddrPortFrom(netip.AddrFrom4(ip.Destination()), udp.DestinationPort()),
		Payload:     udp.Payload(),
	}, nil
}

const ttl = 64

// AppendDatagram appends the IPv4 packet of d to b, with both checksums. identification is the IPv4
// identification field.
func AppendDatagram(b []byte, d Datagram, identification uint16) []byte {
	source, destination := d.Source.Addr().As4(), d.Destination.Addr().As4()
	start := len(b)
	b = append(b, make([]byte, wire.IPv4Length+wire.UDPLength)...)
	b = append(b, d.Payload...)
	packet := b[start:]
	wire.PutIPv4(packet, source, destination, wire.IPProtocolUDP, ttl, identification, wire.UDPLength+len(d.Payload))
	wire.PutUDP(packet[wire.IPv4Length:], source, destination, d.Source.Port(), d.Destination.Port(), len(d.Payload))
	return b
}
