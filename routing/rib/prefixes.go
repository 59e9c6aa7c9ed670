package rib

import (
	"iter"
	"net/netip"

	"github.com/gaissmai/bart"
)

// prefixes maps prefixes of both families to values.
type prefixes[T any] struct{ tree bart.Table[T] }

func newPrefixes[T any]() *prefixes[T] { return &prefixes[T]{} }

// get returns the value of exactly this prefix.
func (p *prefixes[T]) get(key netip.Prefix) (T, bool) { return p.tree.Get(key) }

// set adds or changes a value. The prefix must be masked.
func (p *prefixes[T]) set(key netip.Prefix, v T) { p.tree.Insert(key, v) }

// remove takes a prefix out.
func (p *prefixes[T]) remove(key netip.Prefix) { p.tree.Delete(key) }

// covering yields what covers the first bits of addr, from the longest to the shortest. There must be
// no change meanwhile; so with the others.
func (p *prefixes[T]) covering(addr netip.Addr, bits int) iter.Seq2[netip.Prefix, T] {
	// The tree takes a prefix of -1 bits for nothing, as it should: a default route has no cover.
	return p.tree.Supernets(netip.PrefixFrom(addr.WithZone(""), bits))
}

// within yields the prefix itself and what it covers, in order.
func (p *prefixes[T]) within(key netip.Prefix) iter.Seq2[netip.Prefix, T] { return p.tree.Subnets(key) }

// sorted yields everything of a family, by address, the shorter prefix first.
func (p *prefixes[T]) sorted(f family) iter.Seq2[netip.Prefix, T] {
	if f == ipv4 {
		return p.tree.AllSorted4()
	}
	return p.tree.AllSorted6()
}

// all yields everything in no order.
func (p *prefixes[T]) all() iter.Seq2[netip.Prefix, T] { return p.tree.All() }

// len returns how many prefixes of a family there are.
func (p *prefixes[T]) len(f family) int {
	if f == ipv4 {
		return p.tree.Size4()
	}
	return p.tree.Size6()
}

// family is an index of what is kept per address family.
type family uint8

const (
	ipv4 family = iota
	ipv6
	numFamilies
)

func familyOf(a netip.Addr) family {
	if a.Is4() {
		return ipv4
	}
	return ipv6
}

// comparePrefixes orders by address, the shorter prefix first.
func comparePrefixes(a, b netip.Prefix) int {
	if c := a.Addr().Compare(b.Addr()); c != 0 {
		return c
	}
	return a.Bits() - b.Bits()
}
