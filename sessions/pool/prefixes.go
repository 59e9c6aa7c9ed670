package pool

import (
	"errors"
	"net/netip"
	"time"
)

// ErrNotBuilt is returned by what is declared only.
var ErrNotBuilt = errors.New("not built")

// Units is a prefix that is handed out in prefixes of one length.
type Units struct {
	Prefix netip.Prefix // masked, IPv6
	Length int          // of the units, in bits; 128: addresses
}

// Config6 is one pool of IPv6 prefixes or addresses.
type Config6 struct {
	Name             string
	Units            []Units // in the order of use, checked by CheckUnits
	ThresholdPercent int     // use at which Crossings warns; 0: never
}

// Wish is what an owner would like, and gets if it is free.
type Wish struct {
	Last   netip.Prefix // what it had before, or asks for; not valid: nothing
	Length int          // units of this length before others; 0: any
}

// Prefixes is all IPv6 pools and all IPv6 prefixes and addresses held (an address is a /128). Fixed
// prefixes may have any length and lie anywhere; nothing held ever overlaps anything else. It has one
// owner and no lock. Its memory grows with what is held, not with the size of pools.
type Prefixes struct{}

// NewPrefixes returns a set without pools.
func NewPrefixes() *Prefixes { return &Prefixes{} }

// CheckUnits returns what is wrong with a line of a pool, or "".
func CheckUnits(u Units) string { return "" }

// Configure replaces the pools; nothing that overlaps an own prefix is handed out. Held prefixes stay held.
func (s *Prefixes) Configure(pools []Config6, own []netip.Prefix) {}

// Allocate gives owner a unit of a pool: what it wishes if that is free, else the next free one.
func (s *Prefixes) Allocate(name string, owner Owner, wish Wish) (netip.Prefix, error) {
	return netip.Prefix{}, ErrNotBuilt
}

// Reserve gives owner this very prefix, in a pool or in none. InUseError names what it overlaps.
func (s *Prefixes) Reserve(p netip.Prefix, owner Owner) error { return ErrNotBuilt }

// Release takes a prefix back from owner; that it is not (or no longer) his does nothing.
func (s *Prefixes) Release(p netip.Prefix, owner Owner) {}

// Quarantine takes a prefix back from owner and gives it to nobody until Tend is called at until or later.
func (s *Prefixes) Quarantine(p netip.Prefix, owner Owner, until time.Time) {}

// Tend ends what quarantine is over, and returns when the next one ends; the zero time when there is none.
func (s *Prefixes) Tend(now time.Time) time.Time { return time.Time{} }

// Usage6 is the state of one line of a pool.
type Usage6 struct {
	Pool             string
	Prefix           netip.Prefix
	Length           int
	Size             uint64 // units
	Used             uint64 // units held, by fixed prefixes too; without quarantine
	Quarantined      uint64
	ThresholdPercent int
}

// Usage tells about every line, in the order of configuration.
func (s *Prefixes) Usage() []Usage6 { return nil }

// Outside returns how many held prefixes lie in no pool.
func (s *Prefixes) Outside() int { return 0 }

// Crossings returns the pools whose use has reached their threshold since the last call, or fallen below it.
func (s *Prefixes) Crossings() []Crossing { return nil }

// Crossing says that the use of a pool has crossed its threshold.
type Crossing struct {
	Pool    string
	Above   bool // reached it; else fallen 5 points below it
	Percent int  // the use now
}

// Aggregates6 returns the prefixes of a pool as they are announced, sorted, none inside another.
func Aggregates6(units []Units) []netip.Prefix { return nil }
