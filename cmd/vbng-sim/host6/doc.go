// Package host6 is the IPv6 side of a subscriber as pure code, over Ethernet and over PPP: IPv6 packets and expired
// timers go in, IPv6 packets come out; what carries them is the caller's.
//
//	      RS, RA             Solicit, Advertise     Request, Reply       NS, NA
//	Idle ─▶ Routers ─────────▶ Solicit ─────────────▶ Request ──────────▶ Resolve ─▶ Ready ◀─▶ Renew ─▶ Rebind
//	           └─ no DHCPv6 wanted ─────────────────────────────────────────▲          │ Release
//	           any of them ──▶ Failed (with a named Cause)           Released ◀── Release
//
// A client makes an address from the first autonomous prefix of the router advertisement, and asks for an address
// (IA_NA) and a prefix (IA_PD) as its settings say. Over PPP there are no link-layer addresses, so Resolve is passed
// by. It answers neighbour solicitations for its own addresses from its link-local address on.
//
// Not here: the lifetimes of what is advertised, more than one router, and reconfiguration by the server.
//
// RFCs: 4861 (neighbour discovery), 4862 (stateless addresses), 8415 (DHCPv6), 3646 (DNS).
//
// Reading order: words.go, client.go, discovery.go, lease.go.
package host6
