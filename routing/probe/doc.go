// Package probe is what operators ask the network with: ping and traceroute, from any VRF and from the
// host's own stack, in both families.
//
// Both send ICMP echo requests by a raw socket of the VRF (RFC 792, RFC 4443) and read what comes back: replies,
// and errors that quote a request. A command owns its socket and ends with it; nothing runs between commands.
//
// Reading order: message.go, exchange.go, commands.go.
package probe
