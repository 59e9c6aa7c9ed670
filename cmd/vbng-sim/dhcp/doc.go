// Package dhcp is the simulator's own reading and writing of DHCP messages, for IPv4 and for IPv6.
//
// As with package frame, it is a second implementation on purpose: the router's DHCP is judged by what stands
// here, so the two share no code.
//
// Only what a subscriber says and hears has fields; other options of a message are passed over.
//
// RFCs: 2131 and 2132 (DHCPv4), 3046 (option 82), 4361 (client identifiers); 8415 (DHCPv6).
//
// Reading order: v4.go, v6.go.
package dhcp
