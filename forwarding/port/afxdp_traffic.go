package port

import (
	"golang.org/x/sys/unix"

	"vbng/forwarding/packet"
)

// Receive implements Port.
func (p *AFXDP) Receive(pool *packet.Pool, v *packet.Vector) int {
	if p.memory.orphaned.Load() {
		p.memory.adopt(pool)
	}
	before := v.N
	for _, q := range p.queues {
		if q.send.waiting() != 0 { // the kernel had no room for what was sent last
			q.kick()
		}
		q.reclaim(pool)
		p.take(q, pool, v)
		q.replenish(pool)
	}
	bytes := 0
	for i := before; i < v.N; i++ {
		bytes += int(v.Length[i])
	}
	p.tally.input(v.N-before, bytes)
	return v.N - before
}

// take moves received frames into the vector. A frame of several descriptors becomes a chain; its rest may
// come with the next call.
func (p *AFXDP) take(q *xdpQueue, pool *packet.Pool, v *packet.Vector) {
	consumed, produced := q.received.consumed.Load(), q.received.produced.Load()
	for ; consumed != produced && v.N < packet.VectorSize; consumed++ {
		d := q.received.places[consumed&q.received.mask]
		index := uint32(d.Addr & addressMask / packet.Stride)
		start := uint32(d.Addr&addressMask + d.Addr>>addressBits)
		q.held.clear(index)
		more := d.Options&unix.XDP_PKT_CONTD != 0
		if q.first == packet.None && !more { // as nearly all are
			v.Index[v.N], v.Offset[v.N], v.Length[v.N] = index, start, d.Len
			v.N++
			continue
		}
		q.collect(pool, index, d.Len)
		if more {
			continue
		}
		if q.pieces > packet.MaxChain {
			p.overlong.Add(1)
			p.tally.inputDrops.Add(1)
			pool.Give(q.first)
		} else {
			v.Index[v.N], v.Offset[v.N], v.Length[v.N] = q.first, packet.Start(q.first), q.length
			v.N++
		}
		q.first = packet.None
	}
	q.received.consumed.Store(consumed)
}

// collect adds a piece to the frame that is coming in; more of them than a chain takes are only counted.
func (q *xdpQueue) collect(pool *packet.Pool, index, length uint32) {
	switch {
	case q.first == packet.None:
		q.first, q.length, q.pieces = index, 0, 0
	case q.pieces < packet.MaxChain:
		pool.Arena.Link(q.last, index)
	default:
		pool.Give(index)
		q.pieces++
		return
	}
	q.last = index
	q.length += length
	q.pieces++
}

// Transmit implements Port. Buffers come back when the kernel has sent them.
func (p *AFXDP) Transmit(pool *packet.Pool, v *packet.Vector) {
	q := p.queues[0]
	q.reclaim(pool)
	packets, bytes := 0, 0
	for i := range v.N {
		if p.put(q, pool, v.Index[i], v.Offset[i], v.Length[i]) {
			packets, bytes = packets+1, bytes+int(v.Length[i])
		}
	}
	p.tally.output(packets, bytes)
	q.kick()
}

// put hands a frame to the kernel, a descriptor for each of its buffers; false: it was dropped.
func (p *AFXDP) put(q *xdpQueue, pool *packet.Pool, index, offset, length uint32) bool {
	n := pool.Arena.Parts(index, offset, length, &p.parts)
	switch {
	case length > p.maxFrame || n > 1 && !q.gathers:
		p.tooLongForDevice.Add(1)
	case q.send.room() < uint32(n):
		p.busy.Add(1)
	default:
		q.push(pool, index, offset, p.parts[:n])
		return true
	}
	p.tally.outputDrops.Add(1)
	pool.Give(index)
	return false
}

func (q *xdpQueue) push(pool *packet.Pool, index, offset uint32, parts [][]byte) {
	produced := q.send.produced.Load()
	for i, part := range parts {
		following, chained := pool.Arena.Unlink(index) // each comes back by itself
		d := unix.XDPDesc{Addr: uint64(offset), Len: uint32(len(part))}
		if i+1 < len(parts) {
			d.Options = unix.XDP_PKT_CONTD
		} else if chained { // cut off: padding
			pool.Give(following)
		}
		q.send.places[produced&q.send.mask] = d
		q.held.set(index)
		produced++
		index, offset = following, packet.Start(following)
	}
	q.send.produced.Store(produced)
}
