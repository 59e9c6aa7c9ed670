package ppp

import (
	"encoding/binary"
	"strconv"
)

// AuthMethod is a way for the peer to prove itself.
type AuthMethod uint8

// The methods.
const (
	AuthNone    AuthMethod = iota // nothing is demanded of the peer; the owner is asked all the same
	AuthPAP                       // RFC 1334
	AuthCHAPMD5                   // RFC 1994
)

// String names the method.
func (m AuthMethod) String() string {
	switch m {
	case AuthNone:
		return "none"
	case AuthPAP:
		return "pap"
	case AuthCHAPMD5:
		return "chap-md5"
	}
	return strconv.Itoa(int(m))
}

// proto is the protocol that carries the method.
func (m AuthMethod) proto() uint16 {
	switch m {
	case AuthPAP:
		return ProtoPAP
	case AuthCHAPMD5:
		return ProtoCHAP
	}
	return 0
}

// optionData is the method as LCP's Authentication-Protocol names it (RFC 1661 section 6.2).
func (m AuthMethod) optionData() []byte {
	data := binary.BigEndian.AppendUint16(nil, m.proto())
	if m == AuthCHAPMD5 {
		data = append(data, chapAlgorithmMD5)
	}
	return data
}

// Codes of PAP (RFC 1334 section 2.2) and CHAP (RFC 1994 section 4).
const (
	PAPRequest uint8 = 1
	PAPAck     uint8 = 2
	PAPNak     uint8 = 3

	CHAPChallenge uint8 = 1
	CHAPResponse  uint8 = 2
	CHAPSuccess   uint8 = 3
	CHAPFailure   uint8 = 4
)

const (
	chapAlgorithmMD5 = 5   // RFC 1994 section 3
	challengeBytes   = 16  // RFC 1994 section 2.3: as long as the hash
	md5Bytes         = 16  // RFC 1994 section 4.1
	maxMessageBytes  = 255 // RFC 1334 section 2.2.2: the length is one byte
)

// ParsePAPRequest decodes the data of an Authenticate-Request (RFC 1334 section 2.2.1).
func ParsePAPRequest(data []byte) (peerID, password string, err error) {
	id, at, err := counted(data, 0)
	if err != nil {
		return "", "", err
	}
	pw, _, err := counted(data, at)
	if err != nil {
		return "", "", err
	}
	return string(id), string(pw), nil
}

// counted reads a byte of length and as many bytes.
func counted(b []byte, at int) (field []byte, next int, err error) {
	if at >= len(b) {
		return nil, 0, fault(ErrShort, at)
	}
	n := int(b[at])
	if n > len(b)-at-1 {
		return nil, 0, fault(ErrValueSize, at)
	}
	return b[at+1 : at+1+n], at + 1 + n, nil
}

// AppendPAPRequest encodes the data of an Authenticate-Request. Fields beyond 255 bytes are cut.
func AppendPAPRequest(b []byte, peerID, password string) []byte {
	return appendCounted(appendCounted(b, peerID), password)
}

// AppendPAPMessage encodes the data of an Authenticate-Ack or -Nak (RFC 1334 section 2.2.2).
func AppendPAPMessage(b []byte, message string) []byte { return appendCounted(b, message) }

func appendCounted(b []byte, s string) []byte {
	s = s[:min(len(s), maxMessageBytes)]
	b = append(b, uint8(len(s)))
	return append(b, s...)
}

// ParseCHAPValue decodes the data of a Challenge or Response (RFC 1994 section 4.1). The value
// aliases the data. It is at least one byte long.
func ParseCHAPValue(data []byte) (value []byte, name string, err error) {
	value, at, err := counted(data, 0)
	if err != nil {
		return nil, "", err
	}
	if len(value) == 0 {
		return nil, "", fault(ErrValueSize, 0)
	}
	return value, string(data[at:]), nil
}

// AppendCHAPValue encodes the data of a Challenge or Response.
func AppendCHAPValue(b, value []byte, name string) []byte {
	return append(appendCounted(b, string(value)), name...)
}
