package graph

import "vbng/forwarding/packet"

// madeDepth is how many packets of its own a worker holds; a power of two.
const madeDepth = 512

// made is a packet that a node has made, on its way to the graph's begin.
type made struct{ index, offset, length, vrf uint32 }

// madeQueue is a ring: head were taken, tail put.
type madeQueue struct {
	packets    [madeDepth]made
	head, tail uint32
}

// MadeRoom returns how many packets of its own the worker can still take.
func (w *Worker) MadeRoom() int { return madeDepth - w.MadeWaiting() }

// MakePacket queues an IP packet that a node has made, in a buffer of its own: it enters the graph behind those that
// the port has brought, as one of local origin in that VRF (a slot). Edges lead down only, so this is how the router's
// own packets come to the lookup. There must be room (MadeRoom).
func (w *Worker) MakePacket(index, offset, length, vrf uint32) {
	w.made.packets[w.made.tail&(madeDepth-1)] = made{index, offset, length, vrf}
	w.made.tail++
}

// Remake ends a packet's way: its buffer goes on as a packet of our own, which begins at offset and lies wholly in
// this buffer; what continued it is given back. There must be room.
func (w *Worker) Remake(slot uint8, offset, length uint32) {
	i := slot & slotMask
	w.alive &^= 1 << i
	index := w.Packets.Index[i]
	if following, ok := w.Arena.Unlink(index); ok {
		w.Pool.Give(following)
	}
	w.MakePacket(index, offset, length, w.Packets.VRF[i])
}

// Made reports whether packets of its own wait in the worker.
func (w *Worker) Made() bool { return w.made.head != w.made.tail }

// MadeWaiting returns how many of them there are.
func (w *Worker) MadeWaiting() int { return int(w.made.tail - w.made.head) }

// TakeMade fills Packets with the worker's own packets, up to a vector and at most limit, and returns how many. They
// come from no port: Port is one without frames, names and link.
func (w *Worker) TakeMade(limit int) int {
	c, q := &w.Packets, &w.made
	n := min(int(q.tail-q.head), packet.VectorSize, limit)
	for i := range n {
		m := &q.packets[q.head&(madeDepth-1)]
		q.head++
		c.Index[i], c.Offset[i], c.Length[i], c.VRF[i] = m.index, m.offset, m.length, m.vrf
	}
	c.N, w.Port = n, &w.nowhere
	return n
}

// nowhere is the port of what the router makes itself.
func nowhere() Port { return Port{Slot: packet.None, L3: true, VRF: packet.None} }

// Tally counts a reason that is no loss of this packet: its way goes on, or its end is counted elsewhere.
func (w *Worker) Tally(n *Node, r Reason) { w.Count.Add(n.reasons+uint32(r), 1) }

// Refuse counts why a packet is dropped, and sends it along an edge all the same: to a node that tells its sender.
// That node ends its way.
func (w *Worker) Refuse(n *Node, r Reason, e Edge, slot uint8) {
	w.Count.Add(n.reasons+uint32(r), 1)
	if w.tracer != nil {
		w.tracer.dropped(n, r, slot)
	}
	w.Send(n, e, slot)
}
