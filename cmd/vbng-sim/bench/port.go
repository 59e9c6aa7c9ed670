package bench

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// traffic is what the ports of a run share. It belongs to the worker while a run is under way.
type traffic struct {
	t            *templates
	outputHeader uint32 // bytes before the IP header of what leaves
	loop         bool   // calibration: frames come back as they went in

	left       int // still to be received
	expected   int // still to leave
	start      time.Time
	took       time.Duration
	startCPU   time.Duration
	tookCPU    time.Duration // of the worker's thread: less than took when others use its CPU
	over       chan struct{}
	verified   uint64
	wrongPort  uint64
	wrongBytes uint64

	armed atomic.Int64 // packets of the next run, 0: none
}

// arm starts a run of n packets, on the next Receive.
func (t *traffic) arm(n int) { t.armed.Store(int64(n)) }

// port is one in-memory port.
type port struct {
	traffic  *traffic
	id       entry.PortID
	mac      entry.MAC
	from, to int // templates that enter here; none on a port of the other side
	next     int
	prepared []bool // buffers whose payload is written
	counters entry.PortCounters
	coming   [packet.VectorSize]uint32 // templates
	all      packet.List
}

func newPort(t *traffic, id entry.PortID, mac entry.MAC) *port {
	p := &port{traffic: t, id: id, mac: mac}
	p.all.All(packet.VectorSize)
	if i := int(id) - t.t.first; i >= 0 && i < accessPorts {
		p.from, p.to = i*t.t.perPort, (i+1)*t.t.perPort
		p.next = p.from
	}
	return p
}

// Receive implements port.Port: it writes the headers of the next templates.
func (p *port) Receive(pool *packet.Pool, v *packet.Vector) int {
	t := p.traffic
	if p.from == p.to {
		return 0
	}
	if t.left == 0 {
		if !t.begin() {
			return 0
		}
	}
	n := pool.TakeAll(v.Index[v.N:min(packet.VectorSize, v.N+t.left)])
	memory, length := pool.Arena.Memory, uint32(t.t.frameBytes)
	if p.prepared == nil {
		p.prepared = make([]bool, pool.Arena.Count)
	}
	for range n {
		at := v.N & (packet.VectorSize - 1)
		index := v.Index[at]
		if !p.prepared[index] {
			p.prepare(memory, index)
		}
		start := packet.Start(index)
		*(*template)(memory[start:]) = t.t.head[p.next]
		if p.next++; p.next == p.to {
			p.next = p.from
		}
		v.Offset[at], v.Length[at] = start, length
		v.N++
	}
	p.prefetch()
	t.left -= n
	p.counters.InputPackets += uint64(n)
	p.counters.InputBytes += uint64(n) * uint64(length)
	return n
}

// prefetch asks the cache for the templates of the next Receive.
func (p *port) prefetch() {
	for i := range p.coming {
		p.coming[i] = uint32(p.next + i)
	}
	packet.Prefetch(unsafe.Pointer(unsafe.SliceData(p.traffic.t.head)), &p.coming, &p.all, packet.Whole, templateBytes)
}

// begin takes up an armed run.
func (t *traffic) begin() bool {
	n := int(t.armed.Load())
	if n == 0 {
		return false
	}
	t.armed.Store(0)
	t.left, t.expected, t.start, t.startCPU = n, n, time.Now(), threadTime()
	return true
}

// prepare writes the payload of a buffer that is used for the first time.
func (p *port) prepare(memory []byte, index uint32) {
	p.prepared[index] = true
	start := packet.Start(index)
	fillPayload(memory[start : start+uint32(p.traffic.t.frameBytes)])
}

// Transmit implements port.Port: it checks each packet.
func (p *port) Transmit(pool *packet.Pool, v *packet.Vector) {
	t := p.traffic
	memory := pool.Arena.Memory
	for i := range v.N {
		at := i & (packet.VectorSize - 1)
		offset, length := v.Offset[at], v.Length[at]
		number := binary.BigEndian.Uint32(memory[offset+t.outputHeader+numberOffset:])
		if number >= uint32(len(t.t.leaves)) || t.t.leaves[number] != uint8(p.id) && !t.loop {
			t.wrongPort++
		} else if number%sampleEvery == 0 {
			t.compare(memory[offset:offset+length], number)
		}
		p.counters.OutputBytes += uint64(length)
	}
	pool.GiveAll(v.Index[:v.N])
	p.counters.OutputPackets += uint64(v.N)
	if t.expected -= v.N; t.expected <= 0 {
		t.finish()
	}
}

// compare compares a sample with what the model expects.
func (t *traffic) compare(frame []byte, number uint32) {
	t.verified++
	if !t.loop && !bytes.Equal(frame, t.t.samples[number/sampleEvery]) {
		t.wrongBytes++
	}
}

// threadTime is how long the calling thread has had a CPU.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func (t *traffic) finish() {
	t.took, t.tookCPU = time.Since(t.start), threadTime()-t.startCPU
	select {
	case t.over <- struct{}{}:
	default:
	}
}

// Descriptor implements port.Port.
func (p *port) Descriptor() int { return -1 }

// State implements port.Port.
func (p *port) State() entry.PortState {
	return entry.PortState{Port: p.id, Up: true, MAC: p.mac, MTU: 1500}
}

// Counters implements port.Port.
func (p *port) Counters() entry.PortCounters { return p.counters }

// Close implements port.Port.
func (p *port) Close() error { return nil }
