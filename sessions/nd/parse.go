package nd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"vbng/forwarding/wire"
)

// The errors of Parse, wrapped with what was found.
var (
	ErrPacket   = errors.New("nd: not a whole ICMPv6 packet")
	ErrHopLimit = errors.New("nd: hop limit is not 255, the packet came over a router")
	ErrChecksum = errors.New("nd: wrong checksum")
	ErrType     = errors.New("nd: not a solicitation or neighbour advertisement")
	ErrRule     = errors.New("nd: breaks a rule of RFC 4861")
)

const (
	headerBytes    = 40 // IPv6
	protocolICMPv6 = 58
	hopLimit       = 255
	icmpBytes      = 8  // of a router solicitation, without options
	neighborBytes  = 24 // of neighbour messages, without options
	optionUnit     = 8  // bytes that an option's length counts
)

// The options (RFC 4861 section 4.6, RFC 8106).
const (
	optionSourceLink = 1
	optionTargetLink = 2
	optionPrefix     = 3
	optionMTU        = 5
	optionRDNSS      = 25
	optionDNSSL      = 31
)

// Parse reads an IPv6 packet, from the IP header on, and checks what RFC 4861 demands of the message:
// hop limit 255, code 0, checksum, lengths of options, addresses. Bytes behind its length are padding.
// ICMPv6 must follow the header at once.
func Parse(packet []byte) (Message, error) {
	if len(packet) < headerBytes || packet[0]>>4 != 6 || packet[6] != protocolICMPv6 {
		return Message{}, fmt.Errorf("%w: header", ErrPacket)
	}
	length := int(binary.BigEndian.Uint16(packet[4:]))
	if length > len(packet)-headerBytes || length < icmpBytes {
		return Message{}, fmt.Errorf("%w: payload length %d of %d bytes", ErrPacket, length, len(packet)-headerBytes)
	}
	icmp := packet[headerBytes : headerBytes+length]
	switch {
	case packet[7] != hopLimit:
		return Message{}, fmt.Errorf("%w: %d", ErrHopLimit, packet[7])
	case icmpSum(packet, icmp) != 0xffff:
		return Message{}, ErrChecksum
	case icmp[1] != 0:
		return Message{}, fmt.Errorf("%w: code %d", ErrRule, icmp[1])
	}
	m := Message{
		Type: Type(icmp[0]), Source: netip.AddrFrom16([16]byte(packet[8:24])),
		Destination: netip.AddrFrom16([16]byte(packet[24:40])),
	}
	var err error
	switch m.Type {
	case RouterSolicit:
		err = m.parseRouterSolicit(icmp)
	case NeighborSolicit, NeighborAdvert:
		err = m.parseNeighbor(icmp)
	default:
		err = fmt.Errorf("%w: type %d", ErrType, icmp[0])
	}
	if err != nil {
		return Message{}, err
	}
	return m, nil
}

// parseRouterSolicit obeys RFC 4861 section 6.1.1.
func (m *Message) parseRouterSolicit(icmp []byte) error {
	if err := m.parseOptions(icmp[icmpBytes:], optionSourceLink); err != nil {
		return err
	}
	return m.noLinkOfNobody()
}

// parseNeighbor obeys RFC 4861 sections 7.1.1 and 7.1.2.
func (m *Message) parseNeighbor(icmp []byte) error {
	if len(icmp) < neighborBytes {
		return fmt.Errorf("%w: %d bytes of a neighbour message", ErrPacket, len(icmp))
	}
	m.Target = netip.AddrFrom16([16]byte(icmp[8:24]))
	if m.Target.IsMulticast() {
		return fmt.Errorf("%w: target %s is multicast", ErrRule, m.Target)
	}
	if m.Type == NeighborAdvert {
		m.Router, m.Solicited, m.Override = icmp[4]&0x80 != 0, icmp[4]&0x40 != 0, icmp[4]&0x20 != 0
		if m.Solicited && m.Destination.IsMulticast() {
			return fmt.Errorf("%w: a solicited advertisement to %s", ErrRule, m.Destination)
		}
		return m.parseOptions(icmp[neighborBytes:], optionTargetLink)
	}
	if m.Source.IsUnspecified() && !isSolicitedNode(m.Destination) {
		return fmt.Errorf("%w: a probe to %s", ErrRule, m.Destination)
	}
	if err := m.parseOptions(icmp[neighborBytes:], optionSourceLink); err != nil {
		return err
	}
	return m.noLinkOfNobody()
}

// noLinkOfNobody refuses a source link-layer address of the unspecified address.
func (m *Message) noLinkOfNobody() error {
	if m.Source.IsUnspecified() && m.HasLinkAddress {
		return fmt.Errorf("%w: a link-layer address of the unspecified source", ErrRule)
	}
	return nil
}

// parseOptions walks all options and keeps the link-layer address, if it is Ethernet's.
func (m *Message) parseOptions(b []byte, link byte) error {
	for len(b) > 0 {
		if len(b) < 2 || b[1] == 0 || int(b[1])*optionUnit > len(b) {
			return fmt.Errorf("%w: length of an option", ErrRule)
		}
		if b[0] == link && b[1] == 1 {
			m.LinkAddress, m.HasLinkAddress = [6]byte(b[2:8]), true
		}
		b = b[int(b[1])*optionUnit:]
	}
	return nil
}

// isSolicitedNode reports whether a is of ff02::1:ff00:0/104 (RFC 4291 section 2.7.1).
func isSolicitedNode(a netip.Addr) bool {
	b := a.As16()
	return [13]byte(b[:13]) == [13]byte{0: 0xff, 1: 0x02, 11: 1, 12: 0xff}
}

// icmpSum sums the pseudo header of packet (RFC 8200 section 8.1) and the message, which is 0xffff when
// that holds its own right checksum.
func icmpSum(packet, icmp []byte) uint16 {
	pseudo := wire.Sum(packet[8:headerBytes], uint32(len(icmp))+protocolICMPv6)
	return wire.Sum(icmp, uint32(pseudo))
}
