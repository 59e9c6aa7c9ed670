// Package crowd plays many subscribers and the Internet behind the router in one loop: it is the
// command "vbng-sim pppoe".
//
//	              ┌──────────────────────── Crowd (crowd.go) ────────────────────────┐
//	              │  script ──▶ starter, generator                                    │
//	access port ◀─┼─▶ access.go ──▶ pppoe.Client per subscriber, timers               │
//	              │       └─ user packets ─▶ traffic.Meter ◀─ packets ─┐              │
//	              │                                          internet.go ◀────────────┼─▶ Internet port
//	              └───────────────────────────────────────────────────────────────────┘
//	                                     report.go
//
// There is one goroutine and no lock. Crowd.Round does what is due at a time that the caller tells,
// so tests run without waiting; run.go turns it with the real clock, sleeping in poll between.
//
// Reading order: options.go, vlan.go, script.go, verbs.go, link.go, device.go, subscriber.go,
// crowd.go, access.go, internet.go, generator.go, report.go, run.go.
package crowd
