package radius

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"layeh.com/radius"

	"vbng/aaa"
	"vbng/control/clock"
)

// exchange is one request until its answer or its giving up.
type exchange struct {
	client  *Client
	kind    kind
	request aaa.Request // kind access
	record  aaa.Record  // kind accounting

	answered func(aaa.Answer)
	recorded func(error)

	begun      time.Time
	endpoint   *endpoint   // where it is now
	tried      []*endpoint // all places it has been, the present one too
	tries      int         // transmissions to the present endpoint
	waiting    bool        // for an identifier
	attempts   []*attempt  // identifiers held
	timer      clock.Timer
	generation uint64 // of the timer
}

// start takes a new exchange in.
func (c *Client) start(x *exchange) {
	x.client, x.begun = c, c.now()
	c.exchanges[x] = struct{}{}
	line := &x.request.Line
	if x.kind == accounting {
		line = &x.record.Line
	}
	var dropped []string
	if *line, dropped = fit(*line); len(dropped) > 0 {
		c.warnings.warn("line identifiers too long for RADIUS", x.kind.String(), "session", x.session(), "left_out", dropped)
	}
	x.settle()
}

// settle looks for an endpoint and transmits; with none left the exchange has no answer.
func (x *exchange) settle() {
	x.leave()
	e := x.pick()
	if e == nil {
		x.unanswered()
		return
	}
	x.endpoint, x.tries = e, 0
	if !slices.Contains(x.tried, e) {
		x.tried = append(x.tried, e)
	}
	x.transmit()
}

// leave stops waiting at the present endpoint. Attempts sent stay in flight.
func (x *exchange) leave() {
	x.disarm()
	e := x.endpoint
	x.endpoint = nil
	if e == nil {
		return
	}
	if e.probe == x {
		e.probe = nil
	}
	if x.waiting {
		x.waiting = false
		e.waiting = slices.DeleteFunc(e.waiting, func(o *exchange) bool { return o == x })
	}
}

// pick chooses the first endpoint in order that is alive or may be probed; else the one dead for
// longest. Endpoints already tried are left out.
func (x *exchange) pick() *endpoint {
	if e := x.pickUsable(); e != nil {
		if e.dead {
			e.probe = x
		}
		return e
	}
	var oldest *endpoint
	for _, e := range x.candidates() {
		if !slices.Contains(x.tried, e) && (oldest == nil || e.deadSince.Before(oldest.deadSince)) {
			oldest = e
		}
	}
	return oldest
}

func (x *exchange) pickUsable() *endpoint {
	for _, e := range x.candidates() {
		if !slices.Contains(x.tried, e) && (!e.dead || e.rested()) {
			return e
		}
	}
	return nil
}

// transmit sends the exchange to its endpoint, for the first time or again.
func (x *exchange) transmit() {
	x.waiting = false
	a := x.repeatable()
	if a == nil {
		var err error
		if a, err = x.prepare(); err != nil {
			x.fail(err)
			return
		}
	}
	if a == nil {
		x.wait()
		return
	}
	x.endpoint.send(a)
	if trace := x.trace(); trace != nil {
		trace(fmt.Sprintf("to %s, id %d, transmission %d: %s", x.endpoint.label(), a.id, x.tries, describePacket(a.wire)))
	}
	x.arm(min(x.interval(), max(0, x.left())))
}

// repeatable returns the attempt whose bytes are sent again: an Access-Request is repeated with the
// same identifier and authenticator (RFC 5080 2.2.1). An Accounting-Request changes with its age.
func (x *exchange) repeatable() *attempt {
	if x.kind == accounting || x.tries == 0 {
		return nil
	}
	for _, a := range x.attempts {
		if a.flow.endpoint == x.endpoint {
			return a
		}
	}
	return nil
}

// prepare takes an identifier and encodes the packet; without a free identifier the attempt is nil.
func (x *exchange) prepare() (*attempt, error) {
	e := x.endpoint
	a := &attempt{exchange: x}
	ok, err := e.allocate(a)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, nil
	}
	a.proof.secret = []byte(e.server.Secret)
	a.proof.mustBeSigned = x.kind == access && !e.server.Legacy
	if err := x.encode(a); err != nil {
		a.flow.release(a)
		return nil, fmt.Errorf("%w: %w", ErrUnsendable, err)
	}
	copy(a.proof.authenticator[:], a.wire[authenticatorStart:headerBytes])
	x.attempts = append(x.attempts, a)
	return a, nil
}

