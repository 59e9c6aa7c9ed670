// Package ppp is the access concentrator's side of PPP: link control, authentication and the
// network protocols of one subscriber, as pure code. Packets, expired timers and the owner's
// decisions go in; packets, timers and news come out. It owns no goroutine, socket, clock or log.
//
//	         Receive, Timeout                  AuthDone, OpenNetwork, Close
//	               │                                     │
//	               ▼                                     ▼
//	┌──────────────────────────── Link (link.go) ────────────────────────────┐
//	│  lcp ──layerUp──▶ auth ──AuthRequest──▶ owner ──OpenNetwork──▶ ipcp     │
//	│   │               (PAP, CHAP-MD5)                           ├──▶ ipv6cp │
//	│   └──────────────── automaton: packets to events ───────────┘          │
//	│                        Step: RFC 1661 section 4.1                      │
//	└────────────────────────────────────┬───────────────────────────────────┘
//	                                     ▼
//	      []Output: Send SetTimer StopTimer LCPUp LCPDown AuthRequest
//	                NetworkUp NetworkDown NetworkFinished Finished
//
// A link lives from Start to exactly one Finished. The owner of the link performs the outputs in
// the order given, and calls OpenNetwork only when forwarding is ready for the first data packet.
// The grant (NetConfig) says which of IPCP and IPV6CP are wanted; the other is answered with
// Protocol-Reject. They open side by side, and the end of one (NetworkFinished) is the link's end only
// if the other is not there.
//
// RFCs: 1661 (PPP, LCP), 1332 (IPCP), 1877 (DNS in IPCP), 5072 (IPV6CP), 1334 (PAP), 1994 (CHAP), 1570
// (LCP extensions), 2516 section 7 and 4638 (what PPPoE forbids and permits in LCP).
//
// Reading order: words.go, table.go, packet.go, option.go, output.go, automaton.go, negotiate.go,
// lcp.go, ipcp.go, ipv6cp.go, auth.go, link.go, network.go, receive.go, snapshot.go.
package ppp
