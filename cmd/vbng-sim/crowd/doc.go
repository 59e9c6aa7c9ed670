// Package crowd plays many subscribers and the Internet behind the router in one loop: it is the
// commands "vbng-sim pppoe" and "vbng-sim ipoe", which differ in the table of kind.go.
//
//	              ┌──────────────────────── Crowd (crowd.go) ────────────────────────┐
//	              │  script ──▶ starter, generator                                    │
//	access port ◀─┼─▶ access.go ──▶ a pppoe or ipoe.Client per subscriber, timers     │
//	              │       └─ user packets ─▶ traffic.Meter ◀─ packets ─┐              │
//	              │                                          internet.go ◀────────────┼─▶ Internet port
//	              └───────────────────────────────────────────────────────────────────┘
//	                                     report.go
//
// There is one goroutine and no lock. Crowd.Round does what is due at a time that the caller tells,
// so tests run without waiting; run.go turns it with the real clock, sleeping in poll between.
//
// Two crowds may play on the same devices at a time, if their MAC addresses and Internet addresses differ: each passes
// over what is not for it.
//
// Reading order: kind.go, options.go, options_ipoe.go, vlan.go, script.go, verbs.go, link.go, device.go, subscriber.go,
// crowd.go, access.go, internet.go, generator.go, report.go, run.go.
package crowd
