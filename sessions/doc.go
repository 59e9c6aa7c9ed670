// Package sessions is the subscriber: Session, its life from PADR to accounting Stop, and the Manager,
// which is the only owner and the only index of sessions.
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
// After a restart of control, Restore takes the sessions that were up from the store: entries, routes,
// addresses and identifiers are put back, timers and accounting go on, no client hears of it. Clients
// in the middle of their set-up get a PADT when their next frame finds no session.
//
// RFCs: 2516 (PPPoE; the machine is in sessions/pppoe), 1661 and its family (sessions/ppp), 2865 and
// 2866 (the meaning of causes and timeouts).
//
// Reading order: needs.go, session.go, loop.go, punt.go, admit.go, lifecycle.go, grant.go, account.go,
// teardown.go, program.go, record.go, restore.go; then config.go, settings.go, subsystem.go; select.go,
// show.go, detail.go.
package sessions
