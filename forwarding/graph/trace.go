package graph

import (
	"encoding/hex"
	"fmt"
	"strings"

	"vbng/forwarding/packet"
)

// traceBytes is how much of a packet each step keeps.
const traceBytes = 64

// Tracer follows packets through the nodes. Without one, tracing costs one branch per vector. A worker
// fills it; others may read it only after it has been taken away from the worker.
type Tracer struct {
	port    int64 // only packets from this port slot, -1: all
	left    int
	steps   []step
	packets int
	number  [packet.VectorSize]int // of the packets under way: their trace number, 0: not traced
}

type step struct {
	packet int
	node   *Node
	reason int // of a drop, -1: a visit
	length uint32
	bytes  [traceBytes]byte
}

// stepsPerPacket is more than the longest way has.
const stepsPerPacket = 16

// NewTracer returns one that follows the next count packets, from one port slot or (negative) any.
func NewTracer(count int, portSlot int64) *Tracer {
	return &Tracer{port: portSlot, left: count, steps: make([]step, 0, count*stepsPerPacket)}
}

// SetTracer gives a worker a tracer, or takes it away with nil. It belongs on the worker's goroutine.
func (w *Worker) SetTracer(t *Tracer) { w.tracer = t }

func (t *Tracer) begin(w *Worker, n int) {
	clear(t.number[:])
	if t.port >= 0 && t.port != int64(w.Port.Slot) {
		return
	}
	for i := range n {
		if t.left == 0 {
			return
		}
		t.left--
		t.packets++
		t.number[i] = t.packets
	}
}

func (t *Tracer) visit(w *Worker, n *Node, l *packet.List) {
	if n.Name == dropName {
		return // dropped has told
	}
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		s := t.add(i)
		if s == nil {
			continue
		}
		s.node, s.reason, s.length = n, -1, w.Packets.Length[i]
		copy(s.bytes[:], w.Head(i))
	}
}

func (t *Tracer) dropped(n *Node, r Reason, slot uint8) {
	if s := t.add(slot & slotMask); s != nil {
		s.node, s.reason = n, int(r)
	}
}

// add returns the next step of the packet in a slot, nil if it is not traced or memory is used up.
func (t *Tracer) add(i uint8) *step {
	if t.number[i] == 0 || len(t.steps) == cap(t.steps) {
		return nil
	}
	t.steps = t.steps[:len(t.steps)+1]
	s := &t.steps[len(t.steps)-1]
	s.packet = t.number[i]
	return s
}

// Done reports whether all packets were followed.
func (t *Tracer) Done() bool { return t.left == 0 }

// Lines prints the trace, a line per step, in packet order.
func (t *Tracer) Lines() []string {
	var lines []string
	for number := 1; number <= t.packets; number++ {
		for i := range t.steps {
			if s := &t.steps[i]; s.packet == number {
				lines = append(lines, s.line())
			}
		}
	}
	return lines
}

func (s *step) line() string {
	if s.reason >= 0 {
		return fmt.Sprintf("packet %d: %s: dropped: %s", s.packet, s.node.Name, s.node.names[s.reason])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "packet %d: %s: %d bytes ", s.packet, s.node.Name, s.length)
	b.WriteString(hex.EncodeToString(s.bytes[:min(s.length, traceBytes)]))
	return b.String()
}
