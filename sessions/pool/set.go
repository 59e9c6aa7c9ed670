package pool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// Owner is who holds an address: a session's number.
type Owner uint64

// Range is the addresses from First to Last, both included.
type Range struct{ First, Last netip.Addr }

// Config is one pool.
type Config struct {
	Name   string
	Ranges []Range // in the order of use, checked: IPv4, First <= Last, none overlapping

	ThresholdPercent int // use at which Crossings warns; 0: never
}

// Errors of Allocate and Reserve.
var (
	ErrUnknown   = errors.New("no such address pool")
	ErrExhausted = errors.New("address pool is exhausted")
	ErrOwn       = errors.New("address is the router's own")
)

// InUseError says who holds what was to be reserved, or what overlaps it.
type InUseError struct {
	Wanted, Held netip.Prefix // an address has all its bits
	Owner        Owner        // 0: nobody, it is in quarantine
}

// Error implements error.
func (e *InUseError) Error() string {
	text := named(e.Wanted)
	if e.Held != e.Wanted {
		text += " overlaps " + named(e.Held) + ", which"
	}
	if e.Owner == nobody {
		return text + " is in quarantine"
	}
	return fmt.Sprintf("%s is in use by session %d", text, e.Owner)
}

// named prints an address or a prefix.
func named(p netip.Prefix) string {
	if p.IsSingleIP() {
		return "address " + p.Addr().String()
	}
	return "prefix " + p.String()
}

// Set is all pools and all addresses held. The zero value has neither.
type Set struct {
	pools  []*pool
	byName map[string]*pool
	own    map[netip.Addr]bool
	held   map[netip.Addr]Owner

	resting resting
}

// pool is ranges with a pointer that goes round them.
type pool struct {
	name   string
	ranges []*span
	at     int    // range of the pointer
	from   uint32 // offset in it
	alarm  alarm
}

// span is a range with its bits: set means held, or the router's own.
type span struct {
	Range
	first uint32
	bits  *bitmap
	own   uint32 // how many bits are set for the router's own addresses only

	resting uint32 // how many are in quarantine
}

// NewSet returns a set without pools.
func NewSet() *Set {
	return &Set{byName: map[string]*pool{}, held: map[netip.Addr]Owner{}}
}

// Configure replaces the pools; own addresses are never handed out. Held addresses stay held.
func (s *Set) Configure(pools []Config, own []netip.Addr) {
	old := s.byName
	s.pools, s.byName, s.own = nil, map[string]*pool{}, map[netip.Addr]bool{}
	for _, c := range pools {
		p := newPool(c)
		if before := old[c.Name]; before != nil {
			p.seek(before.pointer())
			p.alarm.above = before.alarm.above
		}
		s.pools = append(s.pools, p)
		s.byName[c.Name] = p
	}
	for addr := range s.held {
		s.mark(addr)
	}
	for _, r := range s.resting {
		if sp := s.find(r.prefix.Addr()); sp != nil {
			sp.resting++
		}
	}
	for _, addr := range own {
		s.own[addr] = true
		if sp := s.find(addr); sp != nil && sp.bits.take(sp.offset(addr)) {
			sp.own++
		}
	}
}

// Allocate gives owner the next free address of a pool.
func (s *Set) Allocate(name string, owner Owner) (netip.Addr, error) {
	p := s.byName[name]
	if p == nil {
		return netip.Addr{}, fmt.Errorf("allocate from %q: %w", name, ErrUnknown)
	}
	addr, ok := p.allocate()
	if !ok {
		return netip.Addr{}, fmt.Errorf("allocate from %q: %w", name, ErrExhausted)
	}
	s.held[addr] = owner
	return addr, nil
}

// Reserve gives owner this very address. It may lie in a pool or in none.
func (s *Set) Reserve(addr netip.Addr, owner Owner) error {
	if holder, held := s.held[addr]; held {
		return &InUseError{Wanted: single(addr), Held: single(addr), Owner: holder}
	}
	if s.own[addr] {
		return fmt.Errorf("reserve %s: %w", addr, ErrOwn)
	}
	s.held[addr] = owner
	s.mark(addr)
	return nil
}

