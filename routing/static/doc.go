// Package static gives the RIB the operator's own routes.
//
//	ip route 0.0.0.0/0 198.51.100.2
//	ip route 0.0.0.0/0 203.0.113.1 distance 200
//	ip route 192.0.2.0/24 blackhole
//	ipv6 route ::/0 fe80::1%core0
//	vrf red
//	 ip route 0.0.0.0/0 198.51.100.2
//
// Lines of the same prefix and distance are one route with several next hops, 64 at most, which share
// the packets by flow. A next hop is reached by the longest prefix of the VRF that covers it, the
// default route excepted, or on the interface that is named behind the percent sign (RFC 4007 11.2),
// whatever that has for prefixes; a link-local one needs its interface. While it is not reached, the
// route is kept and shown as unresolved. Blackholes drop what no longer prefix leads elsewhere, and
// what has a next hop in them.
//
// Reading order: config.go, check.go, static.go.
package static
