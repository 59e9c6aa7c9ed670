package ppp

import (
	"bytes"
	"encoding/binary"
	"net/netip"
)

// Option types of LCP (RFC 1661 section 6). All others are unknown here and rejected.
const (
	OptMRU   uint8 = 1
	OptAuth  uint8 = 3
	OptMagic uint8 = 5
)

// Option types of IPCP (RFC 1332 section 3, RFC 1877 section 1).
const (
	OptIPAddress    uint8 = 3
	OptPrimaryDNS   uint8 = 129
	OptSecondaryDNS uint8 = 131
)

// optionHeaderBytes is the length of Type and Length (RFC 1661 section 5).
const optionHeaderBytes = 2

// maxOptionData is what an option's length byte leaves for its data.
const maxOptionData = 0xff - optionHeaderBytes

// Option is one Configuration Option.
type Option struct {
	Type uint8
	Data []byte // at most 253 bytes; aliases the decoded bytes
}

// ParseOptions decodes a list of options. An option that runs past the end spoils the whole packet
// (RFC 1661 section 6).
func ParseOptions(b []byte) ([]Option, error) {
	var opts []Option
	for at := 0; at < len(b); {
		rest := b[at:]
		if len(rest) < optionHeaderBytes {
			return nil, fault(ErrShort, at)
		}
		n := int(rest[1])
		if n < optionHeaderBytes || n > len(rest) {
			return nil, fault(ErrOptionLen, at+1)
		}
		opts = append(opts, Option{Type: rest[0], Data: rest[optionHeaderBytes:n]})
		at += n
	}
	return opts, nil
}

// Append encodes the option after b. Data beyond 253 bytes is cut.
func (o Option) Append(b []byte) []byte {
	data := o.Data[:min(len(o.Data), maxOptionData)]
	b = append(b, o.Type, uint8(optionHeaderBytes+len(data)))
	return append(b, data...)
}

// equal compares type and data.
func (o Option) equal(p Option) bool { return o.Type == p.Type && bytes.Equal(o.Data, p.Data) }

func appendOptions(b []byte, opts []Option) []byte {
	for _, o := range opts {
		b = o.Append(b)
	}
	return b
}

func option16(t uint8, v uint16) Option {
	return Option{Type: t, Data: binary.BigEndian.AppendUint16(nil, v)}
}

func option32(t uint8, v uint32) Option {
	return Option{Type: t, Data: binary.BigEndian.AppendUint32(nil, v)}
}

func optionAddr(t uint8, a netip.Addr) Option {
	return Option{Type: t, Data: a.AsSlice()}
}
