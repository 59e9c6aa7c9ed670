package dhcp6

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv6"
)

// The errors of Decode, wrapped with what was found.
var (
	ErrMalformed = errors.New("dhcp6: malformed message")
	ErrOption    = errors.New("dhcp6: option of a wrong length or value")
	ErrRelays    = errors.New("dhcp6: too many relay agents")
)

const (
	maxRelays      = 8 // RFC 8415 section 7.6: HOP_COUNT_LIMIT
	messageHeader  = 4
	relayHeader    = 34
	minDUID        = 3   // RFC 8415 section 11.1: a type and something behind it
	maxDUID        = 130 // a type and 128 bytes
	maxIAs         = 8   // of a kind in one message; a home router sends one or two
	maxIAAddresses = 4   // looked at in one IA; with this an answer fits into a frame
)

// Decode reads a client's message, a whole UDP payload, and takes off the envelopes of relay agents. The
// caller sets Unicast and From.
func Decode(payload []byte) (r *Request, err error) {
	defer func() { // the library's door is ours
		if fault := recover(); fault != nil {
			r, err = nil, fmt.Errorf("%w: %v", ErrMalformed, fault)
		}
	}()
	r = &Request{}
	for len(payload) > 0 && MessageType(payload[0]) == RelayForward {
		if payload, err = r.openEnvelope(payload); err != nil {
			return nil, err
		}
	}
	if len(payload) < messageHeader {
		return nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(payload))
	}
	r.Type, r.XID = MessageType(payload[0]), binary.BigEndian.Uint32(payload)&0xffffff
	options, err := readOptions(payload[messageHeader:])
	if err != nil {
		return nil, err
	}
	for _, o := range options {
		if err := r.take(uint16(o.Code()), o.ToBytes()); err != nil {
			return nil, err
		}
	}
	if len(r.NA) > maxIAs || len(r.PD) > maxIAs || len(r.TA) > maxIAs {
		return nil, fmt.Errorf("%w: more than %d identity associations", ErrOption, maxIAs)
	}
	return r, nil
}

// openEnvelope takes off one RELAY-FORW and returns what is inside.
func (r *Request) openEnvelope(payload []byte) ([]byte, error) {
	switch {
	case len(payload) < relayHeader:
		return nil, fmt.Errorf("%w: %d bytes of RELAY-FORW", ErrMalformed, len(payload))
	case len(r.Relays) == maxRelays:
		return nil, ErrRelays
	}
	relay := Relay{
		Hops: payload[1], Link: netip.AddrFrom16([16]byte(payload[2:18])), Peer: netip.AddrFrom16([16]byte(payload[18:34])),
	}
	options, err := readOptions(payload[relayHeader:])
	if err != nil {
		return nil, err
	}
	var inner []byte
	for _, o := range options {
		value := o.ToBytes()
		switch o.Code() {
		case dhcpv6.OptionRelayMsg:
			inner = value
		case dhcpv6.OptionInterfaceID:
			relay.InterfaceID = value
		case dhcpv6.OptionRemoteID:
			if len(value) < 4 {
				return nil, fmt.Errorf("%w: remote-id of %d bytes", ErrOption, len(value))
			}
			relay.Enterprise, relay.RemoteID = binary.BigEndian.Uint32(value), value[4:]
		}
	}
	if len(inner) == 0 {
		return nil, fmt.Errorf("%w: RELAY-FORW without a message", ErrMalformed)
	}
	r.Relays = append(r.Relays, relay)
	return inner, nil
}

// readOptions splits bytes into options, their values as they are: what a message carries beside what is
// looked at here is nobody's reason to refuse it.
func readOptions(b []byte) (dhcpv6.Options, error) {
	var options dhcpv6.Options
	err := options.FromBytesWithParser(b, func(code dhcpv6.OptionCode, value []byte) (dhcpv6.Option, error) {
		return &dhcpv6.OptionGeneric{OptionCode: code, OptionData: append([]byte{}, value...)}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: options: %v", ErrMalformed, err)
	}
	return options, nil
}

// take takes over one option of the client's message.
func (r *Request) take(code uint16, value []byte) error {
	switch dhcpv6.OptionCode(code) {
	case dhcpv6.OptionClientID:
		return takeDUID(&r.ClientID, value)
	case dhcpv6.OptionServerID:
		return takeDUID(&r.ServerID, value)
	case dhcpv6.OptionRapidCommit:
		r.RapidCommit = true
	case dhcpv6.OptionIANA:
		return r.takeNA(value)
	case dhcpv6.OptionIAPD:
		return r.takePD(value)
	case dhcpv6.OptionIATA:
		if len(value) < 4 {
			return fmt.Errorf("%w: IA_TA of %d bytes", ErrOption, len(value))
		}
		r.TA = append(r.TA, binary.BigEndian.Uint32(value))
	case dhcpv6.OptionORO:
		if len(value)%2 != 0 {
			return fmt.Errorf("%w: option request of %d bytes", ErrOption, len(value))
		}
		for ; len(value) > 0; value = value[2:] {
			r.Options = append(r.Options, binary.BigEndian.Uint16(value))
		}
	}
	return nil
}

func takeDUID(into *[]byte, value []byte) error {
	switch {
	case len(value) < minDUID || len(value) > maxDUID:
		return fmt.Errorf("%w: DUID of %d bytes", ErrOption, len(value))
	case *into != nil:
		return fmt.Errorf("%w: two identifiers", ErrOption)
	}
	*into = value
	return nil
}

func (r *Request) takeNA(value []byte) error {
	var ia dhcpv6.OptIANA
	if err := ia.FromBytes(value); err != nil {
		return fmt.Errorf("%w: IA_NA: %v", ErrOption, err)
	}
	taken := IANA{ID: binary.BigEndian.Uint32(ia.IaId[:])}
	for _, a := range ia.Options.Addresses() {
		if address, ok := netip.AddrFromSlice(a.IPv6Addr); ok && !address.IsUnspecified() && len(taken.Addresses) < maxIAAddresses {
			taken.Addresses = append(taken.Addresses, address)
		}
	}
	r.NA = append(r.NA, taken)
	return nil
}

func (r *Request) takePD(value []byte) error {
	var ia dhcpv6.OptIAPD
	if err := ia.FromBytes(value); err != nil {
		return fmt.Errorf("%w: IA_PD: %v", ErrOption, err)
	}
	taken := IAPD{ID: binary.BigEndian.Uint32(ia.IaId[:])}
	for _, p := range ia.Options.Prefixes() {
		if p.Prefix == nil || len(taken.Prefixes) == maxIAAddresses {
			continue
		}
		if prefix, ok := prefixOf(*p.Prefix); ok {
			taken.Prefixes = append(taken.Prefixes, prefix)
		} else {
			return fmt.Errorf("%w: length of a prefix in IA_PD", ErrOption)
		}
	}
	r.PD = append(r.PD, taken)
	return nil
}

func prefixOf(n net.IPNet) (netip.Prefix, bool) {
	address, ok := netip.AddrFromSlice(n.IP)
	bits, of := n.Mask.Size()
	if !ok || of != 128 {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(address, bits).Masked(), true
}
