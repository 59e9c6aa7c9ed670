package dhcp4

import (
	"net/netip"
	"time"
)

// Output is what a Lease asks of its owner or tells it, to be performed in the order given. The types
// below are all there are. Slices in an Output belong to the receiver.
type Output interface{ output() }

// NeedAddress asks for an address, to be answered by Assign or Refuse; the lease waits as long as it
// takes. Requested is the address the client wants; an answer with another one makes a NAK of a
// REQUEST, and the client then discovers what it may have.
type NeedAddress struct {
	Request   *Request
	Requested netip.Addr // not valid: any
}

// NeedBinding says that the client takes the address: make it work, then Commit (or Refuse).
type NeedBinding struct{ Address netip.Addr }

// Bound says that the client has the address until the given time. It comes at Commit and, with
// Renewed, each time the client extends the lease.
type Bound struct {
	Address netip.Addr
	Until   time.Time
	Renewed bool
}

// Released says that the client needs the address no more: it sent RELEASE, or took another server's
// offer. The address is the owner's again.
type Released struct {
	Address   netip.Addr
	Elsewhere bool // the client chose another server
}

// Declined says that the client found the address in use by somebody else (RFC 2131 section 4.3.3):
// keep it from others for a while.
type Declined struct{ Address netip.Addr }

// Expired says that the lease, or with Offered the time an offer stands, is over.
type Expired struct {
	Address netip.Addr
	Offered bool
}

// Send carries a message to the client.
type Send struct {
	Type    MessageType
	Payload []byte // of UDP
	To      Destination
	Dropped []Code // parameters that did not fit into the size the client takes
}

// Destination is where a reply goes (RFC 2131 section 4.1).
type Destination struct {
	IP        netip.Addr
	Port      uint16  // ClientPort, or ServerPort for a relay agent
	Broadcast bool    // Ethernet broadcast; else MAC, or with a relay agent the MAC the request came from
	MAC       [6]byte // the client's hardware address
}

// Ignored says that a message was not answered, and why: one counter each.
type Ignored struct{ Reason Reason }

// Reason says why a message is not answered.
type Reason uint8

// The reasons.
const (
	BadAddress       Reason = iota // the addresses of the message fit no state of table 4.3
	OtherServer                    // it is meant for another server
	NoBinding                      // it speaks of a lease that is not this client's
	Waiting                        // an answer of the owner is awaited; the newest message will get it
	NotClients                     // a message type that clients do not send
	Refused                        // the owner refused, without a NAK
	NotAuthoritative               // a client unknown to us, which another server may know
	TooLong                        // even the mandatory options do not fit
	NumReasons
)

// String names the reason as its counter is named.
func (r Reason) String() string {
	names := [...]string{
		"bad-address", "other-server", "no-binding", "waiting", "not-a-clients-type", "refused", "not-authoritative",
		"reply-too-long",
	}
	if int(r) < len(names) {
		return names[r]
	}
	return "unknown"
}

func (NeedAddress) output() {}
func (NeedBinding) output() {}
func (Bound) output()       {}
func (Released) output()    {}
func (Declined) output()    {}
func (Expired) output()     {}
func (Send) output()        {}
func (Ignored) output()     {}
