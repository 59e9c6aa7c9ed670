package sessions

import (
	"encoding/binary"
	"net/netip"
)

// subnetBits is the prefix length that a DHCP client is told (option 1): that of the gateway's network if
// the address lies in it, else the longest that holds both. Many clients take no gateway outside of their
// network. Whatever else lies in it is reached through us all the same: the forwarder answers ARP for it.
func subnetBits(gateway netip.Prefix, a netip.Addr) int {
	if !gateway.Addr().Is4() || !a.Is4() {
		return 32
	}
	if gateway.Bits() <= longestSubnet && gateway.Contains(a) {
		return gateway.Bits()
	}
	for bits := longestSubnet; bits >= shortestSubnet; bits-- {
		p := netip.PrefixFrom(a, bits).Masked()
		if p.Contains(gateway.Addr()) && inside(p, a) && inside(p, gateway.Addr()) {
			return bits
		}
	}
	return 32
}

const (
	longestSubnet  = 30
	shortestSubnet = 1
)

// inside reports whether an address is neither the first nor the last of its network.
func inside(p netip.Prefix, a netip.Addr) bool {
	first, b := p.Addr().As4(), a.As4()
	host := ^uint32(0) >> p.Bits()
	n := binary.BigEndian.Uint32(b[:]) - binary.BigEndian.Uint32(first[:])
	return n != 0 && n != host
}
