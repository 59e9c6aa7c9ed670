package counter

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"vbng/forwarding/entry"
)

// Layout says how many counters of each sort there are. Writer and readers must agree on it.
type Layout struct {
	Workers  int
	Sessions int // slots
	Ports    int // slots
	Words    int // counters with a name: nodes, drop reasons
}

// The words of a session and of a port.
const (
	sessionWords = 4
	portWords    = 8 // six, and two that keep ports apart
	pageBytes    = 4096
)

// The words of a port, of which the first four are also those of a session.
const (
	inputPackets = iota
	inputBytes
	outputPackets
	outputBytes
	inputDrops
	outputDrops
)

// Size returns the bytes of memory that a layout takes.
func Size(l Layout) int { return l.Workers * l.regionBytes() }

func (l Layout) regionBytes() int {
	bytes := (l.Sessions*sessionWords + l.Ports*portWords + l.Words) * 8
	return (bytes + pageBytes - 1) &^ (pageBytes - 1)
}

// Counters is all counters, for readers.
type Counters struct {
	layout  Layout
	workers []Worker
}

// Map lays counters over zeroed memory of at least Size bytes, aligned to 8. Another process may map the
// same memory.
func Map(memory []byte, l Layout) (*Counters, error) {
	if len(memory) < Size(l) || len(memory) == 0 {
		return nil, fmt.Errorf("map counters: %d bytes given, %d needed", len(memory), Size(l))
	}
	if uintptr(unsafe.Pointer(&memory[0]))%8 != 0 {
		return nil, fmt.Errorf("map counters: memory is not aligned to 8 bytes")
	}
	c := &Counters{layout: l}
	for i := range l.Workers {
		region := memory[i*l.regionBytes() : (i+1)*l.regionBytes()]
		words := unsafe.Slice((*uint64)(unsafe.Pointer(&region[0])), len(region)/8)
		c.workers = append(c.workers, newWorker(words, l))
	}
	return c, nil
}

// Layout returns the layout that the counters were mapped with.
func (c *Counters) Layout() Layout { return c.layout }

// Worker returns the writer's side of one worker.
func (c *Counters) Worker(i int) *Worker { return &c.workers[i] }

// Session returns the sums of a session slot.
func (c *Counters) Session(slot uint32) (s entry.SessionCounters) {
	for i := range c.workers {
		w := &c.workers[i].sessions[slot]
		s.InputPackets += atomic.LoadUint64(&w[inputPackets])
		s.InputBytes += atomic.LoadUint64(&w[inputBytes])
		s.OutputPackets += atomic.LoadUint64(&w[outputPackets])
		s.OutputBytes += atomic.LoadUint64(&w[outputBytes])
	}
	return s
}

// ClearSession zeroes a slot that no worker counts on any more.
func (c *Counters) ClearSession(slot uint32) {
	for i := range c.workers {
		for j := range c.workers[i].sessions[slot] {
			atomic.StoreUint64(&c.workers[i].sessions[slot][j], 0)
		}
	}
}

// Port returns the sums of a port slot.
func (c *Counters) Port(slot uint32) (p entry.PortCounters) {
	for i := range c.workers {
		w := &c.workers[i].ports[slot]
		p.InputPackets += atomic.LoadUint64(&w[inputPackets])
		p.InputBytes += atomic.LoadUint64(&w[inputBytes])
		p.OutputPackets += atomic.LoadUint64(&w[outputPackets])
		p.OutputBytes += atomic.LoadUint64(&w[outputBytes])
		p.InputDrops += atomic.LoadUint64(&w[inputDrops])
		p.OutputDrops += atomic.LoadUint64(&w[outputDrops])
	}
	return p
}

// ClearPort zeroes a slot that no worker counts on any more.
func (c *Counters) ClearPort(slot uint32) {
	for i := range c.workers {
		for j := range c.workers[i].ports[slot] {
			atomic.StoreUint64(&c.workers[i].ports[slot][j], 0)
		}
	}
}

// Word returns the sum of a named counter.
func (c *Counters) Word(i int) (sum uint64) {
	for w := range c.workers {
		sum += atomic.LoadUint64(&c.workers[w].words[i])
	}
	return sum
}
