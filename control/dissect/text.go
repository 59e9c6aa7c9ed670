package dissect

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

const (
	maxLineBytes = 600
	maxTextBytes = 64
	maxItems     = 32 // options, tags, records
)

// line gathers the words of one packet.
type line struct{ b strings.Builder }

func (l *line) add(format string, args ...any) {
	if l.b.Len() >= maxLineBytes {
		return
	}
	if l.b.Len() > 0 {
		l.b.WriteByte(' ')
	}
	fmt.Fprintf(&l.b, format, args...)
}

// cut notes that the bytes end before their header does.
func (l *line) cut(what string) { l.add("[%s cut off]", what) }

// String returns the line.
func (l *line) String() string {
	if l.b.Len() > maxLineBytes {
		return strings.ToValidUTF8(l.b.String()[:maxLineBytes], "") + " ..."
	}
	return l.b.String()
}

// Text quotes bytes that a client chose, and cuts them.
func Text(b []byte) string {
	if len(b) > maxTextBytes {
		return strconv.QuoteToASCII(string(b[:maxTextBytes])) + "..."
	}
	return strconv.QuoteToASCII(string(b))
}

func word(b []byte) uint16   { return binary.BigEndian.Uint16(b) }
func double(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

func address4(b []byte) netip.Addr { return netip.AddrFrom4([4]byte(b[:4])) }
func address6(b []byte) netip.Addr { return netip.AddrFrom16([16]byte(b[:16])) }

func mac(b []byte) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5])
}

// named returns a number's name, or the number with what it is of.
func named(names map[uint16]string, n uint16, what string) string {
	if name, ok := names[n]; ok {
		return name
	}
	return fmt.Sprintf("%s %d", what, n)
}

// guarded keeps a fault in a decoder from doing harm.
func guarded(decode func(l *line)) (text string) {
	l := &line{}
	defer func() {
		if recover() != nil {
			text = l.String() + " [not understood]"
		}
	}()
	decode(l)
	return l.String()
}
