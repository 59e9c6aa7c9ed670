// Package table holds what the workers look packets up in. A table has one writer (the engine's control
// goroutine) and any number of readers that take no lock.
//
//	frame:  (port, tags, MAC, session id) --Hash--> session slot --> Session record
//	packet: (VRF, destination) ------FIB, FIB6----> Target = kind + index
//	                                                  session:  Session record --> header of the subscriber
//	                                                  neighbor: Adjacency ------> Ethernet header
//	                                                  group:    HopGroup, by the packet's flow --> neighbor
//
// The FIBs. IPv4 has a root of 16 or 24 bits and groups of 8 bits below it. IPv6 has a root of 16 bits and groups of 8 bits
// down to /64, as they are needed. Below a /64:
//
//	/64 entry --> leaf                          no longer prefix
//	          --> group --> ... --> leaf        prefixes of 65 to 126 bits: further strides
//	          --> deep record                   prefixes of 127 or 128 bits:
//	                hash (record, lower 64 bits)    first the /128, then the /127,
//	                entry                           then what would stand here without them: leaf or group
//
// So host routes, which are many, take 16 bytes each and one probe, and the other lengths, which are rare, are still
// right. Each entry knows the length of the prefix that wrote it; an update writes every entry that it covers once and
// leaves longer ones alone; a deletion writes the cover in their place and gives groups back that have become uniform.
//
// Memory. A group is 1 KB. IPv4 prefixes need at most two of their own, IPv6 prefixes one for each started 8 bits between
// 16 and their length, at most six up to /64 (GroupsOf6); those close together share them. The engine counts the most
// that its IPv6 prefixes can need and refuses one more before the store could run dry.
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
// Reading order: target.go, access.go, hash.go, groups.go, fib.go, fib6.go, deep.go, lookup6.go, flow.go,
// session.go, encap.go, tables.go.
package table
