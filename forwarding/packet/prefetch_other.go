//go:build !amd64

package packet

import "unsafe"

func prefetchScaled(base unsafe.Pointer, column *uint32, slot *uint8, n int, mask uint32, scale uintptr) {
}

func prefetchWords(base unsafe.Pointer, column *uint32, slot *uint8, n int, shift uint64) {}
