package packet

import (
	"fmt"
	"unsafe"
)

// NewSlab returns n zeroed elements of T in memory of its own, outside the garbage collector's sight and
// in huge pages where the kernel has them. T must hold no pointers. Pages come into being when touched.
func NewSlab[T any](n int) ([]T, error) {
	var t T
	size := int(unsafe.Sizeof(t))
	b, err := reserve(max(n*size, 1))
	if err != nil {
		return nil, fmt.Errorf("reserve %d x %d bytes: %w", n, size, err)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// FreeSlab gives the memory of a NewSlab back. Nobody may read it any more.
func FreeSlab[T any](s []T) {
	if len(s) > 0 {
		release(unsafe.Pointer(unsafe.SliceData(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}
