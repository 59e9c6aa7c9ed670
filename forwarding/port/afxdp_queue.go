package port

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"vbng/forwarding/packet"
)

const (
	// xdpRingSize holds what arrives while a worker is held up: 2 ms at 1 Mpps. Bursts of less than a vector
	// would do otherwise.
	xdpRingSize = 2048
	// sendBudget is how many frames one call sends in copy mode; the kernel's own limit is 32. 0: not known.
	sendBudget       = 64
	optionSendBudget = 9 // XDP_MAX_TX_SKB_BUDGET
	// bindPatience is how long a socket of a forwarder that has just ended may hold the queue.
	bindPatience = 300 * time.Millisecond
	bindPause    = 10 * time.Millisecond
)

// xdpQueue is a socket on one queue of a device. What it shares with the kernel are buffers' addresses: free
// buffers go down by fill and come back by received, full ones go down by send and come back by sent.
type xdpQueue struct {
	socket   int
	memory   *xdpMemory
	received xdpRing[unix.XDPDesc]
	send     xdpRing[unix.XDPDesc]
	fill     xdpRing[uint64]
	sent     xdpRing[uint64]
	held     holding
	fillTo   uint32 // buffers that the kernel shall have for receiving
	gathers  bool   // frames of several descriptors pass
	first    uint32 // of a frame whose last descriptor has not come yet, or packet.None
	last     uint32
	length   uint32
	pieces   int
}

// openQueue binds a socket to a device's queue.
func openQueue(m *xdpMemory, device, queue int) (*xdpQueue, error) {
	q := &xdpQueue{socket: -1, memory: m, first: packet.None}
	if err := q.open(device, queue); err != nil {
		q.close()
		return nil, err
	}
	m.lend(q.socket)
	return q, nil
}

func (q *xdpQueue) open(device, queue int) (err error) {
	if q.socket, err = unix.Socket(unix.AF_XDP, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open XDP socket: %w", err)
	}
	lender, shared, err := q.memory.register(q.socket)
	if err != nil {
		return err
	}
	if err := q.openRings(); err != nil {
		return err
	}
	buffers := q.memory.arena.Count
	q.held = newHolding(buffers)
	q.fillTo = uint32(min(xdpRingSize, buffers/8))
	_ = unix.SetsockoptInt(q.socket, unix.SOL_XDP, optionSendBudget, sendBudget)
	return q.bind(device, queue, lender, shared)
}

func (q *xdpQueue) openRings() error {
	type offsets = *unix.XDPMmapOffsets
	return errors.Join(
		q.fill.open(q.socket, unix.XDP_UMEM_FILL_RING, unix.XDP_UMEM_PGOFF_FILL_RING, xdpRingSize,
			func(o offsets) unix.XDPRingOffset { return o.Fr }),
		q.sent.open(q.socket, unix.XDP_UMEM_COMPLETION_RING, unix.XDP_UMEM_PGOFF_COMPLETION_RING, xdpRingSize,
			func(o offsets) unix.XDPRingOffset { return o.Cr }),
		q.received.open(q.socket, unix.XDP_RX_RING, unix.XDP_PGOFF_RX_RING, xdpRingSize,
			func(o offsets) unix.XDPRingOffset { return o.Rx }),
		q.send.open(q.socket, unix.XDP_TX_RING, unix.XDP_PGOFF_TX_RING, xdpRingSize,
			func(o offsets) unix.XDPRingOffset { return o.Tx }),
	)
}

// bind is tried for a while: the kernel lets go of a dead process's sockets some 100 ms late.
func (q *xdpQueue) bind(device, queue, lender int, shared bool) error {
	address := &unix.SockaddrXDP{Ifindex: uint32(device), QueueID: uint32(queue)}
	if shared { // the flags are those of the lender
		address.Flags, address.SharedUmemFD = unix.XDP_SHARED_UMEM, uint32(lender)
	} else {
		address.Flags = unix.XDP_COPY | unix.XDP_USE_NEED_WAKEUP | unix.XDP_USE_SG
	}
	for deadline := time.Now().Add(bindPatience); ; time.Sleep(bindPause) {
		err := unix.Bind(q.socket, address)
		switch {
		case err == nil:
			q.gathers = shared || address.Flags&unix.XDP_USE_SG != 0
			return nil
		case err == unix.EINVAL && address.Flags&unix.XDP_USE_SG != 0: // a kernel before 6.6
			address.Flags &^= unix.XDP_USE_SG
		case err != unix.EBUSY || time.Now().After(deadline):
			return fmt.Errorf("bind XDP socket to queue %d: %w", queue, err)
		}
	}
}

// replenish gives the kernel free buffers to receive into, as far as the pool does not run dry by it.
func (q *xdpQueue) replenish(pool *packet.Pool) {
	missing := q.fillTo - min(q.fill.waiting(), q.fillTo)
	if missing < packet.VectorSize && missing < q.fillTo { // not for each frame
		return
	}
	produced := q.fill.produced.Load()
	for ; missing > 0 && pool.Free() > packet.VectorSize; missing-- {
		index, _ := pool.Take()
		q.held.set(index)
		q.fill.places[produced&q.fill.mask] = uint64(index) * packet.Stride // data will begin packet.Headroom behind
		produced++
	}
	q.fill.produced.Store(produced)
	if q.fill.sleeps() {
		_, _, _ = unix.Syscall6(unix.SYS_RECVFROM, uintptr(q.socket), 0, 0, unix.MSG_DONTWAIT, 0, 0)
	}
}

// reclaim gives buffers that have been sent back to the pool.
func (q *xdpQueue) reclaim(pool *packet.Pool) {
	consumed, produced := q.sent.consumed.Load(), q.sent.produced.Load()
	for ; consumed != produced; consumed++ {
		// The kernel clears the lowest bit of an odd address, so the buffer is found by dividing.
		index := uint32(q.sent.places[consumed&q.sent.mask] & addressMask / packet.Stride)
		q.held.clear(index)
		pool.Give(index)
	}
	q.sent.consumed.Store(consumed)
}

// addressMask takes the address out of one that carries an offset in its upper 16 bits.
const (
	addressBits = 48
	addressMask = 1<<addressBits - 1
)

// maxKicks bounds the calls that send what one vector put into the ring.
const maxKicks = 2*xdpRingSize/sendBudget + 1

// kick has the kernel send what stands in the ring.
func (q *xdpQueue) kick() {
	for range maxKicks {
		if q.send.waiting() == 0 {
			return
		}
		_, _, errno := unix.Syscall6(unix.SYS_SENDTO, uintptr(q.socket), 0, 0, unix.MSG_DONTWAIT, 0, 0)
		if errno != 0 && errno != unix.EAGAIN { // the device is down or has no room: the next round tries again
			return
		}
	}
}

// close gives the socket back, and the buffers that the kernel held.
func (q *xdpQueue) close() {
	q.fill.close()
	q.sent.close()
	q.received.close()
	q.send.close()
	if q.socket < 0 {
		return
	}
	held := q.held.indices()
	if q.first != packet.None {
		held = append(held, q.first) // with what continues it
	}
	_ = unix.Close(q.socket)
	q.memory.leave(q.socket, held)
	q.socket = -1
}
