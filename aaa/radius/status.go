package radius

import (
	"context"
	"net/netip"
	"slices"
	"time"
)

// Counters of an endpoint since the server was configured.
type Counters struct {
	Requests         uint64 // first transmissions
	Retransmits      uint64
	Accepts          uint64
	Rejects          uint64
	Challenges       uint64
	Responses        uint64 // to Accounting-Requests
	Timeouts         uint64 // waits that ended without an answer
	BadAccepts       uint64 // Accepts that cannot be honoured
	BadAuthenticator uint64 // Response Authenticator wrong: secrets differ, or a forgery
	BadSignature     uint64 // Message-Authenticator wrong
	Unsigned         uint64 // Message-Authenticator required and missing
	Malformed        uint64
	Unexpected       uint64 // answers to nothing: late, or twice
	WrongSource      uint64 // from another address or port than the server's
	Refused          uint64 // ICMP errors
	SendErrors       uint64
	Overflows        uint64 // requests given up for want of identifiers
}

// Dropped is the number of datagrams that came and were not believed.
func (n Counters) Dropped() uint64 {
	return n.BadAuthenticator + n.BadSignature + n.Unsigned + n.Malformed + n.Unexpected + n.WrongSource
}

// Endpoint is the state of one port of a server.
type Endpoint struct {
	Server   string
	Role     string // "auth" or "acct"
	Address  netip.AddrPort
	VRF      string   // empty: the default one
	Groups   []string // that the server is in, by name
	State    string   // "up", "dead" or "probing"
	Legacy   bool
	DeadFor  time.Duration // 0 when alive
	Pending  int           // identifiers in flight
	Waiting  int           // requests that wait for an identifier
	Sockets  int
	RTT      time.Duration // of the last answer to a first transmission
	Counters Counters
}

// Status is the state of the client.
type Status struct {
	Endpoints     []Endpoint         // authentication, then accounting, in order of preference
	Ignored       []IgnoredAttribute // by name
	InboxOverflow uint64             // datagrams dropped because the client could not follow
}

// Status asks the loop for the client's state.
func (c *Client) Status(ctx context.Context) (Status, error) {
	answer := make(chan Status, 1)
	c.loop.Post(inspect{func() { answer <- c.status() }})
	select {
	case s := <-answer:
		return s, nil
	case <-ctx.Done():
		return Status{}, ctx.Err()
	}
}

func (c *Client) status() Status {
	s := Status{Ignored: c.ignoredByName(), InboxOverflow: c.loop.Refused()}
	for _, list := range [][]*endpoint{c.access, c.acct} {
		for _, e := range list {
			s.Endpoints = append(s.Endpoints, e.status())
		}
	}
	return s
}

// groupsOf returns the groups that name a server, sorted.
func (c *Client) groupsOf(server string) []string {
	var names []string
	for name, servers := range c.settings.Groups {
		if slices.Contains(servers, server) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (e *endpoint) status() Endpoint {
	s := Endpoint{
		Server: e.server.Name, Role: e.kind.String(), Address: e.place.remote, State: e.state(),
		Legacy: e.server.Legacy, Pending: e.pending(), Waiting: len(e.waiting), Sockets: len(e.flows),
		RTT: e.rtt, Counters: e.counters, VRF: e.place.vrf, Groups: e.client.groupsOf(e.server.Name),
	}
	if e.dead {
		s.DeadFor = e.client.now().Sub(e.deadSince)
	}
	return s
}
