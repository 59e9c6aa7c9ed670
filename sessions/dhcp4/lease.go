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

// Grant is what the client gets.
type Grant struct {
	Address netip.Addr
	Mask    int           // prefix length told to the client (option 1); 0: not told
	Lease   time.Duration // whole seconds; at least a minute
	T1, T2  time.Duration // 0: 0.5 and 0.875 of Lease (RFC 2131 section 4.4.5)
	Options []Option      // sent when the client asks for them, or has no list
}

// Lease is one client's lease, the server's side of RFC 2131 table 4.3 in one machine. It belongs to one
// goroutine. After each call its owner looks at Deadline anew.
type Lease struct {
	config Config
}

// NewLease returns a lease without address.
func NewLease(c Config) *Lease { return &Lease{config: c} }

// Restore returns a lease that is bound already, as told by Bound before a restart.
func Restore(c Config, g Grant, until time.Time) *Lease { return &Lease{config: c} }

// Configure makes c the configuration from now on.
func (l *Lease) Configure(c Config) { l.config = c }

// Renew makes g what the client gets at its next renewal. Its address must be the one held.
func (l *Lease) Renew(g Grant) {}

// Receive takes a message of the client, at time now.
func (l *Lease) Receive(now time.Time, r *Request) []Output { return nil }

// Assign answers NeedAddress.
func (l *Lease) Assign(now time.Time, g Grant) []Output { return nil }

// Commit answers NeedBinding: the address works, the client may be told.
func (l *Lease) Commit(now time.Time) []Output { return nil }

// Refuse answers NeedAddress or NeedBinding. A REQUEST gets a NAK with the message, unless that is
// empty; a DISCOVER gets no answer. The lease holds nothing any more; an address assigned before is the
// owner's to take back.
func (l *Lease) Refuse(now time.Time, message string) []Output { return nil }

// End takes the address away without a word to the client, which has no way of hearing it. When it comes
// back, it is a new client.
func (l *Lease) End() {}

// Timeout is to be called at Deadline or later.
func (l *Lease) Timeout(now time.Time) []Output { return nil }

// Deadline returns when Timeout is due; the zero time when there is nothing to wait for.
func (l *Lease) Deadline() time.Time { return time.Time{} }

// Address returns the address held: offered, binding or bound.
func (l *Lease) Address() netip.Addr { return netip.Addr{} }

// Until returns when a bound lease ends; the zero time when it is not bound.
func (l *Lease) Until() time.Time { return time.Time{} }
