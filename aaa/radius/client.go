package radius

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"layeh.com/radius"

	"vbng/aaa"
	"vbng/control/loop"
)

// Client asks RADIUS servers. Its methods may be called from any goroutine; the state below belongs
// to the loop.
type Client struct {
	options Options
	loop    *loop.Loop[message]

	settings  Settings
	access    []*endpoint // authentication ports, in order of preference
	acct      []*endpoint // accounting ports, likewise
	groups    map[groupKey][]*endpoint
	exchanges map[*exchange]struct{}
	ignored   map[string]*IgnoredAttribute
	warnings  *warnings
}

// New returns a client without servers; Configure gives it some.
func New(options Options) *Client {
	options = options.withDefaults()
	return &Client{
		options:   options,
		loop:      loop.New[message](options.Clock, inboxDatagrams),
		exchanges: map[*exchange]struct{}{},
		ignored:   map[string]*IgnoredAttribute{},
		warnings:  newWarnings(options.Log, options.Clock),
	}
}

// message is what the loop's inbox holds.
type message interface{}

type (
	// begin starts an exchange.
	begin struct{ exchange *exchange }
	// configure replaces the settings.
	configure struct{ settings Settings }
	// received is a datagram.
	received struct {
		flow    *flow
		from    netip.AddrPort
		payload []byte
	}
	// refused is an ICMP error on a flow.
	refused struct{ flow *flow }
	// timeout ends the wait of an exchange, if its generation is still the exchange's.
	timeout struct {
		exchange   *exchange
		generation uint64
	}
	// inspect runs on the loop for readers of its state.
	inspect struct{ read func() }
)

// Authorize asks the servers about a subscriber. done is called exactly once, on the client's
// goroutine, and must not block. A refusal with cause aaa.NoAnswer means that no server could be asked.
func (c *Client) Authorize(request aaa.Request, done func(aaa.Answer)) {
	c.loop.Post(begin{&exchange{kind: access, request: request, answered: done}})
}

// Account tells the servers a record, in one round through all of them. done is called exactly
// once, on the client's goroutine, and must not block: with nil when a server has taken the record,
// otherwise with an error that is ErrNoAnswer or ErrUnsendable. Each transmission says by
// Acct-Delay-Time how old the record is.
func (c *Client) Account(record aaa.Record, done func(error)) {
	c.loop.Post(begin{&exchange{kind: accounting, record: record, recorded: done}})
}

// Configure replaces the settings. Exchanges in progress keep the attempts they made and take their
// next ones from the new settings.
func (c *Client) Configure(settings Settings) { c.loop.Post(configure{settings}) }

// Run works until ctx ends; what is then unanswered ends with no answer.
func (c *Client) Run(ctx context.Context) error {
	c.loop.Run(ctx, c.handle)
	for x := range c.exchanges {
		x.unanswered()
	}
	c.exchanges = nil
	for _, e := range append(c.access, c.acct...) {
		e.close()
	}
	return nil
}

func (c *Client) handle(m message) {
	switch m := m.(type) {
	case begin:
		c.start(m.exchange)
	case configure:
		c.reconfigure(m.settings)
	case received:
		c.receive(m)
	case refused:
		m.flow.endpoint.refuse()
	case timeout:
		if m.generation == m.exchange.generation {
			c.expire(m.exchange)
		}
	case inspect:
		m.read()
	}
}

// reconfigure keeps the endpoints that stay where they are, with their health and counters.
func (c *Client) reconfigure(settings Settings) {
	c.settings = settings
	var gone []*endpoint
	c.access, gone = c.reconcile(c.access, access, gone)
	c.acct, gone = c.reconcile(c.acct, accounting, gone)
	c.groups = map[groupKey][]*endpoint{}
	for name, servers := range settings.Groups {
		c.groups[groupKey{access, name}] = members(c.access, servers)
		c.groups[groupKey{accounting, name}] = members(c.acct, servers)
	}
	for _, e := range gone {
		e.retire()
	}
}

func (c *Client) reconcile(old []*endpoint, k kind, gone []*endpoint) (endpoints, retired []*endpoint) {
	for _, s := range c.settings.Servers {
		p := placeOf(s, k)
		at := slices.IndexFunc(old, func(e *endpoint) bool { return e.place == p })
		if at < 0 {
			endpoints = append(endpoints, &endpoint{client: c, kind: k, place: p, server: s, lastReply: c.now()})
			continue
		}
		old[at].server = s
		endpoints = append(endpoints, old[at])
	}
	for _, e := range old {
		if !slices.Contains(endpoints, e) {
			gone = append(gone, e)
		}
	}
	return endpoints, gone
}

// receive finds the attempt that a datagram answers, and believes it only after the checks of RFC
// 2865 3 and RFC 3579 3.2.
func (c *Client) receive(m received) {
	e := m.flow.endpoint
	if m.from != e.place.remote {
		e.counters.WrongSource++
		c.warnings.warn("RADIUS answer from a wrong address", e.label(), "from", m.from)
		return
	}
	if len(m.payload) < headerBytes {
		e.counters.Malformed++
		c.warnings.warn("RADIUS answer too short", e.label(), "octets", len(m.payload))
		return
	}
	a := m.flow.slots[m.payload[1]]
	if a == nil {
		e.counters.Unexpected++
		return
	}
	r, err := openReply(m.payload, a.proof)
	if err == nil && !expected(e.kind, r.code) {
		err = errUnexpectedCode
	}
	if err != nil {
		e.distrust(err)
		return
	}
	e.answered(a)
	e.count(r.code)
	a.exchange.conclude(e, r)
}

// expected tells whether a packet code answers a request of this kind.
func expected(k kind, code radius.Code) bool {
	if k == accounting {
		return code == radius.CodeAccountingResponse
	}
	return code == radius.CodeAccessAccept || code == radius.CodeAccessReject || code == radius.CodeAccessChallenge
}

func (c *Client) now() time.Time { return c.loop.Now() }
