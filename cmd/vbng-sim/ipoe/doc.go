// Package ipoe is an IPoE subscriber as pure code: frames and expired timers go in, frames come out. It owns no
// socket, goroutine or clock, so one loop can play thousands of them.
//
//	      Discover, Offer  Request, Ack   ARP        package host6
//	Idle ─▶ Discover ─────▶ Request ─────▶ Resolve ─▶ Network6 ─▶ Up ◀─▶ Renew ─▶ Rebind
//	                                                             │ Close: DHCPv6 Release, DHCPRELEASE
//	           any of them ──▶ Ended (with a named Cause) ◀── Closing
//	           any of them ──▶ Silent (Silence: answers nothing any more)
//
// IPv4 comes first and IPv6 when it stands, so that the times of a set-up can be told apart; each may be missing. A
// subscriber that is up answers ARP requests and neighbour solicitations for its own addresses, and renews its leases.
// No address is given back because of what ARP tells: a conflict is for the traffic's verifier to find.
//
// RFCs: 2131 and 2132 (DHCPv4), 3046 (option 82), 826 (ARP); for IPv6 see package host6.
//
// Reading order: words.go, client.go, lease.go, frames.go.
package ipoe
