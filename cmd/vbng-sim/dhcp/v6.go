package dhcp

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

// UDP ports of DHCPv6.
const (
	ServerPort6 = 547
	ClientPort6 = 546
)

// Message types of DHCPv6 (RFC 8415 section 7.3).
const (
	Solicit6   = 1
	Advertise6 = 2
	Request6   = 3
	Renew6     = 5
	Rebind6    = 6
	Reply6     = 7
	Release6   = 8
)

// Status codes (RFC 8415 section 21.13).
const (
	StatusSuccess       = 0
	StatusNoAddrsAvail  = 2
	StatusNoBinding     = 3
	StatusNoPrefixAvail = 6
)

// Options of DHCPv6 (RFC 8415 section 21, RFC 3646 section 3).
const (
	option6ClientID = 1
	option6ServerID = 2
	option6NA       = 3
	option6Address  = 5
	option6ORO      = 6
	option6Elapsed  = 8
	option6Status   = 13
	option6DNS      = 23
	option6PD       = 25
	option6Prefix   = 26

	iaBytes      = 12
	addressBytes = 24
	prefixBytes  = 25
	centis       = 10 * time.Millisecond // unit of the elapsed time
)

// Infinite is the lifetime that never ends (RFC 8415 section 7.7).
const Infinite = 0xffffffff * time.Second

// IA is an identity association with at most one address or prefix: the first one that is alive.
type IA struct {
	ID               uint32
	T1, T2           time.Duration // 0: left to the client
	Prefix           netip.Prefix  // an address has 128 bits; invalid: none
	Preferred, Valid time.Duration
	Status           uint16
	Message          string
}

// V6 is a DHCPv6 message between client and server. Slices and strings of a decoded one are copies.
type V6 struct {
	Type     byte
	XID      uint32 // 24 bits
	ClientID []byte
	ServerID []byte
	Elapsed  time.Duration // of requests
	NA, PD   *IA           // nil: none
	DNS      []netip.Addr
	AskDNS   bool
	Status   uint16
	Message  string
}

// ParseV6 decodes a message.
func ParseV6(b []byte) (V6, error) {
	if len(b) < 4 {
		return V6{}, fmt.Errorf("DHCPv6 message: %w", frame.ErrTruncated)
	}
	m := V6{Type: b[0], XID: binary.BigEndian.Uint32(b) & 0xffffff}
	return m, visit6(b[4:], m.readOption)
}

// visit6 walks options.
func visit6(b []byte, visit func(kind uint16, value []byte) error) error {
	for len(b) > 0 {
		if len(b) < 4 || 4+int(binary.BigEndian.Uint16(b[2:])) > len(b) {
			return fmt.Errorf("DHCPv6 option: %w", frame.ErrTruncated)
		}
		length := int(binary.BigEndian.Uint16(b[2:]))
		if err := visit(binary.BigEndian.Uint16(b), b[4:4+length]); err != nil {
			return err
		}
		b = b[4+length:]
	}
	return nil
}

func (m *V6) readOption(kind uint16, v []byte) (err error) {
	switch kind {
	case option6ClientID:
		m.ClientID = append([]byte(nil), v...)
	case option6ServerID:
		m.ServerID = append([]byte(nil), v...)
	case option6NA:
		m.NA, err = readIA(v)
	case option6PD:
		m.PD, err = readIA(v)
	case option6Elapsed:
		if len(v) != 2 {
			return fmt.Errorf("DHCPv6 elapsed time: %w", frame.ErrMalformed)
		}
		m.Elapsed = time.Duration(binary.BigEndian.Uint16(v)) * centis
	case option6ORO:
		for ; len(v) >= 2; v = v[2:] {
			m.AskDNS = m.AskDNS || binary.BigEndian.Uint16(v) == option6DNS
		}
	case option6DNS:
		for ; len(v) >= 16; v = v[16:] {
			m.DNS = append(m.DNS, netip.AddrFrom16([16]byte(v[:16])))
		}
	case option6Status:
		m.Status, m.Message, err = readStatus(v)
	}
	return err
}

func readStatus(v []byte) (uint16, string, error) {
	if len(v) < 2 {
		return 0, "", fmt.Errorf("DHCPv6 status: %w", frame.ErrTruncated)
	}
	return binary.BigEndian.Uint16(v), string(v[2:]), nil
}

