package pppoe

import (
	"fmt"
	"time"

	"vbng/cmd/vbng-sim/host6"
)

// Phase is how far a client has come.
type Phase uint8

// The phases, in the order of a set-up.
const (
	Idle         Phase = iota
	Discovery          // PADI sent
	Request            // PADR sent
	Link               // LCP negotiates
	Authenticate       // PAP or CHAP
	Network            // IPCP negotiates
	Network6           // IPV6CP negotiates, then the IPv6 side sets itself up
	Up
	Closing // Terminate-Request sent
	Ended
	Silent
)

var phaseNames = [...]string{"idle", "discovery", "request", "link", "authenticate", "network",
	"network6", "up", "closing", "ended", "silent"}

// String names the phase.
func (p Phase) String() string { return phaseNames[p] }

// Cause is why a client ended; it is also the key under which reports count.
type Cause uint8

// The causes.
const (
	CauseNone Cause = iota
	CauseClosed
	CausePADITimeout
	CausePADRTimeout
	CauseServiceRefused
	CauseACSystemError
	CauseGenericError
	CausePADT
	CauseLCPTimeout
	CauseLCPNoAgreement
	CauseAuthTimeout
	CauseAuthRejected
	CauseIPCPTimeout
	CauseIPCPNoAgreement
	CauseProtocolRejected
	CauseTerminatedByRouter
	CauseEchoTimeout
	CauseIPV6CPTimeout
	CauseIPV6CPNoAgreement
	CauseIPv6 // of the IPv6 side, which has causes of its own
)

var causeNames = [...]string{"none", "closed", "padi-timeout", "padr-timeout", "service-refused",
	"ac-system-error", "generic-error", "padt", "lcp-timeout", "lcp-no-agreement", "auth-timeout",
	"auth-rejected", "ipcp-timeout", "ipcp-no-agreement", "protocol-rejected", "terminated-by-router",
	"echo-timeout", "ipv6cp-timeout", "ipv6cp-no-agreement", "ipv6"}

// String names the cause.
func (c Cause) String() string { return causeNames[c] }

// End tells how a client ended.
type End struct {
	Cause   Cause
	IPv6    host6.Cause // with CauseIPv6
	Phase   Phase       // it was in
	Message string      // the router's words, or a detail
}

// Name is the key under which reports count.
func (e End) Name() string {
	if e.Cause == CauseIPv6 {
		return e.IPv6.String()
	}
	return e.Cause.String()
}

// String writes cause, phase and message.
func (e End) String() string {
	if e.Message == "" {
		return fmt.Sprintf("%s in phase %v", e.Name(), e.Phase)
	}
	return fmt.Sprintf("%s in phase %v: %q", e.Name(), e.Phase, e.Message)
}

// Method is an authentication method that a client is willing to use.
type Method uint8

// The methods.
const (
	MethodAny Method = iota
	MethodPAP
	MethodCHAP
)

// Settings are what all clients of a run have in common.
type Settings struct {
	Service string // Service-Name, empty: any
	Method  Method
	MRU     uint16 // bytes; beyond 1492 PPP-Max-Payload is asked for (RFC 4638)

	DiscoveryWait time.Duration // for PADO and PADS; doubled at each repetition (RFC 2516 section 8)
	DiscoveryMax  int           // transmissions
	RestartWait   time.Duration // RFC 1661 section 4.6 Restart timer
	ConfigureMax  int           // RFC 1661 Max-Configure, also for PAP
	TerminateMax  int           // RFC 1661 Max-Terminate
	EchoInterval  time.Duration // of our own Echo-Requests; 0: none
	EchoMax       int           // unanswered ones

	IPv6 *host6.Settings // nil: IPv4 only

	Random func() uint32
}

// DefaultSettings returns the values of the RFCs, for a client that sends no echoes of its own.
func DefaultSettings(random func() uint32) Settings {
	return Settings{
		MRU: 1492, DiscoveryWait: time.Second, DiscoveryMax: 6,
		RestartWait: 3 * time.Second, ConfigureMax: 10, TerminateMax: 2, EchoMax: 3,
		Random: random,
	}
}
