package host6

import "time"

// Phase is how far a client has come.
type Phase uint8

// The phases, in the order of a set-up.
const (
	Idle     Phase = iota
	Routers        // router solicitation sent
	Solicit        // DHCPv6 Solicit sent
	Request        // DHCPv6 Request sent
	Resolve        // neighbour solicitation for the router sent
	Ready          // all that was wanted is there
	Renew          // as Ready, DHCPv6 Renew sent
	Rebind         // as Ready, DHCPv6 Rebind sent
	Release        // DHCPv6 Release sent
	Released       // nothing is held any more
	Failed         // with a cause
)

var phaseNames = [...]string{"idle", "router-solicitation", "dhcpv6-solicit", "dhcpv6-request", "resolve-router",
	"ready", "dhcpv6-renew", "dhcpv6-rebind", "dhcpv6-release", "released", "failed"}

// String names the phase.
func (p Phase) String() string { return phaseNames[p] }

// Usable reports whether the addresses may be used.
func (p Phase) Usable() bool { return p >= Ready && p <= Rebind }

// Cause is why a client failed.
type Cause uint8

// The causes.
const (
	CauseNone Cause = iota
	CauseNoRouter
	CauseNoPrefix
	CauseSolicitTimeout
	CauseRequestTimeout
	CauseRefused
	CauseRouterUnreachable
	CauseDuplicate
	CauseNoBinding
	CauseLeaseExpired
)

var causeNames = [...]string{"none", "ra-timeout", "ra-no-prefix", "dhcpv6-solicit-timeout", "dhcpv6-request-timeout",
	"dhcpv6-refused", "nd-timeout", "ipv6-duplicate-address", "dhcpv6-no-binding", "dhcpv6-lease-expired"}

// String names the cause.
func (c Cause) String() string { return causeNames[c] }

// Settings are what all clients of a run have in common.
type Settings struct {
	NA, PD bool // ask for an address, for a prefix
	Link   bool // the line has link-layer addresses (Ethernet)

	RouterWait   time.Duration // RFC 4861 section 10: RTR_SOLICITATION_INTERVAL
	RouterMax    int           // MAX_RTR_SOLICITATIONS
	NeighborWait time.Duration // RETRANS_TIMER
	NeighborMax  int           // MAX_MULTICAST_SOLICIT

	// The first waits and the highest ones are those of RFC 8415 section 7.6; how often a Solicit is sent is our
	// own bound.
	SolicitMax, RequestMax, ReleaseMax int

	Random func() uint32
}

// DefaultSettings returns the values of the RFCs.
func DefaultSettings(random func() uint32) Settings {
	return Settings{
		RouterWait: 4 * time.Second, RouterMax: 3, NeighborWait: time.Second, NeighborMax: 3,
		SolicitMax: 6, RequestMax: 10, ReleaseMax: 4, Random: random,
	}
}
