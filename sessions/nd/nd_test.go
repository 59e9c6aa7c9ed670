package nd

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

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

// packet puts an ICMPv6 message, written by hand, behind a header, with length and checksum.
func packet(t testing.TB, source, destination, message string) []byte {
	t.Helper()
	icmp := unhex(t, message)
	b := append([]byte{0x60, 0, 0, 0, byte(len(icmp) >> 8), byte(len(icmp)), 58, 255}, addr(source).AsSlice()...)
	b = append(append(b, addr(destination).AsSlice()...), icmp...)
	return sealed(b)
}

// sealed writes the checksum, word by word (RFC 1071, RFC 8200 section 8.1).
func sealed(b []byte) []byte {
	b[42], b[43] = 0, 0
	sum := 58 + len(b) - 40
	for i := 8; i < len(b); i++ {
		if i%2 == 0 {
			sum += int(b[i]) << 8
		} else {
			sum += int(b[i])
		}
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	b[42], b[43] = byte(^sum>>8), byte(^sum)
	return b
}

const (
	client   = "fe80::ff:fe00:a01"
	router   = "fe80::1"
	target   = "fe80000000000000 0000000000000001 "
	link     = "01 01 020000000a01 "
	solicit  = "85 00 0000 00000000 "
	neighbor = "87 00 0000 00000000 " + target
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, source, destination, message, want string }{
		{"router solicitation", client, "ff02::2", solicit + link, "133 target=- link=02000000 0a01"},
		{"from nobody", "::", "ff02::2", solicit, "133 target=-"},
		{"unknown option", client, "ff02::2", solicit + "fd 02 000000000000 0000000000000000" + link, "133 target=- link=02000000 0a01"},
		{"link of another length", client, "ff02::2", solicit + "01 02 000000000000 0000000000000000", "133 target=-"},
		{"neighbour solicitation", client, "ff02::1:ff00:1", neighbor + link, "135 target=fe80::1 link=02000000 0a01"},
		{"unreachability probe", client, router, neighbor, "135 target=fe80::1"},
		{"duplicate address detection", "::", "ff02::1:ff00:1", neighbor, "135 target=fe80::1 probe"},
		{"advertisement", client, router, "88 00 0000 e0000000" + target + "02 01 020000000a01", "136 target=fe80::1 link=02000000 0a01 RSO"},
		{"unsolicited", client, "ff02::1", "88 00 0000 20000000" + target, "136 target=fe80::1 O"},
	} {
		m, err := Parse(append(packet(t, c.source, c.destination, c.message), 0, 0, 0)) // padding
		if err != nil || m.Source != addr(c.source) || m.Destination != addr(c.destination) {
			t.Errorf("%s: %+v, %v", c.name, m, err)
		}
		if got, want := text(m), strings.ReplaceAll(c.want, "02000000 0a01", "020000000a01"); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

func text(m Message) string {
	s := fmt.Sprintf("%d target=%s", m.Type, m.Target)
	s = strings.ReplaceAll(s, "invalid IP", "-")
	if m.HasLinkAddress {
		s += fmt.Sprintf(" link=%x", m.LinkAddress)
	}
	if m.Probe() {
		s += " probe"
	}
	flags := ""
	for _, f := range []struct {
		set  bool
		name string
	}{{m.Router, "R"}, {m.Solicited, "S"}, {m.Override, "O"}} {
		if f.set {
			flags += f.name
		}
	}
	return strings.TrimSpace(s + " " + flags)
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		name, source, destination, message string
		want                               error
	}{
		{"router advertisement", client, "ff02::1", "86 00 0000 40000708 00000000 00000000", ErrType},
		{"echo", client, router, "80 00 0000 00010001", ErrType},
		{"code 1", client, "ff02::2", "85 01 0000 00000000", ErrRule},
		{"short solicitation", client, router, "87 00 0000 00000000 fe80", ErrPacket},
		{"very short", client, router, "85 00 0000", ErrPacket},
		{"option without length", client, "ff02::2", solicit + "0100000000000000", ErrRule},
		{"option too long", client, "ff02::2", solicit + "0102000000000000", ErrRule},
		{"half an option", client, "ff02::2", solicit + "01", ErrRule},
		{"link of nobody", "::", "ff02::2", solicit + link, ErrRule},
		{"link of nobody's probe", "::", "ff02::1:ff00:1", neighbor + link, ErrRule},
		{"probe to a node", "::", router, neighbor, ErrRule},
		{"probe to all nodes", "::", "ff02::1", neighbor, ErrRule},
		{"multicast target", client, router, "87 00 0000 00000000 ff020000000000000000000000000001", ErrRule},
		{"solicited to many", client, "ff02::1", "88 00 0000 40000000" + target, ErrRule},
	} {
		if _, err := Parse(packet(t, c.source, c.destination, c.message)); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	good := packet(t, client, "ff02::2", solicit+link)
	for n := range good {
		if _, err := Parse(good[:n]); !errors.Is(err, ErrPacket) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	hops := bytes.Clone(good)
	hops[7] = 254
	if _, err := Parse(hops); !errors.Is(err, ErrHopLimit) {
		t.Errorf("error %v", err)
	}
	for i := 8; i < len(good); i++ {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		if _, err := Parse(bad); !errors.Is(err, ErrChecksum) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
}

// TestCapturedKernel reads what a Linux kernel sent when its interface came up.
func TestCapturedKernel(t *testing.T) {
	for name, want := range map[string]string{
		"kernel-rs":      "133 target=- from fe80::ff:fe00:a01 to ff02::2",
		"kernel-rs-link": "133 target=- link=020000000a01 from fe80::ff:fe00:a01 to ff02::2",
		"kernel-dad":     "135 target=fe80::ff:fe00:a01 probe from :: to ff02::1:ff00:a01",
		"kernel-ns-link": "135 target=fe80::ff:fe00:1 link=020000000a01 from fe80::ff:fe00:a01 to fe80::ff:fe00:1",
	} {
		m, err := Parse(captured(t, name))
		if got := fmt.Sprintf("%s from %s to %s", text(m), m.Source, m.Destination); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func captured(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".hex"))
	if err != nil {
		t.Fatal(err)
	}
	return unhex(t, string(b))
}

// TestRouterAdvertBytes compares with RFC 4861 sections 4.2 and 4.6 and RFC 8106 section 5, written by hand.
func TestRouterAdvertBytes(t *testing.T) {
	mac := [6]byte{2, 0, 0, 0, 0, 1}
	a := RouterAdvert{
		Source: addr(router), Destination: AllNodes(), LinkAddress: &mac, HopLimit: 64, Managed: true, Other: true,
		Lifetime: 1800 * time.Second, Reachable: 30 * time.Second, Retransmit: time.Second, MTU: 1492,
		Prefixes: []Prefix{
			{Prefix: netip.MustParsePrefix("2001:db8:0:7::9/64"), OnLink: true, Autonomous: true, Valid: 24 * time.Hour, Preferred: 4 * time.Hour},
			{Prefix: netip.MustParsePrefix("2001:db8:8::/48"), Valid: Infinite, Preferred: Infinite + time.Hour},
		},
		DNS: []netip.Addr{addr("2001:db8::53"), addr("2001:db8::54")}, Search: []string{"isp.net", "..", "a.b."}, DNSLifetime: 600 * time.Second,
	}
	want := packet(t, router, "ff02::1", `86 00 0000 40 c0 0708 00007530 000003e8
		01 01 020000000001
		05 01 0000 000005d4
		03 04 40 c0 00015180 00003840 00000000 20010db8000000070000000000000000
		03 04 30 00 ffffffff ffffffff 00000000 20010db8000800000000000000000000
		19 05 0000 00000258 20010db8000000000000000000000053 20010db8000000000000000000000054
		1f 03 0000 00000258 03697370 036e6574 00 0161 0162 00 0000`)
	if got := AppendRouterAdvert([]byte{1}, a)[1:]; !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	bare := RouterAdvert{Source: addr(router), Destination: addr(client), Lifetime: 20000 * time.Second}
	want = packet(t, router, client, "86 00 0000 00 00 2328 00000000 00000000") // PPP: no link-layer address
	if got := AppendRouterAdvert(nil, bare); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

func TestPace(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := NewPacer(Pacing{}, start)
	at := func(want time.Duration) {
		t.Helper()
		if got := p.Deadline().Sub(start); got != want {
			t.Fatalf("due after %s, want %s", got, want)
		}
	}
	at(0)
	p.Sent(start, 0.5)
	at(16 * time.Second) // the first three are at most 16 s apart
	p.Sent(start.Add(16*time.Second), 0.5)
	at(32 * time.Second)
	p.Sent(start.Add(32*time.Second), 0.5)
	at(432 * time.Second) // 200 + 400/2
	p.Solicited(start.Add(100*time.Second), 0.5)
	at(100*time.Second + 250*time.Millisecond)
	p.Solicited(start.Add(100*time.Second), 0.9) // one answer for many
	at(100*time.Second + 250*time.Millisecond)
	p.Sent(start.Add(100*time.Second+250*time.Millisecond), 0)
	at(300*time.Second + 250*time.Millisecond)
	p.Solicited(start.Add(101*time.Second), 0.5) // not within 3 s of the last one
	at(103*time.Second + 500*time.Millisecond)
	p.Sent(start.Add(103*time.Second+500*time.Millisecond), 0.999)
	p.Solicited(start.Add(702*time.Second), 0.5) // the unsolicited one comes first
	if due := p.Deadline(); !due.Before(start.Add(704 * time.Second)) {
		t.Errorf("due %s", due.Sub(start))
	}
	quick := NewPacer(Pacing{Max: 9 * time.Second}, start)
	quick.Sent(start, 0)
	if got := quick.Deadline().Sub(start); got != 3*time.Second {
		t.Errorf("due after %s", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"kernel-rs", "kernel-rs-link", "kernel-dad", "kernel-ns-link"} {
		f.Add(captured(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 44 { // let what the fuzzer makes get past the checksum
			b = bytes.Clone(b)
			length := min(len(b)-40, 65535)
			b[4], b[5], b[6], b[7] = byte(length>>8), byte(length), 58, 255
			b = sealed(b[:40+length])
		}
		m, err := Parse(b)
		if err == nil && m.Type != RouterSolicit && !m.Target.IsValid() {
			t.Fatalf("%+v", m)
		}
	})
}
