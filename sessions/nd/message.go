package nd

import (
	"net/netip"
	"time"
)

// Type is the ICMPv6 type of a message (RFC 4861 section 4).
type Type uint8

// The types that Parse reads.
const (
	RouterSolicit   Type = 133
	NeighborSolicit Type = 135
	NeighborAdvert  Type = 136
)

// AllNodes is where unsolicited router advertisements go.
func AllNodes() netip.Addr { return netip.AddrFrom16([16]byte{0: 0xff, 1: 0x02, 15: 1}) }

// Message is a valid solicitation or advertisement.
type Message struct {
	Type                Type
	Source, Destination netip.Addr // of the IPv6 header; Source may be ::
	Target              netip.Addr // of neighbour messages
	LinkAddress         [6]byte    // source link-layer address (solicitations) or target's (advertisement)
	HasLinkAddress      bool
	Router, Solicited   bool // flags of NeighborAdvert
	Override            bool
}

// Probe reports whether the message is a duplicate address detection (RFC 4862 section 5.4.2).
func (m Message) Probe() bool { return m.Type == NeighborSolicit && m.Source.IsUnspecified() }

// Prefix is a prefix information option (RFC 4861 section 4.6.2). Lifetimes are whole seconds, at most
// Infinite.
type Prefix struct {
	Prefix     netip.Prefix
	OnLink     bool // L
	Autonomous bool // A
	Valid      time.Duration
	Preferred  time.Duration
}

// Infinite is the lifetime without end (RFC 4861 section 4.6.2: all ones).
const Infinite = 0xffffffff * time.Second

// RouterAdvert is a router advertisement. Zero values are "not said".
type RouterAdvert struct {
	Source, Destination netip.Addr // Source is our link-local address
	LinkAddress         *[6]byte   // source link-layer address; nil: none, as on PPP
	HopLimit            uint8
	Managed, Other      bool          // M, O
	Lifetime            time.Duration // as a default router; 0: not one; at most 9000 s
	Reachable           time.Duration // milliseconds on the wire
	Retransmit          time.Duration // milliseconds on the wire
	MTU                 uint32
	Prefixes            []Prefix
	DNS                 []netip.Addr // RFC 8106 section 5.1
	Search              []string     // RFC 8106 section 5.2
	DNSLifetime         time.Duration
}
