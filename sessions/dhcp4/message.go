package dhcp4

import (
	"net/netip"
	"strconv"
)

// The UDP ports (RFC 2131 section 4.1).
const (
	ServerPort = 67
	ClientPort = 68
)

// MessageType is DHCP option 53 (RFC 2132 section 9.6).
type MessageType uint8

// The message types.
const (
	Discover MessageType = 1 + iota
	Offer
	RequestLease
	Decline
	Ack
	Nak
	Release
	Inform
)

// String returns the RFC's name.
func (t MessageType) String() string {
	names := [...]string{"", "DISCOVER", "OFFER", "REQUEST", "DECLINE", "ACK", "NAK", "RELEASE", "INFORM"}
	if int(t) < len(names) && t != 0 {
		return names[t]
	}
	return "type " + strconv.Itoa(int(t))
}

// Code numbers an option (RFC 2132).
type Code uint8

// The options with a name here.
const (
	CodeMask         Code = 1
	CodeRouter       Code = 3
	CodeDNS          Code = 6
	CodeHostname     Code = 12
	CodeDomain       Code = 15
	CodeMTU          Code = 26
	CodeNTP          Code = 42
	CodeRequested    Code = 50
	CodeLeaseTime    Code = 51
	CodeOverload     Code = 52
	CodeMessageType  Code = 53
	CodeServerID     Code = 54
	CodeParameters   Code = 55
	CodeMessage      Code = 56
	CodeMaxSize      Code = 57
	CodeT1           Code = 58
	CodeT2           Code = 59
	CodeVendorClass  Code = 60
	CodeClientID     Code = 61
	CodeAgent        Code = 82
	CodeDomainSearch Code = 119
	CodeRoutes       Code = 121
)

// Request is a client's message. It owns its slices. Addresses that the message leaves zero or does not
// carry are not valid (netip.Addr{}).
type Request struct {
	Type         MessageType
	XID          uint32
	Hops         uint8
	Seconds      uint16
	Broadcast    bool       // the client cannot take unicast yet (RFC 2131 section 4.1)
	ClientMAC    [6]byte    // chaddr
	ClientIP     netip.Addr // ciaddr
	Relay        netip.Addr // giaddr
	Requested    netip.Addr // option 50
	ServerID     netip.Addr // option 54
	LeaseSeconds uint32     // option 51; 0: not asked for
	ClientID     []byte     // option 61; nil: none
	Parameters   []Code     // option 55 in the client's order; nil: it gave no list
	MaxBytes     int        // option 57, bytes of an IP datagram; 0: not said
	Hostname     string     // option 12, as the client chose it: not safe to print
	Vendor       []byte     // option 60
	Agent        *Agent     // option 82; nil: none
}

// Agent is the relay agent information option (RFC 3046).
type Agent struct {
	CircuitID     []byte     // sub-option 1; nil: none
	RemoteID      []byte     // sub-option 2; nil: none
	LinkSelection netip.Addr // sub-option 5 (RFC 3527)
	Raw           []byte     // the whole value, which a server echoes
}

// Option is a configuration parameter for the client, its value as on the wire.
type Option struct {
	Code  Code
	Value []byte
}
