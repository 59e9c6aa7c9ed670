package dhcp4

import "net/netip"

// Datagram is a UDP datagram in an IPv4 packet.
type Datagram struct {
	Source, Destination netip.AddrPort
	Payload             []byte // ParseDatagram: aliases the packet
}

// ParseDatagram reads an IPv4 packet, from the IP header on. Bytes behind its total length are padding.
// Fragments are refused; the header's checksum must be right, and UDP's when it has one.
func ParseDatagram(packet []byte) (Datagram, error) { return Datagram{}, ErrNotBuilt }

// AppendDatagram appends the IPv4 packet of d to b, with both checksums. identification is the IPv4
// identification field.
func AppendDatagram(b []byte, d Datagram, identification uint16) []byte { return b }
