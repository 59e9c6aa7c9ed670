package radius

import (
	"errors"
	"net/netip"
	"time"

	"layeh.com/radius"
)

// kind is what a port of a server is for.
type kind uint8

const (
	access kind = 1 + iota
	accounting
)

func (k kind) String() string {
	if k == access {
		return "auth"
	}
	return "acct"
}

// place identifies an endpoint: as long as it is the same, health, counters and sockets stay.
type place struct {
	name   string
	remote netip.AddrPort
	source netip.Addr
	vrf    string
}

func placeOf(s Server, k kind) place {
	port := s.AuthPort
	if k == accounting {
		port = s.AcctPort
	}
	return place{name: s.Name, remote: netip.AddrPortFrom(s.Address, port), source: s.Source, vrf: s.VRF}
}

// endpoint is one port of one server.
type endpoint struct {
	client  *Client
	kind    kind
	place   place
	server  Server
	retired bool // no longer configured; lives on for the attempts in flight

	flows   []*flow
	waiting []*exchange // all identifiers are in flight

	dead      bool
	deadSince time.Time
	probe     *exchange // tries a dead server whose dead time is over
	silence   int       // timeouts since the last answer
	lastReply time.Time
	counters  Counters
	rtt       time.Duration
}

func (e *endpoint) label() string { return e.server.Name + " " + e.kind.String() }

// allocate gives the attempt an identifier, from a new socket if need be. It reports false when all
// sockets are full.
func (e *endpoint) allocate(a *attempt) (bool, error) {
	for _, f := range e.flows {
		if len(f.free) > 0 {
			f.take(a)
			return true, nil
		}
	}
	if len(e.flows) == flowsPerEndpoint {
		return false, nil
	}
	f := newFlow(e)
	socket, err := e.client.options.Open(e.place.vrf, e.place.source, e.place.remote, f.sink(e.client))
	if err != nil {
		return false, err
	}
	f.socket = socket
	e.flows = append(e.flows, f)
	f.take(a)
	return true, nil
}

// freed lets waiting exchanges have the identifiers that became free.
func (e *endpoint) freed() {
	for len(e.waiting) > 0 && e.hasRoom() {
		x := e.waiting[0]
		e.waiting = e.waiting[1:]
		x.transmit()
	}
	if e.retired {
		e.closeIfIdle()
	}
}

func (e *endpoint) hasRoom() bool {
	if len(e.flows) < flowsPerEndpoint {
		return true
	}
	for _, f := range e.flows {
		if len(f.free) > 0 {
			return true
		}
	}
	return false
}

// send transmits an attempt; a failure is like a packet lost on the way: the timer repairs it.
func (e *endpoint) send(a *attempt) {
	if a.copies > 0 || a.exchange.tries > 0 {
		e.counters.Retransmits++
	} else {
		e.counters.Requests++
	}
	a.copies++
	a.exchange.tries++
	a.sentAt = e.client.now()
	if err := a.flow.socket.Send(a.wire, e.place.remote); err != nil {
		e.counters.SendErrors++
		e.client.warnings.warn("RADIUS request not sent", e.label(), "error", err)
	}
}

// answered notes a sign of life. Only an attempt sent once tells a round-trip time.
func (e *endpoint) answered(a *attempt) {
	now := e.client.now()
	if a.copies == 1 {
		e.rtt = now.Sub(a.sentAt)
	}
	if e.dead {
		e.client.options.Log.Info("RADIUS server alive", "server", e.label(), "dead_for", now.Sub(e.deadSince))
	}
	e.dead, e.probe, e.silence, e.lastReply = false, nil, 0, now
}

// silent notes a timeout of an exchange and decides whether the server is dead.
func (e *endpoint) silent(x *exchange) {
	e.counters.Timeouts++
	e.silence++
	now := e.client.now()
	switch {
	case e.probe == x:
		e.probe, e.deadSince = nil, now
	case e.silence > e.server.Retransmit && now.Sub(e.lastReply) >= shortest(e.server.Timeout):
		e.bury("no answer")
	}
}

