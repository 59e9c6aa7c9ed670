// Package counter lays the engine's counters over plain memory, which the forwarder shares with control.
//
//	worker 0: | sessions: 4 words each | ports: 8 words each | words | padding to a page
//	worker 1: | ...
//
// Each word is 64 bits, has one writer, the worker whose region it is in, and is read by anybody at any
// time without stopping anybody; a reader adds the workers up. A writer adds with a plain load and a plain
// store, which on 64-bit machines readers never see half done; a locked addition would cost the packet
// path twenty times as much. Under the race detector the same words are accessed by sync/atomic.
//
// Read layout.go, then writer.go.
package counter