func readIA(v []byte) (*IA, error) {
	if len(v) < iaBytes {
		return nil, fmt.Errorf("DHCPv6 IA: %w", frame.ErrTruncated)
	}
	a := &IA{
		ID: binary.BigEndian.Uint32(v),
		T1: seconds(binary.BigEndian.Uint32(v[4:])), T2: seconds(binary.BigEndian.Uint32(v[8:])),
	}
	return a, visit6(v[iaBytes:], a.readOption)
}

func (a *IA) readOption(kind uint16, v []byte) (err error) {
	switch kind {
	case option6Address:
		if len(v) < addressBytes {
			return fmt.Errorf("DHCPv6 IA address: %w", frame.ErrTruncated)
		}
		a.take(netip.PrefixFrom(netip.AddrFrom16([16]byte(v[:16])), 128), v[16:])
	case option6Prefix:
		if len(v) < prefixBytes || v[8] > 128 {
			return fmt.Errorf("DHCPv6 IA prefix: %w", frame.ErrMalformed)
		}
		a.take(netip.PrefixFrom(netip.AddrFrom16([16]byte(v[9:25])), int(v[8])), v)
	case option6Status:
		a.Status, a.Message, err = readStatus(v)
	}
	return err
}

// take keeps the first one whose valid lifetime is not 0.
func (a *IA) take(p netip.Prefix, lifetimes []byte) {
	valid := seconds(binary.BigEndian.Uint32(lifetimes[4:]))
	if a.Prefix.IsValid() && a.Valid != 0 {
		return
	}
	a.Prefix, a.Preferred, a.Valid = p, seconds(binary.BigEndian.Uint32(lifetimes)), valid
}

// Append writes the message.
func (m V6) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(m.Type)<<24|m.XID&0xffffff)
	b = appendV6(b, option6ClientID, m.ClientID)
	b = appendV6(b, option6ServerID, m.ServerID)
	if m.Type != Advertise6 && m.Type != Reply6 {
		elapsed := min(m.Elapsed/centis, 0xffff) // RFC 8415 section 21.9: it stays at its highest value
		b = appendV6(b, option6Elapsed, binary.BigEndian.AppendUint16(nil, uint16(elapsed)))
	}
	if m.AskDNS {
		b = appendV6(b, option6ORO, []byte{0, option6DNS})
	}
	if m.NA != nil {
		b = appendV6(b, option6NA, m.NA.append(nil, option6Address))
	}
	if m.PD != nil {
		b = appendV6(b, option6PD, m.PD.append(nil, option6Prefix))
	}
	var servers []byte
	for _, a := range m.DNS {
		address := a.As16()
		servers = append(servers, address[:]...)
	}
	b = appendV6(b, option6DNS, servers)
	return appendStatus(b, m.Status, m.Message)
}

// append writes the value of an IA option; kind is that of the address or prefix inside.
func (a *IA) append(b []byte, kind uint16) []byte {
	b = binary.BigEndian.AppendUint32(b, a.ID)
	b = binary.BigEndian.AppendUint32(b, uint32(a.T1/time.Second))
	b = binary.BigEndian.AppendUint32(b, uint32(a.T2/time.Second))
	if a.Prefix.IsValid() {
		b = appendV6(b, kind, a.value(kind))
	}
	return appendStatus(b, a.Status, a.Message)
}

func (a *IA) value(kind uint16) (v []byte) {
	address := a.Prefix.Addr().As16()
	if kind == option6Address {
		v = append(v, address[:]...)
	}
	v = binary.BigEndian.AppendUint32(v, uint32(a.Preferred/time.Second))
	v = binary.BigEndian.AppendUint32(v, uint32(a.Valid/time.Second))
	if kind == option6Prefix {
		v = append(append(v, byte(a.Prefix.Bits())), address[:]...)
	}
	return v
}

func appendStatus(b []byte, status uint16, message string) []byte {
	if status == StatusSuccess && message == "" {
		return b
	}
	return appendV6(b, option6Status, append(binary.BigEndian.AppendUint16(nil, status), message...))
}

func appendV6(b []byte, kind uint16, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	b = binary.BigEndian.AppendUint16(b, kind)
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	return append(b, value...)
}
