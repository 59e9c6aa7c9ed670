// Package table holds what the workers look packets up in. A table has one writer (the engine's control
// goroutine) and any number of readers that take no lock.
//
//	frame:  (port, tags, MAC, session id) --Hash--> session slot --> Session record
//	packet: (VRF, destination) ------------FIB----> Target = kind + index
//	                                                  session:  Session record --> PPPoE header
//	                                                  neighbor: Adjacency ------> Ethernet header
//
// How readers stay safe. A word that readers follow (a hash entry, a FIB entry, a pointer) is written
// atomically and last, when all that it leads to stands. What lies behind it does not change while it can
// be reached: it is replaced, and the old place is used again only after a grace period, when every worker
// has passed a round (Reclaim). The one exception is the session record, which its owning worker may
// change, because it alone reads it on the packet path.
//
// Lookups come in vectors: one call asks the cache for the lines of all packets, the next one reads them.
// All memory is reserved when the tables are made; nothing grows and nothing is rehashed.
// Nodes are safe Go: unsafe stays in packages packet, table, counter and punt.
//
// Reading order: target.go, access.go, hash.go, fib.go, groups.go, session.go, records.go, tables.go.
package table
