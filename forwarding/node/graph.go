package node

import (
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
)

// Names of the nodes where packets enter.
const (
	EthernetInput = "ethernet-input" // from ports with Ethernet frames
	LocalOrigin   = "local-origin"   // from a VRF's TUN
)

// Arcs, with their slots in order. Later features stand in the slots that are still empty.
const (
	arcSubscriberIn = "subscriber-in"
	arcPortOut      = "port-out"
)

func arcs() []graph.Arc {
	return []graph.Arc{
		{Name: arcSubscriberIn, Slots: []string{"source-check", "filter", "meter", "count", "services"}, End: nameLookup},
		{Name: arcPortOut, Slots: []string{"filter", "mirror", "scheduler"}, End: namePortOutput},
	}
}

const (
	nameARP        = "arp-input"
	namePPPoE      = "pppoe-input"
	nameEcho       = "lcp-echo"
	nameIP4        = "ip4-input"
	nameSource     = "source-check"
	nameCount      = "subscriber-count"
	nameLookup     = "ip4-lookup"
	nameLocal      = "ip4-local"
	nameAdjacency  = "adjacency"
	namePPPoEOut   = "pppoe-output"
	namePortOutput = "port-output"
	namePunt       = "punt"
)

// specs lists the nodes in packet order.
func specs() []graph.Spec {
	return []graph.Spec{
		ethernetInput(),
		arpInput(),
		pppoeInput(),
		lcpEcho(),
		localOrigin(),
		ip4Input(),
		sourceCheck(),
		subscriberCount(),
		ip4Lookup(),
		ip4Local(),
		adjacency(),
		pppoeOutput(),
		portOutput(),
		puntNode(),
	}
}

// Graph returns a new graph of the built-in nodes, for one worker. words are further counters by name.
func Graph(words []string) (*graph.Graph, error) { return graph.Build(specs(), arcs(), words) }

const slotMask = packet.VectorSize - 1
