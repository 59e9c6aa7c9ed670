// Package dissect tells in one line what a frame says, for people who look for a fault: addresses, tags, and the
// protocols down to PPP, DHCP, ICMP and the ports of TCP and UDP. It judges nothing, and it takes everything: bytes
// that end early or make no sense are told as far as they go, with what is wrong in brackets.
//
// Passwords and what could stand for one are never told: of PAP and CHAP the names only.
//
// Text that a client chose is quoted and cut, so that it cannot move a terminal's cursor. A line is bounded however
// many options a packet has.
//
// Sources: IEEE 802.1Q, RFC 768, RFC 791, RFC 792, RFC 826, RFC 1332, RFC 1334, RFC 1661, RFC 1877, RFC 1994, RFC 2131,
// RFC 2132, RFC 2516, RFC 3046, RFC 4443, RFC 4638, RFC 4861, RFC 5072, RFC 8200, RFC 8415, RFC 9293.
//
// Reading order: frame.go, text.go, ppp.go, ip.go, dhcp.go, dhcp6.go.
package dissect
