package graph

import (
	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/port"
)

// Port is a port as a worker sees it. The worker owns it.
type Port struct {
	Slot   uint32
	ID     entry.PortID
	Driver port.Port
	MAC    uint64 // packed like table.PackMAC
	PPPoE  bool
	IPoE   bool
	L3     bool   // frames begin with the IP header
	VRF    uint32 // of an L3 port: slot, or packet.None
	Taps   []*Tap // of captures, mostly none

	// Before is what earlier drivers of this port have counted.
	Before entry.PortCounters
	out    packet.Vector
}

// Sum returns what the port has counted since it exists.
func (p *Port) Sum() entry.PortCounters { return p.Before.Add(p.Driver.Counters()) }
