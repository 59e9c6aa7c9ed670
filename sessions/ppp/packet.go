package ppp

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// PPP protocol numbers, as the PPPoE payload carries them.
const (
	ProtoIPv4   uint16 = 0x0021
	ProtoIPv6   uint16 = 0x0057
	ProtoIPCP   uint16 = 0x8021
	ProtoIPV6CP uint16 = 0x8057
	ProtoCCP    uint16 = 0x80fd
	ProtoLCP    uint16 = 0xc021
	ProtoPAP    uint16 = 0xc023
	ProtoCHAP   uint16 = 0xc223
)

// Codes of LCP packets (RFC 1661 section 5, RFC 1570 section 2). Network control protocols
// use the first seven.
const (
	CodeConfigureRequest uint8 = 1
	CodeConfigureAck     uint8 = 2
	CodeConfigureNak     uint8 = 3
	CodeConfigureReject  uint8 = 4
	CodeTerminateRequest uint8 = 5
	CodeTerminateAck     uint8 = 6
	CodeCodeReject       uint8 = 7
	CodeProtocolReject   uint8 = 8
	CodeEchoRequest      uint8 = 9
	CodeEchoReply        uint8 = 10
	CodeDiscardRequest   uint8 = 11
	CodeIdentification   uint8 = 12
	CodeTimeRemaining    uint8 = 13
)

// headerBytes is the length of Code, Identifier and Length (RFC 1661 section 5).
const headerBytes = 4

// Errors of the decoders. They come wrapped in a DecodeError that tells where.
var (
	ErrShort     = errors.New("ppp: packet too short")
	ErrLength    = errors.New("ppp: length field does not fit")
	ErrOptionLen = errors.New("ppp: option length does not fit")
	ErrValueSize = errors.New("ppp: value size does not fit")
)

// DecodeError says which rule a packet broke and at which byte of it.
type DecodeError struct {
	Err    error // one of the sentinel errors
	Offset int   // bytes from the start of what was decoded
}

// Error describes the fault.
func (e *DecodeError) Error() string { return fmt.Sprintf("%v at byte %d", e.Err, e.Offset) }

// Unwrap returns the sentinel.
func (e *DecodeError) Unwrap() error { return e.Err }

func fault(err error, offset int) error { return &DecodeError{Err: err, Offset: offset} }

// Packet is a control packet: LCP, a network control protocol, PAP or CHAP, which share one header.
type Packet struct {
	Code uint8
	ID   uint8
	Data []byte // aliases the decoded bytes
}

// ParsePacket decodes the header. Bytes beyond Length are padding and ignored; a Length under four
// or past the end is an error, and the packet is to be discarded (RFC 1661 section 5).
func ParsePacket(b []byte) (Packet, error) {
	if len(b) < headerBytes {
		return Packet{}, fault(ErrShort, len(b))
	}
	n := int(binary.BigEndian.Uint16(b[2:]))
	if n < headerBytes || n > len(b) {
		return Packet{}, fault(ErrLength, 2)
	}
	return Packet{Code: b[0], ID: b[1], Data: b[headerBytes:n]}, nil
}

// Append encodes the packet after b. Data longer than the Length field can say is cut.
func (p Packet) Append(b []byte) []byte {
	data := p.Data[:min(len(p.Data), 0xffff-headerBytes)]
	b = append(b, p.Code, p.ID)
	b = binary.BigEndian.AppendUint16(b, uint16(headerBytes+len(data)))
	return append(b, data...)
}

// bytes encodes the packet in a slice of its own.
func (p Packet) bytes() []byte { return p.Append(make([]byte, 0, headerBytes+len(p.Data))) }
