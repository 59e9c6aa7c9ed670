package sessions

import (
	"net/netip"

	"vbng/aaa"
	"vbng/forwarding/entry"
)

// What the sessions need of others. The wiring joins them; all callbacks may come on any goroutine,
// also before the call that they answer returns, and exactly once.

// Authorizer decides about a subscriber, in bounded time.
type Authorizer interface {
	Authorize(req aaa.Request, done func(aaa.Answer))
}

// Accountant takes accounting records and delivers them, in the order of each session. It must not
// block.
type Accountant interface {
	Account(rec aaa.Record)
}

// Routes puts subscribers' routes into the RIB, and from there into the forwarder.
type Routes interface {
	// AddSubscriber is done when the route is in the forwarder, or cannot be.
	AddSubscriber(vrf entry.VRFID, prefix netip.Prefix, id entry.SessionID, done func(err error))
	// DeleteSubscriber is done when no packet finds the session by this route any more.
	DeleteSubscriber(vrf entry.VRFID, prefix netip.Prefix, id entry.SessionID, done func())
	// SetAggregates replaces the owner's prefixes that are announced in place of its /32s.
	SetAggregates(vrf entry.VRFID, owner string, prefixes []netip.Prefix)
}

// Ports tells about ports. It is asked on the punt path: it must be quick and safe for concurrent use.
type Ports interface {
	Port(id entry.PortID) (name string, mac entry.MAC, up bool, ok bool)
}

// VRFs knows the numbers of the VRFs by name; the empty name means the default one. It is safe for
// concurrent use.
type VRFs interface {
	ID(name string) entry.VRFID
	Name(id entry.VRFID) string
}

// oneVRF is a router with the default VRF only.
type oneVRF struct{}

// ID implements VRFs.
func (oneVRF) ID(string) entry.VRFID { return 0 }

// Name implements VRFs.
func (oneVRF) Name(entry.VRFID) string { return "default" }

// Relay is the DHCP relay's socket in each VRF. What servers answer comes to Manager.Relayed.
type Relay interface {
	// Send sends a UDP datagram without blocking for long; a loss is like one on the wire.
	Send(vrf entry.VRFID, from, to netip.AddrPort, payload []byte) error
}

// Base is a Counters that keeps what dead forwarders counted, and can be told it. A Counters that
// also is a Base gets back, after a restart of control, what it told before.
type Base interface {
	// Base returns what earlier forwarders counted for the session.
	Base(id entry.SessionID) entry.SessionCounters
	// SetBase sets it.
	SetBase(id entry.SessionID, base entry.SessionCounters)
}
