// Package toy is the control side of a router, for the tests of the simulator: it answers DHCPv4, ARP, neighbour
// discovery and DHCPv6 of any number of subscribers by the book, without timers and hardly any state. What a test wants
// answered differently it mutes, or changes by the fields.
//
// The n-th subscriber has the address 100.64.0.0 + n, the prefix 2001:db8:1:n::/64 advertised, 2001:db8:2::n by IA_NA
// and 2001:db8:80nn:nn00::/56 by IA_PD.
package toy
