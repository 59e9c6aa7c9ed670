package pool

import (
	"math/bits"
	"net/netip"
	"slices"
)

// MaxRange is the largest range, in addresses: a /8.
const MaxRange = 1 << 24

// Aggregates returns the fewest prefixes that hold exactly the addresses of the ranges, sorted.
func Aggregates(ranges []Range) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, r := range merge(ranges) {
		prefixes = append(prefixes, cover(uint64(number(r.First)), uint64(number(r.Last)))...)
	}
	return prefixes
}

// merge sorts ranges and joins those that touch.
func merge(ranges []Range) []Range {
	sorted := slices.SortedFunc(slices.Values(ranges), func(a, b Range) int { return a.First.Compare(b.First) })
	var merged []Range
	for _, r := range sorted {
		if n := len(merged); n > 0 && merged[n-1].Last.Next().Compare(r.First) >= 0 {
			if merged[n-1].Last.Less(r.Last) {
				merged[n-1].Last = r.Last
			}
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// cover splits first..last into prefixes: each time the largest block that begins at first and ends
// at or before last.
func cover(first, last uint64) []netip.Prefix {
	var prefixes []netip.Prefix
	for first <= last {
		aligned := 32
		if first != 0 {
			aligned = bits.TrailingZeros64(first)
		}
		fits := bits.Len64(last-first+1) - 1
		free := min(aligned, fits, 32)
		prefixes = append(prefixes, netip.PrefixFrom(address(uint32(first)), 32-free))
		first += 1 << free
	}
	return prefixes
}
