package punt

import (
	"hash/maphash"
	"math/bits"

	"vbng/forwarding/entry"
)

const (
	sourceWays = 4    // 16 bytes each: a set is one cache line
	sourceSets = 4096 // 256 KB in all
)

// sources holds the buckets of the sources seen lately, in sets of a few. A full bucket says the same as
// no bucket, so it is what a newcomer overwrites. Where a set has none, the fullest goes: a source that
// sends too much has the emptiest, and cannot get a fresh one by being forgotten. The hash is keyed,
// since the sources choose their addresses.
type sources struct {
	seed [2]uint64
	sets [sourceSets]sourceSet
}

type sourceSet struct {
	key    [sourceWays]uint64 // class and MAC; 0: free
	bucket [sourceWays]bucket
}

func (s *sources) init() {
	for i := range s.seed {
		s.seed[i] = maphash.Comparable(maphash.MakeSeed(), i)
	}
}

// find returns the bucket of a source, a fresh one if it has none.
func (s *sources) find(c entry.Class, m entry.MAC, nowNanos int64) *bucket {
	key := uint64(c)<<48 | uint64(m[0])<<40 | uint64(m[1])<<32 | uint64(m[2])<<24 | uint64(m[3])<<16 | uint64(m[4])<<8 | uint64(m[5])
	high, low := bits.Mul64(key^s.seed[0], s.seed[1]|1)
	set := &s.sets[(high^low)%sourceSets]
	fullest := 0
	for i := range set.key {
		if set.key[i] == key {
			return &set.bucket[i]
		}
		if set.bucket[i] < set.bucket[fullest] {
			fullest = i
		}
	}
	set.key[fullest], set.bucket[fullest] = key, bucket(nowNanos)
	return &set.bucket[fullest]
}
