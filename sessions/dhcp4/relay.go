package dhcp4

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// The errors of Relay beside those of Decode.
var (
	ErrHops     = errors.New("dhcp4: too many hops")
	ErrRelayed  = errors.New("dhcp4: giaddr is set on a line without trusted relay agents")
	ErrOurs     = errors.New("dhcp4: giaddr is our own on the way to servers")
	ErrNotOurs  = errors.New("dhcp4: giaddr of the reply is not ours")
	ErrAgent    = errors.New("dhcp4: option 82 on an untrusted line")
	ErrNotEcho  = errors.New("dhcp4: option 82 of the reply is not what we sent")
	ErrTooLarge = errors.New("dhcp4: no room for option 82")
)

// AgentPolicy says what happens to option 82 that a client's message carries already (RFC 3046
// section 2.1.1).
type AgentPolicy uint8

// The policies.
const (
	AgentDrop    AgentPolicy = iota // an untrusted line: discard the message
	AgentReplace                    // ours instead
	AgentKeep                       // a trusted access node's: leave it
)

// Relay turns clients' messages into those for servers, and back. It has no state.
type Relay struct {
	Address       netip.Addr  // giaddr: our address, where servers answer to
	CircuitID     []byte      // option 82.1 of the line, at most 255 bytes; nil: none
	RemoteID      []byte      // option 82.2, at most 255 bytes; nil: none
	LinkSelection netip.Addr  // option 82.5 (RFC 3527); not valid: none
	Policy        AgentPolicy // for messages with option 82 and giaddr zero
	TrustRelays   bool        // accept messages that another relay agent has passed on (giaddr set)
	MaxHops       uint8       // 0: 4 (RFC 1542 section 4.1.1 names 4 as default, 16 as limit)
}

const (
	defaultMaxHops = 4
	hopsAt         = 3
	giaddrAt       = 24
)

// Forward turns a client's payload into the one for the servers, to be sent from Address port 67 to their
// port 67. It refuses with an error that names the rule. payload stays as it is.
func (r Relay) Forward(payload []byte) ([]byte, error) {
	p, err := read(payload)
	if err != nil {
		return nil, err
	}
	agent, marked := p.Options[uint8(CodeAgent)]
	giaddr := address(p.GatewayIPAddr)
	switch {
	case p.OpCode != dhcpv4.OpcodeBootRequest:
		return nil, fmt.Errorf("%w: op %d from a client", ErrOperation, p.OpCode)
	case p.HopCount >= r.maxHops():
		return nil, fmt.Errorf("%w: %d", ErrHops, p.HopCount)
	case giaddr == r.Address: // RFC 3046 section 2.1.1: spoofed
		return nil, ErrOurs
	case giaddr.IsValid() && !r.TrustRelays:
		return nil, fmt.Errorf("%w: %s", ErrRelayed, giaddr)
	case !giaddr.IsValid() && marked && r.Policy == AgentDrop:
		return nil, ErrAgent
	}
	if marked {
		if _, err := parseAgent(agent); err != nil {
			return nil, err
		}
	}
	out := bytes.Clone(payload)
	out[hopsAt]++
	if giaddr.IsValid() || marked && r.Policy == AgentKeep { // RFC 3046 section 2.1: one option 82, the first agent's
		if !giaddr.IsValid() {
			copy(out[giaddrAt:], r.Address.AsSlice())
		}
		return out, nil
	}
	copy(out[giaddrAt:], r.Address.AsSlice())
	return exchangeAgent(out, r.agent())
}

func (r Relay) maxHops() uint8 {
	if r.MaxHops > 0 {
		return r.MaxHops
	}
	return defaultMaxHops
}

// agent is the value of our option 82; nil when there is nothing to say.
func (r Relay) agent() []byte {
	var b []byte
	if r.CircuitID != nil {
		b = appendOption(b, Option{agentCircuitID, r.CircuitID[:min(len(r.CircuitID), 255)]})
	}
	if r.RemoteID != nil {
		b = appendOption(b, Option{agentRemoteID, r.RemoteID[:min(len(r.RemoteID), 255)]})
	}
	if r.LinkSelection.Is4() {
		b = appendOption(b, Option{agentLinkSelection, r.LinkSelection.AsSlice()})
	}
	return b
}

