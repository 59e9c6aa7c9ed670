package dhcp4

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

var clientMAC = [6]byte{0x02, 0, 0, 0, 0x0a, 0x01} // constant

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// unhex reads hexadecimal digits; blanks, line ends and what stands behind # are for the reader.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func zeros(n int) string { return strings.Repeat("00", n) }

// header is the fixed part of a message (RFC 2131 section 2), written by hand.
func header(op, hops, xid, flags, ciaddr, yiaddr, giaddr string) string {
	return op + " 01 06 " + hops + xid + "0000" + flags + ciaddr + yiaddr + "00000000" + giaddr +
		"020000000a01" + zeros(10) + zeros(64) + zeros(128) + "63825363 "
}

const (
	none  = "00000000"
	xid   = "12345678"
	at7   = "0a000007"
	at1   = "0a000001"
	asked = "37 04 01 03 06 79 "
)

// discoverText is a DISCOVER with most of what we read.
var discoverText = header("01", "00", xid, "8000", none, none, none) +
	"35 01 01  3d 07 01 020000000a01  32 04 0a000007  33 04 00000e10  39 02 05dc  0c 05 6370653100 " +
	"3c 03 616263 " + asked + "52 0c 01 04 65746830 02 04 deadbeef  ff"

func TestDecode(t *testing.T) {
	got, err := Decode(unhex(t, discoverText))
	if err != nil {
		t.Fatal(err)
	}
	want := &Request{
		Type: Discover, XID: 0x12345678, Broadcast: true, ClientMAC: clientMAC, Requested: addr("10.0.0.7"),
		LeaseSeconds: 3600, ClientID: unhex(t, "01020000000a01"), Parameters: []Code{1, 3, 6, 121}, MaxBytes: 1500,
		Hostname: "cpe1", Vendor: []byte("abc"),
		Agent: &Agent{
			CircuitID: []byte("eth0"), RemoteID: unhex(t, "deadbeef"), Raw: unhex(t, "010465746830 0204deadbeef"),
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestDecodeOverload spreads a REQUEST over all three fields, a long option over two (RFC 3396).
func TestDecodeOverload(t *testing.T) {
	file := "3d 03 01aabb 3704 01030679 ff"
	sname := "3704 2a0f771c ff"
	text := "01 01 06 00" + xid + "0000 0000" + at7 + none + none + none + "020000000a01" + zeros(10)
	b := unhex(t, text)
	b = append(b, pad(unhex(t, sname), 64)...)
	b = append(b, pad(unhex(t, file), 128)...)
	b = append(b, unhex(t, "63825363 35 01 03 34 01 03 37 01 21 ff 00 00 0c 01 78")...)
	got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	want := []Code{0x21, 1, 3, 6, 0x79, 0x2a, 0x0f, 0x77, 0x1c}
	if !reflect.DeepEqual(got.Parameters, want) || !bytes.Equal(got.ClientID, []byte{1, 0xaa, 0xbb}) ||
		got.ClientIP != addr("10.0.0.7") || got.Hostname != "" {
		t.Errorf("got %+v", got)
	}
}

func pad(b []byte, n int) []byte { return append(b, make([]byte, n-len(b))...) }

func TestDecodeRefuses(t *testing.T) {
	plain := header("01", "00", xid, "0000", none, none, none)
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"nothing", "", ErrMalformed},
		{"short", "01 01 06 00" + xid + zeros(150), ErrMalformed},
		{"wrong cookie", strings.Replace(plain, "63825363", "63825364", 1) + "350101ff", ErrMalformed},
		{"no end", plain + "350101", ErrMalformed},
		{"option beyond the end", plain + "350101 0c ff 61", ErrMalformed},
		{"no message type", plain + "0c0161 ff", ErrMalformed},
		{"a reply", header("02", "00", xid, "0000", none, none, none) + "350102ff", ErrOperation},
		{"not Ethernet", "01 06" + plain[5:] + "350101ff", ErrHardware},
		{"long hardware address", "01 01 10" + plain[8:] + "350101ff", ErrHardware},
		{"type of two bytes", plain + "35020101ff", ErrOption},
		{"type 9", plain + "350109ff", ErrOption},
		{"requested of three bytes", plain + "350101 32030a0000 ff", ErrOption},
		{"server of eight bytes", plain + "350103 36080a0000010a000001 ff", ErrOption},
		{"client id of one byte", plain + "350101 3d0101 ff", ErrOption},
		{"size of one byte", plain + "350101 390105 ff", ErrOption},
		{"no parameter", plain + "350101 3700 ff", ErrOption},
		{"overload 4", plain + "350101 340104 ff", ErrOption},
		{"agent does not fit", plain + "350101 5203010561 ff", ErrOption},
		{"link selection of a byte", plain + "350101 5203050161 ff", ErrOption},
	} {
		if _, err := Decode(unhex(t, c.text)); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

// testGrant is what the clients of these tests get.
func testGrant() Grant {
	return Grant{
		Address: addr("10.0.0.7"), Mask: 24, Lease: 3600e9,
		Options: []Option{
			Addresses(CodeRouter, addr("10.0.0.1")), Addresses(CodeDNS, addr("192.0.2.53"), addr("192.0.2.54")),
			Text(CodeDomain, "isp.net"), Routes(Via{netip.MustParsePrefix("0.0.0.0/0"), addr("10.0.0.1")}),
		},
	}
}

// TestReplyBytes compares whole messages with what RFC 2131 table 3 says, written by hand.
func TestReplyBytes(t *testing.T) {
	offer := header("02", "00", xid, "8000", none, at7, none) +
		"35 01 02  36 04 0a000001  33 04 00000e10  3a 04 00000708  3b 04 00000c4e " + // type, server, lease, T1, T2
		"01 04 ffffff00  03 04 0a000001  06 08 c0000235c0000236  79 05 00 0a000001 " + // as asked for: not the domain
		"3d 07 01020000000a01  52 0c 010465746830 0204deadbeef  ff" // given back; option 82 last
	nak := header("02", "00", xid, "0000", none, none, none) + "35 01 06  36 04 0a000001  38 10 6e6f7420796f75722061646472657373  ff"
	relayedNak := header("02", "00", xid, "8000", none, none, "0a090909") + nak[len(header("02", "00", xid, "0000", none, none, none)):]
	renewed := header("02", "00", xid, "0000", at7, at7, none) +
		"35 01 05  36 04 0a000001  33 04 00000e10  3a 04 00000708  3b 04 00000c4e  06 08 c0000235c0000236  ff"
	informed := header("02", "00", xid, "0000", at7, none, none) + "35 01 05  36 04 0a000001  06 08 c0000235c0000236  ff"
	for _, c := range []struct{ name, request, want, to string }{
		{"OFFER", discoverText, offer, "255.255.255.255:68 broadcast"},
		{"NAK", header("01", "00", xid, "0000", none, none, none) + "350103 36040a000001 32040a000009 ff", nak, "255.255.255.255:68 broadcast"},
		{"NAK through a relay", header("01", "00", xid, "0000", none, none, "0a090909") + "350103 36040a000001 32040a000009 ff", relayedNak, "10.9.9.9:67 02:00:00:00:0a:01"},
		{"ACK of a renewal", header("01", "00", xid, "0000", at7, none, none) + "350103 370106 ff", renewed, "10.0.0.7:68 02:00:00:00:0a:01"},
		{"ACK of INFORM", header("01", "00", xid, "0000", at7, none, none) + "350108 370106 ff", informed, "10.0.0.7:68 02:00:00:00:0a:01"},
	} {
		lease := Restore(Config{ServerID: addr("10.0.0.1")}, testGrant(), start.Add(3600e9))
		r, err := Decode(unhex(t, c.request))
		if err != nil {
			t.Fatal(err)
		}
		outputs := lease.Receive(start, r)
		send, ok := outputs[len(outputs)-1].(Send)
		if !ok {
			t.Errorf("%s: %+v", c.name, outputs)
			continue
		}
		want := unhex(t, c.want)
		want = append(want, make([]byte, max(0, 300-len(want)))...)
		if !bytes.Equal(send.Payload, want) || send.Dropped != nil {
			t.Errorf("%s:\ngot  %x\nwant %x", c.name, send.Payload[236:], want[236:])
		}
		if got := send.To.text(); got != c.to {
			t.Errorf("%s: to %s, want %s", c.name, got, c.to)
		}
	}
}

func (d Destination) text() string {
	if d.Broadcast {
		return fmt.Sprintf("%s:%d broadcast", d.IP, d.Port)
	}
	m := d.MAC
	return fmt.Sprintf("%s:%d %02x:%02x:%02x:%02x:%02x:%02x", d.IP, d.Port, m[0], m[1], m[2], m[3], m[4], m[5])
}

// TestSizes asks for more and more, up to what fits nowhere.
func TestSizes(t *testing.T) {
	mandatory := 3 + 6 + 6 + 6 + 6 + 1 // type, server, three times, end
	for _, c := range []struct {
		maxBytes int
		options  []int // lengths of values, codes from 200
		want     string
	}{
		{0, []int{10}, "in 300, overload 0, dropped []"},
		{0, []int{250}, "in 520, overload 0, dropped []"},
		{100, []int{280}, "in 548, overload 1, dropped []"},
		{0, []int{282 - mandatory + 26}, "in 548, overload 0, dropped []"}, // to the brim: 284 with header
		{0, []int{200, 100, 50}, "in 473, overload 3, dropped []"},
		{0, []int{200, 126, 62}, "in 473, overload 0, dropped [201]"},
		{1500, []int{600}, "in 874, overload 0, dropped []"}, // RFC 3396: 3 instances
		{9000, []int{600, 600, 600}, "in 0, overload 0, dropped [202]"},
	} {
		g := testGrant()
		g.Options, g.Mask = nil, 0
		for i, n := range c.options {
			g.Options = append(g.Options, Option{Code(200 + i), bytes.Repeat([]byte{byte(i + 1)}, n)})
		}
		lease := Restore(Config{ServerID: addr("10.0.0.1")}, g, start.Add(3600e9))
		r := &Request{Type: Discover, ClientMAC: clientMAC, MaxBytes: c.maxBytes}
		send := lease.Receive(start, r)[0].(Send)
		limit := min(max(c.maxBytes, 576), 1500) - 28
		if len(send.Payload) > limit || len(send.Payload) < 300 {
			t.Errorf("%+v: %d bytes", c, len(send.Payload))
		}
		// Whatever it was spread over, it must be found again, whole.
		back, err := read(send.Payload)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		for _, o := range g.Options {
			dropped := bytes.IndexByte(codes(send.Dropped), byte(o.Code)) >= 0
			if got := back.Options[uint8(o.Code)]; !dropped && !bytes.Equal(got, o.Value) || dropped && got != nil {
				t.Errorf("%+v: option %d: %d bytes, dropped %t", c, o.Code, len(got), dropped)
			}
		}
	}
	agent := &Agent{Raw: make([]byte, 400)}
	lease := Restore(Config{ServerID: addr("10.0.0.1")}, testGrant(), start.Add(3600e9))
	if got := lease.Receive(start, &Request{Type: Discover, Agent: agent}); !reflect.DeepEqual(got, []Output{Ignored{TooLong}}) {
		t.Errorf("got %+v", got)
	}
}

func codes(all []Code) []byte {
	var b []byte
	for _, c := range all {
		b = append(b, byte(c))
	}
	return b
}

func TestRoutesOption(t *testing.T) {
	got := Routes(Via{netip.MustParsePrefix("10.17.0.0/16"), addr("10.0.0.1")}, Via{netip.MustParsePrefix("10.229.0.128/25"), addr("10.0.0.2")})
	if want := unhex(t, "10 0a11 0a000001  19 0ae50080 0a000002"); !bytes.Equal(got.Value, want) { // RFC 3442's examples
		t.Errorf("%x", got.Value)
	}
}

// TestDatagram compares a packet with one whose checksums were worked out by hand.
func TestDatagram(t *testing.T) {
	d := Datagram{Source: netip.MustParseAddrPort("10.0.0.1:67"), Destination: netip.MustParseAddrPort("255.255.255.255:68"), Payload: []byte{1, 2, 3}}
	// IPv4: 4500+001f+1234+0000+4011+0a00+0001+ffff+ffff = 1a163 -> a165, ~ = 5e9a less...: see below.
	got := AppendDatagram([]byte{9}, d, 0x1234)[1:]
	header := unhex(t, "4500001f1234000040110000 0a000001 ffffffff")
	udp := unhex(t, "00430044000b0000 010203")
	copy(header[10:], sum16(header))
	copy(udp[6:], sum16(append(unhex(t, "0a000001 ffffffff 0011 000b"), append(udp, 0)...)))
	if want := append(header, udp...); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	back, err := ParseDatagram(append(got, 0, 0, 0)) // padding
	if err != nil || !reflect.DeepEqual(back, d) {
		t.Errorf("%+v, %v", back, err)
	}
	for i := range got {
		if i == 1 || i == 8 { // covered by the header's checksum, as all the rest
			continue
		}
		bad := bytes.Clone(got)
		bad[i] ^= 0x11
		if _, err := ParseDatagram(bad); !errors.Is(err, ErrDatagram) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	for n := range got {
		if _, err := ParseDatagram(got[:n]); !errors.Is(err, ErrDatagram) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	fragment := bytes.Clone(got)
	fragment[6], fragment[10], fragment[11] = 0x20, 0, 0
	copy(fragment[10:], sum16(fragment[:20]))
	if _, err := ParseDatagram(fragment); err == nil || !strings.Contains(err.Error(), "a fragment") {
		t.Errorf("error %v", err)
	}
	silent := bytes.Clone(got)
	silent[26], silent[27] = 0, 0 // RFC 768: no checksum
	if _, err := ParseDatagram(silent); err != nil {
		t.Error(err)
	}
}

// sum16 is the Internet checksum, word by word (RFC 1071).
func sum16(b []byte) []byte {
	sum := 0
	for i := 0; i+1 < len(b); i += 2 {
		sum += int(b[i])<<8 | int(b[i+1])
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return []byte{byte(^sum >> 8), byte(^sum)}
}
