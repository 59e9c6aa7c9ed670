package pool

import "math/bits"

// sparse is a bitmap like bitmap, for up to 2^63 bits: words without a set bit take no memory, so it grows
// with what is set. Level 0 holds the bits, each bit of a level above says that a word below is full.
type sparse struct {
	size   uint64
	set    uint64 // how many bits are set
	levels []map[uint64]uint64
}

func newSparse(size uint64) *sparse {
	b := &sparse{size: size}
	for n := size; ; {
		b.levels = append(b.levels, map[uint64]uint64{})
		if n <= wordBits {
			return b
		}
		n = (n-1)/wordBits + 1
	}
}

// word returns a word of a level; bits behind the end count as set.
func (b *sparse) word(level int, at uint64) uint64 {
	w := b.levels[level][at]
	last := (b.size - 1) >> (6 * (level + 1)) // the level's last word
	if tail := ((b.size - 1) >> (6 * level)) % wordBits; at == last && tail != wordBits-1 {
		w |= ^uint64(0) << (tail + 1)
	}
	return w
}

func (b *sparse) has(bit uint64) bool { return b.levels[0][bit/wordBits]&(1<<(bit%wordBits)) != 0 }

// take sets a bit and reports whether it was clear.
func (b *sparse) take(bit uint64) bool {
	if b.has(bit) {
		return false
	}
	b.set++
	for level := range b.levels {
		b.levels[level][bit/wordBits] |= 1 << (bit % wordBits)
		if b.word(level, bit/wordBits) != ^uint64(0) {
			break
		}
		bit /= wordBits
	}
	return true
}

// give clears a bit and reports whether it was set.
func (b *sparse) give(bit uint64) bool {
	if !b.has(bit) {
		return false
	}
	b.set--
	for level, words := range b.levels {
		at := bit / wordBits
		wasFull := b.word(level, at) == ^uint64(0)
		if words[at] &^= 1 << (bit % wordBits); words[at] == 0 {
			delete(words, at)
		}
		if !wasFull {
			break
		}
		bit = at
	}
	return true
}

// next returns the first clear bit at or behind from.
func (b *sparse) next(from uint64) (bit uint64, ok bool) {
	if from >= b.size {
		return 0, false
	}
	// Up, until a level has a clear bit in from's own word; then down along first clear bits.
	level := 0
	for {
		if from/wordBits <= (b.size-1)>>(6*(level+1)) {
			if clear := ^b.word(level, from/wordBits) >> (from % wordBits); clear != 0 {
				from += uint64(bits.TrailingZeros64(clear))
				break
			}
		}
		if level+1 == len(b.levels) {
			return 0, false
		}
		from = from/wordBits + 1
		level++
	}
	for ; level > 0; level-- {
		from = from*wordBits + uint64(bits.TrailingZeros64(^b.word(level-1, from)))
	}
	return from, true
}
