// Package sessions is the subscriber: Session, its life from PADR, or the first word of a client of IPoE, to
// accounting Stop, and the Manager, which is the only owner and the only index of sessions.
//
//	punted frames                        the loop (one goroutine, no locks)                  others
//	─────────────                        ──────────────────────────────────                  ──────
//	PADI ─▶ Punt ─▶ PADO
//	PADR ─▶ Punt ── cookie good ───▶ admit: limits, PPPoE id      ── Apply(entry) ────▶ forwarder
//	                                 confirm: PADS, LCP           ◀─ applied ──────────
//	LCP, CHAP ─────────────────────▶ ppp.Link                     ── Authorize ───────▶ aaa
//	                                 grant: address from          ◀─ Grant or Reject ──
//	                                 Grant or pool                ── Apply(IPv4, echo) ▶ forwarder
//	                                                              ── AddSubscriber ───▶ routing/rib
//	IPCP ──────────────────────────▶ up                           ── Start ───────────▶ aaa/acct
//	                                                              ── record ──────────▶ control/store
//	PADT, silence, timeouts, clear ▶ end: the same ladder down    ── Stop, and all is given back
//
// advance (lifecycle.go) is the ladder: one thing is in flight at a time, and its answer takes the
// next step, up or down. So every failure, at any step, is undone by the same code, and an answer
// that comes late finds a session that knows what it holds, or nobody.
//
// A session holds up to four things (binding.go): an IPv4 address, an advertised IPv6 prefix, an IPv6 address
// and a delegated prefix. Each is taken from the grant or a pool (allot.go), told to the forwarder, routed, and
// only then told to the client (settled); it goes back the other way round, while the rest stays.
//
//	DHCP, DHCPv6, RS ─▶ Punt: pace, decode ─▶ heard: the session, or welcome: limits, one for (place, MAC)
//	                                          welcome ─ Authorize(line) ─▶ aaa ─▶ admitted: entry, no address
//	                                          serve4, serve6: lease machines ─ NeedAddress ─▶ allot, offer
//	                                          NeedBinding ─▶ entry, route ─▶ settled: Commit, ACK or REPLY
//	                                          openIPv6: prefix, advertisements at nd.Pacer's pace
//	a client that speaks while its last session is taken down: its next one begins when that is buried (comeBack)
//	relay: the same session, but messages go to servers (Needs.Relay), and their ACK is what is bound
//
// An IPoE session ends when it holds nothing any more, by the cause that took the last thing, or when its client
// releases the last of its leases (an advertised prefix is none). One of PPPoE ends with its link.
//
// Addresses are unique in their VRF, not in the router: each VRF has pools of its own (space.go).
//
// After a restart of control, Restore takes the sessions that were up from the store: entries, routes,
// addresses and identifiers are put back, timers and accounting go on, no client hears of it. Clients
// in the middle of their set-up get a PADT when their next frame finds no session.
//
// RFCs: 2516 (PPPoE; the machine is in sessions/pppoe), 1661 and its family (sessions/ppp), 2865 and
// 2866 (the meaning of causes and timeouts), 2131 and 3046 (sessions/dhcp4), 8415 (sessions/dhcp6), 4861, 4862
// and 6085 (sessions/nd, and one prefix for each client).
//
// Reading order: needs.go, session.go, loop.go, punt.go, admit.go, lifecycle.go, grant.go, account.go,
// teardown.go, program.go, record.go, restore.go; for IP on the line binding.go, allot.go, space.go, line.go, ipoe.go,
// access_line.go, lease4.go, lease6.go, decline.go,
// advert.go, relay.go; then config.go, profile.go, settings.go, check.go, subsystem.go;
// select.go, show.go, detail.go; single.go, debug.go and observe.go ("debug subscriber").
package sessions
