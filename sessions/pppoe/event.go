package pppoe

import (
	"fmt"
	"strconv"
)

// MAC is an Ethernet address.
type MAC [6]byte

// String prints the address as six pairs of hexadecimal digits.
func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

func (m MAC) isZero() bool      { return m == MAC{} }
func (m MAC) isGroup() bool     { return m[0]&1 != 0 } // IEEE 802: multicast and broadcast
func (m MAC) isBroadcast() bool { return m == MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff} }

// Line is an access line: a port and up to two VLAN identifiers, zero where untagged.
type Line struct {
	Port  uint32 // the router's key of the port
	Outer uint16 // S-VLAN, or the only one
	Inner uint16 // C-VLAN
}

// Frame is a received discovery frame.
type Frame struct {
	Line    Line
	Own     MAC // ours, on that port
	Dst     MAC
	Src     MAC
	Payload []byte // from the PPPoE header on; not kept
}

// EventKind says what a frame came to.
type EventKind uint8

// The kinds.
const (
	EventRefused    EventKind = iota // Reason says why; there may be an error reply
	EventOffered                     // a PADI, answered
	EventRequested                   // a good PADR: Request is valid, the owner answers
	EventTerminated                  // a PADT: Termination is valid
)

// Event is the outcome of one frame.
type Event struct {
	Kind        EventKind
	Reason      Reason
	Request     Request
	Termination Termination
}

// Request is a good PADR. Nil slices are absent tags, empty ones blank tags.
type Request struct {
	Client     MAC
	Own        MAC // our address the client spoke to
	Line       Line
	Service    string // blank: any
	HostUniq   []byte
	RelayID    []byte
	MaxPayload uint16 // agreed PPP-Max-Payload in bytes; zero: none (RFC 4638)
	Access     AccessLine
}

// Termination is a PADT. It says that the sender has ended the session; the owner compares line and
// client with the session's before it believes that.
type Termination struct {
	Client    MAC
	Line      Line
	SessionID uint16
	Message   string // of a Generic-Error tag; may be empty
}

// Reason says why a frame was refused. Each is a counter.
type Reason uint8

// The reasons.
const (
	ReasonNone             Reason = iota
	ReasonMalformed               // header or tags do not decode
	ReasonVersion                 // version or type is not 1
	ReasonSource                  // source address is multicast or zero, or our own
	ReasonDestination             // not to us; for other packets than PADI, not to our address
	ReasonCode                    // a code that a client does not send
	ReasonSessionID               // not zero in PADI or PADR, or zero or reserved in PADT
	ReasonTooLong                 // PADI beyond 1484 bytes, or no room to answer
	ReasonNoService               // no Service-Name tag
	ReasonDuplicateService        // more than one Service-Name tag
	ReasonUnknownService          // a service we do not offer
	ReasonOtherAC                 // names another concentrator
	ReasonRelayID                 // Relay-Session-Id beyond 12 bytes
	ReasonCookie                  // no AC-Cookie, or not ours, or too old
	ReasonInternal                // a fault of ours, caught at the door
	NumReasons
)

var reasonNames = [NumReasons]string{
	"none", "malformed", "version", "source-address", "destination-address", "code", "session-id",
	"too-long", "no-service-name", "duplicate-service-name", "unknown-service-name", "other-ac",
	"relay-session-id", "cookie", "internal",
}

// String returns the reason as a counter's name.
func (r Reason) String() string {
	if r < NumReasons {
		return reasonNames[r]
	}
	return strconv.Itoa(int(r))
}
