package dhcp4

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
)

// The errors of Decode and Relay, wrapped with what was found.
var (
	ErrMalformed = errors.New("dhcp4: malformed message")
	ErrOption    = errors.New("dhcp4: option of a wrong length or value")
	ErrHardware  = errors.New("dhcp4: hardware address is not Ethernet")
	ErrOperation = errors.New("dhcp4: message goes the other way")
)

// Where the fields that may carry options begin and end in a message (RFC 2131 section 2).
const (
	snameStart   = 44
	fileStart    = 108
	fileEnd      = 236
	optionsStart = 240 // behind the magic cookie
)

// The values of option 52 (RFC 2132 section 9.3).
const (
	overloadFile  = 1
	overloadSname = 2
)

// Decode reads a client's message, a whole UDP payload.
func Decode(payload []byte) (*Request, error) {
	p, err := read(payload)
	if err != nil {
		return nil, err
	}
	if p.OpCode != dhcpv4.OpcodeBootRequest {
		return nil, fmt.Errorf("%w: op %d is not BOOTREQUEST", ErrOperation, p.OpCode)
	}
	r := &Request{
		XID: binary.BigEndian.Uint32(p.TransactionID[:]), Hops: p.HopCount, Seconds: p.NumSeconds,
		Broadcast: p.IsBroadcast(), ClientIP: address(p.ClientIPAddr), Relay: address(p.GatewayIPAddr),
		ClientMAC: [6]byte(p.ClientHWAddr),
	}
	for _, field := range requestOptions {
		value, sent := p.Options[uint8(field.code)]
		if !sent {
			continue
		}
		if len(value) < field.min || len(value) > field.max {
			return nil, fmt.Errorf("%w: %d bytes in option %d", ErrOption, len(value), field.code)
		}
		if err := field.set(r, value); err != nil {
			return nil, err
		}
	}
	if r.Type == 0 {
		return nil, fmt.Errorf("%w: no message type, BOOTP is not served", ErrMalformed)
	}
	return r, nil
}

// longest is the bound of options of any length: a UDP payload.
const longest = 65535

// requestOptions says how options of a client's message are taken over; others are not looked at.
var requestOptions = []struct {
	code     Code
	min, max int // bytes of the value
	set      func(r *Request, value []byte) error
}{
	{CodeMessageType, 1, 1, func(r *Request, v []byte) error {
		r.Type = MessageType(v[0])
		if r.Type < Discover || r.Type > Inform {
			return fmt.Errorf("%w: message type %d", ErrOption, v[0])
		}
		return nil
	}},
	{CodeRequested, 4, 4, func(r *Request, v []byte) error { r.Requested = address(v); return nil }},
	{CodeServerID, 4, 4, func(r *Request, v []byte) error { r.ServerID = address(v); return nil }},
	{CodeLeaseTime, 4, 4, func(r *Request, v []byte) error { r.LeaseSeconds = binary.BigEndian.Uint32(v); return nil }},
	{CodeMaxSize, 2, 2, func(r *Request, v []byte) error { r.MaxBytes = int(binary.BigEndian.Uint16(v)); return nil }},
	{CodeClientID, 2, longest, func(r *Request, v []byte) error { r.ClientID = v; return nil }},
	{CodeVendorClass, 1, longest, func(r *Request, v []byte) error { r.Vendor = v; return nil }},
	{CodeHostname, 0, longest, func(r *Request, v []byte) error {
		r.Hostname = strings.TrimRight(string(v), "\x00") // RFC 2132 section 2: may be NUL terminated
		return nil
	}},
	{CodeParameters, 1, longest, func(r *Request, v []byte) error {
		for _, c := range v {
			r.Parameters = append(r.Parameters, Code(c))
		}
		return nil
	}},
	{CodeAgent, 2, longest, func(r *Request, v []byte) (err error) { r.Agent, err = parseAgent(v); return err }},
}

// read decodes the bytes of a message of either direction. Its options are those of the options field
// and of the fields that option 52 names, joined in the order of RFC 3396 section 7.
func read(payload []byte) (p *dhcpv4.DHCPv4, err error) {
	defer func() { // the library's door is ours
		if fault := recover(); fault != nil {
			p, err = nil, fmt.Errorf("%w: %v", ErrMalformed, fault)
		}
	}()
	p, err = dhcpv4.FromBytes(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	if p.HWType != iana.HWTypeEthernet || payload[2] != 6 {
		return nil, fmt.Errorf("%w: type %d, %d bytes", ErrHardware, p.HWType, payload[2])
	}
	overload, sent := p.Options[uint8(CodeOverload)]
	if !sent {
		return p, nil
	}
	if len(overload) != 1 || overload[0] == 0 || overload[0] > overloadFile|overloadSname {
		return nil, fmt.Errorf("%w: option overload %x", ErrOption, overload)
	}
	if overload[0]&overloadFile != 0 {
		if err := p.Options.FromBytes(payload[fileStart:fileEnd]); err != nil {
			return nil, fmt.Errorf("%w: options in file: %v", ErrMalformed, err)
		}
	}
	if overload[0]&overloadSname != 0 {
		if err := p.Options.FromBytes(payload[snameStart:fileStart]); err != nil {
			return nil, fmt.Errorf("%w: options in sname: %v", ErrMalformed, err)
		}
	}
	return p, nil
}

// The sub-options of option 82 with a meaning here (RFC 3046 section 2.0, RFC 3527).
const (
	agentCircuitID     = 1
	agentRemoteID      = 2
	agentLinkSelection = 5
)

func parseAgent(raw []byte) (*Agent, error) {
	a := &Agent{Raw: raw}
	for b := raw; len(b) > 0; {
		if len(b) < 2 || int(b[1]) > len(b)-2 {
			return nil, fmt.Errorf("%w: sub-options of option 82 do not fit", ErrOption)
		}
		value := b[2 : 2+int(b[1])]
		switch b[0] {
		case agentCircuitID:
			a.CircuitID = value
		case agentRemoteID:
			a.RemoteID = value
		case agentLinkSelection:
			if len(value) != 4 {
				return nil, fmt.Errorf("%w: link selection of %d bytes", ErrOption, len(value))
			}
			a.LinkSelection = address(value)
		}
		b = b[2+len(value):]
	}
	return a, nil
}

// address takes four bytes over; 0.0.0.0 is no address.
func address(b []byte) netip.Addr {
	a, ok := netip.AddrFromSlice(b)
	if a = a.Unmap(); !ok || a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}
