// Package traffic makes packets that tell on arrival whose they are, and judges what arrives.
//
//	┌──────┬─────┬────────┬─────┬─────────┬───────────┬──────────┬───────┬────────┐
//	│  IP  │ UDP │ "vbng" │ run │ session │ direction │ sequence │ check │ filler │
//	└──────┴─────┴────────┴─────┴─────────┴───────────┴──────────┴───────┴────────┘
//
// Every session has a flow upstream and one downstream for each of its addresses: IPv4, IPv6 by SLAAC, IPv6 by DHCPv6,
// and one inside its delegated prefix. A packet is good only if it is the very
// packet that was sent (addresses, ports, length, each byte), crossed exactly one router (TTL, hop limit), and
// came in where its session lives. Sequence numbers tell loss, duplicates and reordering per flow.
//
// All of it is pure: time and arrivals go in, verdicts and counts come out. The verifier's tests
// inject each fault that it claims to find.
//
// Reading order: probe.go, flow.go, meter.go, pacer.go.
package traffic
