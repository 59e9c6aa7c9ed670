package table

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"vbng/forwarding/packet"
)

// Key is 13 bytes: all of Low, which is never 0, and the lower 40 bits of High.
type Key struct{ Low, High uint64 }

const (
	keyHighBits = 40
	keyHighMask = 1<<keyHighBits - 1
	bucketSlots = 4
	// MaxValue bounds the values of a Hash: three bytes, less one because they are stored plus one.
	MaxValue = 1<<24 - 2
)

// slot is one key with its value: high = (value + 1) << 40 | key.High.
//
//	low 0, high 0:  free
//	low 0, high >0: deleted; readers may still be looking, so it rests until Reclaim
type slot struct{ low, high uint64 }

// bucket is a cache line.
type bucket [bucketSlots]slot

// Hash maps keys to 24-bit values. A key lies in the bucket it hashes to or, when that is full, in the
// next one with room. It never moves, so readers need no lock.
type Hash struct {
	buckets []bucket
	// passed counts, per bucket, the keys that lie further on because the bucket was full: the search
	// for a missing key ends where nobody passed.
	passed   []uint32
	mask     uint64
	seed     uint64
	capacity int
	used     int
	resting  []uint32 // slots deleted since the last Reclaim
}

// NewHash returns a table for capacity keys. The seed makes collisions unpredictable to those who choose
// the keys.
func NewHash(capacity int, seed uint64) (*Hash, error) {
	if capacity < 1 || capacity > MaxValue+1 {
		return nil, fmt.Errorf("make hash table: capacity %d is not within 1 and %d", capacity, MaxValue+1)
	}
	// At most five eighths full: one key in thirteen then leaves its bucket. Were half full the limit, the 65,536 sessions
	// of the default, and one that moves, would take 4 MB and not 2, which is a level-2 cache.
	count := 1 << bits.Len(uint((capacity*8-1)/(5*bucketSlots)))
	buckets, err := packet.NewSlab[bucket](count)
	if err != nil {
		return nil, err
	}
	passed, err := packet.NewSlab[uint32](count)
	if err != nil {
		return nil, err
	}
	return &Hash{buckets: buckets, passed: passed, mask: uint64(count - 1), seed: seed, capacity: capacity}, nil
}

// Len returns how many keys there are.
func (h *Hash) Len() int { return h.used }

func (h *Hash) home(k Key) uint64 {
	high, low := bits.Mul64(k.Low^0x9E3779B97F4A7C15^h.seed, k.High^0xE7037ED1A0B428DB)
	return (high ^ low) & h.mask
}

// Insert adds a key that is not there. It reports false when the table is full, or nearly so with the
// rest resting until Reclaim.
func (h *Hash) Insert(k Key, value uint32) bool {
	if h.used >= h.capacity {
		return false
	}
	at, s := h.free(h.home(k))
	if s == nil {
		return false
	}
	for b := h.home(k); b != at; b = (b + 1) & h.mask {
		atomic.AddUint32(&h.passed[b], 1)
	}
	// Payload before the valid word: who sees the key also sees its value.
	atomic.StoreUint64(&s.high, uint64(value+1)<<keyHighBits|k.High&keyHighMask)
	atomic.StoreUint64(&s.low, k.Low)
	h.used++
	return true
}

// free finds the first free slot from a bucket on.
func (h *Hash) free(b uint64) (uint64, *slot) {
	for range h.buckets {
		for i := range h.buckets[b] {
			if s := &h.buckets[b][i]; s.low == 0 && s.high == 0 {
				return b, s
			}
		}
		b = (b + 1) & h.mask
	}
	return 0, nil
}

