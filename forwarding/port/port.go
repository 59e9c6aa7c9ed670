package port

import (
	"errors"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// Port is one driver instance. One worker calls Receive and one Transmit (the same one or another).
type Port interface {
	// Receive appends frames to v, up to its capacity, taking buffers from pool, and returns how many.
	// A frame begins at its buffer's Headroom with all its VLAN tags inline (a TUN's begins with the
	// IP header).
	Receive(pool *packet.Pool, v *packet.Vector) int
	// Transmit sends the frames of v and gives the buffers back to pool, now or when the device is
	// done. What could not be sent is dropped and counted in the port's OutputDrops.
	Transmit(pool *packet.Pool, v *packet.Vector)
	// Descriptor is the file descriptor that polls readable when Receive has work, -1 for none.
	Descriptor() int
	// State tells the device's address, MTU and link.
	State() entry.PortState
	// Counters returns what passed, since the port was opened.
	Counters() entry.PortCounters
	// Close gives the device back.
	Close() error
}

// Resizer is a port whose MTU can be changed while packets pass.
type Resizer interface {
	// SetMTU sets the largest IP packet in bytes, 0: the device's. After an error the port is as it was, and may be
	// opened anew with the other MTU.
	SetMTU(mtu uint16) error
}

// errNotResizable refuses a change of the MTU on an open port.
var errNotResizable = errors.New("the MTU cannot be changed while the port is open")
