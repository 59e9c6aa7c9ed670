package port

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"vbng/forwarding/packet"
)

// xdpMemory is the arena as the sockets of all AF_XDP ports share it with the kernel (a UMEM): so a buffer
// that one port received can be sent by another without a copy. Chunks are "unaligned", which lets them be
// packet.Stride long; aligned ones would have to be a power of two, and all headers in two of 64 cache sets.
type xdpMemory struct {
	mu      sync.Mutex
	arena   *packet.Arena
	lenders []int // bound sockets: the next one takes the memory from any of them

	// orphans are buffers that the kernel held when a port was closed. A pool belongs to its worker, which
	// takes them in when it next receives from a port.
	orphans  []uint32
	orphaned atomic.Bool
}

func (m *xdpMemory) use(a *packet.Arena) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arena = a
}

// register gives a socket that is not bound yet the memory, if it will be the first. Otherwise it returns the
// socket to bind by.
func (m *xdpMemory) register(socket int) (lender int, shared bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.arena == nil:
		return 0, false, errors.New("share packet buffers: there is no arena")
	case len(m.lenders) > 0:
		return m.lenders[0], true, nil
	}
	first := uintptr(unsafe.Pointer(unsafe.SliceData(m.arena.Memory)))
	if first%uintptr(unix.Getpagesize()) != 0 {
		return 0, false, errors.New("share packet buffers: the arena does not begin at a page")
	}
	r := unix.XDPUmemReg{
		Addr: uint64(first), Len: uint64(len(m.arena.Memory)), Size: packet.Stride, Flags: unix.XDP_UMEM_UNALIGNED_CHUNK_FLAG,
	}
	_, _, errno := unix.Syscall6(unix.SYS_SETSOCKOPT, uintptr(socket), unix.SOL_XDP, unix.XDP_UMEM_REG,
		uintptr(unsafe.Pointer(&r)), unsafe.Sizeof(r), 0)
	if errno != 0 {
		return 0, false, fmt.Errorf("share %d bytes of packet buffers (memory lock limit?): %w", r.Len, errno)
	}
	return 0, false, nil
}

// lend notes a bound socket.
func (m *xdpMemory) lend(socket int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lenders = append(m.lenders, socket)
}

// leave is called when a socket has been closed, with the buffers that it held.
func (m *xdpMemory) leave(socket int, held []uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, s := range m.lenders {
		if s == socket {
			m.lenders = append(m.lenders[:i], m.lenders[i+1:]...)
			break
		}
	}
	m.orphans = append(m.orphans, held...)
	m.orphaned.Store(len(m.orphans) > 0)
}

// adopt gives orphans to a pool.
func (m *xdpMemory) adopt(pool *packet.Pool) {
	if !m.mu.TryLock() { // a worker does not wait for a port that is being opened
		return
	}
	defer m.mu.Unlock()
	for _, index := range m.orphans {
		pool.Give(index)
	}
	m.orphans = m.orphans[:0]
	m.orphaned.Store(false)
}

// holding marks the buffers that the kernel holds for one socket, a bit each.
type holding []uint64

func newHolding(buffers int) holding { return make(holding, (buffers+63)/64) }

func (h holding) set(index uint32)   { h[index/64] |= 1 << (index % 64) }
func (h holding) clear(index uint32) { h[index/64] &^= 1 << (index % 64) }

func (h holding) indices() []uint32 {
	var all []uint32
	for i := range uint32(len(h) * 64) {
		if h[i/64]>>(i%64)&1 != 0 {
			all = append(all, i)
		}
	}
	return all
}