// find returns the place of a key, nil if it is not there.
func (h *Hash) find(k Key) (uint64, *slot) {
	k.High &= keyHighMask
	for b := h.home(k); ; b = (b + 1) & h.mask {
		for i := range h.buckets[b] {
			s := &h.buckets[b][i]
			if atomic.LoadUint64(&s.low) == k.Low && atomic.LoadUint64(&s.high)&keyHighMask == k.High {
				return b*bucketSlots + uint64(i), s
			}
		}
		if atomic.LoadUint32(&h.passed[b]) == 0 {
			return 0, nil
		}
	}
}

// Find looks one key up.
func (h *Hash) Find(k Key) (value uint32, ok bool) {
	if _, s := h.find(k); s != nil {
		return uint32(atomic.LoadUint64(&s.high)>>keyHighBits) - 1, true
	}
	return 0, false
}

// Replace changes the value of a key that is there.
func (h *Hash) Replace(k Key, value uint32) {
	if _, s := h.find(k); s != nil {
		atomic.StoreUint64(&s.high, uint64(value+1)<<keyHighBits|k.High&keyHighMask)
	}
}

// Delete removes a key and reports whether it was there.
func (h *Hash) Delete(k Key) bool {
	at, s := h.find(k)
	if s == nil {
		return false
	}
	atomic.StoreUint64(&s.low, 0)
	for b := h.home(k); b != at/bucketSlots; b = (b + 1) & h.mask {
		atomic.AddUint32(&h.passed[b], ^uint32(0))
	}
	h.resting = append(h.resting, uint32(at))
	h.used--
	return true
}

// Reclaim makes the places of deleted keys usable again; every reader must have passed a round since.
func (h *Hash) Reclaim() {
	for _, at := range h.resting {
		atomic.StoreUint64(&h.buckets[at/bucketSlots][at%bucketSlots].high, 0)
	}
	h.resting = h.resting[:0]
}

// Prepare computes the home buckets of a vector's keys and asks the cache for them.
func (h *Hash) Prepare(c *packet.Columns, l *packet.List) {
	for _, s := range l.Slot[:l.N] {
		i := s & (packet.VectorSize - 1)
		c.Bucket[i] = uint32(h.home(Key{c.KeyLow[i], c.Access[i]}))
	}
	packet.Prefetch(unsafe.Pointer(unsafe.SliceData(h.buckets)), &c.Bucket, l, packet.Whole, unsafe.Sizeof(bucket{}))
}

// FindAll looks up what Prepare prepared; out gets the value, or packet.None. All four places of a bucket
// are compared without a branch that could be predicted wrongly.
func (h *Hash) FindAll(c *packet.Columns, l *packet.List, out *[packet.VectorSize]uint32) {
	const valueBits = 64 - keyHighBits
	buckets := h.buckets
	for _, s := range l.Slot[:l.N] {
		i := s & (packet.VectorSize - 1)
		low, high := c.KeyLow[i], c.Access[i]
		b := &buckets[c.Bucket[i]]
		low0, low1 := atomic.LoadUint64(&b[0].low), atomic.LoadUint64(&b[1].low)
		low2, low3 := atomic.LoadUint64(&b[2].low), atomic.LoadUint64(&b[3].low)
		high0, high1 := atomic.LoadUint64(&b[0].high), atomic.LoadUint64(&b[1].high)
		high2, high3 := atomic.LoadUint64(&b[2].high), atomic.LoadUint64(&b[3].high)
		found := uint64(0)
		if (low^low0)|(high^high0)<<valueBits == 0 {
			found = high0
		}
		if (low^low1)|(high^high1)<<valueBits == 0 {
			found = high1
		}
		if (low^low2)|(high^high2)<<valueBits == 0 {
			found = high2
		}
		if (low^low3)|(high^high3)<<valueBits == 0 {
			found = high3
		}
		if found == 0 {
			out[i] = h.further(Key{low, high})
			continue
		}
		out[i] = uint32(found>>keyHighBits) - 1
	}
}

// further continues the search where match ended; few packets come here.
func (h *Hash) further(k Key) uint32 {
	if value, ok := h.Find(k); ok {
		return value
	}
	return packet.None
}
