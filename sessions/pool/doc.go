// Package pool hands out addresses and prefixes to subscribers: named pools, and fixed addresses or prefixes
// that a server granted, inside or outside of any pool. Set is IPv4 addresses in ordered ranges; Prefixes is
// IPv6 prefixes cut into units of one length each, a length of 128 giving addresses.
//
//	Allocate ──▶ pool ──▶ what the owner had before, else the next free one behind the last one given
//	Reserve  ──▶ that very address or prefix, or who holds what overlaps it
//	Release  ──▶ free, but last in line: the pointer must go round the whole pool first
//	Quarantine ▶ nobody's until Tend says that its time is over
//	Crossings ─▶ pools whose use has reached their threshold, or fallen below it again
//
// Every IPv4 address of every range is usable; of a line of IPv6 addresses only the subnet-router anycast
// address is left out. Which others are not subscribers' (the router's own) is told by Configure. A
// configuration change never takes anything away from its owner: what no pool holds any more stays with
// him until Release.
//
// An allocation takes a few steps however full the pool is. An IPv6 pool of 2^40 units takes memory for
// the units held only.
//
// A set has one owner, the sessions' loop, and no lock.
//
// Reading order: set.go, bitmap.go, quarantine.go, threshold.go, aggregate.go; prefixes.go, line.go, sparse.go.
package pool
