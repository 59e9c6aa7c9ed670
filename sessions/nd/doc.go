// Package nd is neighbour discovery on a subscriber's line, as pure code: it reads router and neighbour
// solicitations and advertisements, writes router advertisements, and says when the next
// router advertisement is due. It owns no socket, goroutine or clock.
//
//	punted packet ─ Parse ─▶ Message ─┬─ RouterSolicit ─▶ Pacer.Solicited(now, random)
//	                                  └─ Neighbor...    ─▶ the caller (the forwarder answers them)
//	Pacer.Deadline ─▶ Pacer.Sent(now, random) + AppendRouterAdvert ─▶ IPv6 packet
//
// Packets are whole IPv6 packets; Ethernet, tags or PPP are the caller's.
//
// RFCs: 4861 (validity 6.1.1, 6.1.2, 7.1.1, 7.1.2; pace 6.2.4, 6.2.6), 4862, 8106 (RDNSS, DNSSL),
// 4443 (ICMPv6).
//
// Reading order: message.go, parse.go, advert.go, pace.go.
package nd
