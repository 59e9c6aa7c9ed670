package dhcp6

import (
	"net/netip"
	"time"
)

// Output is what a Link asks of its owner or tells it, to be performed in the order given. The types
// below are all there are. Slices in an Output belong to the receiver.
type Output interface{ output() }

// NeedLeases asks for an address or a prefix or both, to be answered by Assign or Refuse; the link waits
// as long as it takes. What the Grant leaves out is refused to the client with NoAddrsAvail or
// NoPrefixAvail, until it asks again.
type NeedLeases struct {
	Request   *Request
	Address   bool         // an IA_NA wants an address
	Prefix    bool         // an IA_PD wants a prefix
	Requested netip.Addr   // the address the client would like; not valid: any
	Hint      netip.Prefix // the prefix it would like; with address :: only the length counts; not valid: any
}

// NeedBinding says that the client takes these: make them work, then Commit (or Refuse). Only what is new
// is valid.
type NeedBinding struct {
	Address   netip.Addr
	Delegated netip.Prefix
}

// Bound says what the client has and until when, the later of the two; what it has not is not valid. It
// comes at Commit and, with Renewed, each time the client extends its leases.
type Bound struct {
	Address   netip.Addr
	Delegated netip.Prefix
	Until     time.Time
	Renewed   bool
}

// Released says that the client needs these no more. They are the owner's again.
type Released struct {
	Address   netip.Addr
	Delegated netip.Prefix
}

// Declined says that the client found the address in use on its link: keep it from others for a while.
type Declined struct{ Address netip.Addr }

// Expired says that these leases, or with Offered the time an advertisement stands, are over.
type Expired struct {
	Address   netip.Addr
	Delegated netip.Prefix
	Offered   bool
}

// Send carries a message to the client or its relay agent.
type Send struct {
	Type    MessageType
	Payload []byte // of UDP, in the envelopes the request came in
	To      netip.AddrPort
}

// Ignored says that a message was not answered, and why: one counter each.
type Ignored struct{ Reason Reason }

// Reason says why a message is not answered.
type Reason uint8

// The reasons.
const (
	NoClientID  Reason = iota // without client identifier (RFC 8415 section 16)
	BadServerID               // a server identifier where none may be, or none where one must be
	OtherServer               // it is meant for another server
	NotUnicast                // a type that may not be sent to a unicast address
	NotClients                // a message type that clients do not send
	HasIA                     // an INFORMATION-REQUEST with an identity association
	NoAddress                 // a CONFIRM without an address
	Waiting                   // an answer of the owner is awaited; the newest message will get it
	Refused                   // the owner refused
	NumReasons
)

// String names the reason as its counter is named.
func (r Reason) String() string {
	names := [...]string{
		"no-client-id", "bad-server-id", "other-server", "unicast", "not-a-clients-type", "information-request-with-ia",
		"confirm-without-address", "waiting", "refused",
	}
	if int(r) < len(names) {
		return names[r]
	}
	return "unknown"
}

func (NeedLeases) output()  {}
func (NeedBinding) output() {}
func (Bound) output()       {}
func (Released) output()    {}
func (Declined) output()    {}
func (Expired) output()     {}
func (Send) output()        {}
func (Ignored) output()     {}
