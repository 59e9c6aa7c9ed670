// Package port moves frames between the engine and the world, a vector at a time.
//
//	         kernel device, file, memory
//	             |               ^
//	          Receive         Transmit        (workers)
//	             v               |
//	arena buffers named by a packet.Vector, from a packet.Pool
//
// The drivers: AF_PACKET (afpacket*.go: an Ethernet device of the kernel), AF_XDP (afxdp*.go: the same past the
// kernel, in the arena itself), TUN and TAP (tun.go: the router's own IP stack), memory (tests and benchmarks), pcap (pcap*.go: file to file, tests). HotPlug
// stands before those whose device may come and go. Receive and Transmit allocate nothing.
//
// Reading order: port.go (the interface), open.go, hotplug.go, device.go and features.go (what is asked of the kernel
// about a device), then the drivers.
package port
