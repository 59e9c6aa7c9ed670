package frame

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// IPv6Bytes is the length of a header without extensions.
const IPv6Bytes = 40

const (
	flowLabelMask = 0xfffff
	hopLimitByte  = 7
	// ICMPv6 is the protocol number that follows an IPv6 header.
	ICMPv6 = 58
)

// IPv6 is a decoded packet. Payload aliases the packet and ends where the payload length says. Extension headers
// are payload: neither the simulator nor what it expects from the router has any.
type IPv6 struct {
	Src, Dst   netip.Addr
	NextHeader byte
	HopLimit   byte
	FlowLabel  uint32 // 20 bits
	TotalBytes int    // with the header
	Payload    []byte
}

// ParseIPv6 decodes a packet. Bytes behind the payload length (Ethernet padding) are ignored.
func ParseIPv6(b []byte) (IPv6, error) {
	if len(b) < IPv6Bytes {
		return IPv6{}, fmt.Errorf("IPv6 header: %w", ErrTruncated)
	}
	if b[0]>>4 != 6 {
		return IPv6{}, fmt.Errorf("IPv6 version %d: %w", b[0]>>4, ErrMalformed)
	}
	total := IPv6Bytes + int(binary.BigEndian.Uint16(b[4:]))
	if total > len(b) {
		return IPv6{}, fmt.Errorf("IPv6 total length %d of %d: %w", total, len(b), ErrTruncated)
	}
	return IPv6{
		Src: netip.AddrFrom16([16]byte(b[8:24])), Dst: netip.AddrFrom16([16]byte(b[24:40])),
		NextHeader: b[6], HopLimit: b[hopLimitByte], FlowLabel: binary.BigEndian.Uint32(b) & flowLabelMask,
		TotalBytes: total, Payload: b[IPv6Bytes:total],
	}, nil
}

// AppendIPv6 appends a header for a payload of the given length.
func AppendIPv6(b []byte, p IPv6, payloadBytes int) []byte {
	b = binary.BigEndian.AppendUint32(b, 6<<28|p.FlowLabel&flowLabelMask)
	b = binary.BigEndian.AppendUint16(b, uint16(payloadBytes))
	b = append(b, p.NextHeader, p.HopLimit)
	src, dst := p.Src.As16(), p.Dst.As16()
	return append(append(b, src[:]...), dst[:]...)
}

// InterfaceID is the lower half of an IPv6 address.
type InterfaceID [8]byte

// EUI64 is the identifier made of a MAC address (RFC 4291 appendix A).
func (m MAC) EUI64() InterfaceID {
	return InterfaceID{m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]}
}

// Join makes an address of the upper 64 bits of a prefix and an identifier.
func Join(prefix netip.Addr, id InterfaceID) netip.Addr {
	b := prefix.As16()
	copy(b[8:], id[:])
	return netip.AddrFrom16(b)
}

// LinkLocal is the link-local address of an identifier (RFC 4291 section 2.5.6).
func LinkLocal(id InterfaceID) netip.Addr {
	return Join(netip.AddrFrom16([16]byte{0xfe, 0x80}), id)
}

// SolicitedNode is the group in which the owner of an address listens (RFC 4291 section 2.7.1).
func SolicitedNode(a netip.Addr) netip.Addr {
	b := a.As16()
	return netip.AddrFrom16([16]byte{0: 0xff, 1: 0x02, 11: 1, 12: 0xff, 13: b[13], 14: b[14], 15: b[15]})
}

// AllRouters is the group of the routers on a link, AllServers that of its DHCPv6 servers and relays.
func AllRouters() netip.Addr { return netip.AddrFrom16([16]byte{0: 0xff, 1: 0x02, 15: 2}) }

// AllServers is ff02::1:2 (RFC 8415 section 7.1).
func AllServers() netip.Addr { return netip.AddrFrom16([16]byte{0: 0xff, 1: 0x02, 13: 1, 15: 2}) }

// GroupMAC is the Ethernet address of an IPv6 group (RFC 2464 section 7).
func GroupMAC(group netip.Addr) MAC {
	b := group.As16()
	return MAC{0x33, 0x33, b[12], b[13], b[14], b[15]}
}
