// Package iface owns the router's interfaces: ports, layer 3 interfaces and their addresses, VRFs as the
// forwarder knows them, neighbours by ARP and by neighbour discovery, and the kernel's side of each VRF's TUN.
//
//	configuration --> settings --+
//	port state ------------------+--> port, link --> entries (Port, VRF, Interface, Local)
//	                                   |    |------> routes to the RIB (connected, local)
//	                                   |    |------> the kernel's addresses (HostStack)
//	punted ARP, ND, gleans -> neighbor-+----+------> Neighbor entries, host routes, ARP and ND frames
//	RIB: Want, Unwant -----^
//
// A port is what frames come from; a link is a layer 3 interface on it (untagged, one tag or two) or
// a loopback. Both are brought from what is programmed to what is wanted by comparing the two, on
// every event that changes either. So the order of events does not matter, and a configuration
// change costs exactly the entries that differ.
//
// Entries that others refer to are taken away last: a link first takes its routes back from the RIB,
// which answers when the forwarder has let go of them, then its neighbours, then itself; its port
// follows when nothing stands on it.
//
// The forwarder answers ARP for our addresses itself (entry.Local) and hands up replies, requests
// between others, and packets for unresolved neighbours (gleans). A neighbour is a state machine
// (fsm.go); one that is resolved gets a Neighbor entry and a host route, one that a route's next hop
// needs (Want) gets its entry at once, unresolved if need be.
//
// An interface stands in one VRF; when that changes it leaves with all it has there and comes up in the
// other. The same addresses may be in several VRFs. Link-local addresses have neighbours, but no routes.
//
// Sources: RFC 826 (ARP), RFC 5227 (announcements, conflicts), RFC 4861 (neighbour discovery; 7.3, states and
// timers, for ARP as well), RFC 4862 5.4 (duplicates), RFC 4291, RFC 2464, RFC 3021 and RFC 6164 (prefixes of two
// addresses), RFC 3704 (reverse path), IEEE 802.1Q.
//
// Reading order: config.go, config6.go, check.go, interfaces.go, domain.go, port.go, link.go, fsm.go, neighbor.go,
// fixed.go, memory.go, arp.go, nd.go, punt.go, host.go, kernel.go, kernel_vrf.go, kernel_rules.go, kernel_mark.go,
// snapshot.go, show.go.
package iface
