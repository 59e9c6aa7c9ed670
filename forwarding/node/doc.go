// Package node holds the built-in nodes, a file each. This page tells a packet's story; package graph tells
// how nodes run.
//
// # The nodes, in packet order
//
//	ethernet-input    (ethernet.go)   from every Ethernet port: addresses, tags, type
//	arp-input         (arp.go)        ARP: answers for our addresses; replies and announcements to control
//	pppoe-input       (pppoe.go)      PPPoE session frames: finds the session, strips the headers
//	lcp-echo          (echo.go)       LCP of a known session: echo is answered here
//	local-origin      (local.go)      from every TUN: packets of our own host stack
//	ip4-input         (ip4.go)        checks the IPv4 header
//	source-check      (subscriber.go) arc subscriber-in: is the source the subscriber's own?
//	subscriber-count  (subscriber.go) arc subscriber-in: counts packets and bytes from the subscriber
//	ip4-lookup        (lookup.go)     longest prefix in the VRF, TTL
//	ip4-local         (local.go)      for our own addresses: to the VRF's TUN
//	adjacency         (adjacency.go)  to a next hop: Ethernet header with its tags; asks for unresolved ones
//	pppoe-output      (output.go)     to a subscriber: PPPoE header with its tags, counts
//	port-output       (output.go)     arc port-out ends here: out of the port
//	punt              (punt.go)       up to control, as far as the policers let it
//	drop                              gives the buffer back; the reason was counted where it was found
//
// A packet goes down this list only: an edge never leads back up. (For the same reason one pass over the
// list finishes everything that a port brought.) What each node drops for, and its name, stands at the top
// of its file; the counters are NODE/packets, NODE/vectors and NODE/REASON.
//
// # Where a frame goes
//
// Frames for others. ethernet-input takes frames to the port's own address, or to the own address of the L3
// interface that the frame's tags belong to. Frames to a group address are taken for ARP and for PPPoE
// discovery only. Tags: none, one (0x8100, 0x88a8, 0x9100) or two, of which the inner one is 0x8100. A single
// 0x8100 tag with VLAN 0 is a priority tag: as if untagged.
//
// PADI, PADR, PADT (0x8863). On a port that terminates PPPoE, ethernet-input -> punt, class PPPoEDiscovery.
// Control answers; its frame comes back by the inject ring and leaves by the port that it names, without
// passing any node. On another port: dropped, pppoe-not-enabled.
//
// PPPoE session frame (0x8864). ethernet-input -> pppoe-input. The key (port, tags with their TPID, source MAC,
// session id) is looked up whole: the same id with another MAC or VLAN is another session. Then by PPP protocol:
//
//	IPv4 (0x0021)                 -> ip4-input -> subscriber-in -> ip4-lookup
//	LCP                           -> lcp-echo
//	IPv6                          dropped by name, until it is supported
//	anything else (PAP, IPCP ...) -> punt, class PPPControl, with the session
//	no such session               -> punt, class PPPoEUnknown: one per source and second, which control answers
//	                                 with a PADT; the rest is dropped, policed-pppoe-unknown
//
// LCP. Once control has put an entry.Echo for the session, lcp-echo turns an Echo-Request into the reply (in its
// own frame, addresses swapped, our magic number, cut to the peer's MRU) and takes an Echo-Reply as a sign of
// life; that is the counter lcp-echo/reply-consumed, and no loss. A request with our own magic number (a looped
// line), every other LCP code, and all LCP before there is an entry.Echo go to punt, class PPPControl. The
// Echo-Requests that we send do not come from a node but from the worker's timer wheel.
//
// IPv4 from a subscriber. ip4-input checks version, lengths and checksum, cuts padding, and drops martians. The arc
// subscriber-in has the slots source-check, filter, meter, count, services; filter, meter and services
// are empty yet. source-check lets pass the session's address, any source if the session says so, and the
// sources for which a route leads to this very session; the rest is dropped, source-not-assigned, or
// no-ipv4-yet while the session has no address. A subscriber's packet that is refused there is not counted as
// the subscriber's.
//
// IPv4 from elsewhere. ethernet-input finds the L3 interface by port and tags (none: dropped, no-interface), which
// says the VRF: -> ip4-input -> ip4-lookup. From a TUN: local-origin -> ip4-input -> ip4-lookup, in the VRF whose TUN
// it is; such a packet's TTL is not decremented.
//
// ip4-lookup sends it on by what the longest prefix leads to:
//
//	a subscriber        -> pppoe-output -> arc port-out    (a hairpin between two subscribers as well)
//	a next hop          -> adjacency -> arc port-out
//	a connected network -> adjacency, which asks for the destination itself
//	our own address     -> ip4-local -> port-output of the TUN; in a VRF without TUN to punt, class Local
//	a discard route, or no route: dropped, discard-route or no-route
//
// What is forwarded must have a TTL above 1 (else ip4-lookup drops it, ttl-expired) and gets one less; what is for
// our own address keeps its TTL.
//
// A next hop that is not resolved, or a connected destination that is no neighbour yet: adjacency sends the packet
// to punt, class Glean, at most once per second and neighbour; the rest is dropped, unresolved. Control resolves and
// puts an entry.Neighbor, and a host route to it.
//
// Too long. pppoe-output drops a packet longer than the session's MTU, adjacency one longer than the interface's, both
// as mtu-exceeded. port-output drops only for want of an open port, port-not-open; what a device then cannot send is
// counted by the port, "Out drops" in show interfaces.
//
// ARP (0x0806). A request for an entry.Local of the interface is answered in its own frame and leaves by the port it
// came from; control gets a copy when the sender is no neighbour yet. Requests for others are dropped. Replies, and announcements (requests for the sender's own address), go
// to punt, class ARP.
//
// # Up to control
//
// punt asks the policers: a rate per class and, in front of it, one per class and source MAC. What they refuse is
// dropped as policed-CLASS; if the ring to control is full, as ring-full. Otherwise the frame is copied into the
// ring, with port, interface, session and tags.
//
// # Where a new feature stands
//
// In a slot of an arc, if packets pass it on their way; as a new kind of target, if routes lead to it; as a new node
// behind ethernet-input or pppoe-input, if it has frames of its own. Its Spec goes into the list in graph.go, at its
// place in packet order.
//
// Sources: IEEE 802.1Q, RFC 826, RFC 791, RFC 1071, RFC 1624, RFC 1661, RFC 1812, RFC 2516, RFC 2827, RFC 5227.
// Reading order: this page, graph.go, then the files in packet order.
package node
