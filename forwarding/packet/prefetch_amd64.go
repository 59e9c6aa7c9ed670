package packet

import "unsafe"

//go:noescape
func prefetchSlots(base unsafe.Pointer, column *uint32, slot *uint8, n int, shift, scale uintptr)
