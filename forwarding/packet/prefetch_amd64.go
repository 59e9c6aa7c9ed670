package packet

import "unsafe"

//go:noescape
func prefetchScaled(base unsafe.Pointer, column *uint32, slot *uint8, n int, mask uint32, scale uintptr)

//go:noescape
func prefetchWords(base unsafe.Pointer, column *uint32, slot *uint8, n int, shift uint64)
