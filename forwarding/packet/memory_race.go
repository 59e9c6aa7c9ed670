//go:build race

package packet

import "unsafe"

// reserve takes memory from the Go heap: the race detector sees nothing outside it.
func reserve(bytes int) ([]byte, error) {
	words := make([]uint64, (bytes+7)/8) // aligned like the words that will be read atomically
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), bytes), nil
}

func release(unsafe.Pointer, int) {}
