// Package pppoe is a PPPoE subscriber as pure code: frames and expired timers go in, frames come
// out. It owns no socket, goroutine or clock, so one loop can play tens of thousands of them.
//
//	      PADO        PADS      LCP open       accepted    IPCP open      IPV6CP open, package host6
//	Idle ─▶ Discovery ─▶ Request ─▶ Link ─▶ Authenticate ─▶ Network ─▶ Up, or with IPv6 Network6 ─▶ Up
//	                                                                                        │ Close
//	                       any of them ──▶ Ended (with a named Cause) ◀── Closing ◀─────────┘
//	                       any of them ──▶ Silent (Silence: answers nothing any more)
//
// PPP has one timer, the Deadline; what it is for depends on the phase. The IPv6 side has its own. What DHCPv6 gave is
// not released: the end of the session ends it.
//
// It shares no code with the router's PPP: RFC 1661 is read a second time here, from the calling
// side, so that one misreading cannot hide in both.
//
// RFCs: 2516 (PPPoE), 1661 (PPP, LCP), 1334 (PAP), 1994 (CHAP), 1332 (IPCP), 1877 (DNS in IPCP), 5072
// (IPV6CP).
//
// Reading order: words.go, client.go, discovery.go, control.go, lcp.go, auth.go, ipcp.go, ipv6cp.go,
// user.go.
package pppoe
