package pool

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/gaissmai/bart"
)

// Config6 is one pool of IPv6 prefixes or addresses.
type Config6 struct {
	Name             string
	Units            []Units // in the order of use, checked by CheckUnits, none overlapping
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
type Prefixes struct {
	pools   []*pool6
	byName  map[string]*pool6
	own     *bart.Table[bool]
	held    *bart.Table[Owner]
	resting resting
}

type pool6 struct {
	name  string
	lines []*line
	alarm alarm
}

// NewPrefixes returns a set without pools.
func NewPrefixes() *Prefixes {
	return &Prefixes{byName: map[string]*pool6{}, own: &bart.Table[bool]{}, held: &bart.Table[Owner]{}}
}

// Configure replaces the pools; nothing that overlaps an own prefix is handed out. Held prefixes stay held.
func (s *Prefixes) Configure(pools []Config6, own []netip.Prefix) {
	old := s.byName
	s.pools, s.byName, s.own = nil, map[string]*pool6{}, &bart.Table[bool]{}
	for _, c := range pools {
		p := &pool6{name: c.Name, alarm: alarm{percent: c.ThresholdPercent}}
		for _, u := range c.Units {
			p.lines = append(p.lines, newLine(u))
		}
		if before := old[c.Name]; before != nil {
			p.alarm.above = before.alarm.above
			p.seek(before)
		}
		s.pools = append(s.pools, p)
		s.byName[c.Name] = p
	}
	for _, p := range own {
		if p = p.Masked(); p.IsValid() && p.Addr().Is6() && !s.own.OverlapsPrefix(p) {
			s.own.Insert(p, true)
			s.eachLine(p, func(l *line) { l.mark(p); l.own += l.units(p) })
		}
	}
	for p := range s.held.All() {
		s.eachLine(p, func(l *line) { l.mark(p) })
	}
	for _, r := range s.resting {
		s.eachLine(r.prefix, func(l *line) { l.resting++ })
	}
}

// seek keeps the pointers of lines that stay, so that freed prefixes rest as before.
func (p *pool6) seek(before *pool6) {
	for _, l := range p.lines {
		for _, b := range before.lines {
			if b.Units == l.Units {
				l.from = b.from
			}
		}
	}
}

// eachLine calls f for the lines that overlap p. There are few.
func (s *Prefixes) eachLine(p netip.Prefix, f func(*line)) {
	for _, each := range s.pools {
		for _, l := range each.lines {
			if l.Prefix.Overlaps(p) {
				f(l)
			}
		}
	}
}

// Allocate gives owner a unit of a pool: what it wishes if that is free, else the next free one.
func (s *Prefixes) Allocate(name string, owner Owner, wish Wish) (netip.Prefix, error) {
	p := s.byName[name]
	if p == nil {
		return netip.Prefix{}, fmt.Errorf("allocate from %q: %w", name, ErrUnknown)
	}
	if wish.Last.IsValid() {
		for _, l := range p.lines {
			if l.free(wish.Last) && !s.overlaps(wish.Last) {
				return s.hold(wish.Last, owner), nil
			}
		}
	}
	for _, exact := range []bool{true, false} {
		for _, l := range p.lines {
			if (l.Length == wish.Length) != exact {
				continue
			}
			if unit, ok := s.search(l); ok {
				return s.hold(unit, owner), nil
			}
		}
	}
	return netip.Prefix{}, fmt.Errorf("allocate from %q: %w", name, ErrExhausted)
}

// search finds the next free unit of a line at or behind its pointer, round the line once, and moves the
// pointer behind it.
func (s *Prefixes) search(l *line) (netip.Prefix, bool) {
	from, wrapped := l.from, false
	for {
		index, ok := l.bits.next(from)
		switch {
		case !ok && wrapped:
			return netip.Prefix{}, false
		case !ok:
			from, wrapped = 0, true
			continue
		}
		unit := l.unit(index)
		if l.wide > 0 { // something shorter than a unit may cover many of them
			if cover, covered := s.cover(unit); covered {
				from = l.behind(cover)
				continue
			}
		}
		l.from = index + 1
		return unit, true
	}
}

// cover returns what is held or our own around a unit.
func (s *Prefixes) cover(unit netip.Prefix) (netip.Prefix, bool) {
	if p, _, ok := s.held.LookupPrefixLPM(unit); ok {
		return p, true
	}
	p, _, ok := s.own.LookupPrefixLPM(unit)
	return p, ok
}

func (s *Prefixes) overlaps(p netip.Prefix) bool {
	return s.held.OverlapsPrefix(p) || s.own.OverlapsPrefix(p)
}

func (s *Prefixes) hold(p netip.Prefix, owner Owner) netip.Prefix {
	s.held.Insert(p, owner)
	s.eachLine(p, func(l *line) { l.mark(p) })
	return p
}

// Reserve gives owner this very prefix, in a pool or in none. InUseError names what it overlaps.
func (s *Prefixes) Reserve(p netip.Prefix, owner Owner) error {
	p = p.Masked()
	switch {
	case !p.IsValid() || !p.Addr().Is6() || p.Addr().Is4In6():
		return fmt.Errorf("reserve %s: %w", p, ErrFamily)
	case s.own.OverlapsPrefix(p):
		return fmt.Errorf("reserve %s: %w", p, ErrOwn)
	}
	if held, owner, ok := s.holder(p); ok {
		return &InUseError{Wanted: p, Held: held, Owner: owner}
	}
	s.hold(p, owner)
	return nil
}

// holder returns what is held around p or inside it.
func (s *Prefixes) holder(p netip.Prefix) (netip.Prefix, Owner, bool) {
	if held, owner, ok := s.held.LookupPrefixLPM(p); ok {
		return held, owner, true
	}
	for held, owner := range s.held.Subnets(p) {
		return held, owner, true
	}
	return netip.Prefix{}, 0, false
}

// Release takes a prefix back from owner; that it is not (or no longer) his does nothing.
func (s *Prefixes) Release(p netip.Prefix, owner Owner) {
	if holder, held := s.held.Get(p); !held || holder != owner {
		return
	}
	s.held.Delete(p)
	s.eachLine(p, func(l *line) { l.unmark(p) })
}

// Quarantine takes a prefix back from owner and gives it to nobody until Tend is called at until or later. It
// reports whether it did: what is of no line, or of one with too many resting already, is just released. That it
// is not his does nothing.
func (s *Prefixes) Quarantine(p netip.Prefix, owner Owner, until time.Time) bool {
	if holder, held := s.held.Get(p); !held || holder != owner {
		return false
	}
	room := false
	s.eachLine(p, func(l *line) { room = mayRest(l.resting, l.bits.size) })
	if !room {
		s.Release(p, owner)
		return false
	}
	s.held.Insert(p, nobody)
	s.resting.add(p, until)
	s.eachLine(p, func(l *line) { l.resting++ })
	return true
}

// Tend ends what quarantine is over, and returns when the next one ends; the zero time when there is none.
func (s *Prefixes) Tend(now time.Time) time.Time {
	for _, r := range s.resting.ended(now) {
		s.eachLine(r.prefix, func(l *line) { l.resting-- })
		s.Release(r.prefix, nobody)
	}
	return s.resting.next()
}

// Held returns how many prefixes and addresses are held, in pools and outside, in quarantine, too.
func (s *Prefixes) Held() int { return s.held.Size() }

// Usage6 is the state of one line of a pool.
type Usage6 struct {
	Pool             string
	Prefix           netip.Prefix
	Length           int
	Size             uint64 // units
	Used             uint64 // units held, by fixed prefixes too; without quarantine
	Own              uint64 // units that overlap the router's own prefixes, and the anycast address
	Quarantined      uint64
	ThresholdPercent int // of the pool; 0: none
}

// Usage tells about every line, in the order of configuration.
func (s *Prefixes) Usage() []Usage6 {
	var all []Usage6
	for _, p := range s.pools {
		for _, l := range p.lines {
			all = append(all, Usage6{
				Pool: p.name, Prefix: l.Prefix, Length: l.Length, Size: l.bits.size, Used: l.used() - min(l.used(), l.resting),
				Own: l.own, Quarantined: l.resting, ThresholdPercent: p.alarm.percent,
			})
		}
	}
	return all
}

// Outside returns how many held prefixes lie in no pool.
func (s *Prefixes) Outside() int {
	n := 0
	for p := range s.held.All() {
		inside := false
		s.eachLine(p, func(*line) { inside = true })
		if !inside {
			n++
		}
	}
	return n
}

// Crossings returns the pools whose use has reached their threshold since the last call, or fallen below it.
func (s *Prefixes) Crossings() []Crossing {
	var all []Crossing
	for _, p := range s.pools {
		var used, size uint64
		for _, l := range p.lines {
			used += l.used() >> 8 // so that sums of whole /64s of addresses do not overflow
			size += (l.bits.size - min(l.own, l.bits.size)) >> 8
		}
		if size < 1<<20 { // small enough to count exactly
			used, size = p.exact()
		}
		if c, crossed := p.alarm.look(p.name, used, size); crossed {
			all = append(all, c)
		}
	}
	return all
}

func (p *pool6) exact() (used, size uint64) {
	for _, l := range p.lines {
		used += l.used()
		size += l.bits.size - min(l.own, l.bits.size)
	}
	return used, size
}

// Aggregates6 returns the prefixes of a pool as they are announced, sorted, none inside another.
func Aggregates6(units []Units) []netip.Prefix {
	var all []netip.Prefix
	for _, u := range units {
		all = append(all, u.Prefix.Masked())
	}
	slices.SortFunc(all, func(a, b netip.Prefix) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return a.Bits() - b.Bits()
	})
	var kept []netip.Prefix
	for _, p := range all {
		if n := len(kept); n == 0 || !kept[n-1].Overlaps(p) {
			kept = append(kept, p)
		}
	}
	return kept
}
