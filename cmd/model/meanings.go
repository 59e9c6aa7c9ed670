package model

// meanings explains every counter of the forwarder but NODE/packets and NODE/vectors, in packet order. A
// test compares it with the counters of a forwarder that runs.
var meanings = []struct{ name, text string }{
	{"ethernet-input/frame-too-short", "The frame ends within its Ethernet header or tags"},
	{"ethernet-input/too-many-tags", "More than two VLAN tags, or an inner tag that is not 0x8100"},
	{"ethernet-input/multicast", "To a group address that the router does not listen to: it does for ARP, PPPoE discovery, neighbour discovery, and DHCP where IPoE is served; usual on a shared segment"},
	{"ethernet-input/destination-not-ours", "To another station; usual on a hub or a flooding bridge"},
	{"ethernet-input/no-interface", "IPv4, IPv6 or ARP, but no interface is configured for the frame's VLAN tags on this port"},
	{"ethernet-input/pppoe-not-enabled", "PPPoE discovery on a port without `pppoe profile`"},
	{"ethernet-input/unknown-ethertype", "Another protocol; usual (LLDP, spanning tree)"},

	{"arp-input/malformed", "Not ARP for IPv4 over Ethernet, or too short"},
	{"arp-input/not-our-address", "A request for an address that is not ours; usual on a shared segment"},
	{"arp-input/unknown-operation", "Neither request nor reply"},

	{"pppoe-input/pppoe-not-enabled", "PPPoE session frame on a port without `pppoe profile`"},
	{"pppoe-input/bad-version", "PPPoE version or type is not 1"},
	{"pppoe-input/bad-code", "PPPoE code is not 0, which a session frame has"},
	{"pppoe-input/bad-length", "The PPPoE length is more than the frame holds, or too little for a PPP protocol"},
	{"pppoe-input/bad-protocol-field", "The PPP protocol number is not one that RFC 1661 permits"},
	{"pppoe-input/bad-session-id", "Session id 0, which no session has"},

	{"ipoe-input/unknown-subscriber", "IPv4 or ARP from a MAC address and VLAN without a session, and no DHCP; usual of a client that has not asked for an address yet"},
	{"ipoe-input/multicast", "IPv4 of a subscriber to everybody, and no DHCP"},
	{"ipoe-input/malformed-arp", "Not ARP for IPv4 over Ethernet, or too short"},
	{"ipoe-input/arp-not-answered", "ARP of a subscriber that is no question to us: a reply, an announcement, a probe for its own address, or asked before it has one"},

	{"lcp-echo/reply-consumed", "No loss: an Echo-Reply has done its work"},

	{"local-origin/no-vrf", "From a TUN that belongs to no VRF any more"},
	{"local-origin/not-ip", "Neither IPv4 nor IPv6"},

	{"ip4-input/packet-too-short", "Shorter than an IPv4 header"},
	{"ip4-input/bad-version", "The version is not 4"},
	{"ip4-input/bad-header-length", "The header length is below 20 bytes, or beyond the packet"},
	{"ip4-input/bad-total-length", "The total length is below the header's, or beyond the frame"},
	{"ip4-input/bad-checksum", "The header's checksum is wrong"},
	{"ip4-input/martian-source", "From network 0, loopback, multicast or class E"},
	{"ip4-input/martian-destination", "To network 0, loopback, multicast or class E; usual: clients send multicast DNS and the like"},

	{"ip6-input/packet-too-short", "Shorter than an IPv6 header"},
	{"ip6-input/bad-version", "The version is not 6"},
	{"ip6-input/bad-payload-length", "The payload length is beyond the frame"},
	{"ip6-input/martian-source", "From a group, from loopback or an IPv4-mapped address, or from nobody and no neighbour discovery"},
	{"ip6-input/martian-destination", "To loopback, an IPv4-mapped address or nobody"},
	{"ip6-input/multicast-destination", "To a group; usual: hosts report their groups (MLD)"},
	{"ip6-input/link-local-destination", "To a link-local address that is not ours on the interface; no such packet leaves its link"},
	{"ip6-input/group-frame", "The frame was to a group, but the packet inside to one station"},
	{"ip6-input/unknown-subscriber", "From a MAC address and VLAN without a session, and neither neighbour discovery nor DHCPv6"},

	{"nd-input/bad-hop-limit", "Neighbour discovery whose hop limit is not 255: it came over a router and is not believed"},
	{"nd-input/malformed", "Neighbour discovery that is too short, has a code, a broken option, or a target that cannot be"},
	{"nd-input/bad-checksum", "The ICMPv6 checksum is wrong"},
	{"nd-input/not-our-address", "A solicitation for an address that is not ours; usual on a shared segment"},

	{"source-check/no-ipv4-yet", "The subscriber has no IPv4 address yet"},
	{"source-check/source-not-assigned", "The source is neither the subscriber's address nor in a prefix that leads to it: a spoofed source, or a client that routes a network of its own unasked"},

	{"source-check6/no-ipv6-yet", "The subscriber has no IPv6 prefix yet"},
	{"source-check6/source-not-assigned", "The source is neither in the subscriber's prefix nor in one that leads to it: a spoofed source, or a link-local one"},

	{"ip4-verify/reverse-path", "The source has no route that leads back to the interface (`rx`), or none at all (`any`): `ip verify unicast source`"},
	{"ip6-verify/reverse-path", "The source has no route that leads back to the interface (`rx`), or none at all (`any`): `ip verify unicast source`"},

	{"ip4-lookup/no-route", "No route to the destination"},
	{"ip4-lookup/discard-route", "The route discards: a blackhole, or an address of a pool that no session has"},
	{"ip4-lookup/ttl-expired", "The TTL is used up; its sender is told (icmp-error). Usual: traceroute"},
	{"ip4-lookup/unknown-target", "A route to what this graph does not know: a fault of ours"},

	{"ip6-lookup/no-route", "No route to the destination"},
	{"ip6-lookup/discard-route", "The route discards: a blackhole, or a prefix of a pool that no session has"},
	{"ip6-lookup/hop-limit-expired", "The hop limit is used up; its sender is told (icmp6-error). Usual: traceroute"},
	{"ip6-lookup/unknown-target", "A route to what this graph does not know: a fault of ours"},
	{"ip6-lookup/link-local-source", "From a link-local address to beyond its link"},

	{"ip4-local/no-vrf", "To an address of ours in a VRF that is just being removed"},
	{"ip6-local/no-vrf", "To an address of ours in a VRF that is just being removed"},

	{"adjacency/no-adjacency", "The next hop was removed while the packet was on its way"},
	{"adjacency/unresolved", "The next hop's MAC address is not known; one packet per second goes up instead, to ask for it. Look at `show arp`"},
	{"adjacency/mtu-exceeded", "IPv6, or IPv4 with the bit \"don't fragment\", longer than the interface's MTU; its sender is told and sends shorter ones"},

	{"subscriber-output/mtu-exceeded", "Longer than the session's MTU; with PPPoE the least of the profile's `mtu` and the client's MRU; IPv6, or IPv4 with the bit \"don't fragment\". Its sender is told and sends shorter ones"},

	{"ip4-fragment/fragmented", "No loss: packets that were longer than the MTU towards their next hop and went there in fragments"},
	{"ip4-fragment/fragments", "No loss: the fragments made of them"},
	{"ip4-fragment/mtu-too-small", "The MTU leaves no room for 8 bytes behind the IP header"},
	{"ip4-fragment/no-buffer", "No packet buffers were free for the fragments"},
	{"ip4-fragment/queue-full", "Too many fragments at once"},

	{"icmp-error/sent-time-exceeded", "No loss: errors sent for a TTL that is used up. Like all counters of this node: the packet itself was counted as lost where the fault was found"},
	{"icmp-error/sent-unreachable", "No loss: errors sent for want of a route, for a route that discards, and for a neighbour that does not answer"},
	{"icmp-error/sent-too-big", "No loss: errors \"fragmentation needed\" sent, with the MTU of the way on"},
	{"icmp-error/about-error", "No error sent: the packet was an ICMP error itself"},
	{"icmp-error/not-answerable", "No error sent: the packet was a fragment other than the first, or came in a frame to a group"},
	{"icmp-error/no-source", "No error sent: the interface, or the subscriber's line, has no IPv4 address of ours"},
	{"icmp-error/rate-limited", "No error sent: more than 1,000 per second in all"},
	{"icmp-error/source-rate-limited", "No error sent: more than 100 per second to one subscriber, or to one /24"},
	{"icmp-error/queue-full", "No error sent: too many at once"},

	{"icmp6-error/sent-time-exceeded", "No loss: errors sent for a hop limit that is used up. Like all counters of this node: the packet itself was counted as lost where the fault was found"},
	{"icmp6-error/sent-unreachable", "No loss: errors sent for want of a route, for a route that discards, and for a neighbour that does not answer"},
	{"icmp6-error/sent-too-big", "No loss: errors \"packet too big\" sent, with the MTU of the way on"},
	{"icmp6-error/about-error", "No error sent: the packet was an ICMPv6 error itself, or a redirect"},
	{"icmp6-error/not-answerable", "No error sent: the packet was a fragment other than the first, came in a frame to a group or from a link-local address, or its extension headers have no end"},
	{"icmp6-error/no-source", "No error sent: the interface, or the subscriber's line, has no IPv6 address of ours"},
	{"icmp6-error/rate-limited", "No error sent: more than 1,000 per second in all, both families together"},
	{"icmp6-error/source-rate-limited", "No error sent: more than 100 per second to one subscriber, or to one /64"},
	{"icmp6-error/queue-full", "No error sent: too many at once"},

	{"port-output/port-not-open", "The port's device is missing or could not be opened. Look at `show interfaces NAME`"},

	{"punt/policed-pppoe-discovery", "More PADI, PADR or PADT than control may get, from one client or in all"},
	{"punt/policed-ppp-control", "More LCP, authentication or IPCP than control may get, from one client or in all"},
	{"punt/policed-pppoe-unknown", "Frames of sessions that do not exist, beyond one per second and client"},
	{"punt/policed-arp", "More ARP replies and announcements than control may get"},
	{"punt/policed-glean", "More packets to unresolved neighbours than control may get"},
	{"punt/policed-local", "More packets to the router itself, in a VRF without a TUN, than control may get"},
	{"punt/policed-nd", "More neighbour discovery of an interface than control may get"},
	{"punt/policed-subscriber-nd", "More router and neighbour solicitations of subscribers than control may get, from one client or in all"},
	{"punt/policed-dhcpv4", "More DHCPv4 than control may get, from one client or in all"},
	{"punt/policed-dhcpv6", "More DHCPv6 than control may get, from one client or in all"},
	{"capture/frames", "No loss: copies of frames that `monitor packets` asked for"},
	{"capture/policed", "Copies for `monitor packets` beyond the rate that control may get; the frames themselves went on"},
	{"capture/ring-full", "Copies for `monitor packets` that found their part of the ring to control full; the frames themselves went on"},
	{"punt/policed-capture", "Never counted: copies for captures do not pass this node, see capture/policed"},
	{"punt/ring-full", "Control does not keep up, or does not run"},

	{"inject/frames", "No loss: frames that control sent"},
	{"inject/unknown-port", "A frame of control for a port that was removed"},
	{"inject/no-buffer", "No packet buffer was free for a frame of control"},

	{"echo/sent", "No loss: LCP Echo-Requests sent"},
	{"echo/no-buffer", "No packet buffer was free for an Echo-Request; it is sent an interval later"},
	{"echo/port-not-open", "The session's port was not open when an Echo-Request was due"},
	{"echo/peer-silent", "No loss: peers that missed `echo-misses` echoes and were reported to control"},

	{"engine/panics", "A fault of ours, caught; the log has the place. Please report it"},
	{"engine/panic-drop", "Packets that were in work at such a fault"},
	{"engine/rounds-with-packets", "No loss: rounds of the worker that found packets"},
	{"engine/sleeps", "No loss: how often the worker slept for want of packets"},
}

// refusals explains why a discovery packet got no offer or no session: the kind "discovery-refused" of
// "show pppoe". Its names are package pppoe's.
var refusals = map[string]string{
	"malformed":              "Header or tags do not decode",
	"version":                "Version or type is not 1",
	"source-address":         "From a group address, from nobody, or from ourselves",
	"destination-address":    "Not to us, or not a PADI and to everybody",
	"code":                   "A code that a client does not send: usually another concentrator's PADO on a shared segment",
	"session-id":             "A PADI or PADR with a session id, or a PADT without one",
	"too-long":               "A PADI beyond 1484 bytes, or its tags leave no room to answer",
	"no-service-name":        "No Service-Name tag, which every PADI and PADR must have",
	"duplicate-service-name": "More than one Service-Name tag",
	"unknown-service-name":   "A service that no `service-name` of the profile offers",
	"other-ac":               "Addressed to another concentrator by AC-Name",
	"relay-session-id":       "A Relay-Session-Id beyond 12 bytes",
	"cookie":                 "A PADR without our AC-Cookie, with a forged one, or with one that is too old",
	"internal":               "A fault of ours, caught; the log has the place. Please report it",
}
