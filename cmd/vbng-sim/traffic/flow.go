package traffic

// windowPackets is how far behind the newest a packet may arrive and still be told from a duplicate.
const windowPackets = 1024

// flow is one direction of one session.
type flow struct {
	sent     uint64
	received uint64 // each sequence number once
	next     uint64 // one above the highest sequence number that arrived
	window   []uint64
}

// arrive notes a sequence number.
func (f *flow) arrive(sequence uint64) Verdict {
	if f.window == nil {
		f.window = make([]uint64, windowPackets/64)
	}
	switch {
	case sequence >= f.sent:
		return Corrupt // never sent
	case sequence >= f.next:
		f.advance(sequence)
		f.received++
		return Good
	case f.next-sequence > windowPackets:
		return Late
	case f.seen(sequence):
		return Duplicate
	}
	f.mark(sequence)
	f.received++
	return Reordered
}

// advance moves the window up to a new highest number and marks that.
func (f *flow) advance(sequence uint64) {
	if sequence-f.next >= windowPackets {
		clear(f.window)
	} else {
		for s := f.next; s < sequence; s++ {
			f.window[s/64%uint64(len(f.window))] &^= 1 << (s % 64)
		}
	}
	f.next = sequence + 1
	f.mark(sequence)
}

func (f *flow) mark(sequence uint64) {
	f.window[sequence/64%uint64(len(f.window))] |= 1 << (sequence % 64)
}

func (f *flow) seen(sequence uint64) bool {
	return f.window[sequence/64%uint64(len(f.window))]>>(sequence%64)&1 != 0
}
