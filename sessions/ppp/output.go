package ppp

import (
	"net/netip"
	"time"
)

// TimerID names one of the link's timers. A link has at most one of each running.
type TimerID uint8

// The timers.
const (
	TimerLCP TimerID = iota
	TimerAuth
	TimerIPCP
	TimerIPV6CP
	NumTimers
)

// Output is what a link asks of its owner or tells it, to be performed in the order given. The types
// below are all there are. Slices in an Output belong to the receiver.
type Output interface{ output() }

// Send carries a packet to the peer.
type Send struct {
	Proto uint16
	Info  []byte // what follows the protocol number
}

// SetTimer asks for Timeout(ID, Generation) after the duration. It replaces a running timer of the
// same ID; a timer that fires late all the same is recognised by its generation and ignored.
type SetTimer struct {
	ID         TimerID
	After      time.Duration
	Generation uint32
}

// StopTimer cancels a timer.
type StopTimer struct{ ID TimerID }

// LCPUp says that LCP reached Opened. Magic numbers are zero where that side has none.
type LCPUp struct {
	LocalMagic, PeerMagic uint32
	LocalMRU, PeerMRU     uint16 // bytes of PPP information field that each side can receive
}

// LCPDown says that LCP left Opened: stop sending echoes, and forget an authentication under way.
type LCPDown struct{}

// AuthRequest asks for a decision; it is answered with AuthDone and the same Serial.
type AuthRequest struct {
	Serial   uint32 // increases with each request of the link
	Method   AuthMethod
	Username string // as the peer sent it; may be empty

	Password string // PAP

	CHAPID    uint8  // CHAP-MD5: the identifier that entered the hash
	Challenge []byte // CHAP-MD5
	Response  []byte // CHAP-MD5: 16 bytes
}

// NetworkUp says that a network control protocol reached Opened.
type NetworkUp struct {
	Protocol uint16 // ProtoIPCP or ProtoIPV6CP

	Local, Peer                       netip.Addr // IPCP
	LocalInterfaceID, PeerInterfaceID uint64     // IPV6CP, as agreed; both may differ from what the grant says
}

// NetworkDown says that a network control protocol left Opened. It comes once for each NetworkUp of that
// protocol, before NetworkFinished and Finished.
type NetworkDown struct{ Protocol uint16 }

// NetworkFinished says that a network control protocol has ended, or never came up, while the link goes on
// with the other. The peer may open it again: then a NetworkUp follows.
type NetworkFinished struct {
	Protocol uint16
	Cause    Cause
}

// Finished is the last output of a link, and comes exactly once.
type Finished struct{ Cause Cause }

func (Send) output()            {}
func (SetTimer) output()        {}
func (StopTimer) output()       {}
func (LCPUp) output()           {}
func (LCPDown) output()         {}
func (AuthRequest) output()     {}
func (NetworkUp) output()       {}
func (NetworkDown) output()     {}
func (NetworkFinished) output() {}
func (Finished) output()        {}

// Cause names why a link ended. It is a string so that an owner's own causes pass through Close
// unchanged and appear in Finished.
type Cause string

// The causes that the link itself finds.
const (
	CausePeerTerminated    Cause = "peer-terminated"    // LCP Terminate-Request
	CauseNetworkTerminated Cause = "network-terminated" // the peer terminated the last network protocol
	CauseAdminClose        Cause = "admin-close"        // Close without a cause
	CauseLowerDown         Cause = "lower-layer-down"   // LowerDown
	CauseConfigureTimeout  Cause = "lcp-timeout"        // no answer in Max-Configure requests
	CauseLCPRefused        Cause = "lcp-refused"        // options cannot be agreed within the limits
	CauseLoopDetected      Cause = "loop-detected"      // our own magic number came back
	CauseNoAuthProtocol    Cause = "no-auth-protocol"   // the peer refuses every method we demand
	CauseAuthTimeout       Cause = "auth-timeout"       // no credentials in time
	CauseAuthFailed        Cause = "auth-failed"        // AuthDone said no
	CauseNoNetwork         Cause = "no-network"         // the grant holds nothing that we can offer
	CauseIPCPTimeout       Cause = "ipcp-timeout"       // no answer in Max-Configure requests
	CauseIPCPRefused       Cause = "ipcp-refused"       // addresses cannot be agreed, or the peer has no IPCP
	CauseIPV6CPTimeout     Cause = "ipv6cp-timeout"     // no answer in Max-Configure requests
	CauseIPV6CPRefused     Cause = "ipv6cp-refused"     // identifiers cannot be agreed, or the peer has no IPV6CP
	CauseRejected          Cause = "rejected-by-peer"   // the peer rejected LCP itself or one of its basic codes
	CauseInternal          Cause = "internal-error"     // a fault of ours, caught at the door
)

// String returns the cause as it is shown and logged.
func (c Cause) String() string { return string(c) }

// Counters count what a link did not answer. They only rise.
type Counters struct {
	Illegal        uint32 // event the RFC table marks "-"
	Malformed      uint32 // header or options do not decode
	Mismatch       uint32 // Ack, Nak or Reject that does not fit our last request; stale CHAP identifier
	WrongPhase     uint32 // protocol that the phase does not allow (RFC 1661 section 3.4)
	DataDiscarded  uint32 // data packets that reached control (RFC 1661 section 3.6)
	UnknownCode    uint32 // codes answered with Code-Reject
	ProtocolReject uint32 // protocols answered with Protocol-Reject
	Ignored        uint32 // Echo-Reply, Discard-Request, Identification, Time-Remaining
	Looped         uint32 // packets that carry our own magic number
	StaleTimer     uint32 // Timeout of an old generation
	StaleAuth      uint32 // AuthDone for a request no longer waited for
	Internal       uint32 // faults of ours, caught at the door
}