// shortest is the least that jitter makes of a wait.
func shortest(wait time.Duration) time.Duration {
	return time.Duration(float64(wait) * (1 - jitterFraction))
}

// refuse handles an ICMP error. With another server at hand it is as good as a timeout; otherwise
// the schedule goes on, for the server may be restarting.
func (e *endpoint) refuse() {
	e.counters.Refused++
	for _, x := range e.held() {
		if x.pickUsable() != nil {
			if e.probe == x {
				e.deadSince = e.client.now()
			}
			e.bury("refused")
			break
		}
	}
}

// bury declares the server dead, and what waits here for an answer goes where one is likelier.
func (e *endpoint) bury(why string) {
	if !e.dead {
		e.client.options.Log.Warn("RADIUS server dead", "server", e.label(), "address", e.place.remote,
			"reason", why, "dead_time", e.server.DeadTime)
		e.dead, e.deadSince = true, e.client.now()
	}
	for _, x := range e.held() {
		if x.endpoint == e && x.pickUsable() != nil {
			x.settle()
		}
	}
	e.scatter()
}

// held returns the exchanges that were sent and wait here, each once.
func (e *endpoint) held() []*exchange {
	var held []*exchange
	seen := map[*exchange]bool{}
	for _, f := range e.flows {
		for _, a := range f.inFlight() {
			if x := a.exchange; x.endpoint == e && !seen[x] {
				seen[x] = true
				held = append(held, x)
			}
		}
	}
	return held
}

// scatter sends the exchanges that wait for an identifier elsewhere.
func (e *endpoint) scatter() {
	waiting := e.waiting
	e.waiting = nil
	for _, x := range waiting {
		x.settle()
	}
}

// rested tells whether a dead server may be probed.
func (e *endpoint) rested() bool {
	return e.probe == nil && e.client.now().Sub(e.deadSince) >= e.server.DeadTime
}

// distrust counts a datagram that cannot be believed.
func (e *endpoint) distrust(err error) {
	hint := ""
	switch {
	case errors.Is(err, errResponse):
		e.counters.BadAuthenticator++
		hint = "is the secret the same on both sides?"
	case errors.Is(err, errMessageAuthenticator):
		e.counters.BadSignature++
	case errors.Is(err, errUnsigned):
		e.counters.Unsigned++
		hint = "let the server send it, or mark the server legacy"
	default:
		e.counters.Malformed++
	}
	e.client.warnings.warn("RADIUS answer dropped", e.label(), "error", err, "hint", hint)
}

// retire takes the endpoint out of use. What was sent keeps waiting, the answer may be on its way; the
// last one to end closes the sockets.
func (e *endpoint) retire() {
	e.retired = true
	e.scatter()
	e.closeIfIdle()
}

func (e *endpoint) closeIfIdle() {
	for _, f := range e.flows {
		if !f.idle() {
			return
		}
	}
	e.close()
}

func (e *endpoint) close() {
	for _, f := range e.flows {
		f.socket.Close()
	}
	e.flows = nil
}

// pending is the number of identifiers in flight.
func (e *endpoint) pending() int {
	n := 0
	for _, f := range e.flows {
		n += len(f.slots) - len(f.free)
	}
	return n
}

func (e *endpoint) state() string {
	switch {
	case !e.dead:
		return "up"
	case e.probe != nil:
		return "probing"
	}
	return "dead"
}

// count notes the code of an answer.
func (e *endpoint) count(code radius.Code) {
	switch code {
	case radius.CodeAccessAccept:
		e.counters.Accepts++
	case radius.CodeAccessReject:
		e.counters.Rejects++
	case radius.CodeAccessChallenge:
		e.counters.Challenges++
	case radius.CodeAccountingResponse:
		e.counters.Responses++
	}
}
