package packet

// Arena is the memory of all buffers.
type Arena struct {
	Memory []byte // Count*Stride bytes
	Count  int
	next   []uint32 // by buffer: the one that continues its frame + 1, 0: none
}

// Pool is one worker's LIFO stack of free buffers: the buffer freed last is taken first, so only
// those in flight are warm in the cache.
type Pool struct {
	Arena *Arena
	free  []uint32
}

// NewArena lays count buffers over memory, which must hold count*Stride bytes.
func NewArena(memory []byte, count int) *Arena {
	return &Arena{Memory: memory[:count*Stride], Count: count, next: make([]uint32, count)}
}

// NewPool returns a pool of the buffers first..first+count-1.
func NewPool(a *Arena, first, count int) *Pool {
	p := &Pool{Arena: a, free: make([]uint32, 0, count)}
	for i := count - 1; i >= 0; i-- {
		p.free = append(p.free, uint32(first+i))
	}
	return p
}

// Take returns a free buffer; ok is false when there is none.
func (p *Pool) Take() (index uint32, ok bool) {
	n := len(p.free)
	if n == 0 {
		return 0, false
	}
	index = p.free[n-1]
	p.free = p.free[:n-1]
	return index, true
}

// Give takes a buffer back, and those that continue it.
func (p *Pool) Give(index uint32) {
	p.free = append(p.free, index)
	if p.Arena.next[index] != 0 {
		p.giveRest(index)
	}
}

// TakeAll fills indices with free buffers and returns how many there were.
func (p *Pool) TakeAll(indices []uint32) int {
	rest := len(p.free) - min(len(indices), len(p.free))
	n := copy(indices, p.free[rest:])
	p.free = p.free[:rest]
	return n
}

// GiveAll takes buffers back, none of which is continued.
func (p *Pool) GiveAll(indices []uint32) { p.free = append(p.free, indices...) }

// Free returns how many buffers are free.
func (p *Pool) Free() int { return len(p.free) }
