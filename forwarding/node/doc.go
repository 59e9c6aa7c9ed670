// Package node holds the built-in nodes, a file each. This page tells a packet's story; package graph tells
// how nodes run.
//
// # The nodes, in packet order
//
//	ethernet-input    (ethernet.go)   from every Ethernet port: addresses, tags, type
//	arp-input         (arp.go)        ARP: answers for our addresses; replies and announcements to control
//	pppoe-input       (pppoe.go)      PPPoE session frames: finds the session, strips the headers
//	ipoe-input        (ipoe.go)       IP and ARP of IPoE subscribers: finds the session, answers ARP
//	lcp-echo          (echo.go)       LCP of a known session: echo is answered here
//	local-origin      (local.go)      from every TUN: packets of our own host stack
//	router-origin     (origin.go)     packets that nodes have made: ICMP errors and fragments
//	ip4-input         (ip4.go)        checks the IPv4 header
//	ip6-input         (ip6.go)        checks the IPv6 header; takes out what is not for forwarding
//	nd-input          (nd.go)         neighbour discovery: answers for our addresses, the rest to control
//	source-check      (subscriber.go) arc subscriber-in: is the source the subscriber's own?
//	source-check6     (subscriber6.go) arc subscriber-in6: the same for IPv6
//	subscriber-count  (subscriber.go) arc subscriber-in: counts packets and bytes from the subscriber
//	subscriber-count6 (subscriber.go) arc subscriber-in6: the same node and the same counters of the session
//	ip4-verify        (verify.go)     reverse path of packets from interfaces that want it checked
//	ip6-verify        (verify.go)     the same for IPv6
//	ip4-lookup        (lookup.go)     longest prefix in the VRF, next hop of a group, TTL; MSS of TCP (mss.go)
//	ip6-lookup        (lookup6.go)    the same for IPv6, hop limit
//	ip4-local         (local.go)      for our own addresses: to the VRF's TUN
//	ip6-local         (local.go)      the same node for IPv6
//	adjacency         (adjacency.go)  to a next hop: Ethernet header with its tags; asks for unresolved ones
//	subscriber-output (output.go)     to a subscriber: its header, PPPoE or plain, with its tags; counts
//	ip4-fragment      (fragment.go)   cuts IPv4 that is too long for its next hop
//	icmp-error        (icmp.go)       tells the sender of a packet why it cannot go on (fault.go, limit.go)
//	icmp6-error       (icmp6.go)      the same for IPv6
//	port-output       (output.go)     arc port-out ends here: out of the port
//	punt              (punt.go)       up to control, as far as the policers let it
//	drop                              gives the buffer back; the reason was counted where it was found
//
// A packet goes down this list only: an edge never leads back up. (For the same reason one pass over the
// list finishes everything that a port brought.) What a node makes goes into a queue of the worker and enters at
// router-origin when the pass has ended. What each node drops for, and its name, stands at the top
// of its file; the counters are NODE/packets, NODE/vectors and NODE/REASON.
//
// # Where a frame goes
//
// Frames for others. ethernet-input takes frames to the port's own address, or to the own address of the L3
// interface that the frame's tags belong to. Frames to a group address are taken for ARP and PPPoE
// discovery; for IPv6 to the groups that a router listens to (33:33 with all nodes, all routers, DHCPv6 servers, and
// solicited nodes, 33:33:ff:*); and for IPv4 to everybody on a port that serves IPoE (DHCP). Tags: none, one (0x8100, 0x88a8, 0x9100) or two, of which the inner one is 0x8100. A single
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
//	IPv6 (0x0057)                 -> ip6-input -> subscriber-in6 -> ip6-lookup
//	LCP                           -> lcp-echo
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
// IPoE. A port with IPoE sends IP and ARP whose tags are no L3 interface's to ipoe-input. The key is PPPoE's with session
// id 0: port, tags with their TPID, source MAC. (A PPPoE frame with session id 0 is therefore dropped, bad-session-id.)
//
//	DHCPv4 (UDP port 67, any destination)  -> punt, class DHCPv4; with the session, if there is one
//	IPv4 of a session                      -> ip4-input, as over PPPoE
//	IPv6                                   -> ip6-input, also of strangers
//	ARP request of a session               answered with our address, whoever is asked for but the subscriber itself:
//	                                       subscribers on one VLAN reach each other through us only. Not before the
//	                                       session has an address; and announcements and replies are dropped
//	anything else of a stranger            dropped, unknown-subscriber
//
// IPv4 from a subscriber. ip4-input checks version, lengths and checksum, cuts padding, and drops martians. The arc
// subscriber-in has the slots source-check, filter, meter, count, services; filter, meter and services
// are empty yet. source-check lets pass the session's address, any source if the session says so, and the
// sources for which a route leads to this very session; the rest is dropped, source-not-assigned, or
// no-ipv4-yet while the session has no address. A subscriber's packet that is refused there is not counted as
// the subscriber's.
//
// IPv6. ip6-input checks version and length, cuts padding, and drops martians. Most packets are global unicast at both
// ends and go on at once; the others, and all ICMPv6 and UDP, it looks at closer:
//
//	neighbour discovery (ICMPv6 133 to 137)  -> nd-input; but for our own host stack's, which goes nowhere
//	DHCPv6 (UDP port 547) of a session, or of a stranger on an IPoE port  -> punt, class DHCPv6
//	else of a stranger                       dropped, unknown-subscriber
//	to a group                               dropped, multicast-destination
//	to our link-local address on the receiving interface  -> ip6-local; other link-local destinations are dropped
//	from a link-local address                may reach our own address, but ip6-lookup forwards it nowhere
//
// The arc subscriber-in6 has the slots of subscriber-in. source-check6 lets pass what is inside the session's prefix,
// any source if the session says so, and sources for which a route leads to this very session (a delegated prefix, an
// address by IA_NA). A session without IPv6 gets no further, no-ipv6-yet; neighbour discovery and DHCPv6 did not come
// here. Accounting counts both families together.
//
// Neighbour discovery. nd-input wants hop limit 255, a right checksum, and for solicitations what RFC 4861 section 7.1.1
// asks; the rest is dropped by name. A solicitation for an IPv6 entry.Local of the interface, or for the LinkLocal or
// Gateway6 of the session, is answered in its own frame and leaves by the port it came from: with our link-layer address,
// except over PPPoE, where there is none; one from :: (a probe for a duplicate) with ff02::1 as IPv6 destination. On an
// interface control gets a copy when the solicitor is no neighbour yet. On an interface solicitations for others are
// dropped, not-our-address, and everything else goes to punt, class ND. Of subscribers everything else, of strangers on
// an IPoE port all, goes to punt, class SubscriberND. Nothing of this is counted as the subscriber's.
//
// IP from elsewhere. ethernet-input finds the L3 interface by port and tags (none: dropped, no-interface), which
// says the VRF: -> ip4-input -> ip4-lookup, or the nodes of IPv6. If the interface wants it, ip4-verify or ip6-verify
// stands between: strictly, the route to the source must lead out of the interface, by any member of a group; loosely,
// there must be a route, of which the default route is one (RFC 3704 section 2.4). A discard route is none, our own
// addresses are nobody else's, and a link-local source is right on every link. From a TUN: local-origin tells the
// families by the version; the lookup is in the VRF whose TUN it is; such a packet's TTL or hop limit is not decremented.
//
// ip4-lookup and ip6-lookup send it on by what the longest prefix leads to:
//
//	a subscriber        -> subscriber-output -> arc port-out  (a hairpin between two subscribers as well)
//	a next hop          -> adjacency -> arc port-out          (an IPv6 next hop of an IPv4 route as well, RFC 8950)
//	a group             one of its next hops by the packet's flow (table/flow.go), then as above
//	a connected network -> adjacency, which asks for the destination itself
//	our own address     -> ip4-local or ip6-local -> port-output of the TUN; in a VRF without TUN to punt, class Local
//	a discard route, or no route: dropped, discard-route or no-route; the sender is told (below)
//
// What is forwarded must have a TTL or hop limit above 1 (else it is dropped, ttl-expired or hop-limit-expired) and gets
// one less; what is for our own address keeps it.
//
// subscriber-output and adjacency serve both families: the flag FlagIPv6, which ip6-input sets, says which protocol or
// ethertype stands in the last two bytes of the header. Only PPPoE has a length in it.
//
// A next hop that is not resolved, or a connected destination that is no neighbour yet: adjacency sends the packet
// to punt, class Glean, at most once per second and neighbour; the rest is dropped, unresolved. Control resolves and
// puts an entry.Neighbor, and a host route to it.
//
// Too long, for the session's MTU in subscriber-output or the interface's in adjacency. IPv4 that does not say "don't
// fragment" goes to ip4-fragment, which makes the fragments in buffers of their own (RFC 791 section 3.2), all or none;
// each enters again at router-origin, is looked up and counted as what is sent. All else is dropped, mtu-exceeded, and
// its sender told. What a device cannot send the port counts, "Out drops" in show interfaces; port-output drops only
// for want of an open port, port-not-open.
//
// Errors. Used-up TTLs and hop limits, no-route, discard-route, mtu-exceeded, and unresolved once the neighbour has
// been asked for in vain for three seconds, are counted where they are found, and the packet goes on to icmp-error or
// icmp6-error. That node writes the error in front of the packet, in the packet's own buffer, and it enters again at
// router-origin, in the packet's VRF. Its source is our address on the interface or the subscriber's line that received
// the packet (our own host stack is told as if by the destination). Nothing is sent about ICMP errors, fragments other
// than the first, and frames to a group; nor where we have no address, or beyond the rates in limit.go. Spoofed sources
// (source-check, ip4-verify) are told nothing: the error would go to whom they name.
//
//	ttl-expired, hop-limit-expired  time exceeded
//	no-route                        network unreachable; IPv6: no route
//	discard-route                   host unreachable; IPv6: reject route
//	unresolved                      host unreachable; IPv6: address unreachable
//	mtu-exceeded                    fragmentation needed (RFC 1191), with the MTU; IPv6: packet too big
//
// MSS. The lookups know both ends of a packet's way. In TCP packets that open a connection they lower the MSS option to
// the lesser of what the receiving and the sending interface or session lets through; over IPv6 20 less.
//
// Long frames. A frame beyond packet.MaxFrame lies in a chain of buffers. Nodes read headers only, by Worker.Head, which
// ends with the first buffer; control gets as much.
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
// Captures are no nodes. The worker copies a port's vectors before the first node and behind the last one
// (graph/tap.go), when one of the port's captures is after them: so copies show frames as they are on the wire, also
// those that are dropped, answered here, or sent by control and by the timer wheel.
//
// # Where a new feature stands
//
// In a slot of an arc, if packets pass it on their way; as a new kind of target, if routes lead to it; as a new node
// behind ethernet-input or pppoe-input, if it has frames of its own. Its Spec goes into the list in graph.go, at its
// place in packet order.
//
// Sources: IEEE 802.1Q, RFC 826, RFC 791, RFC 792, RFC 1071, RFC 1191, RFC 1624, RFC 1661, RFC 1812, RFC 2131, RFC 2464,
// RFC 2516, RFC 2827, RFC 2992, RFC 3704, RFC 4291, RFC 4443, RFC 4638, RFC 4861, RFC 5227, RFC 6085, RFC 6438, RFC 8200,
// RFC 8415, RFC 9293.
// Reading order: this page, graph.go, then the files in packet order.
package node
