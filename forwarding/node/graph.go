package node

import (
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
)

// Names of the nodes where packets enter.
const (
	EthernetInput = "ethernet-input" // from ports with Ethernet frames
	LocalOrigin   = "local-origin"   // from a VRF's TUN
	RouterOrigin  = "router-origin"  // made by nodes
)

// Arcs, with their slots in order. Later features stand in the slots that are still empty.
const (
	arcSubscriberIn  = "subscriber-in"
	arcSubscriberIn6 = "subscriber-in6" // the same slots, for IPv6
	arcPortOut       = "port-out"
)

func arcs() []graph.Arc {
	subscriberIn := []string{"source-check", "filter", "meter", "count", "services"}
	return []graph.Arc{
		{Name: arcSubscriberIn, Slots: subscriberIn, End: nameLookup},
		{Name: arcSubscriberIn6, Slots: subscriberIn, End: nameLookup6},
		{Name: arcPortOut, Slots: []string{"filter", "mirror", "scheduler"}, End: namePortOutput},
	}
}

const (
	nameARP        = "arp-input"
	namePPPoE      = "pppoe-input"
	nameIPoE       = "ipoe-input"
	nameEcho       = "lcp-echo"
	nameIP4        = "ip4-input"
	nameIP6        = "ip6-input"
	nameND         = "nd-input"
	nameSource     = "source-check"
	nameSource6    = "source-check6"
	nameCount      = "subscriber-count"
	nameCount6     = "subscriber-count6"
	nameLookup     = "ip4-lookup"
	nameLookup6    = "ip6-lookup"
	nameLocal      = "ip4-local"
	nameLocal6     = "ip6-local"
	nameAdjacency  = "adjacency"
	nameSubscriber = "subscriber-output"
	nameVerify     = "ip4-verify"
	nameVerify6    = "ip6-verify"
	nameFragment   = "ip4-fragment"
	nameICMP       = "icmp-error"
	nameICMP6      = "icmp6-error"
	namePortOutput = "port-output"
	namePunt       = "punt"
)

// specs lists the nodes in packet order.
func specs() []graph.Spec {
	limit := &errorLimit{} // for both families
	return []graph.Spec{
		ethernetInput(),
		arpInput(),
		pppoeInput(),
		ipoeInput(),
		lcpEcho(),
		localOrigin(),
		routerOrigin(),
		ip4Input(),
		ip6Input(),
		ndInput(),
		sourceCheck(),
		sourceCheck6(),
		subscriberCount(nameCount, arcSubscriberIn),
		subscriberCount(nameCount6, arcSubscriberIn6),
		ip4Verify(),
		ip6Verify(),
		ip4Lookup(),
		ip6Lookup(),
		ipLocal(nameLocal),
		ipLocal(nameLocal6),
		adjacency(),
		subscriberOutput(),
		ip4Fragment(),
		icmpError(limit),
		icmp6Error(limit),
		portOutput(),
		puntNode(),
	}
}

// Graph returns a new graph of the built-in nodes, for one worker. words are further counters by name.
func Graph(words []string) (*graph.Graph, error) { return graph.Build(specs(), arcs(), words) }

const slotMask = packet.VectorSize - 1
