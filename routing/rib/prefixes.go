package rib

import (
	"iter"
	"maps"
	"net/netip"
)

// prefixes maps prefixes of both families to values. Covering looks at one key per prefix length in
// use, at most 33 for IPv4.
type prefixes[T any] struct {
	values  map[netip.Prefix]T
	lengths [2][129]int // prefixes of each length in use, IPv4 and IPv6
}

func newPrefixes[T any]() *prefixes[T] {
	return &prefixes[T]{values: map[netip.Prefix]T{}}
}

// get returns the value of exactly this prefix.
func (p *prefixes[T]) get(key netip.Prefix) (T, bool) {
	v, ok := p.values[key]
	return v, ok
}

// set adds or changes a value. The prefix must be masked.
func (p *prefixes[T]) set(key netip.Prefix, v T) {
	if _, ok := p.values[key]; !ok {
		p.lengths[family(key)][key.Bits()]++
	}
	p.values[key] = v
}

// remove takes a prefix out.
func (p *prefixes[T]) remove(key netip.Prefix) {
	if _, ok := p.values[key]; ok {
		p.lengths[family(key)][key.Bits()]--
		delete(p.values, key)
	}
}

// covering yields what covers addr, from bits down to the shortest, until yield returns false.
func (p *prefixes[T]) covering(addr netip.Addr, bits int, yield func(netip.Prefix, T) bool) {
	lengths := &p.lengths[family(netip.PrefixFrom(addr, 0))]
	for ; bits >= 0; bits-- {
		if lengths[bits] == 0 {
			continue
		}
		key := netip.PrefixFrom(addr, bits).Masked()
		if v, ok := p.values[key]; ok && !yield(key, v) {
			return
		}
	}
}

// all yields everything in no order.
func (p *prefixes[T]) all() iter.Seq2[netip.Prefix, T] { return maps.All(p.values) }

// len returns how many prefixes there are.
func (p *prefixes[T]) len() int { return len(p.values) }

func family(p netip.Prefix) int {
	if p.Addr().Is4() {
		return 0
	}
	return 1
}

// comparePrefixes orders by address, the shorter prefix first.
func comparePrefixes(a, b netip.Prefix) int {
	if c := a.Addr().Compare(b.Addr()); c != 0 {
		return c
	}
	return a.Bits() - b.Bits()
}