// exchangeAgent takes every option 82 out of the options field, and puts the value in as its last option
// (RFC 3046 section 2.1), unless it is nil. All other bytes stay as they are.
func exchangeAgent(message, value []byte) ([]byte, error) {
	out := message[:optionsStart:optionsStart]
	rest := message[optionsStart:]
	for len(rest) > 0 && rest[0] != dhcpEnd {
		if rest[0] == 0 { // padding between options goes
			rest = rest[1:]
			continue
		}
		if len(rest) < 2 || len(rest) < 2+int(rest[1]) {
			return nil, fmt.Errorf("%w: options do not fit", ErrMalformed)
		}
		n := 2 + int(rest[1])
		if Code(rest[0]) != CodeAgent {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	if value != nil {
		out = appendOption(out, Option{CodeAgent, value})
	}
	out = append(out, dhcpEnd)
	if len(out) > maxDatagram-headerBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(out))
	}
	if short := minPayload - len(out); short > 0 {
		out = append(out, make([]byte, short)...)
	}
	return out, nil
}

// Relayed is a server's reply on its way to the client.
type Relayed struct {
	Type      MessageType
	XID       uint32
	ClientMAC [6]byte
	Address   netip.Addr    // yiaddr; not valid in NAK and in the answer to INFORM
	ServerID  netip.Addr    // option 54
	Lease     time.Duration // option 51; 0: none (ACK of INFORM, NAK)
	Payload   []byte        // for the client, our option 82 stripped
	To        Destination
}

// Return turns a server's payload into the one for the client. giaddr must be ours, and option 82, when
// there is one, must be what Forward sent. payload stays as it is.
func (r Relay) Return(payload []byte) (*Relayed, error) {
	p, err := read(payload)
	if err != nil {
		return nil, err
	}
	switch {
	case p.OpCode != dhcpv4.OpcodeBootReply:
		return nil, fmt.Errorf("%w: op %d from a server", ErrOperation, p.OpCode)
	case address(p.GatewayIPAddr) != r.Address:
		return nil, fmt.Errorf("%w: %s", ErrNotOurs, p.GatewayIPAddr)
	}
	reply := &Relayed{
		XID: binary.BigEndian.Uint32(p.TransactionID[:]), ClientMAC: [6]byte(p.ClientHWAddr), Address: address(p.YourIPAddr),
	}
	if err := reply.read(p.Options); err != nil {
		return nil, err
	}
	reply.To = r.client(p, reply)
	reply.Payload = bytes.Clone(payload)
	agent, marked := p.Options[uint8(CodeAgent)]
	switch {
	case !marked:
		return reply, nil
	case bytes.Equal(agent, r.agent()):
		reply.Payload, err = exchangeAgent(reply.Payload, nil)
		return reply, err
	case r.Policy == AgentKeep: // the access node's, who strips it
		return reply, nil
	}
	return nil, ErrNotEcho
}

// read takes over what the reply says of the lease.
func (r *Relayed) read(options dhcpv4.Options) error {
	kind, server := options[uint8(CodeMessageType)], options[uint8(CodeServerID)]
	lease, timed := options[uint8(CodeLeaseTime)]
	switch {
	case len(kind) != 1:
		return fmt.Errorf("%w: no message type", ErrMalformed)
	case len(server) != 4:
		return fmt.Errorf("%w: server identifier of %d bytes", ErrOption, len(server))
	case timed && len(lease) != 4:
		return fmt.Errorf("%w: lease time of %d bytes", ErrOption, len(lease))
	}
	r.Type, r.ServerID = MessageType(kind[0]), address(server)
	if r.Type != Offer && r.Type != Ack && r.Type != Nak {
		return fmt.Errorf("%w: %s from a server", ErrOperation, r.Type)
	}
	if timed {
		r.Lease = time.Duration(binary.BigEndian.Uint32(lease)) * time.Second
	}
	return nil
}

// client says where the reply goes (RFC 1542 section 4.1.2, RFC 2131 section 4.1).
func (r Relay) client(p *dhcpv4.DHCPv4, reply *Relayed) Destination {
	ciaddr := address(p.ClientIPAddr)
	switch {
	case reply.Type == Nak || p.IsBroadcast() && !ciaddr.IsValid():
		return Destination{IP: netip.AddrFrom4([4]byte{255, 255, 255, 255}), Port: ClientPort, Broadcast: true}
	case ciaddr.IsValid():
		return Destination{IP: ciaddr, Port: ClientPort, MAC: reply.ClientMAC}
	case reply.Address.IsValid():
		return Destination{IP: reply.Address, Port: ClientPort, MAC: reply.ClientMAC}
	}
	return Destination{IP: netip.AddrFrom4([4]byte{255, 255, 255, 255}), Port: ClientPort, Broadcast: true}
}
