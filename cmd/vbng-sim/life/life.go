package life

import (
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

// Stage is how far a subscriber has come, as far as a crowd cares; each kind has finer phases of its own.
type Stage uint8

// The stages.
const (
	Idle Stage = iota
	SettingUp
	Up
	Closing
	Ended
	Silent
	Stages = iota // how many there are
)

// State is what a subscriber shows of itself. Times are distances from the start of the run.
type State struct {
	Stage    Stage
	Phase    string        // by the kind's own name
	Deadline time.Duration // when Expire is due; 0: never

	Closed  bool   // in stage Ended: by our own will
	Cause   string // in stage Ended; reports count under it
	Message string // the router's words, or a detail
}

// Identity tells one subscriber from the others.
type Identity struct {
	Number         uint32
	User, Password string // of PPPoE
	MAC            frame.MAC
	Tags           frame.Tags

	// What an IPoE subscriber says of itself in DHCPv4; empty: the option is left out.
	Hostname, VendorClass string
	ClientID              []byte
	Circuit, Remote       []byte // of option 82, as if an access node had put it in
}

// Addresses are what a subscriber was given. Those it has not are invalid.
type Addresses struct {
	IPv4      netip.Addr
	SLAAC     netip.Addr   // made from the advertised prefix
	Assigned  netip.Addr   // by DHCPv6 IA_NA
	Delegated netip.Prefix // by DHCPv6 IA_PD
}

const subnetBits = 64

// InDelegated is the address behind the subscriber that plays a host of its delegated prefix: number 1 in the
// last /64, so that a route that is too long does not lead to it. It is invalid without a prefix.
func (a Addresses) InDelegated() netip.Addr {
	if !a.Delegated.IsValid() {
		return netip.Addr{}
	}
	b := a.Delegated.Masked().Addr().As16()
	for bit := a.Delegated.Bits(); bit < subnetBits; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	b[15] |= 1
	return netip.AddrFrom16(b)
}
