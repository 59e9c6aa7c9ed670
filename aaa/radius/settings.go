package radius

import (
	"crypto/rand"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"vbng/control/clock"
)

// Server is the configuration of one RADIUS server.
type Server struct {
	Name       string
	Address    netip.Addr
	AuthPort   uint16
	AcctPort   uint16
	Secret     string
	Timeout    time.Duration // wait for the answer to a first transmission
	Retransmit int           // transmissions after the first
	DeadTime   time.Duration // how long a dead server is left alone
	Legacy     bool          // replies to Access-Requests may lack a Message-Authenticator
	Source     netip.Addr    // local address to send from; invalid: the system chooses
	VRF        string        // where the server is reached; empty: the default VRF
}

// Settings is the configuration of the client; the servers stand in the order of preference.
type Settings struct {
	Servers       []Server
	Groups        map[string][]string // by name: servers in the order in which they are asked; none: all
	NASIdentifier string
	NASAddress    netip.Addr // NAS-IP-Address; invalid: the address sent from, if known
	NASAddress6   netip.Addr // NAS-IPv6-Address, likewise
}

// Options is what the client stands on. Zero fields get the real thing.
type Options struct {
	Clock  clock.Clock
	Log    *slog.Logger
	Random io.Reader // authenticators and jitter
	Open   Opener    // sockets
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Open == nil {
		o.Open = OpenVia(hostOnly{})
	}
	return o
}

// The client's limits.
const (
	flowsPerEndpoint   = 16               // sockets, each with 256 identifiers
	waitingPerEndpoint = 8192             // requests that wait for an identifier
	inboxDatagrams     = 8192             // received datagrams not yet looked at
	accessDuration     = 30 * time.Second // RFC 5080 2.2.1, MRD: an Access-Request is given up
	accountingDuration = 90 * time.Second // likewise for one round of an Accounting-Request
	jitterFraction     = 0.1              // RFC 5080 2.2.1, RAND
)
