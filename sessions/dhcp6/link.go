package dhcp6

import (
	"net/netip"
	"time"
)

// Config is what a Link is served by. It is never changed; another one comes by Configure.
type Config struct {
	ServerID    []byte        // our DUID, the same over restarts
	RapidCommit bool          // answer SOLICIT with REPLY when the client asks so (RFC 8415 section 21.14)
	Preference  uint8         // of ADVERTISE; 0: not sent
	OfferHold   time.Duration // how long an advertisement stands; 0: 60 s
	DNS         []netip.Addr  // option 23, when the Grant names none
	Search      []string      // option 24
}

// Grant is what the client gets. Lifetimes are whole seconds.
type Grant struct {
	Address   netip.Addr   // not valid: none
	Delegated netip.Prefix // not valid: none
	Preferred time.Duration
	Valid     time.Duration // not below Preferred
	T1, T2    time.Duration // 0: 0.5 and 0.8 of Preferred (RFC 8415 section 21.4)
	DNS       []netip.Addr  // nil: the Config's
}

// Link is the server's side of one client's leases. It belongs to one goroutine. After each call its
// owner looks at Deadline anew. One IA_NA and one IA_PD are served, the first of each kind that comes;
// others get NoAddrsAvail or NoPrefixAvail.
type Link struct {
	config Config
}

// NewLink returns a link without leases.
func NewLink(c Config) *Link { return &Link{config: c} }

// Bindings is what a link with leases must remember over a restart.
type Bindings struct {
	ClientID            []byte
	AddressIA, PrefixIA uint32
	AddressUntil        time.Time // zero: no address bound
	PrefixUntil         time.Time // zero: no prefix bound
}

// Restore returns a link with leases from before a restart.
func Restore(c Config, g Grant, b Bindings) *Link { return &Link{config: c} }

// Bindings returns what Restore needs beside the Grant.
func (l *Link) Bindings() Bindings { return Bindings{} }

// Configure makes c the configuration from now on.
func (l *Link) Configure(c Config) { l.config = c }

// Receive takes a message of the client, at time now.
func (l *Link) Receive(now time.Time, r *Request) []Output { return nil }

// Assign answers NeedLeases. What g leaves invalid stays as it was.
func (l *Link) Assign(now time.Time, g Grant) []Output { return nil }

// Commit answers NeedBinding: what was bound works, the client may be told.
func (l *Link) Commit(now time.Time) []Output { return nil }

// Refuse answers NeedLeases or NeedBinding: the client gets no answer. What was assigned but not bound is
// forgotten, and the owner's to take back.
func (l *Link) Refuse(now time.Time) []Output { return nil }

// End takes all leases away without a word to the client.
func (l *Link) End() {}

// Timeout is to be called at Deadline or later.
func (l *Link) Timeout(now time.Time) []Output { return nil }

// Deadline returns when Timeout is due; the zero time when there is nothing to wait for.
func (l *Link) Deadline() time.Time { return time.Time{} }

// Address and Delegated return what is held, offered or bound.
func (l *Link) Address() netip.Addr { return netip.Addr{} }

// Delegated returns the delegated prefix held, offered or bound.
func (l *Link) Delegated() netip.Prefix { return netip.Prefix{} }
