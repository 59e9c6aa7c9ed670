package dhcp6

import "net/netip"

// Datagram is a UDP datagram in an IPv6 packet.
type Datagram struct {
	Source, Destination netip.AddrPort
	Payload             []byte // ParseDatagram: aliases the packet
}

// ParseDatagram reads an IPv6 packet, from the IP header on. Bytes behind its length are padding. UDP must
// follow the header at once, or behind hop-by-hop and destination options; fragments are refused; the
// checksum must be there and right (RFC 8200 section 8.1).
func ParseDatagram(packet []byte) (Datagram, error) { return Datagram{}, ErrNotBuilt }

// AppendDatagram appends the IPv6 packet of d to b, with hop limit 255 and the checksum.
func AppendDatagram(b []byte, d Datagram) []byte { return b }
