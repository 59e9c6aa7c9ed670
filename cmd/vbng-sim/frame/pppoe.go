package frame

import (
	"encoding/binary"
	"fmt"
)

// PPPoE codes (RFC 2516 section 5).
const (
	CodeSession = 0x00
	CodePADO    = 0x07
	CodePADI    = 0x09
	CodePADR    = 0x19
	CodePADS    = 0x65
	CodePADT    = 0xa7
)

// Discovery tag types (RFC 2516 appendix A).
const (
	TagEndOfList        = 0x0000
	TagServiceName      = 0x0101
	TagACName           = 0x0102
	TagHostUniq         = 0x0103
	TagACCookie         = 0x0104
	TagRelaySessionID   = 0x0110
	TagMaxPayload       = 0x0120 // RFC 4638 section 4
	TagServiceNameError = 0x0201
	TagACSystemError    = 0x0202
	TagGenericError     = 0x0203
)

// PPP protocols.
const (
	ProtocolIPv4   = 0x0021
	ProtocolIPv6   = 0x0057
	ProtocolIPCP   = 0x8021
	ProtocolIPV6CP = 0x8057
	ProtocolLCP    = 0xc021
	ProtocolPAP    = 0xc023
	ProtocolCHAP   = 0xc223
	versionAndType = 0x11
	pppoeBytes     = 6
	pppBytes       = 2
)

// PPPoE is a decoded packet. Payload aliases the frame and ends where the length field says.
type PPPoE struct {
	Code    byte
	Session uint16
	Payload []byte
}

// ParsePPPoE decodes what follows ethertypes 0x8863 and 0x8864.
func ParsePPPoE(b []byte) (PPPoE, error) {
	if len(b) < pppoeBytes {
		return PPPoE{}, fmt.Errorf("PPPoE header: %w", ErrTruncated)
	}
	if b[0] != versionAndType {
		return PPPoE{}, fmt.Errorf("PPPoE version and type %#x: %w", b[0], ErrMalformed)
	}
	length := int(binary.BigEndian.Uint16(b[4:]))
	if length > len(b)-pppoeBytes {
		return PPPoE{}, fmt.Errorf("PPPoE length %d of %d: %w", length, len(b)-pppoeBytes, ErrTruncated)
	}
	return PPPoE{b[1], binary.BigEndian.Uint16(b[2:]), b[pppoeBytes : pppoeBytes+length]}, nil
}

// AppendPPPoE appends a header for a payload of the given length.
func AppendPPPoE(b []byte, code byte, session uint16, payloadBytes int) []byte {
	b = append(b, versionAndType, code)
	b = binary.BigEndian.AppendUint16(b, session)
	return binary.BigEndian.AppendUint16(b, uint16(payloadBytes))
}

// AppendPPP appends a session header and the PPP protocol field for a payload of the given length.
func AppendPPP(b []byte, session, protocol uint16, payloadBytes int) []byte {
	b = AppendPPPoE(b, CodeSession, session, payloadBytes+pppBytes)
	return binary.BigEndian.AppendUint16(b, protocol)
}

// PPP splits a session payload into protocol and information.
func (p PPPoE) PPP() (protocol uint16, information []byte, err error) {
	if len(p.Payload) < pppBytes {
		return 0, nil, fmt.Errorf("PPP protocol: %w", ErrTruncated)
	}
	return binary.BigEndian.Uint16(p.Payload), p.Payload[pppBytes:], nil
}

// DiscoveryTags walks the tags of a discovery payload; End-Of-List ends the walk.
func DiscoveryTags(b []byte, visit func(kind uint16, value []byte)) error {
	for len(b) > 0 {
		if len(b) < 4 {
			return fmt.Errorf("discovery tag: %w", ErrTruncated)
		}
		kind, length := binary.BigEndian.Uint16(b), int(binary.BigEndian.Uint16(b[2:]))
		if kind == TagEndOfList {
			return nil
		}
		if length > len(b)-4 {
			return fmt.Errorf("discovery tag %#04x: %w", kind, ErrTruncated)
		}
		visit(kind, b[4:4+length])
		b = b[4+length:]
	}
	return nil
}

// AppendDiscoveryTag appends one tag.
func AppendDiscoveryTag(b []byte, kind uint16, value []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, kind)
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	return append(b, value...)
}
