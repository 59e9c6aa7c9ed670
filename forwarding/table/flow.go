package table

import (
	"encoding/binary"
	"math/bits"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// HopGroup is next hops of equal cost. It never changes; a group that does gets a new one, and readers go on with the
// old one until they have passed their round.
type HopGroup struct {
	Count   uint32
	Targets [entry.MaxHops]Target
}

// Choose returns the next hop of a flow. The hash values are cut into regions of equal size, one per next hop (the
// hash-threshold of RFC 2992): when one hop comes or goes, a quarter to a half of the flows move, and not nearly all as by
// a remainder.
func (g *HopGroup) Choose(flow uint32) Target {
	return g.Targets[uint64(flow)*uint64(g.Count)>>32&(entry.MaxHops-1)]
}

// hasPorts reports the protocols whose first four bytes are source and destination port.
func hasPorts(protocol uint8) bool {
	switch protocol {
	case wire.IPProtocolTCP, wire.IPProtocolUDP, wire.IPProtocolSCTP:
		return true
	}
	return false
}

// Flow4 returns the hash of an IPv4 packet's flow: addresses, protocol and ports. A fragment has no ports but in the
// first one, so for all fragments they do not count: a datagram's fragments take one way.
func Flow4(p wire.IPv4, seed uint64) uint32 {
	ports := uint64(0)
	if header := p.HeaderLength(); hasPorts(p.Protocol()) && !p.Fragment() && len(p) >= header+4 {
		ports = uint64(binary.BigEndian.Uint32(p[header : header+4]))
	}
	return mixFlow(binary.BigEndian.Uint64(p[12:20]), ports<<8|uint64(p.Protocol()), seed)
}

// Flow6 returns the hash of an IPv6 packet's flow: addresses, protocol, and ports, or the flow label where there are
// none (RFC 6438 section 3). Of fragments addresses and protocol count only, as with IPv4.
func Flow6(p wire.IPv6, seed uint64) uint32 {
	protocol, more := p.NextHeader(), uint64(0)
	switch {
	case protocol == wire.NextFragment && len(p) > wire.IPv6Length:
		protocol = p[wire.IPv6Length]
	case hasPorts(protocol) && len(p) >= wire.IPv6Length+4:
		more = uint64(binary.BigEndian.Uint32(p[wire.IPv6Length : wire.IPv6Length+4]))
	default:
		more = uint64(p.FlowLabel())
	}
	source := uint64(mixFlow(binary.BigEndian.Uint64(p[8:16]), binary.BigEndian.Uint64(p[16:24]), seed))
	destination := uint64(mixFlow(binary.BigEndian.Uint64(p[24:32]), binary.BigEndian.Uint64(p[32:40]), seed))
	return mixFlow(source<<32|destination, more<<8|uint64(protocol), seed)
}

// mixFlow hashes two words, as Hash.home does. The seed keeps two routers in a row from dividing alike.
func mixFlow(a, b, seed uint64) uint32 {
	high, low := bits.Mul64(a^0x9E3779B97F4A7C15^seed, b^0xE7037ED1A0B428DB^bits.RotateLeft64(seed, 32))
	mixed := (high ^ low) * 0x9E3779B97F4A7C15
	return uint32(mixed >> 32)
}
