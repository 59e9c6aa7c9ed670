package bench

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"vbng/forwarding/packet"
)

// pin keeps the calling goroutine on a CPU until the returned function is called.
func pin(cpu int) (unpin func(), err error) {
	runtime.LockOSThread()
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, fmt.Errorf("read CPU affinity: %w", err)
	}
	only.Set(cpu)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return nil, fmt.Errorf("pin to CPU %d: %w", cpu, err)
	}
	return func() {
		_ = unix.SchedSetaffinity(0, &before)
		runtime.UnlockOSThread()
	}, nil
}

// rxtx measures the ports alone: the same Receive and Transmit, with nothing between. It returns
// nanoseconds per packet.
func rxtx(t *templates, o options) (float64, error) {
	unpin, err := pin(o.cpu)
	if err != nil {
		return 0, err
	}
	defer unpin()
	const buffers = 1024
	memory, err := packet.NewSlab[byte](buffers * packet.Stride)
	if err != nil {
		return 0, err
	}
	pool := packet.NewPool(packet.NewArena(memory, buffers), 0, buffers)
	x := &traffic{t: t, outputHeader: uint32(t.inputHeader), loop: true, over: make(chan struct{}, 1)}
	var ports []*port
	for i := range accessPorts {
		ports = append(ports, newPort(x, accessID(t.first-firstAccess+i), [6]byte{}))
	}
	nanos := make([]float64, 0, o.runs)
	v := &packet.Vector{}
	for range o.runs {
		x.arm(o.packets)
		for finished := false; !finished; {
			for _, p := range ports {
				v.N = 0
				if p.Receive(pool, v) > 0 {
					p.Transmit(pool, v)
				}
			}
			select {
			case <-x.over:
				finished = true
			default:
			}
		}
		nanos = append(nanos, float64(x.took.Nanoseconds())/float64(o.packets))
	}
	return median(nanos), nil
}

const (
	memoryBytes = 256 << 20
	memoryReads = 64 << 20
	memoryRuns  = 5
)

// memoryRate measures independent random reads of 64 bytes, prefetched in batches, in millions per second.
func memoryRate(cpu int) (float64, error) {
	unpin, err := pin(cpu)
	if err != nil {
		return 0, err
	}
	defer unpin()
	lines, err := packet.NewSlab[[8]uint64](memoryBytes / 64)
	if err != nil {
		return 0, err
	}
	defer packet.FreeSlab(lines)
	for i := range lines {
		lines[i][0] = uint64(i)
	}
	rates := make([]float64, 0, memoryRuns)
	var sum uint64
	for range memoryRuns {
		start := time.Now()
		sum += readRandomly(lines, memoryReads)
		rates = append(rates, memoryReads/time.Since(start).Seconds()/1e6)
	}
	runtime.KeepAlive(sum)
	return median(rates), nil
}

// readRandomly reads whole lines, a vector at a time.
func readRandomly(lines [][8]uint64, reads int) (sum uint64) {
	var list packet.List
	list.All(packet.VectorSize)
	var index [packet.VectorSize]uint32
	base, mask := unsafe.Pointer(unsafe.SliceData(lines)), uint32(len(lines)-1)
	random := uint64(0x9E3779B97F4A7C15)
	for range reads / packet.VectorSize {
		for i := range index {
			random ^= random << 13
			random ^= random >> 7
			random ^= random << 17
			index[i] = uint32(random>>32) & mask
		}
		packet.Prefetch(base, &index, &list, packet.Whole, 64)
		for _, i := range index {
			line := &lines[i&mask]
			sum += line[0] + line[1] + line[2] + line[3] + line[4] + line[5] + line[6] + line[7]
		}
	}
	return sum
}
