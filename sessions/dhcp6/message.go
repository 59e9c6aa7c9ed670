package dhcp6

import (
	"net/netip"
	"strconv"
)

// The UDP ports (RFC 8415 section 7.2).
const (
	ClientPort = 546
	ServerPort = 547
)

// MessageType is the type of a message (RFC 8415 section 7.3).
type MessageType uint8

// The message types.
const (
	Solicit            MessageType = 1
	Advertise          MessageType = 2
	RequestLeases      MessageType = 3
	Confirm            MessageType = 4
	Renew              MessageType = 5
	Rebind             MessageType = 6
	Reply              MessageType = 7
	Release            MessageType = 8
	Decline            MessageType = 9
	Reconfigure        MessageType = 10
	InformationRequest MessageType = 11
	RelayForward       MessageType = 12
	RelayReply         MessageType = 13
)

// String returns the RFC's name.
func (t MessageType) String() string {
	names := [...]string{
		"", "SOLICIT", "ADVERTISE", "REQUEST", "CONFIRM", "RENEW", "REBIND", "REPLY", "RELEASE", "DECLINE", "RECONFIGURE",
		"INFORMATION-REQUEST", "RELAY-FORW", "RELAY-REPL",
	}
	if int(t) < len(names) && t != 0 {
		return names[t]
	}
	return "type " + strconv.Itoa(int(t))
}

// Status is a status code (RFC 8415 section 21.13).
type Status uint16

// The status codes.
const (
	Success       Status = 0
	UnspecFail    Status = 1
	NoAddrsAvail  Status = 2
	NoBinding     Status = 3
	NotOnLink     Status = 4
	UseMulticast  Status = 5
	NoPrefixAvail Status = 6
)

// IANA is an identity association for addresses, as the client sends it.
type IANA struct {
	ID        uint32
	Addresses []netip.Addr
}

// IAPD is an identity association for delegated prefixes, as the client sends it. A hint of a length is
// a prefix with address :: (RFC 8415 section 18.2.1).
type IAPD struct {
	ID       uint32
	Prefixes []netip.Prefix
}

// Request is a client's message without the envelopes of relay agents. It owns its slices.
type Request struct {
	Type        MessageType
	XID         uint32 // 24 bits
	ClientID    []byte // DUID; nil: none
	ServerID    []byte // DUID; nil: none
	NA          []IANA
	PD          []IAPD
	TA          []uint32 // identifiers of IA_TA, which is not served
	Options     []uint16 // option request option, in the client's order
	RapidCommit bool
	Unicast     bool           // set by the caller: sent to an address of ours rather than to ff02::1:2
	Relays      []Relay        // outermost first; empty: the client itself sent it
	From        netip.AddrPort // set by the caller: source of the packet, where the reply goes
}

// Relay is the envelope of one relay agent (RFC 8415 section 9).
type Relay struct {
	Hops        uint8
	Link, Peer  netip.Addr
	InterfaceID []byte // option 18; nil: none
	RemoteID    []byte // option 37 without the enterprise number; nil: none
	Enterprise  uint32 // of RemoteID
}

// Line returns Interface-Id and Remote-Id of the relay agent nearest to the client, nil when not told.
func (r *Request) Line() (interfaceID, remoteID []byte) {
	for _, relay := range r.Relays { // a later one is nearer
		if relay.InterfaceID != nil {
			interfaceID = relay.InterfaceID
		}
		if relay.RemoteID != nil {
			remoteID = relay.RemoteID
		}
	}
	return interfaceID, remoteID
}
