package counter

import (
	"unsafe"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// Worker is one worker's counters. Only its goroutine may call the methods that add.
type Worker struct {
	sessions [][sessionWords]uint64
	ports    [][portWords]uint64
	words    []uint64
}

func newWorker(words []uint64, l Layout) Worker {
	rest := unsafe.Pointer(&words[0])
	w := Worker{sessions: unsafe.Slice((*[sessionWords]uint64)(rest), l.Sessions)}
	rest = unsafe.Add(rest, l.Sessions*sessionWords*8)
	w.ports = unsafe.Slice((*[portWords]uint64)(rest), l.Ports)
	rest = unsafe.Add(rest, l.Ports*portWords*8)
	w.words = unsafe.Slice((*uint64)(rest), l.Words)
	return w
}

// Input counts a packet from a session's subscriber.
func (w *Worker) Input(slot, bytes uint32) {
	s := &w.sessions[slot]
	add(&s[inputPackets], 1)
	add(&s[inputBytes], uint64(bytes))
}

// Output counts a packet to a session's subscriber.
func (w *Worker) Output(slot, bytes uint32) {
	s := &w.sessions[slot]
	add(&s[outputPackets], 1)
	add(&s[outputBytes], uint64(bytes))
}

// Add adds to a named counter.
func (w *Worker) Add(word uint32, n uint64) { add(&w.words[word], n) }

// SetPort publishes what a port's driver counted.
func (w *Worker) SetPort(slot uint32, p entry.PortCounters) {
	words := &w.ports[slot]
	set(&words[inputPackets], p.InputPackets)
	set(&words[inputBytes], p.InputBytes)
	set(&words[outputPackets], p.OutputPackets)
	set(&words[outputBytes], p.OutputBytes)
	set(&words[inputDrops], p.InputDrops)
	set(&words[outputDrops], p.OutputDrops)
}

// Prefetch asks the cache for the counters of the sessions whose slots are in a column, under a mask.
func (w *Worker) Prefetch(column *[packet.VectorSize]uint32, l *packet.List, mask uint32) {
	packet.Prefetch(unsafe.Pointer(unsafe.SliceData(w.sessions)), column, l, mask, sessionWords*8)
}
