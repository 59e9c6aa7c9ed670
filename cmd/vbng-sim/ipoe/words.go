package ipoe

import (
	"fmt"
	"time"

	"vbng/cmd/vbng-sim/host6"
)

// Phase is how far a client has come.
type Phase uint8

// The phases, in the order of a set-up.
const (
	Idle     Phase = iota
	Discover       // DHCPDISCOVER sent
	Request        // DHCPREQUEST sent
	Resolve        // ARP request for the gateway sent
	Network6       // the IPv6 side sets itself up
	Up
	Renew   // as Up, DHCPREQUEST sent to the server
	Rebind  // as Up, DHCPREQUEST sent to every server
	Closing // waits for the end of the IPv6 side
	Ended
	Silent
)

var phaseNames = [...]string{"idle", "discover", "request", "resolve", "network6", "up", "renew", "rebind",
	"closing", "ended", "silent"}

// String names the phase.
func (p Phase) String() string { return phaseNames[p] }

// Usable reports whether the addresses may be used.
func (p Phase) Usable() bool { return p >= Up && p <= Rebind }

// Cause is why a client ended; it is also the key under which reports count.
type Cause uint8

// The causes. With CauseIPv6 the name is that of the IPv6 side's own cause.
const (
	CauseNone Cause = iota
	CauseClosed
	CauseDiscoverTimeout
	CauseRequestTimeout
	CauseNak
	CauseBadOffer
	CauseARPTimeout
	CauseLeaseExpired
	CauseIPv6
)

var causeNames = [...]string{"none", "closed", "discover-timeout", "request-timeout", "nak", "bad-offer", "arp-timeout",
	"lease-expired", "ipv6"}

// String names the cause.
func (c Cause) String() string { return causeNames[c] }

// End tells how a client ended.
type End struct {
	Cause   Cause
	IPv6    host6.Cause // with CauseIPv6
	Phase   Phase       // it was in
	Message string      // the router's words, or a detail
}

// Name is the key under which reports count.
func (e End) Name() string {
	if e.Cause == CauseIPv6 {
		return e.IPv6.String()
	}
	return e.Cause.String()
}

// String writes cause, phase and message.
func (e End) String() string { return fmt.Sprintf("%s in phase %v: %q", e.Name(), e.Phase, e.Message) }

// Settings are what all clients of a run have in common.
type Settings struct {
	IPv4 bool
	IPv6 *host6.Settings // nil: IPv4 only

	Broadcast bool // set the broadcast flag

	FirstWait   time.Duration // RFC 2131 section 4.1: 4 s, doubled up to LongestWait, each with a second's play
	LongestWait time.Duration
	DiscoverMax int // transmissions
	RequestMax  int
	ARPWait     time.Duration
	ARPMax      int

	Random func() uint32
}

// DefaultSettings returns the values of the RFC, and our own bounds, for a client that wants IPv4.
func DefaultSettings(random func() uint32) Settings {
	return Settings{
		IPv4: true, FirstWait: 4 * time.Second, LongestWait: 64 * time.Second, DiscoverMax: 5, RequestMax: 4,
		ARPWait: time.Second, ARPMax: 3, Random: random,
	}
}
