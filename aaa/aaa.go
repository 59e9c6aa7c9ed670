// Package aaa holds the words in which subscribers' identity and rights are spoken of: what is asked
// (Request), what is given (Grant) or refused (Reject), and what is recorded (Record).
//
// It has no behaviour. RADIUS attributes end in aaa/radius: nobody outside it sees one.
package aaa

import (
	"net/netip"
	"time"
)

// Method is how the subscriber proves who it is.
type Method uint8

// The authentication methods.
const (
	PAP Method = 1 + iota
	CHAPMD5
	ByLine // the line is the identity (IPoE): Username was made of it, Password is the profile's
)

// String returns the method's usual name.
func (m Method) String() string {
	switch m {
	case PAP:
		return "PAP"
	case CHAPMD5:
		return "CHAP-MD5"
	case ByLine:
		return "line"
	}
	return "none"
}

// Access is how the subscriber comes.
type Access uint8

// The kinds of access.
const (
	PPPoE Access = 1 + iota
	IPoE
)

// String returns the access's usual name.
func (a Access) String() string {
	switch a {
	case PPPoE:
		return "PPPoE"
	case IPoE:
		return "IPoE"
	}
	return "none"
}

// Line is where the subscriber is attached.
type Line struct {
	Access    Access
	Port      string // name of the access port
	PortIndex uint32 // its stable index (SNMP ifIndex)
	OuterVLAN uint16 // 0: none
	InnerVLAN uint16 // 0: none
	MAC       [6]byte
	OwnMAC    [6]byte
	CircuitID []byte // ADSL-Forum Agent-Circuit-Id (RFC 4679 3.3.1), DHCP option 82.1 or Interface-Id; nil when not told
	RemoteID  []byte // ADSL-Forum Agent-Remote-Id (RFC 4679 3.3.2), DHCP option 82.2 or 37; nil when not told
	Service   string // PPPoE Service-Name asked for
	Hostname  string // DHCP option 12
	Vendor    []byte // DHCP option 60
}

// Request asks who a subscriber is and what it may have.
type Request struct {
	AcctSessionID string // unique across restarts; the same in all records of the session
	Group         string // who judges: an "aaa group" of the configuration; empty: the methods of "aaa"
	Username      string
	Method        Method
	Password      []byte // PAP and ByLine
	CHAPID        byte
	CHAPChallenge []byte
	CHAPResponse  []byte
	Line          Line
	PPPoESession  uint16
	Trace         Trace // mostly nil
}

// Trace hears what is exchanged with servers, in words and without secrets. It may be called on any goroutine, and does
// not block.
type Trace func(text string)

// Grant is what an authenticated subscriber gets. Zero values mean "not said".
type Grant struct {
	Username        string       // name to use from now on, when the server says another one
	Address         netip.Addr   // fixed IPv4 address
	Pool            string       // name of the pool to take the address from
	Address6        netip.Addr   // fixed address for IA_NA (RFC 6911 3.1)
	Pool6           string       // pool for IA_NA (RFC 6911 3.5)
	Prefix          netip.Prefix // fixed prefix for router advertisements (RFC 3162 2.3)
	PrefixPool      string       // pool for it (RFC 3162 2.6)
	Delegated       netip.Prefix // fixed prefix for IA_PD (RFC 4818)
	DelegatedPool   string       // pool for it (RFC 6911 3.4)
	InterfaceID     uint64       // the client's, for IPV6CP (RFC 3162 2.2)
	DNS             [2]netip.Addr
	DNS6            [2]netip.Addr // RFC 6911 3.2
	SessionTimeout  time.Duration
	IdleTimeout     time.Duration
	InterimInterval time.Duration
	Class           [][]byte // RFC 2865 5.25, opaque, echoed in every accounting record in order
	Message         string   // shown to the peer
	Source          string   // who granted: "local", or the server's name
	Authentic       Authentic
}

// Authentic says who authenticated (RFC 2866 5.6, values are the RFC's).
type Authentic uint8

// The sources of authentication.
const (
	ByRADIUS Authentic = 1
	ByLocal  Authentic = 2
)

// RejectCause says why there is no grant.
type RejectCause uint8

// The causes of a refusal.
const (
	BadCredentials RejectCause = 1 + iota // a server or the local database said no
	NoAnswer                              // no server answered in time
	NoSuchMethod                          // no method is configured that could answer
	BadReply                              // a server granted something that cannot be honoured
)

// String returns the cause as it is shown and counted.
func (c RejectCause) String() string {
	switch c {
	case BadCredentials:
		return "authentication-rejected"
	case NoAnswer:
		return "radius-no-answer"
	case NoSuchMethod:
		return "no-authentication-method"
	case BadReply:
		return "radius-bad-reply"
	}
	return "unknown"
}

// Reject is the refusal of a Request.
type Reject struct {
	Cause   RejectCause
	Message string // Reply-Message, shown to the peer
}

// Answer is a Grant or a Reject; exactly one of the two is set.
type Answer struct {
	Grant  *Grant
	Reject *Reject
}

// RecordType is the kind of an accounting record (RFC 2866 5.1, values are the RFC's).
type RecordType uint8

// The record types.
const (
	Start         RecordType = 1
	Stop          RecordType = 2
	Interim       RecordType = 3
	AccountingOn  RecordType = 7
	AccountingOff RecordType = 8
)

// TerminateCause is Acct-Terminate-Cause (RFC 2866 5.10, values are the RFC's).
type TerminateCause uint8

// The causes in use.
const (
	UserRequest    TerminateCause = 1
	LostCarrier    TerminateCause = 2
	IdleTimeout    TerminateCause = 4
	SessionTimeout TerminateCause = 5
	AdminReset     TerminateCause = 6
	PortError      TerminateCause = 8
	NASError       TerminateCause = 9
	NASRequest     TerminateCause = 10
	NASReboot      TerminateCause = 11
	ServiceUnavail TerminateCause = 15
	UserError      TerminateCause = 17
)

// Usage counts inner IP packets and bytes; input is from the subscriber (RFC 2866 5.3).
type Usage struct {
	InputBytes, OutputBytes     uint64
	InputPackets, OutputPackets uint64
}

// Record is one accounting event of a session. For AccountingOn and AccountingOff only Type, Time and
// AcctSessionID (of the record itself) count.
type Record struct {
	Type          RecordType
	AcctSessionID string
	Group         string // as in the Request
	Username      string
	Class         [][]byte
	Line          Line
	PPPoESession  uint16
	Address       netip.Addr
	Address6      netip.Addr   // IA_NA
	Prefix        netip.Prefix // advertised
	Delegated     netip.Prefix // IA_PD
	InterfaceID   uint64       // the client's, of IPV6CP
	Authentic     Authentic
	Time          time.Time     // when the event happened; a late delivery says so by Acct-Delay-Time
	SessionTime   time.Duration // by the monotonic clock
	Usage         Usage
	Cause         TerminateCause // Stop only
	Trace         Trace          `json:"-"` // mostly nil; not kept
}
