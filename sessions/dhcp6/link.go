package dhcp6

import (
	"bytes"
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
// others get NoAddrsAvail or NoPrefixAvail. A client with another DUID takes over what is held: it is the
// same subscriber with another device.
type Link struct {
	config  Config
	client  []byte // DUID of the client that holds what is held
	grant   Grant  // times and name servers
	address lease
	prefix  lease
	phase   phase
	pending *Request // asking, binding: what is to be answered
}

// phase says which answer of the owner is awaited.
type phase uint8

const (
	ready   phase = iota // none
	asking               // NeedLeases is out
	binding              // NeedBinding is out
)

// lease is an address or a prefix of the client.
type lease struct {
	held   netip.Prefix // an address has all its bits; not valid: none
	iaid   uint32       // of the IA it is in
	taken  bool         // bound, or to be bound at Commit
	isNew  bool         // NeedBinding is out for it
	until  time.Time    // when the offer, or the valid lifetime, is over
	denied bool         // the owner gave none; said so to the request at hand
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
func Restore(c Config, g Grant, b Bindings) *Link {
	l := &Link{config: c, client: b.ClientID, grant: g}
	if g.Address.IsValid() && !b.AddressUntil.IsZero() {
		l.address = lease{held: whole(g.Address), iaid: b.AddressIA, taken: true, until: b.AddressUntil}
	}
	if g.Delegated.IsValid() && !b.PrefixUntil.IsZero() {
		l.prefix = lease{held: g.Delegated, iaid: b.PrefixIA, taken: true, until: b.PrefixUntil}
	}
	return l
}

// Bindings returns what Restore needs beside the Grant.
func (l *Link) Bindings() Bindings {
	b := Bindings{ClientID: bytes.Clone(l.client), AddressIA: l.address.iaid, PrefixIA: l.prefix.iaid}
	if l.address.bound() {
		b.AddressUntil = l.address.until
	}
	if l.prefix.bound() {
		b.PrefixUntil = l.prefix.until
	}
	return b
}

// Configure makes c the configuration from now on.
func (l *Link) Configure(c Config) { l.config = c }

// Renew makes the lifetimes and name servers of g those of the next answer. What is held stays.
func (l *Link) Renew(g Grant) {
	g.Address, g.Delegated = netip.Addr{}, netip.Prefix{}
	l.grant = g
}

// Receive takes a message of the client, at time now.
func (l *Link) Receive(now time.Time, r *Request) []Output {
	outputs := l.Timeout(now)
	if refusal := l.refuse(r); refusal != nil {
		return append(outputs, refusal...)
	}
	switch r.Type {
	case Solicit, RequestLeases, Renew, Rebind:
		return append(outputs, l.want(now, r)...)
	case Confirm:
		return append(outputs, l.confirm(r)...)
	case Release, Decline:
		return append(outputs, l.giveBack(r)...)
	case InformationRequest:
		return append(outputs, l.send(l.answer(Reply, r)))
	}
	return append(outputs, Ignored{NotClients})
}

// Assign answers NeedLeases. What g leaves invalid stays as it was.
func (l *Link) Assign(now time.Time, g Grant) []Output {
	if l.phase != asking {
		return nil
	}
	r := l.pending
	l.phase, l.pending = ready, nil
	l.client = r.ClientID
	offered := now.Add(l.hold())
	if g.Address.IsValid() && !l.address.held.IsValid() {
		l.address = lease{held: whole(g.Address), until: offered}
	}
	if g.Delegated.IsValid() && !l.prefix.held.IsValid() {
		l.prefix = lease{held: g.Delegated.Masked(), until: offered}
	}
	g.Address, g.Delegated = netip.Addr{}, netip.Prefix{}
	l.grant = g
	l.address.denied, l.prefix.denied = !l.address.held.IsValid(), !l.prefix.held.IsValid()
	outputs := l.want(now, r)
	l.address.denied, l.prefix.denied = false, false
	return outputs
}

// Commit answers NeedBinding: what was bound works, the client may be told.
func (l *Link) Commit(now time.Time) []Output {
	if l.phase != binding {
		return nil
	}
	r := l.pending
	l.phase, l.pending = ready, nil
	l.address.isNew, l.prefix.isNew = false, false
	return l.conclude(now, r, false)
}

// Refuse answers NeedLeases or NeedBinding: the client gets no answer. What was assigned but not bound is
// forgotten, and the owner's to take back.
func (l *Link) Refuse(_ time.Time) []Output {
	if l.phase == ready {
		return nil
	}
	l.phase, l.pending = ready, nil
	for _, each := range []*lease{&l.address, &l.prefix} {
		if !each.bound() {
			*each = lease{}
		}
	}
	return []Output{Ignored{Refused}}
}

// End takes all leases away without a word to the client.
func (l *Link) End() { *l = Link{config: l.config} }

// Timeout is to be called at Deadline or later.
func (l *Link) Timeout(now time.Time) []Output {
	var outputs []Output
	if l.address.over(now) {
		outputs = append(outputs, Expired{Address: l.address.held.Addr(), Offered: !l.address.taken})
		l.address = lease{}
	}
	if l.prefix.over(now) {
		outputs = append(outputs, Expired{Delegated: l.prefix.held, Offered: !l.prefix.taken})
		l.prefix = lease{}
	}
	return outputs
}

// Deadline returns when Timeout is due; the zero time when there is nothing to wait for.
func (l *Link) Deadline() time.Time {
	var due time.Time
	for _, each := range []*lease{&l.address, &l.prefix} {
		if each.runs() && (due.IsZero() || each.until.Before(due)) {
			due = each.until
		}
	}
	return due
}

// Address returns the address held, offered or bound.
func (l *Link) Address() netip.Addr { return l.address.held.Addr() }

// Delegated returns the delegated prefix held, offered or bound.
func (l *Link) Delegated() netip.Prefix { return l.prefix.held }

func (l *Link) hold() time.Duration {
	if l.config.OfferHold > 0 {
		return l.config.OfferHold
	}
	return defaultOfferHold
}

const defaultOfferHold = 60 * time.Second

func (e *lease) bound() bool { return e.held.IsValid() && e.taken && !e.isNew }

// runs reports whether time counts for the lease; it does not while NeedBinding is out.
func (e *lease) runs() bool { return e.held.IsValid() && !e.isNew }

func (e *lease) over(now time.Time) bool { return e.runs() && !now.Before(e.until) }

// addr is the address held; not valid when there is none.
func (e *lease) addr() netip.Addr { return e.held.Addr() }

func whole(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }
