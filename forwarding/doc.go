// Package forwarding is the engine: it moves packets and holds no opinions. Control programs it with
// entries (Apply) and hears from it through punt rings and counters.
//
//	          control's goroutine                          worker (a locked OS thread)
//	Apply --> directory: what is there, who refers to whom  mailbox --> session records, echo, ports
//	      --> tables: hash, FIB, adjacencies  ------------> ports --> graph of nodes --> ports
//	      --> mailbox                                       timer wheel --> LCP echo
//	                                                        inject ring --> ports
//
// A batch is planned whole on the directory (plan*.go): references, capacity, uniqueness. If an entry
// cannot be, what was planned is undone and nothing else happens. Otherwise the plan is published
// (publish.go) in the batch's order, and cannot fail. What readers may still hold is used again after a
// grace period: every worker has passed a round since, or sleeps.
//
// Reading order: config.go, engine.go, worker.go, wheel.go; then directory.go, plan.go and its sisters,
// publish.go, sweep.go.
package forwarding
