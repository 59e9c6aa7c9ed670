package port

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// xdpRing is a queue between us and the kernel, of descriptors or of bare addresses (Linux AF_XDP). The side
// that puts moves produced, the one that takes moves consumed; both count without end.
type xdpRing[T unix.XDPDesc | uint64] struct {
	memory             []byte
	produced, consumed *atomic.Uint32
	flags              *atomic.Uint32
	places             []T
	mask               uint32
}

func (r *xdpRing[T]) open(socket int, option int, offset int64, size int, layout func(*unix.XDPMmapOffsets) unix.XDPRingOffset) error {
	if err := unix.SetsockoptInt(socket, unix.SOL_XDP, option, size); err != nil {
		return fmt.Errorf("make ring of %d: %w", size, err)
	}
	var offsets unix.XDPMmapOffsets
	length := uint32(unsafe.Sizeof(offsets))
	if _, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(socket), unix.SOL_XDP, unix.XDP_MMAP_OFFSETS,
		uintptr(unsafe.Pointer(&offsets)), uintptr(unsafe.Pointer(&length)), 0); errno != 0 {
		return fmt.Errorf("ask for the layout of rings: %w", errno)
	}
	at := layout(&offsets)
	var place T
	bytes := int(at.Desc) + size*int(unsafe.Sizeof(place))
	memory, err := unix.Mmap(socket, offset, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return fmt.Errorf("map ring: %w", err)
	}
	word := func(offset uint64) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&memory[offset])) }
	r.memory, r.mask = memory, uint32(size-1)
	r.produced, r.consumed, r.flags = word(at.Producer), word(at.Consumer), word(at.Flags)
	r.places = unsafe.Slice((*T)(unsafe.Pointer(&memory[at.Desc])), size)
	return nil
}

func (r *xdpRing[T]) close() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory)
		r.memory, r.places = nil, nil
	}
}

// waiting returns how many places have been put and not taken.
func (r *xdpRing[T]) waiting() uint32 { return r.produced.Load() - r.consumed.Load() }

// room returns how many places are free.
func (r *xdpRing[T]) room() uint32 { return r.mask + 1 - r.waiting() }

// sleeps reports whether the kernel asks to be woken.
func (r *xdpRing[T]) sleeps() bool { return r.flags.Load()&unix.XDP_RING_NEED_WAKEUP != 0 }
