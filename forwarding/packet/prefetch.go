package packet

import "unsafe"

// Whole is the mask of a column that holds indices and nothing else.
const Whole = 1<<32 - 1

// Prefetch asks the cache for the lines at base + (column[slot] & mask) * scale of every slot of the list, all
// in one call: a miss costs a hundred nanoseconds, and this way many of them overlap. It reads nothing, so any
// address is allowed.
func Prefetch(base unsafe.Pointer, column *[VectorSize]uint32, l *List, mask uint32, scale uintptr) {
	if l.N > 0 {
		prefetchScaled(base, &column[0], &l.Slot[0], l.N, mask, scale)
	}
}

// PrefetchWords asks for the lines of the 32-bit words at base whose numbers are column[slot] >> shift.
func PrefetchWords(base unsafe.Pointer, column *[VectorSize]uint32, l *List, shift uint) {
	if l.N > 0 {
		prefetchWords(base, &column[0], &l.Slot[0], l.N, uint64(shift))
	}
}

// PrefetchHeaders asks for the first line of each packet.
func (a *Arena) PrefetchHeaders(c *Columns, l *List) {
	Prefetch(unsafe.Pointer(unsafe.SliceData(a.Memory)), &c.Offset, l, Whole, 1)
}
