package pool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// ErrFamily says that a prefix is not IPv6.
var ErrFamily = errors.New("not an IPv6 prefix")

// Units is a prefix that is handed out in prefixes of one length.
type Units struct {
	Prefix netip.Prefix // masked, IPv6
	Length int          // of the units, in bits; 128: addresses
}

// maxUnitBits bounds what is counted of a line: of a prefix with more units, the first 2^63 are used.
const maxUnitBits = 63

// CheckUnits returns what is wrong with a line of a pool, or "".
func CheckUnits(u Units) string {
	switch {
	case !u.Prefix.IsValid() || !u.Prefix.Addr().Is6() || u.Prefix.Addr().Is4In6():
		return "a line is of an IPv6 prefix"
	case u.Prefix != u.Prefix.Masked():
		return fmt.Sprintf("%s has bits behind its length; did you mean %s?", u.Prefix, u.Prefix.Masked())
	case u.Length < u.Prefix.Bits() || u.Length > 128:
		return fmt.Sprintf("units of /%d do not fit into %s", u.Length, u.Prefix)
	case !u.Prefix.Addr().IsGlobalUnicast() || u.Prefix.Bits() < 3:
		return fmt.Sprintf("prefixes of %s cannot be subscribers'", u.Prefix)
	}
	return ""
}

// line is Units with bits: set means held or our own, whole or in part, as far as that is told by prefixes
// not shorter than a unit. What is shorter is counted in wide only, and found in the set's tables.
type line struct {
	Units
	bits    *sparse
	extra   map[uint64]uint32 // units marked more than once: how often more
	from    uint64            // the pointer
	wide    uint64            // units covered by shorter prefixes
	own     uint64            // units that are the router's own
	resting uint64            // held prefixes in quarantine
}

func newLine(u Units) *line {
	l := &line{Units: u, bits: newSparse(1 << min(u.Length-u.Prefix.Bits(), maxUnitBits)), extra: map[uint64]uint32{}}
	if u.Length == 128 && u.Prefix.Bits() < 127 {
		l.bits.take(0) // RFC 4291 section 2.6.1: the subnet-router anycast address
		l.own = 1
	}
	return l
}

// used counts what is held.
func (l *line) used() uint64 {
	marked := min(l.bits.set+l.wide, l.bits.size)
	return marked - min(l.own, marked)
}

// mark notes that p, which overlaps the line, is taken.
func (l *line) mark(p netip.Prefix) {
	if p.Bits() < l.Length {
		l.wide += l.units(p)
		return
	}
	if index, ok := l.index(p.Addr()); ok && !l.bits.take(index) {
		l.extra[index]++
	}
}

// unmark takes one mark back.
func (l *line) unmark(p netip.Prefix) {
	if p.Bits() < l.Length {
		l.wide -= min(l.units(p), l.wide)
		return
	}
	index, ok := l.index(p.Addr())
	switch {
	case !ok:
	case l.extra[index] > 1:
		l.extra[index]--
	case l.extra[index] == 1:
		delete(l.extra, index)
	default:
		l.bits.give(index)
	}
}

// units counts the units of the line that overlap p.
func (l *line) units(p netip.Prefix) uint64 {
	switch {
	case p.Bits() >= l.Length:
		return 1
	case p.Bits() <= l.Prefix.Bits():
		return l.bits.size
	}
	return 1 << min(l.Length-p.Bits(), maxUnitBits)
}

// free reports whether p is a unit of the line, and not marked.
func (l *line) free(p netip.Prefix) bool {
	if p.Bits() != l.Length || p != p.Masked() || !l.Prefix.Contains(p.Addr()) {
		return false
	}
	index, ok := l.index(p.Addr())
	return ok && !l.bits.has(index)
}

// behind returns the index behind the units that cover covers; the line's size when it covers them all.
func (l *line) behind(cover netip.Prefix) uint64 {
	if cover.Bits() <= l.Prefix.Bits() {
		return l.bits.size
	}
	index, ok := l.index(cover.Addr())
	if !ok {
		return l.bits.size
	}
	return index + l.units(cover)
}

// unit returns the unit of an index.
func (l *line) unit(index uint64) netip.Prefix {
	high, low := halves(l.Prefix.Addr())
	if shift := 128 - l.Length; shift >= 64 {
		high |= index << (shift - 64)
	} else {
		low |= index << shift
		high |= index >> (64 - shift)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], high)
	binary.BigEndian.PutUint64(b[8:], low)
	return netip.PrefixFrom(netip.AddrFrom16(b), l.Length)
}

// index returns the index of the unit that holds an address of the line; false if it is none that is used.
func (l *line) index(a netip.Addr) (uint64, bool) {
	baseHigh, baseLow := halves(l.Prefix.Addr())
	high, low := halves(a)
	high, low = high^baseHigh, low^baseLow
	shift := 128 - l.Length
	if shift >= 64 {
		index := high >> (shift - 64)
		return index, index < l.bits.size
	}
	index := low>>shift | high<<(64-shift)
	return index, high>>shift == 0 && index < l.bits.size
}

func halves(a netip.Addr) (high, low uint64) {
	b := a.As16()
	return binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
}
