package dhcp

import (
	"encoding/binary"
	"fmt"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

// UDP ports of DHCPv4.
const (
	ServerPort = 67
	ClientPort = 68
)

// Message types (RFC 2132 section 9.6).
const (
	Discover = 1
	Offer    = 2
	Request  = 3
	Decline  = 4
	Ack      = 5
	Nak      = 6
	Release  = 7
)

// Operations.
const (
	BootRequest = 1
	BootReply   = 2
)

// Options (RFC 2132, RFC 3046).
const (
	optionPad         = 0
	optionMask        = 1
	optionRouter      = 3
	optionDNS         = 6
	optionHostname    = 12
	optionRequested   = 50
	optionLease       = 51
	optionType        = 53
	optionServer      = 54
	optionParameters  = 55
	optionMessage     = 56
	optionT1          = 58
	optionT2          = 59
	optionVendorClass = 60
	optionClientID    = 61
	optionRelayAgent  = 82
	optionEnd         = 255

	relayCircuit = 1
	relayRemote  = 2

	fixedBytes  = 236
	cookieBytes = 4
	cookie      = 0x63825363
	// minimumBytes is what a BOOTP message had (RFC 1542 section 2.1); some relays want it still.
	minimumBytes = 300
)

// V4 is a DHCPv4 message. Slices and strings of a decoded one are copies.
type V4 struct {
	Operation byte
	XID       uint32
	Seconds   uint16 // since the client began
	Broadcast bool   // the client wants its answers to everybody
	Client    frame.Addr
	Your      frame.Addr
	Gateway   frame.Addr // of a relay
	MAC       frame.MAC

	Type        byte
	Requested   frame.Addr
	Server      frame.Addr
	Mask        frame.Addr
	Router      frame.Addr // the first one
	DNS         []frame.Addr
	Lease       time.Duration
	T1, T2      time.Duration // 0: not told
	Hostname    string
	VendorClass string
	ClientID    []byte
	Circuit     []byte // option 82, suboption 1
	Remote      []byte // option 82, suboption 2
	Message     string
	Parameters  []byte
}

// ParseV4 decodes a message.
func ParseV4(b []byte) (V4, error) {
	if len(b) < fixedBytes+cookieBytes {
		return V4{}, fmt.Errorf("DHCPv4 message: %w", frame.ErrTruncated)
	}
	if b[1] != 1 || b[2] != 6 || binary.BigEndian.Uint32(b[fixedBytes:]) != cookie {
		return V4{}, fmt.Errorf("DHCPv4 hardware type, length or cookie: %w", frame.ErrMalformed)
	}
	m := V4{
		Operation: b[0], XID: binary.BigEndian.Uint32(b[4:]), Seconds: binary.BigEndian.Uint16(b[8:]),
		Broadcast: b[10]&0x80 != 0,
		Client:    frame.Addr(b[12:16]), Your: frame.Addr(b[16:20]), Gateway: frame.Addr(b[24:28]),
		MAC: frame.MAC(b[28:34]),
	}
	return m, m.readOptions(b[fixedBytes+cookieBytes:])
}

// readOptions walks the options up to the end option, which must be there (RFC 2131 section 4.1).
func (m *V4) readOptions(b []byte) error {
	for len(b) > 0 {
		switch {
		case b[0] == optionEnd:
			return nil
		case b[0] == optionPad:
			b = b[1:]
			continue
		case len(b) < 2 || 2+int(b[1]) > len(b):
			return fmt.Errorf("DHCPv4 option %d: %w", b[0], frame.ErrTruncated)
		}
		if err := m.readOption(b[0], b[2:2+b[1]]); err != nil {
			return err
		}
		b = b[2+int(b[1]):]
	}
	return fmt.Errorf("DHCPv4 options without end: %w", frame.ErrTruncated)
}

func (m *V4) readOption(kind byte, v []byte) error {
	if want := shortest(kind); len(v) < want {
		return fmt.Errorf("DHCPv4 option %d of %d bytes: %w", kind, len(v), frame.ErrMalformed)
	}
	switch kind {
	case optionMask:
		m.Mask = frame.Addr(v[:4])
	case optionRouter:
		m.Router = frame.Addr(v[:4])
	case optionDNS:
		for ; len(v) >= 4; v = v[4:] {
			m.DNS = append(m.DNS, frame.Addr(v[:4]))
		}
	case optionHostname:
		m.Hostname = string(v)
	case optionRequested:
		m.Requested = frame.Addr(v[:4])
	case optionLease:
		m.Lease = seconds(binary.BigEndian.Uint32(v))
	case optionType:
		m.Type = v[0]
	case optionServer:
		m.Server = frame.Addr(v[:4])
	case optionParameters:
		m.Parameters = append([]byte(nil), v...)
	case optionMessage:
		m.Message = string(v)
	case optionT1:
		m.T1 = seconds(binary.BigEndian.Uint32(v))
	case optionT2:
		m.T2 = seconds(binary.BigEndian.Uint32(v))
	case optionVendorClass:
		m.VendorClass = string(v)
	case optionClientID:
		m.ClientID = append([]byte(nil), v...)
	case optionRelayAgent:
		return m.readRelayAgent(v)
	}
	return nil
}

// shortest is how many bytes an option needs at least.
func shortest(kind byte) int {
	switch kind {
	case optionMask, optionRouter, optionDNS, optionRequested, optionLease, optionServer, optionT1, optionT2:
		return 4
	case optionType:
		return 1
	}
	return 0
}

func (m *V4) readRelayAgent(b []byte) error {
	for len(b) > 0 {
		if len(b) < 2 || 2+int(b[1]) > len(b) {
			return fmt.Errorf("DHCPv4 option 82: %w", frame.ErrTruncated)
		}
		v := append([]byte(nil), b[2:2+b[1]]...)
		switch b[0] {
		case relayCircuit:
			m.Circuit = v
		case relayRemote:
			m.Remote = v
		}
		b = b[2+int(b[1]):]
	}
	return nil
}

// Append writes the message, padded to what a BOOTP message had. Texts must be at most 255 bytes, Circuit and
// Remote together 251.
func (m V4) Append(b []byte) []byte {
	start := len(b)
	b = append(b, m.Operation, 1, 6, 0)
	b = binary.BigEndian.AppendUint32(b, m.XID)
	b = binary.BigEndian.AppendUint16(b, m.Seconds)
	flags := uint16(0)
	if m.Broadcast {
		flags = 0x8000
	}
	b = binary.BigEndian.AppendUint16(b, flags)
	b = append(append(b, m.Client[:]...), m.Your[:]...)
	b = append(append(b, 0, 0, 0, 0), m.Gateway[:]...)
	b = append(b, m.MAC[:]...)
	b = append(b, make([]byte, fixedBytes-34)...)
	b = binary.BigEndian.AppendUint32(b, cookie)
	b = append(m.appendOptions(b), optionEnd)
	for len(b)-start < minimumBytes {
		b = append(b, optionPad)
	}
	return b
}

// appendOptions writes those that are not empty; option 82 stands last (RFC 3046 section 2.1).
func (m V4) appendOptions(b []byte) []byte {
	b = appendV4(b, optionType, []byte{m.Type})
	b = appendV4(b, optionClientID, m.ClientID)
	b = appendAddr(b, optionRequested, m.Requested)
	b = appendAddr(b, optionServer, m.Server)
	b = appendAddr(b, optionMask, m.Mask)
	b = appendAddr(b, optionRouter, m.Router)
	var servers []byte
	for _, a := range m.DNS {
		servers = append(servers, a[:]...)
	}
	b = appendV4(b, optionDNS, servers)
	b = appendSeconds(b, optionLease, m.Lease)
	b = appendSeconds(b, optionT1, m.T1)
	b = appendSeconds(b, optionT2, m.T2)
	b = appendV4(b, optionHostname, []byte(m.Hostname))
	b = appendV4(b, optionVendorClass, []byte(m.VendorClass))
	b = appendV4(b, optionParameters, m.Parameters)
	b = appendV4(b, optionMessage, []byte(m.Message))
	relay := appendV4(nil, relayCircuit, m.Circuit)
	return appendV4(b, optionRelayAgent, appendV4(relay, relayRemote, m.Remote))
}

// appendV4 writes an option, unless it is empty.
func appendV4(b []byte, kind byte, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	return append(append(b, kind, byte(len(value))), value...)
}

func appendAddr(b []byte, kind byte, a frame.Addr) []byte {
	if a == (frame.Addr{}) {
		return b
	}
	return appendV4(b, kind, a[:])
}

func appendSeconds(b []byte, kind byte, d time.Duration) []byte {
	if d == 0 {
		return b
	}
	return appendV4(b, kind, binary.BigEndian.AppendUint32(nil, uint32(d/time.Second)))
}

func seconds(n uint32) time.Duration { return time.Duration(n) * time.Second }
