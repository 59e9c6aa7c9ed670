package dhcp6

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // constant

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// unhex reads hexadecimal digits with blanks and line ends between them.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// captured reads an IPv6 packet that a real client sent; the kernel's version in some is made up.
func captured(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".hex"))
	if err != nil {
		t.Fatal(err)
	}
	return unhex(t, string(b))
}

// describe reads a message by RFC 8415 alone, as a second decoder, and prints it in one line.
func describe(b []byte) string {
	if MessageType(b[0]) == RelayReply {
		return fmt.Sprintf("RELAY-REPL %d %s %s%s", b[1], netip.AddrFrom16([16]byte(b[2:18])), netip.AddrFrom16([16]byte(b[18:34])), options(b[34:]))
	}
	return fmt.Sprintf("%s %06x%s", MessageType(b[0]), b[1:4], options(b[4:]))
}

func options(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		if len(b) < 4 || len(b) < 4+int(binary.BigEndian.Uint16(b[2:])) {
			return s.String() + " BROKEN"
		}
		code, v := binary.BigEndian.Uint16(b), b[4:4+int(binary.BigEndian.Uint16(b[2:]))]
		s.WriteString(" " + option(code, v))
		b = b[4+len(v):]
	}
	return s.String()
}

func option(code uint16, v []byte) string {
	number := func(at int) uint32 { return binary.BigEndian.Uint32(v[at:]) }
	switch code {
	case 1:
		return fmt.Sprintf("client=%x", v)
	case 2:
		return fmt.Sprintf("server=%x", v)
	case 3, 25:
		return fmt.Sprintf("%s:%d/%d/%d(%s)", map[uint16]string{3: "na", 25: "pd"}[code], number(0), number(4), number(8), strings.TrimSpace(options(v[12:])))
	case 4:
		return fmt.Sprintf("ta:%d(%s)", number(0), strings.TrimSpace(options(v[4:])))
	case 5:
		return fmt.Sprintf("%s/%d/%d%s", netip.AddrFrom16([16]byte(v)), number(16), number(20), options(v[24:]))
	case 26:
		return fmt.Sprintf("%s/%d/%d/%d%s", netip.AddrFrom16([16]byte(v[9:])), v[8], number(0), number(4), options(v[25:]))
	case 7:
		return fmt.Sprintf("preference=%d", v[0])
	case 9:
		return "[" + describe(v) + "]"
	case 13:
		return fmt.Sprintf("status=%d", binary.BigEndian.Uint16(v))
	case 14:
		return "rapid"
	case 18:
		return fmt.Sprintf("interface=%s", v)
	case 23:
		s := "dns"
		for ; len(v) > 0; v = v[16:] {
			s += "=" + netip.AddrFrom16([16]byte(v)).String()
		}
		return s
	}
	return fmt.Sprintf("%d=%x", code, v)
}

// tell prints outputs.
func tell(now time.Time, outputs []Output) string {
	var all []string
	held := func(a netip.Addr, p netip.Prefix) string {
		s := ""
		if a.IsValid() {
			s += " " + a.String()
		}
		if p.IsValid() {
			s += " " + p.String()
		}
		return s
	}
	for _, o := range outputs {
		s := ""
		switch o := o.(type) {
		case NeedLeases:
			s = fmt.Sprintf("need address=%t prefix=%t", o.Address, o.Prefix) + held(o.Requested, o.Hint)
		case NeedBinding:
			s = "bind" + held(o.Address, o.Delegated)
		case Bound:
			s = "bound" + held(o.Address, o.Delegated) + fmt.Sprintf(" %.0f", o.Until.Sub(now).Seconds())
			if o.Renewed {
				s += " renewed"
			}
		case Released:
			s = "released" + held(o.Address, o.Delegated)
		case Declined:
			s = "declined" + held(o.Address, netip.Prefix{})
		case Expired:
			s = "expired" + held(o.Address, o.Delegated)
			if o.Offered {
				s += " offered"
			}
		case Send:
			s = describe(o.Payload)
			if o.To.Port() != ClientPort {
				s += " to " + o.To.String()
			}
		case Ignored:
			s = o.Reason.String()
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}
