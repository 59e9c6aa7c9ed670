package port

import (
	"sync/atomic"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// Memory is a port whose other end is in the same process, for tests: Send and Take are that end's.
// Receive and Transmit belong to one goroutine, Send to one and Take to one.
type Memory struct {
	state    entry.PortState
	in, out  *frameRing
	counters entry.PortCounters
	scratch  []byte // a frame in one piece
}

// NewMemory returns an open port that holds up to depth frames (a power of two) in either direction.
func NewMemory(state entry.PortState, depth int) *Memory {
	state.Up = true
	return &Memory{state: state, in: newFrameRing(depth), out: newFrameRing(depth), scratch: make([]byte, 0, packet.MaxChained+packet.Headroom)}
}

// Send gives the port a frame to receive; false when it holds too many already or the frame is too long.
func (m *Memory) Send(frame []byte) bool {
	return len(frame) <= packet.MaxChained && m.in.push(frame)
}

// Take appends the next frame that the port transmitted to buf.
func (m *Memory) Take(buf []byte) (frame []byte, ok bool) {
	b := m.out.peek()
	if b == nil {
		return buf, false
	}
	buf = append(buf, b...)
	m.out.pop()
	return buf, true
}

// Receive implements Port.
func (m *Memory) Receive(pool *packet.Pool, v *packet.Vector) int {
	n := 0
	for v.N < packet.VectorSize {
		b := m.in.peek()
		if b == nil {
			return n
		}
		index, ok := pool.TakeChain(len(b))
		if !ok {
			return n // the frame waits
		}
		pool.Arena.Fill(index, b, nil)
		v.Index[v.N], v.Offset[v.N], v.Length[v.N] = index, packet.Start(index), uint32(len(b))
		v.N++
		m.in.pop()
		n++
		m.counters.InputPackets++
		m.counters.InputBytes += uint64(v.Length[v.N-1])
	}
	return n
}

// Transmit implements Port.
func (m *Memory) Transmit(pool *packet.Pool, v *packet.Vector) {
	for i := range v.N {
		m.scratch = pool.Arena.Append(m.scratch[:0], v.Index[i], v.Offset[i], v.Length[i])
		if m.out.push(m.scratch) {
			m.counters.OutputPackets++
			m.counters.OutputBytes += uint64(v.Length[i])
		} else {
			m.counters.OutputDrops++
		}
		pool.Give(v.Index[i])
	}
}

// Descriptor implements Port: the worker looks at the port from time to time.
func (m *Memory) Descriptor() int { return -1 }

// SetMTU implements Resizer. No worker reads the MTU.
func (m *Memory) SetMTU(mtu uint16) error {
	m.state.MTU = mtu
	return nil
}

// State implements Port.
func (m *Memory) State() entry.PortState { return m.state }

// Counters implements Port.
func (m *Memory) Counters() entry.PortCounters { return m.counters }

// Close implements Port.
func (m *Memory) Close() error { return nil }

// frameRing is a queue of frames between two goroutines. A place grows to the longest frame it has held.
type frameRing struct {
	frames [][]byte
	mask   uint64
	head   atomic.Uint64 // frames taken
	tail   atomic.Uint64 // frames put
}

func newFrameRing(depth int) *frameRing {
	r := &frameRing{frames: make([][]byte, depth), mask: uint64(depth - 1)}
	for i := range r.frames {
		r.frames[i] = make([]byte, 0, packet.Stride)
	}
	return r
}

func (r *frameRing) push(frame []byte) bool {
	tail := r.tail.Load()
	if tail-r.head.Load() == uint64(len(r.frames)) {
		return false
	}
	r.frames[tail&r.mask] = append(r.frames[tail&r.mask][:0], frame...)
	r.tail.Store(tail + 1)
	return true
}

// peek returns the oldest frame, nil if there is none.
func (r *frameRing) peek() []byte {
	head := r.head.Load()
	if head == r.tail.Load() {
		return nil
	}
	return r.frames[head&r.mask]
}

func (r *frameRing) pop() { r.head.Add(1) }
