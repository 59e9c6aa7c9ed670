package dhcp4

import (
	"net/netip"
	"time"
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
	CircuitID     []byte      // option 82.1 of the line; nil: none
	RemoteID      []byte      // option 82.2; nil: none
	LinkSelection netip.Addr  // option 82.5 (RFC 3527); not valid: none
	Policy        AgentPolicy // for messages with option 82 and giaddr zero
	TrustRelays   bool        // accept messages that another relay agent has passed on (giaddr set)
	MaxHops       uint8       // 0: 4 (RFC 1542 section 4.1.1 names 4 as default, 16 as limit)
}

// Forward turns a client's payload into the one for the servers, to be sent from Address port 67 to their
// port 67. It refuses with an error that names the rule.
func (r Relay) Forward(payload []byte) ([]byte, error) { return nil, ErrNotBuilt }

// Relayed is a server's reply on its way to the client.
type Relayed struct {
	Type      MessageType
	XID       uint32
	ClientMAC [6]byte
	Address   netip.Addr    // yiaddr; not valid in NAK
	ServerID  netip.Addr    // option 54
	Lease     time.Duration // option 51; 0: none (ACK of INFORM, NAK)
	Payload   []byte        // for the client, our option 82 stripped
	To        Destination
}

// Return turns a server's payload into the one for the client. giaddr must be ours, and option 82, when
// there is one, must be what Forward sent.
func (r Relay) Return(payload []byte) (*Relayed, error) { return nil, ErrNotBuilt }
