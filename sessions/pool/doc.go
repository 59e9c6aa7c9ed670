// Package pool hands out IPv4 addresses to subscribers: named pools of ordered ranges, and fixed
// addresses that a server granted, inside or outside of any pool.
//
//	Allocate ──▶ pool ──▶ next free address behind the last one given, over all ranges in order
//	Reserve  ──▶ that very address, or who holds it
//	Release  ──▶ free, but last in line: the pointer must go round the whole pool first
//
// Every address of every range is usable; which of them are not subscribers' (the router's own) is
// told by Configure. A configuration change never takes an address away from its owner: one that no
// range holds any more stays with him until Release.
//
// A Set has one owner, the sessions' loop, and no lock.
//
// Reading order: set.go, bitmap.go, aggregate.go.
package pool
