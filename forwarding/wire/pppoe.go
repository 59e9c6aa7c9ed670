package wire

import "encoding/binary"

// PPPoE codes (RFC 2516 section 5); 0 is session data.
const (
	CodeSession = 0x00
	CodePADO    = 0x07
	CodePADI    = 0x09
	CodePADR    = 0x19
	CodePADS    = 0x65
	CodePADT    = 0xA7
)

// PPP protocol numbers that the data path and the simulator tell apart.
const (
	ProtocolIPv4   = 0x0021
	ProtocolIPv6   = 0x0057
	ProtocolIPCP   = 0x8021
	ProtocolIPV6CP = 0x8057
	ProtocolLCP    = 0xC021
	ProtocolPAP    = 0xC023
	ProtocolCHAP   = 0xC223
)

// LCP codes that the data path answers itself (RFC 1661 section 5.8).
const (
	CodeEchoRequest = 9
	CodeEchoReply   = 10
)

// Lengths in bytes.
const (
	PPPoELength       = 6
	PPPProtocolLength = 2
	ControlLength     = 4
	MagicLength       = 4
)

// PPPoE is a PPPoE header with its payload, discovery or session.
type PPPoE []byte

// Valid reports whether version and type are 1 and the payload that the header announces is there.
// Bytes behind it are Ethernet padding.
func (p PPPoE) Valid() bool {
	return len(p) >= PPPoELength && p[0] == 0x11 && int(p.PayloadLength()) <= len(p)-PPPoELength
}

// Code returns the code field.
func (p PPPoE) Code() uint8 { return p[1] }

// Session returns the session id.
func (p PPPoE) Session() uint16 { return binary.BigEndian.Uint16(p[2:4]) }

// PayloadLength returns the announced payload bytes.
func (p PPPoE) PayloadLength() uint16 { return binary.BigEndian.Uint16(p[4:6]) }

// Payload returns the payload without padding.
func (p PPPoE) Payload() []byte { return p[PPPoELength : PPPoELength+int(p.PayloadLength())] }

// PutPPPoE writes a header and returns its length.
func PutPPPoE(b []byte, code uint8, session uint16, payloadBytes int) int {
	b[0], b[1] = 0x11, code
	binary.BigEndian.PutUint16(b[2:4], session)
	binary.BigEndian.PutUint16(b[4:6], uint16(payloadBytes))
	return PPPoELength
}

// PPP is a PPP packet as PPPoE carries it: protocol, then information.
type PPP []byte

// Valid reports whether the protocol field is whole and well formed: RFC 1661 section 2 has the low
// bit of the first byte 0 and that of the second 1.
func (p PPP) Valid() bool { return len(p) >= PPPProtocolLength && p[0]&1 == 0 && p[1]&1 == 1 }

// Protocol returns the protocol number.
func (p PPP) Protocol() uint16 { return binary.BigEndian.Uint16(p[0:2]) }

// Information returns what follows the protocol field.
func (p PPP) Information() []byte { return p[PPPProtocolLength:] }

// PutPPP writes a protocol field and returns its length.
func PutPPP(b []byte, protocol uint16) int {
	binary.BigEndian.PutUint16(b[0:2], protocol)
	return PPPProtocolLength
}

// Control is a packet of LCP or of another control protocol with the same header.
type Control []byte

// Valid reports whether the header is whole and the length it announces is there. Bytes behind it are
// padding.
func (c Control) Valid() bool {
	return len(c) >= ControlLength && int(c.Length()) >= ControlLength && int(c.Length()) <= len(c)
}

// Code returns the code field.
func (c Control) Code() uint8 { return c[0] }

// Identifier returns the identifier field.
func (c Control) Identifier() uint8 { return c[1] }

// Length returns the announced bytes, header included.
func (c Control) Length() uint16 { return binary.BigEndian.Uint16(c[2:4]) }

// Data returns what follows the header, without padding.
func (c Control) Data() []byte { return c[ControlLength:c.Length()] }

// PutControl writes a header and returns its length; dataBytes is what will follow it.
func PutControl(b []byte, code, identifier uint8, dataBytes int) int {
	b[0], b[1] = code, identifier
	binary.BigEndian.PutUint16(b[2:4], uint16(ControlLength+dataBytes))
	return ControlLength
}
