// Package frame is the simulator's own reading and writing of frames: Ethernet with its VLAN tags,
// PPPoE, IPv4 and IPv6, UDP, ICMP echo, ARP and neighbour discovery.
//
//	┌──────────┬─────────┬─────────┬───────┬─────┬──────┬─────┬─────────┐
//	│ Ethernet │ S-VLAN? │ C-VLAN? │ PPPoE │ PPP │ IPv4 │ UDP │ payload │
//	└──────────┴─────────┴─────────┴───────┴─────┴──────┴─────┴─────────┘
//	 ParseEthernet                  ParsePPPoE    ParseIPv4  ParseUDP
//
// It is a second implementation on purpose. The simulator judges the router, so it does not read
// headers or add up checksums with the router's code: a mistake there would be made on both sides
// and cancel out.
//
// RFCs: 791 (IPv4), 792 (ICMP), 768 (UDP), 826 (ARP), 1071 (checksum), 2516 (PPPoE), 8200
// (IPv6), 4443 (ICMPv6), 4861 and 4862 (neighbour discovery, addresses made of an identifier); IEEE 802.1Q.
//
// Reading order: ethernet.go, pppoe.go, ipv4.go, transport.go, arp.go, ipv6.go, icmp6.go,
// discovery6.go.
package frame
