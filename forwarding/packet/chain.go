package packet

// A frame that is longer than a buffer lies in a chain of them. The first one is full from the frame's first
// byte to its end, so are those between, and each that continues begins at its Start. A packet's Length
// counts the whole chain; it may shrink below what the chain holds (padding is cut), and headers may be
// taken from the front or put there, within the first buffer.

const (
	// MaxChain is how many buffers a frame takes at most.
	MaxChain = 5
	// MaxChained is the longest frame, in bytes: 9,000 and every header that stands before them.
	MaxChained = MaxChain * MaxFrame
)

// TakeChain returns the first of as many buffers as a frame of so many bytes needs, linked; ok is false when
// there are not enough, or the frame is longer than MaxChained.
func (p *Pool) TakeChain(bytes int) (index uint32, ok bool) {
	need := max((bytes+MaxFrame-1)/MaxFrame, 1)
	if need > MaxChain || need > len(p.free) {
		return 0, false
	}
	index, _ = p.Take()
	for last := index; need > 1; need-- {
		following, _ := p.Take()
		p.Arena.Link(last, following)
		last = following
	}
	return index, true
}

// Link makes following continue a buffer that nothing continues yet.
func (a *Arena) Link(index, following uint32) { a.next[index] = following + 1 }

// Unlink makes a buffer the last of its chain, and returns the one that continued it.
func (a *Arena) Unlink(index uint32) (following uint32, ok bool) {
	following, a.next[index] = a.next[index], 0
	return following - 1, following != 0
}

// giveRest takes back what continues a buffer. The bound is there for a chain that was damaged.
func (p *Pool) giveRest(index uint32) {
	for range MaxChain {
		following := p.Arena.next[index]
		if following == 0 {
			return
		}
		p.Arena.next[index] = 0
		index = following - 1
		p.free = append(p.free, index)
	}
}

// Head returns the part of a packet that lies in its first buffer.
func (a *Arena) Head(index, offset, length uint32) []byte {
	return a.Memory[offset:min(offset+length, Start(index)+MaxFrame)]
}

// Parts puts the pieces of a packet into parts and returns how many there are.
func (a *Arena) Parts(index, offset, length uint32, parts *[MaxChain][]byte) int {
	n := 0
	for {
		parts[n] = a.Head(index, offset, length)
		length -= uint32(len(parts[n]))
		n++
		following := a.next[index]
		if length == 0 || following == 0 || n == MaxChain {
			return n
		}
		index, offset = following-1, Start(following-1)
	}
}

// Append appends a packet's bytes to b.
func (a *Arena) Append(b []byte, index, offset, length uint32) []byte {
	var parts [MaxChain][]byte
	for _, part := range parts[:a.Parts(index, offset, length, &parts)] {
		b = append(b, part...)
	}
	return b
}

// Fill writes a frame that comes in two pieces from a buffer's Start on, into its chain. What the chain has no
// room for is left out.
func (a *Arena) Fill(index uint32, first, second []byte) {
	at, end := Start(index), Start(index)+MaxFrame
	for _, piece := range [2][]byte{first, second} {
		for len(piece) > 0 {
			if at == end {
				following := a.next[index]
				if following == 0 {
					return
				}
				index = following - 1
				at, end = Start(index), Start(index)+MaxFrame
			}
			n := copy(a.Memory[at:end], piece)
			at, piece = at+uint32(n), piece[n:]
		}
	}
}
