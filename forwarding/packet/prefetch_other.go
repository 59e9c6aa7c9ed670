//go:build !amd64

package packet

import "unsafe"

func prefetchSlots(base unsafe.Pointer, column *uint32, slot *uint8, n int, shift, scale uintptr) {}
