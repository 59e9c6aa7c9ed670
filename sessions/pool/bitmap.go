package pool

import "math/bits"

const wordBits = 64

// bitmap finds clear bits fast, however full it is: level 0 holds the bits, each bit of a level above
// says that a word of the level below is full. A search visits two words a level at most.
type bitmap struct {
	size   uint32
	set    uint32 // how many bits are set
	levels [][]uint64
}

func newBitmap(size uint32) *bitmap {
	b := &bitmap{size: size}
	for n := size; ; {
		words := (n + wordBits - 1) / wordBits
		level := make([]uint64, words)
		if tail := n % wordBits; tail != 0 {
			level[words-1] = ^uint64(0) << tail // bits behind the end count as set
		}
		b.levels = append(b.levels, level)
		if words <= 1 {
			return b
		}
		n = words
	}
}

// take sets a bit and reports whether it was clear.
func (b *bitmap) take(bit uint32) bool {
	if b.levels[0][bit/wordBits]&(1<<(bit%wordBits)) != 0 {
		return false
	}
	b.set++
	for _, level := range b.levels {
		word := &level[bit/wordBits]
		*word |= 1 << (bit % wordBits)
		if *word != ^uint64(0) {
			break
		}
		bit /= wordBits
	}
	return true
}

// give clears a bit.
func (b *bitmap) give(bit uint32) {
	if b.levels[0][bit/wordBits]&(1<<(bit%wordBits)) == 0 {
		return
	}
	b.set--
	for _, level := range b.levels {
		word := &level[bit/wordBits]
		wasFull := *word == ^uint64(0)
		*word &^= 1 << (bit % wordBits)
		if !wasFull {
			break
		}
		bit /= wordBits
	}
}

// next returns the first clear bit at or behind from.
func (b *bitmap) next(from uint32) (bit uint32, ok bool) {
	if from >= b.size {
		return 0, false
	}
	// Up, until a level has a clear bit in from's own word; then down along first clear bits.
	level := 0
	for {
		words := b.levels[level]
		if at := from / wordBits; int(at) < len(words) {
			if clear := ^words[at] >> (from % wordBits); clear != 0 {
				from += uint32(bits.TrailingZeros64(clear))
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
		word := b.levels[level-1][from]
		from = from*wordBits + uint32(bits.TrailingZeros64(^word))
	}
	return from, true
}
