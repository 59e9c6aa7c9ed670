package graph

import (
	"math/bits"

	"vbng/forwarding/counter"
	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/punt"
	"vbng/forwarding/table"
)

const slotMask = packet.VectorSize - 1

// Worker is what a node works with. All of it belongs to one goroutine, but for Tables, which it reads.
type Worker struct {
	Packets  packet.Columns
	Port     *Port // that brought the packets
	NowNanos int64 // read once per round; never goes backwards

	Arena    *packet.Arena
	Pool     *packet.Pool
	Tables   *table.Tables
	Count    *counter.Worker
	Ring     *punt.Ring
	Policers *punt.Policers
	Ports    []*Port // by slot, nil: not open
	Tapping  Tapping

	graph   *Graph
	busy    uint64 // nodes with packets
	pending [maxNodes]packet.List
	// alive has a bit for each slot whose packet has not yet come to its end. After a panic in a node
	// these packets are dropped.
	alive  uint64
	ready  []*Port // with frames to transmit
	queued int     // frames in their outputs
	tracer *Tracer
	punted entry.Punt // scratch, so that it does not escape

	made    madeQueue
	nowhere Port // of what is in made
}

// NewWorker returns a worker for a graph. The caller fills the exported fields.
func NewWorker(g *Graph, ports int) *Worker {
	return &Worker{graph: g, Ports: make([]*Port, ports), ready: make([]*Port, 0, ports), nowhere: nowhere()}
}

// WordNames names the counter words of the worker's graph.
func (w *Worker) WordNames() []string { return w.graph.Words() }

// Send sends one packet along an edge.
func (w *Worker) Send(n *Node, e Edge, slot uint8) {
	to := n.edges[e]
	w.pending[to&(maxNodes-1)].Add(slot)
	w.busy |= 1 << to
}

// Pass sends a whole list along an edge.
func (w *Worker) Pass(n *Node, e Edge, l *packet.List) {
	if l.N == 0 {
		return
	}
	to := n.edges[e]
	w.pending[to&(maxNodes-1)].Append(l)
	w.busy |= 1 << to
}

// Drop ends a packet's way for a reason.
func (w *Worker) Drop(n *Node, r Reason, slot uint8) {
	w.Count.Add(n.reasons+uint32(r), 1)
	last := len(w.graph.nodes) - 1
	w.pending[last].Add(slot)
	w.busy |= 1 << last
	if w.tracer != nil {
		w.tracer.dropped(n, r, slot)
	}
}

// Punt ends a packet's way in the ring to control, or reports false: then it must be dropped. start is
// where the frame begins and payload what Punt.Payload says, both from the arena's start. Of a frame that lies in a
// chain control gets what its first buffer holds.
func (w *Worker) Punt(slot uint8, p entry.Punt, start, payload uint32) bool {
	if !w.PuntCopy(slot, p, start, payload) {
		return false
	}
	w.Finish(slot)
	return true
}

// PuntCopy puts a copy of the packet into the ring to control; the packet goes on.
func (w *Worker) PuntCopy(slot uint8, p entry.Punt, start, payload uint32) bool {
	c, i := &w.Packets, slot&slotMask
	w.punted = p
	w.punted.Port = w.Port.ID
	w.punted.Data = w.Arena.Head(c.Index[i], start, c.Offset[i]+c.Length[i]-start)
	w.punted.Payload = int(payload - start)
	return w.Ring.Push(&w.punted)
}

// Head returns the bytes of a packet from its current header on, as far as they lie in its first buffer: all of them
// unless it is longer than packet.MaxFrame, and always the headers that a node looks at.
func (w *Worker) Head(i uint8) []byte {
	c := &w.Packets
	i &= slotMask
	return w.Arena.Head(c.Index[i], c.Offset[i], c.Length[i])
}

// Finish gives the buffer of a packet back whose way ended well.
func (w *Worker) Finish(slot uint8) {
	w.alive &^= 1 << (slot & slotMask)
	w.Pool.Give(w.Packets.Index[slot&slotMask])
}

// Transmit ends the way of packets in the outputs of the ports that their Port column names; where a port
// is not open, by a drop.
func (w *Worker) Transmit(n *Node, closed Reason, l *packet.List) {
	c, ports := &w.Packets, w.Ports
	done := uint64(0)
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		p := ports[c.Port[i]]
		if p == nil {
			w.Drop(n, closed, slot)
			continue
		}
		at := p.out.N
		if at == 0 || at == packet.VectorSize {
			at = w.turn(p)
		}
		p.out.N = at + 1
		at &= slotMask
		p.out.Index[at], p.out.Offset[at], p.out.Length[at] = c.Index[i], c.Offset[i], c.Length[i]
		done |= 1 << i
	}
	w.alive &^= done
	w.queued += l.N
}

// Queue puts a buffer that is no received packet into the output of an open port.
func (w *Worker) Queue(p *Port, index, offset, length uint32) {
	at := p.out.N
	if at == 0 || at == packet.VectorSize {
		at = w.turn(p)
	}
	p.out.N = at + 1
	p.out.Index[at&slotMask], p.out.Offset[at&slotMask], p.out.Length[at&slotMask] = index, offset, length
}

// turn transmits an output that is full, or notes one that was empty, and returns the next place in it.
func (w *Worker) turn(p *Port) int {
	if p.out.N > 0 {
		w.transmit(p)
	} else {
		w.ready = append(w.ready, p)
	}
	return 0
}

// FlushFull transmits what the outputs hold if that is a vector's worth: then waiting for more would only
// cool the buffers down.
func (w *Worker) FlushFull() {
	if w.queued >= packet.VectorSize {
		w.Flush()
	}
}

// Flush transmits what the ports' outputs hold.
func (w *Worker) Flush() {
	w.queued = 0
	for _, p := range w.ready {
		w.transmit(p)
		p.out.N = 0
	}
	w.ready = w.ready[:0]
}

func (w *Worker) transmit(p *Port) {
	if p.Taps != nil {
		w.Tap(p, &p.out, true)
	}
	p.Driver.Transmit(w.Pool, &p.out)
}

// Run takes what a port has received through the graph, beginning at a node.
func (w *Worker) Run(first *Node) {
	n := w.Packets.N
	w.alive = ^uint64(0) >> (packet.VectorSize - n)
	w.pending[first.index].All(n)
	w.busy = 1 << first.index
	if w.tracer != nil {
		w.tracer.begin(w, n)
	}
	for w.busy != 0 {
		i := bits.TrailingZeros64(w.busy)
		w.busy &^= 1 << i
		w.step(w.graph.nodes[i], &w.pending[i])
	}
}

func (w *Worker) step(n *Node, l *packet.List) {
	w.Count.Add(n.packets, uint64(l.N))
	w.Count.Add(n.vectors, 1)
	if w.tracer != nil {
		w.tracer.visit(w, n, l)
	}
	n.process(w, n, l)
	l.N = 0
}

// Abandon drops the packets that a panic left on their way and returns how many they were.
func (w *Worker) Abandon() int {
	left := w.alive
	for a := left; a != 0; a &= a - 1 {
		w.Pool.Give(w.Packets.Index[bits.TrailingZeros64(a)])
	}
	for i := range w.pending {
		w.pending[i].N = 0
	}
	w.busy, w.alive = 0, 0
	return bits.OnesCount64(left)
}

const dropName = "drop"

// drop is the last node: it gives buffers back, the first one last, so that it is taken first.
func drop(w *Worker, _ *Node, l *packet.List) {
	for i := l.N - 1; i >= 0; i-- {
		w.Finish(l.Slot[i])
	}
}