// Release takes an address back from owner; that it is not (or no longer) his does nothing.
func (s *Set) Release(addr netip.Addr, owner Owner) {
	if holder, held := s.held[addr]; !held || holder != owner {
		return
	}
	delete(s.held, addr)
	sp := s.find(addr)
	switch {
	case sp == nil:
	case s.own[addr]: // became the router's own while it was held
		sp.own++
	default:
		sp.bits.give(sp.offset(addr))
	}
}

// Held returns how many addresses are held, in pools and outside.
func (s *Set) Held() int { return len(s.held) }

// Usage is the state of one range.
type Usage struct {
	Pool             string
	First, Last      netip.Addr
	Size, Used, Free uint32 // addresses
	Reserved         uint32 // the router's own
	Quarantined      uint32 // declined, and resting
	ThresholdPercent int    // of the pool; 0: none
}

// Usage tells about every range, in the order of configuration.
func (s *Set) Usage() []Usage {
	var all []Usage
	for _, p := range s.pools {
		for _, sp := range p.ranges {
			all = append(all, Usage{
				Pool: p.name, First: sp.First, Last: sp.Last, Size: sp.bits.size,
				Used: sp.bits.set - sp.own - sp.resting, Free: sp.bits.size - sp.bits.set, Reserved: sp.own,
				Quarantined: sp.resting, ThresholdPercent: p.alarm.percent,
			})
		}
	}
	return all
}

// Outside returns how many held addresses lie in no range.
func (s *Set) Outside() int {
	n := len(s.held)
	for _, u := range s.Usage() {
		n -= int(u.Used + u.Quarantined)
	}
	return n
}

// mark sets the bit of a held address, if a range has one.
func (s *Set) mark(addr netip.Addr) {
	if sp := s.find(addr); sp != nil {
		sp.bits.take(sp.offset(addr))
	}
}

// find returns the range that holds addr. Ranges do not overlap, and there are few.
func (s *Set) find(addr netip.Addr) *span {
	for _, p := range s.pools {
		for _, sp := range p.ranges {
			if sp.holds(addr) {
				return sp
			}
		}
	}
	return nil
}

func newPool(c Config) *pool {
	p := &pool{name: c.Name, alarm: alarm{percent: c.ThresholdPercent}}
	for _, r := range c.Ranges {
		p.ranges = append(p.ranges, &span{Range: r, first: number(r.First), bits: newBitmap(r.Size())})
	}
	return p
}

// allocate takes the first free address at or behind the pointer, and moves the pointer behind it.
func (p *pool) allocate() (netip.Addr, bool) {
	if len(p.ranges) == 0 {
		return netip.Addr{}, false
	}
	// The range of the pointer is visited twice: its end first, its beginning last.
	for range len(p.ranges) + 1 {
		sp := p.ranges[p.at]
		if bit, ok := sp.bits.next(p.from); ok {
			sp.bits.take(bit)
			p.from = bit + 1
			return address(sp.first + bit), true
		}
		p.at, p.from = (p.at+1)%len(p.ranges), 0
	}
	return netip.Addr{}, false
}

// pointer returns the address the pointer stands at, not valid in an empty pool.
func (p *pool) pointer() netip.Addr {
	if len(p.ranges) == 0 {
		return netip.Addr{}
	}
	return address(p.ranges[p.at].first + p.from)
}

// seek moves the pointer to an address, so that a changed pool does not begin anew and give freed
// addresses away at once.
func (p *pool) seek(addr netip.Addr) {
	for i, sp := range p.ranges {
		if sp.holds(addr) {
			p.at, p.from = i, sp.offset(addr)
		}
	}
}

func (sp *span) holds(addr netip.Addr) bool {
	return sp.First.Compare(addr) <= 0 && addr.Compare(sp.Last) <= 0
}

func (sp *span) offset(addr netip.Addr) uint32 { return number(addr) - sp.first }

// Size returns how many addresses the range holds.
func (r Range) Size() uint32 { return number(r.Last) - number(r.First) + 1 }

// Wide reports whether the range holds more than MaxRange addresses.
func (r Range) Wide() bool { return number(r.Last)-number(r.First) >= MaxRange }

func single(addr netip.Addr) netip.Prefix { return netip.PrefixFrom(addr, addr.BitLen()) }

func number(addr netip.Addr) uint32 {
	b := addr.As4()
	return binary.BigEndian.Uint32(b[:])
}

func address(n uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}
