//go:build !race

package packet

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePageBytes = 2 << 20

// reserve maps anonymous memory aligned to a huge page. It is not counted against the machine's memory
// before it is touched: tables are sized by limits, and most never fill.
func reserve(bytes int) ([]byte, error) {
	bytes = roundToPages(bytes)
	all, err := unix.MmapPtr(-1, 0, nil, uintptr(bytes+hugePageBytes),
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	head := int(-uintptr(all) & (hugePageBytes - 1))
	if err := trim(all, head, bytes); err != nil {
		return nil, err
	}
	b := unsafe.Slice((*byte)(unsafe.Add(all, head)), bytes)
	if err := unix.Madvise(b, unix.MADV_HUGEPAGE); err != nil && err != unix.EINVAL {
		return nil, err // EINVAL: a kernel without transparent huge pages works with small ones
	}
	return b, nil
}

// trim unmaps what the alignment left over on both sides.
func trim(all unsafe.Pointer, head, bytes int) error {
	if head > 0 {
		if err := unix.MunmapPtr(all, uintptr(head)); err != nil {
			return err
		}
	}
	if tail := hugePageBytes - head; tail > 0 {
		return unix.MunmapPtr(unsafe.Add(all, head+bytes), uintptr(tail))
	}
	return nil
}

func release(p unsafe.Pointer, bytes int) {
	// The only error is a wrong address, and p came from reserve.
	_ = unix.MunmapPtr(p, uintptr(roundToPages(bytes)))
}

func roundToPages(bytes int) int { return (bytes + hugePageBytes - 1) &^ (hugePageBytes - 1) }
