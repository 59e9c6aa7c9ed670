// Package wire holds protocol headers as typed byte slices: a validity check and accessors, no copies.
//
// A header type is the slice of bytes that begins at the header. Valid says whether the header is
// whole and consistent with the bytes at hand; the accessors of a header that is not valid may panic
// or return nonsense, so ask first. The Put functions write a whole header into a slice that is long
// enough.
//
//	Ethernet  dst 6 | src 6 | type 2
//	Tag       TCI 2 | type 2                     behind a type that IsTPID
//	PPPoE     ver/type 1 | code 1 | session 2 | length 2 | payload
//	PPP       protocol 2 | information           inside PPPoE: no address, no control, no compression
//	Control   code 1 | id 1 | length 2 | data    LCP and its kin
//	IPv4, UDP, ICMP, ARP
//	IPv6, ICMPv6, Neighbor                       solicitation and advertisement, with their options
//
// Sources: IEEE 802.3, IEEE 802.1Q, RFC 791, RFC 768, RFC 792, RFC 826, RFC 1071, RFC 1624, RFC 1661,
// RFC 2516, RFC 4443, RFC 4861, RFC 8200. Read ethernet.go, pppoe.go, ip.go, ip6.go, icmp6.go, then checksum.go.
package wire
