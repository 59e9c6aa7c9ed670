// Package bgp speaks BGP-4 for IPv4 and IPv6 unicast, one GoBGP server per VRF, and joins it to the RIB.
//
//	configuration --Apply--> Speaker of each VRF --differences--> GoBGP <--TCP 179--> neighbours
//	                              |    ^                            |
//	       RIB <--learned paths---+    +------ best paths, End-of-RIB, states (watch)
//	       RIB ---own routes---> policy of redistribute, network --AddPath--> GoBGP
//
// A Speaker is one goroutine with one inbox; without "router bgp" there is none, and no listener. What
// changes is found by comparing the settings as values: only what RFC 4271 makes a part of the session
// (AS, password, source address, address families) resets a neighbour, and the schema says so by Effect and Removal.
// Filters are compiled into GoBGP's policy as a whole (compile.go), after which the neighbours whose own
// rules changed are evaluated anew, without a word to those that see no change.
//
// GoBGP is trusted with the protocol, not with what comes out of it: every path passes convert.go, which
// recovers from panics and refuses, by name, prefixes and next hops that must never reach the forwarder.
//
// When control ends, sessions are left without a NOTIFICATION and the neighbours, having been offered
// graceful restart, keep our routes for restartSeconds; the RIB keeps the forwarder's entries until Settled.
//
// RFCs: 4271 (BGP-4), 4760 (multiprotocol), 6793 (four-octet AS), 2385 (TCP MD5), 4724 (graceful
// restart), 2918 (route refresh), 8950 (IPv4 routes with IPv6 next hops), 1997 (communities), 4486 (Cease).
//
// Reading order: schema.go, settings.go, check.go, subsystem.go, speaker.go, apply.go, server.go, peer.go,
// compile.go, transition.go, learn.go, convert.go, announce.go, logger.go, show.go, routes.go.
package bgp
