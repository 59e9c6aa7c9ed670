package pppoe

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Code is the code of a discovery packet (RFC 2516 section 5).
type Code uint8

// The codes.
const (
	CodePADI Code = 0x09
	CodePADO Code = 0x07
	CodePADR Code = 0x19
	CodePADS Code = 0x65
	CodePADT Code = 0xa7
)

const (
	versionType    = 0x11 // RFC 2516 section 4: version 1, type 1
	headerBytes    = 6
	maxPacketBytes = 1484 // RFC 2516 section 5.1: room for a relay agent's tag; kept for our packets too
)

// Errors of the decoders. They come wrapped in a DecodeError that tells where.
var (
	ErrShort     = errors.New("pppoe: packet too short")
	ErrVersion   = errors.New("pppoe: version or type is not 1")
	ErrLength    = errors.New("pppoe: length field does not fit")
	ErrTagLength = errors.New("pppoe: tag length does not fit")
	ErrTooLong   = errors.New("pppoe: packet exceeds 1484 bytes")
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

// Packet is a PPPoE discovery packet.
type Packet struct {
	Code      Code
	SessionID uint16
	Tags      []byte // aliases the decoded bytes
}

// ParsePacket decodes the header (RFC 2516 section 4). Bytes beyond Length are Ethernet padding.
func ParsePacket(b []byte) (Packet, error) {
	if len(b) < headerBytes {
		return Packet{}, fault(ErrShort, len(b))
	}
	if b[0] != versionType {
		return Packet{}, fault(ErrVersion, 0)
	}
	n := int(binary.BigEndian.Uint16(b[4:]))
	if n > len(b)-headerBytes {
		return Packet{}, fault(ErrLength, 4)
	}
	return Packet{
		Code: Code(b[1]), SessionID: binary.BigEndian.Uint16(b[2:]), Tags: b[headerBytes : headerBytes+n],
	}, nil
}

// build encodes a packet; it fails with ErrTooLong rather than cut a tag.
func build(code Code, sessionID uint16, tags []Tag) ([]byte, error) {
	b := []byte{versionType, byte(code)}
	b = binary.BigEndian.AppendUint16(b, sessionID)
	b = append(b, 0, 0)
	for _, t := range tags {
		b = t.Append(b)
	}
	if len(b) > maxPacketBytes {
		return nil, ErrTooLong
	}
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)-headerBytes))
	return b, nil
}