func (x *exchange) encode(a *attempt) (err error) {
	c := x.client
	p := &radius.Packet{Identifier: a.id, Secret: a.proof.secret}
	us := nasFor(c.settings, a.flow.socket.Local())
	if x.kind == accounting {
		p.Code = radius.CodeAccountingRequest
		describeRecord(p, x.record, us, c.now())
		a.wire, err = p.Encode()
		return err
	}
	p.Code = radius.CodeAccessRequest
	if _, err := c.options.Random.Read(p.Authenticator[:]); err != nil {
		return fmt.Errorf("draw a Request Authenticator: %w", err)
	}
	if err := describeRequest(p, x.request, us); err != nil {
		return err
	}
	a.wire, err = encodeAccess(p)
	return err
}

// wait queues the exchange for an identifier.
func (x *exchange) wait() {
	e := x.endpoint
	if len(e.waiting) >= waitingPerEndpoint {
		e.counters.Overflows++
		x.client.warnings.warn("RADIUS request given up", e.label(), "error", errQueueFull)
		x.unanswered()
		return
	}
	x.waiting = true
	e.waiting = append(e.waiting, x)
	x.arm(max(0, x.left()))
}

// fail handles an attempt that could not be made.
func (x *exchange) fail(err error) {
	e := x.endpoint
	if errors.Is(err, ErrUnsendable) {
		x.client.warnings.warn("RADIUS request impossible", e.label(), "session", x.session(), "error", err)
		x.impossible(err)
		return
	}
	e.counters.SendErrors++
	x.client.warnings.warn("RADIUS socket not opened", e.label(), "error", err)
	e.bury("no socket")
	x.settle()
}

// interval is the wait after the present transmission: the configured timeout, doubled once for
// repetitions, with jitter so that a burst does not come back as a burst (RFC 5080 2.2.1).
func (x *exchange) interval() time.Duration {
	wait := x.endpoint.server.Timeout
	if x.tries > 1 {
		wait *= 2
	}
	var random [2]byte
	x.client.options.Random.Read(random[:])
	unit := float64(binary.BigEndian.Uint16(random[:]))/65535*2 - 1 // -1 to 1
	return time.Duration(float64(wait) * (1 + jitterFraction*unit))
}

func (x *exchange) left() time.Duration {
	limit := accessDuration
	if x.kind == accounting {
		limit = accountingDuration
	}
	return limit - x.client.now().Sub(x.begun)
}

func (x *exchange) arm(d time.Duration) {
	x.disarm()
	x.timer = x.client.loop.After(d, timeout{x, x.generation})
}

func (x *exchange) disarm() {
	x.generation++
	if x.timer != nil {
		x.timer.Stop()
		x.timer = nil
	}
}

// expire handles the end of a wait.
func (c *Client) expire(x *exchange) {
	e := x.endpoint
	if x.waiting {
		x.unanswered()
		return
	}
	e.silent(x)
	switch {
	case x.endpoint != e: // the server was declared dead
	case x.left() <= 0:
		x.unanswered()
	case x.tries > e.server.Retransmit, e.retired, e.dead && x.pickUsable() != nil:
		x.settle()
	default:
		x.transmit()
	}
}

// conclude ends the exchange with an authentic answer from e.
func (x *exchange) conclude(e *endpoint, r reply) {
	x.finish()
	if trace := x.trace(); trace != nil {
		trace(fmt.Sprintf("from %s: %s", e.label(), describeReply(r)))
	}
	if x.kind == accounting {
		x.client.noteIgnored(e, x.session(), accountingIgnored(r.attributes))
		x.recorded(nil)
		return
	}
	x.answered(x.client.readAnswer(e, x.request, r))
}

// unanswered ends the exchange without an answer.
func (x *exchange) unanswered() {
	x.finish()
	if trace := x.trace(); trace != nil {
		trace(fmt.Sprintf("no answer to the %s request from any server", x.kind))
	}
	if x.kind == accounting {
		x.recorded(ErrNoAnswer)
		return
	}
	x.answered(refusal(aaa.NoAnswer, ""))
}

// impossible ends an exchange that cannot be put into a packet. What no server could ever confirm is
// no valid credential either.
func (x *exchange) impossible(err error) {
	x.finish()
	if x.kind == accounting {
		x.recorded(err)
		return
	}
	x.answered(refusal(aaa.BadCredentials, ""))
}

// finish gives all identifiers back.
func (x *exchange) finish() {
	x.leave()
	delete(x.client.exchanges, x)
	attempts := x.attempts
	x.attempts = nil
	for _, a := range attempts {
		a.flow.release(a)
	}
	for _, a := range attempts {
		a.flow.endpoint.freed()
	}
}

// group is the group of servers that the exchange is for.
func (x *exchange) group() string {
	if x.kind == accounting {
		return x.record.Group
	}
	return x.request.Group
}

func (x *exchange) session() string {
	if x.kind == accounting {
		return x.record.AcctSessionID
	}
	return x.request.AcctSessionID
}

func refusal(cause aaa.RejectCause, message string) aaa.Answer {
	return aaa.Answer{Reject: &aaa.Reject{Cause: cause, Message: message}}
}
