package pool

import (
	"net/netip"
	"slices"
	"time"
)

// nobody owns what is in quarantine. Sessions are numbered from 1.
const nobody Owner = 0

// rest is something in quarantine.
type rest struct {
	prefix netip.Prefix // an address has all its bits
	until  time.Time
}

// resting is what is in quarantine, the one that ends first in front.
type resting []rest

func (r *resting) add(p netip.Prefix, until time.Time) {
	at, _ := slices.BinarySearchFunc(*r, until, func(e rest, t time.Time) int { return e.until.Compare(t) })
	*r = slices.Insert(*r, at, rest{p, until})
}

// ended takes out what is over.
func (r *resting) ended(now time.Time) []rest {
	n := 0
	for n < len(*r) && !now.Before((*r)[n].until) {
		n++
	}
	over := slices.Clone((*r)[:n])
	*r = slices.Delete(*r, 0, n)
	return over
}

// next returns when the first one ends; the zero time when there is none.
func (r resting) next() time.Time {
	if len(r) == 0 {
		return time.Time{}
	}
	return r[0].until
}

// restingShare is the part of a range, one eighth, that may rest at once: clients that decline all they are given
// must not empty it.
const restingShare = 8

// mayRest reports whether one more of size may rest.
func mayRest(resting, size uint64) bool { return resting < max(size/restingShare, 1) }

// Quarantine takes a declined address back from owner and gives it to nobody until Tend is called at until
// or later (RFC 2131 section 4.3.3). It reports whether it did: an address that no range holds, or whose range
// has too many resting already, is just released. That it is not the owner's does nothing.
func (s *Set) Quarantine(addr netip.Addr, owner Owner, until time.Time) bool {
	if holder, held := s.held[addr]; !held || holder != owner {
		return false
	}
	sp := s.find(addr)
	if sp == nil || !mayRest(uint64(sp.resting), uint64(sp.bits.size)) {
		s.Release(addr, owner)
		return false
	}
	s.held[addr] = nobody
	s.resting.add(single(addr), until)
	sp.resting++
	return true
}

// Tend ends what quarantine is over, and returns when the next one ends; the zero time when there is none.
func (s *Set) Tend(now time.Time) time.Time {
	for _, r := range s.resting.ended(now) {
		if sp := s.find(r.prefix.Addr()); sp != nil {
			sp.resting--
		}
		s.Release(r.prefix.Addr(), nobody)
	}
	return s.resting.next()
}

// Again gives owner the address it had before if that is free and of the pool, else as Allocate.
func (s *Set) Again(name string, owner Owner, last netip.Addr) (netip.Addr, error) {
	p := s.byName[name]
	if p == nil || !last.Is4() {
		return s.Allocate(name, owner)
	}
	for _, sp := range p.ranges {
		if sp.holds(last) && sp.bits.take(sp.offset(last)) {
			s.held[last] = owner
			return last, nil
		}
	}
	return s.Allocate(name, owner)
}

// Crossings returns the pools whose use has reached their threshold since the last call, or fallen below it.
func (s *Set) Crossings() []Crossing {
	var all []Crossing
	for _, p := range s.pools {
		used, size := p.use()
		if c, crossed := p.alarm.look(p.name, used, size); crossed {
			all = append(all, c)
		}
	}
	return all
}

// use counts what is not free, and what could be: without the router's own addresses.
func (p *pool) use() (used, size uint64) {
	for _, sp := range p.ranges {
		used += uint64(sp.bits.set - sp.own)
		size += uint64(sp.bits.size - sp.own)
	}
	return used, size
}
