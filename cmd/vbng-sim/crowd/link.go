package crowd

import (
	"fmt"

	"vbng/forwarding/packet"
	"vbng/forwarding/port"
)

const (
	linkBuffers   = 2048 // two vectors of long frames are in flight; the rest is for drivers that send later
	vectorsAtOnce = 8    // received before something else gets its turn
)

// link is a port with the buffers that it needs.
type link struct {
	port  port.Port
	pool  *packet.Pool
	rx    packet.Vector
	tx    packet.Vector
	long  []byte // a frame of several buffers, in one piece
	drops uint64 // no buffer was free, or the frame too long
}

func newLink(p port.Port) *link {
	arena := packet.NewArena(make([]byte, linkBuffers*packet.Stride), linkBuffers)
	return &link{port: p, pool: packet.NewPool(arena, 0, linkBuffers)}
}

// send copies a frame out; it leaves with the next flush at the latest.
func (l *link) send(frame []byte) {
	index, ok := l.pool.TakeChain(len(frame))
	if !ok {
		l.drops++
		return
	}
	offset := packet.Start(index)
	l.pool.Arena.Fill(index, frame, nil)
	v := &l.tx
	v.Index[v.N], v.Offset[v.N], v.Length[v.N] = index, offset, uint32(len(frame))
	v.N++
	if v.N == packet.VectorSize {
		l.flush()
	}
}

func (l *link) flush() {
	if l.tx.N > 0 {
		l.port.Transmit(l.pool, &l.tx)
		l.tx.N = 0
	}
}

// receive hands over what has come in; take must not keep the frame. It reports whether there may be
// more.
func (l *link) receive(take func(frame []byte)) (more bool) {
	for range vectorsAtOnce {
		l.rx.N = 0
		n := l.port.Receive(l.pool, &l.rx)
		for i := range n {
			take(l.whole(l.rx.Index[i], l.rx.Offset[i], l.rx.Length[i]))
			l.pool.Give(l.rx.Index[i])
		}
		if n < packet.VectorSize {
			return false
		}
	}
	return true
}

// whole returns a frame in one piece, where it lies or in scratch memory.
func (l *link) whole(index, offset, length uint32) []byte {
	if head := l.pool.Arena.Head(index, offset, length); len(head) == int(length) {
		return head
	}
	l.long = l.pool.Arena.Append(l.long[:0], index, offset, length)
	return l.long
}

// portDrops is what the simulator itself lost, so that it is not held against the router.
type portDrops struct {
	Send    uint64   `json:"send"`
	Receive uint64   `json:"receive"`
	Reasons []string `json:"reasons,omitempty"`
}

func (l *link) lost() portDrops {
	c := l.port.Counters()
	d := portDrops{Send: c.OutputDrops + l.drops, Receive: c.InputDrops}
	if dropper, ok := l.port.(port.Dropper); ok {
		for _, reason := range dropper.Drops() {
			if reason.Count > 0 {
				d.Reasons = append(d.Reasons, fmt.Sprintf("%d %s: %s", reason.Count, reason.Reason, reason.Hint))
			}
		}
	}
	return d
}
