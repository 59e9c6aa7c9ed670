package dhcp4

import (
	"net/netip"
	"time"
)

// Config is what a Lease is served by. It is never changed; another one comes by Configure.
type Config struct {
	ServerID      netip.Addr    // our address on the client's line: server identifier and source
	OfferHold     time.Duration // how long an offer stands; 0: 60 s
	Authoritative bool          // answer clients that come with a lease we do not know, instead of silence
}

const defaultOfferHold = 60 * time.Second

// Grant is what the client gets.
type Grant struct {
	Address netip.Addr
	Mask    int           // prefix length told to the client (option 1); 0: not told
	Lease   time.Duration // whole seconds; at least a minute
	T1, T2  time.Duration // 0: 0.5 and 0.875 of Lease (RFC 2131 section 4.4.5)
	Options []Option      // sent when the client asks for them, or has no list
}

// state is the server's view of the client's states in RFC 2131 figure 5.
type state uint8

const (
	idle    state = iota // nothing held
	asking               // NeedAddress is out
	offered              // INIT, SELECTING: the client may take the address
	binding              // REQUESTING: NeedBinding is out
	bound                // BOUND, RENEWING, REBINDING
)

// Lease is one client's lease, the server's side of RFC 2131 table 4.3 in one machine. It belongs to one
// goroutine. After each call its owner looks at Deadline anew.
type Lease struct {
	config  Config
	state   state
	grant   Grant
	until   time.Time // offered, bound: when that ends
	pending *Request  // asking, binding: what is to be answered
}

// NewLease returns a lease without address.
func NewLease(c Config) *Lease { return &Lease{config: c} }

// Restore returns a lease that is bound already, as told by Bound before a restart.
func Restore(c Config, g Grant, until time.Time) *Lease {
	return &Lease{config: c, state: bound, grant: g, until: until}
}

// Configure makes c the configuration from now on.
func (l *Lease) Configure(c Config) { l.config = c }

// Renew makes g what the client gets at its next message. Its address must be the one held; without one
// held this does nothing.
func (l *Lease) Renew(g Grant) {
	if l.holds(g.Address) {
		l.grant = g
	}
}

// Receive takes a message of the client, at time now.
func (l *Lease) Receive(now time.Time, r *Request) []Output {
	outputs := l.Timeout(now)
	switch r.Type {
	case Discover:
		return append(outputs, l.discover(now, r)...)
	case RequestLease:
		return append(outputs, l.request(now, r)...)
	case Release:
		return append(outputs, l.release(r)...)
	case Decline:
		return append(outputs, l.decline(r)...)
	case Inform:
		return append(outputs, l.inform(r)...)
	}
	return append(outputs, Ignored{NotClients})
}

// Assign answers NeedAddress.
func (l *Lease) Assign(now time.Time, g Grant) []Output {
	if l.state != asking {
		return nil
	}
	r := l.pending
	l.grant, l.pending = g, nil
	if r.Type == Discover {
		return l.offer(now, r)
	}
	if l.named(r) != g.Address {
		// The client may not have what it wants. What it may have waits for its DISCOVER.
		l.state, l.until = offered, now.Add(l.hold())
		return l.nak(r, "the address is not available")
	}
	return l.bind(r)
}

// Commit answers NeedBinding: the address works, the client may be told.
func (l *Lease) Commit(now time.Time) []Output {
	if l.state != binding {
		return nil
	}
	r := l.pending
	l.pending = nil
	l.state, l.until = bound, now.Add(l.grant.Lease)
	return append([]Output{Bound{Address: l.grant.Address, Until: l.until}}, l.ack(r)...)
}

// Refuse answers NeedAddress or NeedBinding. A REQUEST gets a NAK with the message, unless that is
// empty; a DISCOVER gets no answer. The lease holds nothing any more; an address assigned before is the
// owner's to take back.
func (l *Lease) Refuse(_ time.Time, message string) []Output {
	if l.state != asking && l.state != binding {
		return nil
	}
	r := l.pending
	l.End()
	if r.Type != RequestLease || message == "" {
		return []Output{Ignored{Refused}}
	}
	return l.nak(r, message)
}

// End takes the address away without a word to the client, which has no way of hearing it. When it comes
// back, it is a new client.
func (l *Lease) End() { *l = Lease{config: l.config} }

// Timeout is to be called at Deadline or later.
func (l *Lease) Timeout(now time.Time) []Output {
	if due := l.Deadline(); due.IsZero() || now.Before(due) {
		return nil
	}
	over := Expired{Address: l.grant.Address, Offered: l.state == offered}
	l.End()
	return []Output{over}
}

// Deadline returns when Timeout is due; the zero time when there is nothing to wait for.
func (l *Lease) Deadline() time.Time {
	if l.state == offered || l.state == bound {
		return l.until
	}
	return time.Time{}
}

// Address returns the address held: offered, binding or bound.
func (l *Lease) Address() netip.Addr { return l.grant.Address }

// Until returns when a bound lease ends; the zero time when it is not bound.
func (l *Lease) Until() time.Time {
	if l.state == bound {
		return l.until
	}
	return time.Time{}
}

// holds reports whether a is the client's: offered, binding or bound.
func (l *Lease) holds(a netip.Addr) bool {
	return l.state >= offered && a.IsValid() && l.grant.Address == a
}

func (l *Lease) hold() time.Duration {
	if l.config.OfferHold > 0 {
		return l.config.OfferHold
	}
	return defaultOfferHold
}
