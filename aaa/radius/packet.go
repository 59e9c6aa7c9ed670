package radius

import (
	"crypto/hmac"
	"crypto/md5"
	"encoding/binary"
	"fmt"

	"layeh.com/radius"
	"layeh.com/radius/rfc2869"
)

// Places in a packet (RFC 2865 3).
const (
	headerBytes        = 20
	authenticatorStart = 4
	// Message-Authenticator is the first attribute of what we send: its value lies here.
	ownSignatureStart = headerBytes + 2
)

// encodeAccess prints an Access-Request whose first attribute is its Message-Authenticator.
func encodeAccess(p *radius.Packet) ([]byte, error) {
	wire, err := p.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("encode Access-Request: %w", err)
	}
	copy(wire[ownSignatureStart:], signature(wire, p.Secret))
	return wire, nil
}

// signature is the Message-Authenticator of wire, in which its own value is zero (RFC 3579 3.2).
func signature(wire, secret []byte) []byte {
	mac := hmac.New(md5.New, secret)
	mac.Write(wire)
	return mac.Sum(nil)
}

// reply is an authentic answer.
type reply struct {
	code       radius.Code
	attributes radius.Attributes
}

// proof is what an answer is checked against.
type proof struct {
	authenticator [16]byte // of the request
	secret        []byte
	mustBeSigned  bool // a Message-Authenticator is required
}

// openReply checks the integrity of a datagram and takes it apart. After a wrong Response
// Authenticator or Message-Authenticator nothing in it can be believed.
func openReply(datagram []byte, against proof) (r reply, err error) {
	defer survive(&err)
	wire, err := trim(datagram)
	if err != nil {
		return reply{}, err
	}
	if !responseMatches(wire, against) {
		return reply{}, errResponse
	}
	r.code = radius.Code(wire[0])
	r.attributes, err = radius.ParseAttributes(wire[headerBytes:])
	if err != nil {
		return r, fmt.Errorf("%w: attributes: %v", errMalformed, err)
	}
	return r, checkSignature(wire, r.attributes, against)
}

// survive makes an error of a panic: no datagram stops the process.
func survive(err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("%w: decoder failed: %v", errMalformed, fault)
	}
}

// trim checks the header's length and cuts padding behind it (RFC 2865 3, Length).
func trim(datagram []byte) ([]byte, error) {
	if len(datagram) < headerBytes {
		return nil, fmt.Errorf("%w: %d octets", errMalformed, len(datagram))
	}
	length := int(binary.BigEndian.Uint16(datagram[2:4]))
	if length < headerBytes || length > len(datagram) || length > radius.MaxPacketLength {
		return nil, fmt.Errorf("%w: length %d in a datagram of %d octets", errMalformed, length, len(datagram))
	}
	return datagram[:length], nil
}

func responseMatches(wire []byte, against proof) bool {
	sum := md5.New()
	sum.Write(wire[:authenticatorStart])
	sum.Write(against.authenticator[:])
	sum.Write(wire[headerBytes:])
	sum.Write(against.secret)
	return hmac.Equal(sum.Sum(nil), wire[authenticatorStart:headerBytes])
}

// checkSignature verifies the Message-Authenticator, which covers the packet with the request's
// authenticator in its header and zero in its own place (RFC 3579 3.2).
func checkSignature(wire []byte, attributes radius.Attributes, against proof) error {
	at, count := headerBytes, 0
	start := 0
	for _, a := range attributes {
		if a.Type == rfc2869.MessageAuthenticator_Type {
			start = at + 2
			count++
			if len(a.Attribute) != md5.Size {
				return fmt.Errorf("%w: %d octets", errMessageAuthenticator, len(a.Attribute))
			}
		}
		at += 2 + len(a.Attribute)
	}
	switch {
	case count > 1:
		return fmt.Errorf("%w: it occurs %d times", errMessageAuthenticator, count)
	case count == 0 && against.mustBeSigned:
		return errUnsigned
	case count == 0:
		return nil
	}
	clean := append([]byte(nil), wire...)
	copy(clean[authenticatorStart:], against.authenticator[:])
	clear(clean[start : start+md5.Size])
	if !hmac.Equal(signature(clean, against.secret), wire[start:start+md5.Size]) {
		return errMessageAuthenticator
	}
	return nil
}
