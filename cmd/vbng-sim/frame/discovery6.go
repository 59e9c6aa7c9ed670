package frame

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"
)

// Options of neighbour discovery (RFC 4861 section 4.6, RFC 8106 section 5.1).
const (
	optionSource = 1
	optionTarget = 2
	optionPrefix = 3
	optionMTU    = 5
	optionDNS    = 25

	optionUnit   = 8 // bytes, in which option lengths count
	prefixBytes  = 32
	advertBytes  = 12 // of a router advertisement behind the checksum
	neighborFlag = 0x60
	discoveryHop = 255 // RFC 4861 section 4: every message bears it, so that none came through a router
)

// Prefix is a Prefix Information option.
type Prefix struct {
	Prefix           netip.Prefix
	OnLink           bool
	Autonomous       bool
	Valid, Preferred time.Duration
}

// RouterAdvert is a router advertisement.
type RouterAdvert struct {
	HopLimit       byte
	Managed, Other bool
	Lifetime       time.Duration // as a default router; 0: it is none
	Source         MAC           // zero: no such option
	MTU            uint32        // bytes; 0: no such option
	Prefixes       []Prefix
	DNS            []netip.Addr
}

// Neighbor is a neighbour solicitation or advertisement.
type Neighbor struct {
	Target    netip.Addr
	Link      MAC  // source or target link-layer address; zero: no such option
	Router    bool // of advertisements
	Solicited bool
}

// visitOptions walks the options; one of length 0 makes the message void (RFC 4861 section 4.6).
func visitOptions(b []byte, visit func(kind byte, value []byte)) error {
	for len(b) > 0 {
		if len(b) < 2 || b[1] == 0 || int(b[1])*optionUnit > len(b) {
			return fmt.Errorf("neighbour discovery option: %w", ErrMalformed)
		}
		length := int(b[1]) * optionUnit
		visit(b[0], b[2:length])
		b = b[length:]
	}
	return nil
}

// ParseRouterAdvert decodes what follows the checksum.
func ParseRouterAdvert(b []byte) (RouterAdvert, error) {
	if len(b) < advertBytes {
		return RouterAdvert{}, fmt.Errorf("router advertisement: %w", ErrTruncated)
	}
	a := RouterAdvert{
		HopLimit: b[0], Managed: b[1]&0x80 != 0, Other: b[1]&0x40 != 0,
		Lifetime: seconds(uint32(binary.BigEndian.Uint16(b[2:]))),
	}
	err := visitOptions(b[advertBytes:], a.option)
	return a, err
}

func (a *RouterAdvert) option(kind byte, v []byte) {
	switch {
	case kind == optionSource && len(v) == 6:
		a.Source = MAC(v)
	case kind == optionMTU && len(v) == 6:
		a.MTU = binary.BigEndian.Uint32(v[2:])
	case kind == optionPrefix && len(v) == prefixBytes-2 && v[0] <= 128:
		a.Prefixes = append(a.Prefixes, Prefix{
			Prefix: netip.PrefixFrom(netip.AddrFrom16([16]byte(v[14:30])), int(v[0])),
			OnLink: v[1]&0x80 != 0, Autonomous: v[1]&0x40 != 0,
			Valid: seconds(binary.BigEndian.Uint32(v[2:])), Preferred: seconds(binary.BigEndian.Uint32(v[6:])),
		})
	case kind == optionDNS:
		for v = v[min(6, len(v)):]; len(v) >= 16; v = v[16:] {
			a.DNS = append(a.DNS, netip.AddrFrom16([16]byte(v[:16])))
		}
	}
}

func seconds(n uint32) time.Duration { return time.Duration(n) * time.Second }

// ParseNeighbor decodes a solicitation or advertisement behind its checksum.
func ParseNeighbor(b []byte) (Neighbor, error) {
	if len(b) < 20 {
		return Neighbor{}, fmt.Errorf("neighbour message: %w", ErrTruncated)
	}
	n := Neighbor{Target: netip.AddrFrom16([16]byte(b[4:20])), Router: b[0]&0x80 != 0, Solicited: b[0]&0x40 != 0}
	err := visitOptions(b[20:], func(kind byte, v []byte) {
		if (kind == optionSource || kind == optionTarget) && len(v) == 6 {
			n.Link = MAC(v)
		}
	})
	return n, err
}

// RouterSolicitation is a whole packet. link is zero where there are no link-layer addresses.
func RouterSolicitation(src netip.Addr, link MAC) []byte {
	return discovery(src, AllRouters(), TypeRouterSolicitation, appendLink(make([]byte, 4), optionSource, link))
}

// NeighborSolicitation is a whole packet that asks for target. From the unspecified address it is a probe for
// duplicates, without option (RFC 4862 section 5.4.2).
func NeighborSolicitation(src, target netip.Addr, link MAC) []byte {
	address := target.As16()
	body := append(make([]byte, 4), address[:]...)
	if !src.IsUnspecified() {
		body = appendLink(body, optionSource, link)
	}
	return discovery(src, SolicitedNode(target), TypeNeighborSolicitation, body)
}

// NeighborAdvertisement is a whole packet, the answer of target's owner to a solicitation from dst: solicited,
// override.
func NeighborAdvertisement(dst, target netip.Addr, link MAC) []byte {
	address := target.As16()
	body := append([]byte{neighborFlag, 0, 0, 0}, address[:]...)
	return discovery(target, dst, TypeNeighborAdvertisement, appendLink(body, optionTarget, link))
}

func appendLink(b []byte, kind byte, link MAC) []byte {
	if link == (MAC{}) {
		return b
	}
	return append(append(b, kind, 1), link[:]...)
}

func discovery(src, dst netip.Addr, kind byte, body []byte) []byte {
	header := IPv6{Src: src, Dst: dst, NextHeader: ICMPv6, HopLimit: discoveryHop}
	b := AppendIPv6(make([]byte, 0, 96), header, icmp6Bytes+len(body))
	return AppendICMP6(b, src, dst, kind, body)
}

// IsDiscovery reports whether a packet may be a message of neighbour discovery (RFC 4861 section 6.1 and 7.1).
func (p IPv6) IsDiscovery() bool {
	return p.NextHeader == ICMPv6 && p.HopLimit == discoveryHop && len(p.Payload) > 0 &&
		p.Payload[0] >= TypeRouterSolicitation && p.Payload[0] <= TypeNeighborAdvertisement
}
