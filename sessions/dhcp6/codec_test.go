package dhcp6

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

// solicitText is a SOLICIT as RFC 8415 lays it out: identifiers, IAs, hints, requests, and an option that
// we do not know.
const solicitText = "01 abcdef 0001 000a 00030001020000000a01 000e 0000 0008 0002 0000 " +
	"0003 0028 00000001 00000e10 00001518 0005 0018 20010db8000000000000000000000009 00000000 00000000 " +
	"0019 0029 00000002 00000000 00000000 001a 0019 00000000 00000000 3c 00000000000000000000000000000000 " +
	"0004 0004 00000003 0006 0004 0017 0018 fde8 0001 ff "

func TestDecode(t *testing.T) {
	got, err := Decode(unhex(t, solicitText))
	if err != nil {
		t.Fatal(err)
	}
	want := &Request{
		Type: Solicit, XID: 0xabcdef, ClientID: unhex(t, "00030001020000000a01"), RapidCommit: true,
		NA: []IANA{{ID: 1, Addresses: []netip.Addr{addr("2001:db8::9")}}},
		PD: []IAPD{{ID: 2, Prefixes: []netip.Prefix{netip.MustParsePrefix("::/60")}}},
		TA: []uint32{3}, Options: []uint16{23, 24},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// envelope is a RELAY-FORW around a message, both in hexadecimal digits.
func envelope(hops, peer, options, inner string) string {
	inner = strings.Join(strings.Fields(inner), "")
	return "0c" + hops + strings.Repeat("00", 16) + peer + options + fmt.Sprintf("0009 %04x", len(inner)/2) + inner
}

const (
	peer2 = "fe800000000000000000000000000002 "
	peer3 = "fe800000000000000000000000000003 "
	lines = "0012 0004 65746830 0025 0007 00000de9 616263 " // interface-id eth0, remote-id abc of enterprise 3561
)

// TestRelays takes a message out of an LDRA's envelope (RFC 6221) inside another relay agent's, and puts
// the answer back in.
func TestRelays(t *testing.T) {
	text := envelope("01", peer3, "0012 0001 78", envelope("00", peer2, lines, solicitText))
	r, err := Decode(unhex(t, text))
	if err != nil {
		t.Fatal(err)
	}
	interfaceID, remoteID := r.Line()
	if r.Type != Solicit || len(r.Relays) != 2 || string(interfaceID) != "eth0" || string(remoteID) != "abc" ||
		r.Relays[1].Enterprise != 3561 || r.Relays[1].Peer != addr("fe80::2") || r.Relays[0].Hops != 1 {
		t.Errorf("%+v, line %s %s", r, interfaceID, remoteID)
	}
	r.From = netip.MustParseAddrPort("[fe80::3]:1024")
	link := NewLink(Config{ServerID: []byte("srv")})
	link.Receive(start, r)
	got := tell(start, link.Assign(start, Grant{Address: addr("2001:db8::7"), Preferred: 1000 * time.Second, Valid: 2000 * time.Second}))
	inner := "ADVERTISE abcdef server=737276 client=00030001020000000a01 na:1/500/800(2001:db8::7/1000/2000) pd:2/0/0(status=6) ta:3(status=2)"
	want := "RELAY-REPL 1 :: fe80::3 interface=x [RELAY-REPL 0 :: fe80::2 interface=eth0 [" + inner + "]] to [fe80::3]:547"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestReplyBytes compares a whole REPLY with bytes written by hand.
func TestReplyBytes(t *testing.T) {
	g := Grant{Address: addr("2001:db8::7"), Delegated: netip.MustParsePrefix("2001:db8:7::/56"), Preferred: 3600 * time.Second, Valid: 7200 * time.Second}
	until := start.Add(time.Hour)
	link := Restore(Config{ServerID: unhex(t, "000200007ed9626e67"), DNS: []netip.Addr{addr("2001:db8::53")}, Search: []string{"isp.net"}}, g,
		Bindings{ClientID: unhex(t, "00030001020000000a01"), AddressIA: 1, PrefixIA: 2, AddressUntil: until, PrefixUntil: until})
	r, err := Decode(unhex(t, `05 abcdef 0001 000a 00030001020000000a01 0002 0009 0002 00007ed9 626e67
		0003 000c 00000001 00000000 00000000 0019 000c 00000002 00000000 00000000 0006 0004 0017 0018`))
	if err != nil {
		t.Fatal(err)
	}
	outputs := link.Receive(start, r)
	want := unhex(t, `07 abcdef 0002 0009 0002 00007ed9 626e67 0001 000a 00030001020000000a01
		0017 0010 20010db8000000000000000000000053 0018 0009 03 697370 03 6e6574 00
		0003 0028 00000001 00000708 00000b40 0005 0018 20010db8000000000000000000000007 00000e10 00001c20
		0019 0029 00000002 00000708 00000b40 001a 0019 00000e10 00001c20 38 20010db8000700000000000000000000`)
	send, ok := outputs[len(outputs)-1].(Send)
	if !ok || !bytes.Equal(send.Payload, want) {
		t.Errorf("got  %x\nwant %x", send.Payload, want)
	}
}

func TestDecodeRefuses(t *testing.T) {
	many := "01 abcdef" + strings.Repeat("0003 000c 00000001 00000000 00000000", 9)
	deep := "01 abcdef"
	for range 9 {
		deep = envelope("00", peer2, "", deep)
	}
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"nothing", "", ErrMalformed},
		{"short", "01 abcd", ErrMalformed},
		{"half an option", "01 abcdef 0001", ErrMalformed},
		{"option beyond the end", "01 abcdef 0001 0010 00", ErrMalformed},
		{"DUID of two bytes", "01 abcdef 0001 0002 0001", ErrOption},
		{"DUID of 131 bytes", "01 abcdef 0001 0083" + strings.Repeat("00", 131), ErrOption},
		{"two client identifiers", "01 abcdef 0001 0003 000101 0001 0003 000102", ErrOption},
		{"short IA_NA", "01 abcdef 0003 0004 00000001", ErrOption},
		{"short address", "01 abcdef 0003 0014 00000001 00000000 00000000 0005 0004 20010db8", ErrOption},
		{"short IA_PD", "01 abcdef 0019 0004 00000001", ErrOption},
		{"short IA_TA", "01 abcdef 0004 0002 0001", ErrOption},
		{"prefix of /129", "01 abcdef 0019 0029 00000002 00000000 00000000 001a 0019 00000000 00000000 81" + strings.Repeat("00", 16), ErrOption},
		{"odd option request", "01 abcdef 0006 0003 001700", ErrOption},
		{"nine IAs", many, ErrOption},
		{"short relay", "0c 00 0000", ErrMalformed},
		{"relay without a message", "0c 00" + strings.Repeat("00", 32), ErrMalformed},
		{"short remote-id", "0c 00" + strings.Repeat("00", 32) + "0025 0002 0000", ErrOption},
		{"nine relays", deep, ErrRelays},
	} {
		if _, err := Decode(unhex(t, c.text)); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

// captures are the messages of ISC dhclient 4.4.3, dhcpcd 9.4.1 and wide-dhcpv6 in one exchange each. What
// they hold was read with another decoder.
var captures = []struct{ name, want string }{
	{"dhclient-solicit", "SOLICIT 1710d7 na:2561[] pd:2561[] [23 24 39 31] rapid=false server="},
	{"dhclient-request", "REQUEST 835bda na:2561[2001:db8:1::7] pd:2561[2001:db8:7::/56] [23 24 39 31] rapid=false server=000200007ed976626e67"},
	{"dhclient-renew", "RENEW 2ac2da na:2561[2001:db8:1::7] pd:2561[2001:db8:7::/56] [23 24 39 31] rapid=false server=000200007ed976626e67"},
	{"dhclient-release", "RELEASE 5b4889 na:2561[2001:db8:1::7] pd:2561[2001:db8:7::/56] [23 24 39 31] rapid=false server=000200007ed976626e67"},
	{"dhcpcd-solicit", "SOLICIT 02bf5b na:1[] pd:2[::/56] [23 24 39 82 83 67] rapid=false server="},
	{"dhcpcd-request", "REQUEST 9dcfc3 na:1[2001:db8:1::7] pd:2[2001:db8:7::/56] [23 24 39 82 83 67] rapid=false server=000200007ed976626e67"},
	{"dhcpcd-renew", "RENEW 8053e0 na:1[2001:db8:1::7] pd:2[2001:db8:7::/56] [23 24 39 82 83 67] rapid=false server=000200007ed976626e67"},
	{"dhcp6c-solicit", "SOLICIT 9109cf na:1[] pd:2[::/60] [23] rapid=false server="},
	{"dhcp6c-request", "REQUEST bf0cb2 na:1[2001:db8:1::7] pd:2[2001:db8:7::/56] [23] rapid=false server=000200007ed976626e67"},
	{"dhcp6c-release", "RELEASE 05d7ba na:1[2001:db8:1::7] [] rapid=false server=000200007ed976626e67"},
	{"dhcp6c-information-request", "INFORMATION-REQUEST 220b92 [] rapid=false server="},
}

func TestCapturedClients(t *testing.T) {
	for _, c := range captures {
		d, err := ParseDatagram(captured(t, c.name))
		if err != nil || d.Source.String() != "[fe80::ff:fe00:a01]:546" || d.Destination.String() != "[ff02::1:2]:547" {
			t.Errorf("%s: %s to %s, %v", c.name, d.Source, d.Destination, err)
			continue
		}
		r, err := Decode(d.Payload)
		if err != nil || len(r.ClientID) != 14 {
			t.Errorf("%s: %+v, %v", c.name, r, err)
			continue
		}
		got := fmt.Sprintf("%s %06x", r.Type, r.XID)
		for _, ia := range r.NA {
			got += fmt.Sprintf(" na:%d%v", ia.ID, ia.Addresses)
		}
		for _, ia := range r.PD {
			got += fmt.Sprintf(" pd:%d%v", ia.ID, ia.Prefixes)
		}
		got += fmt.Sprintf(" %v rapid=%t server=%x", r.Options, r.RapidCommit, r.ServerID)
		if got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestDatagram(t *testing.T) {
	good := captured(t, "dhclient-solicit")
	d, err := ParseDatagram(append(bytes.Clone(good), 0, 0)) // padding
	if err != nil {
		t.Fatal(err)
	}
	back := AppendDatagram([]byte{1}, d)[1:]
	copy(back[1:4], good[1:4]) // the client chose a flow label
	back[7] = good[7]          // and another hop limit
	if !bytes.Equal(back, good) {
		t.Errorf("got  %x\nwant %x", back, good) // the checksum is the kernel's
	}
	for n := range good {
		if _, err := ParseDatagram(good[:n]); !errors.Is(err, ErrDatagram) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for i := 8; i < len(good); i++ {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := ParseDatagram(bad); !errors.Is(err, ErrDatagram) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	none := bytes.Clone(good)
	none[46], none[47] = 0, 0
	if _, err := ParseDatagram(none); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("error %v", err)
	}
	insert := func(next byte, header string) []byte {
		h := unhex(t, header)
		b := append(bytes.Clone(good[:40]), h...)
		b = append(b, good[40:]...)
		b[5] += byte(len(h))
		b[6] = next
		return b
	}
	if got, err := ParseDatagram(insert(60, "11 00 0104 00000000")); err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("behind destination options: %v", err)
	}
	if _, err := ParseDatagram(insert(44, "11 00 0001 00000001")); err == nil {
		t.Error("a fragment was taken")
	}
	if _, err := ParseDatagram(insert(0, "11 ff 0104 00000000")); err == nil {
		t.Error("an extension header beyond the end was taken")
	}
}

// TestAnswersFitIntoAFrame takes the longest answers that a client can provoke.
func TestAnswersFitIntoAFrame(t *testing.T) {
	r := &Request{Type: Rebind, ClientID: make([]byte, maxDUID), From: netip.MustParseAddrPort("[fe80::2]:546")}
	for i := range uint32(maxIAs) {
		na, pd := IANA{ID: i}, IAPD{ID: i}
		for j := range byte(maxIAAddresses) {
			a := netip.AddrFrom16([16]byte{0: 0x20, 15: j})
			na.Addresses = append(na.Addresses, a)
			pd.Prefixes = append(pd.Prefixes, netip.PrefixFrom(a, 128))
		}
		r.NA, r.PD, r.TA = append(r.NA, na), append(r.PD, pd), append(r.TA, i)
	}
	g := Grant{Address: addr("2001:db8::7"), Delegated: netip.MustParsePrefix("2001:db8:7::/56"), Preferred: time.Hour, Valid: time.Hour}
	link := Restore(Config{ServerID: make([]byte, 14), DNS: []netip.Addr{addr("2001:db8::53"), addr("2001:db8::54")}}, g,
		Bindings{ClientID: r.ClientID, AddressUntil: start.Add(time.Hour), PrefixUntil: start.Add(time.Hour)})
	outputs := link.Receive(start, r)
	if n := len(outputs[len(outputs)-1].(Send).Payload); n > 1500-headerBytes-udpBytes {
		t.Errorf("%d bytes", n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(unhex(f, solicitText))
	f.Add(unhex(f, envelope("01", peer3, "0012 0001 78", envelope("00", peer2, lines, solicitText))))
	for _, c := range captures {
		d, err := ParseDatagram(captured(f, c.name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(d.Payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		r, err := Decode(payload)
		if err != nil {
			return
		}
		r.From = netip.MustParseAddrPort("[fe80::2]:546")
		link := NewLink(Config{ServerID: []byte("srv"), RapidCommit: true, DNS: []netip.Addr{addr("2001:db8::53")}})
		if r.ServerID != nil {
			r.ServerID = []byte("srv")
		}
		for range 3 {
			outputs := link.Receive(start, r)
			outputs = append(outputs, link.Assign(start, Grant{
				Address: addr("2001:db8::7"), Delegated: netip.MustParsePrefix("2001:db8:7::/56"), Preferred: time.Hour, Valid: time.Hour,
			})...)
			outputs = append(outputs, link.Commit(start)...)
			if s := tell(start, outputs); strings.Contains(s, "BROKEN") {
				t.Fatal(s)
			}
		}
	})
}

func FuzzParseDatagram(f *testing.F) {
	for _, c := range captures {
		f.Add(captured(f, c.name))
	}
	f.Fuzz(func(t *testing.T, packet []byte) {
		d, err := ParseDatagram(packet)
		if err != nil {
			return
		}
		back, err := ParseDatagram(AppendDatagram(nil, d))
		if err != nil || !reflect.DeepEqual(back, d) {
			t.Fatalf("%+v came back as %+v, %v", d, back, err)
		}
	})
}
