package dissect

import (
	"encoding/hex"
	"strings"
	"testing"
	"unicode"
)

func bytesOf(t testing.TB, text string) []byte {
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "\n", "").Replace(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const macs = "0200000000a1 020100000005 "

func frames() map[string]string {
	ip4 := "4500 0024 0000 0000 40%s 0000 64400005 cb007109 "
	with := func(protocol string) string { return strings.Replace(ip4, "%s", protocol, 1) }
	return map[string]string{
		macs + "88a8 0064 8100 0007 8864 1100 0105 000e c021 0105 000a 0506 12345678":                                                                          "88a8:100.7 | PPPoE session 0x0105 LCP Configure-Request id 5 magic 0x12345678",
		macs + "8100 0064 8864 1100 0105 0015 c021 0101 0013 0104 05d4 0305 c223 05 0506 00000001":                                                             "100 | PPPoE session 0x0105 LCP Configure-Request id 1 MRU 1492 auth CHAP-MD5 magic 0x00000001",
		macs + "8864 1100 0105 0012 c023 0101 0010 05 616c696365 06 736563726574":                                                                              "- | PPPoE session 0x0105 PAP Authenticate-Request id 1 user \"alice\"",
		macs + "8864 1100 0105 0020 c223 0201 001a 10 00112233445566778899aabbccddeeff 616c696365":                                                             "- | PPPoE session 0x0105 CHAP Response id 1 name \"alice\"",
		macs + "8864 1100 0105 000c 8021 0103 000a 0306 00000000":                                                                                              "- | PPPoE session 0x0105 IPCP Configure-Request id 3 address 0.0.0.0",
		macs + "8864 1100 0105 0010 8057 0103 000e 010a 00000000 00000001":                                                                                     "- | PPPoE session 0x0105 IPV6CP Configure-Request id 3 interface-id 0:0:0:1",
		macs + "8863 1109 0000 000a 0101 0000 0103 0002 abcd":                                                                                                  "- | PPPoE PADI service \"\" host-uniq",
		macs + "8864 1100 0105 0026 0021 " + with("11") + "03e8 0035 0010 0000 0000000000000000":                                                               "- | PPPoE session 0x0105 UDP 100.64.0.5:1000 > 203.0.113.9:53 8 bytes ttl 64",
		macs + "0800 " + with("06") + "c350 01bb 00000001 00000000 5002 ffff":                                                                                  "- | TCP 100.64.0.5:50000 > 203.0.113.9:443 [TCP cut off] ttl 64",
		macs + "0800 4500 0028 0000 0000 4006 0000 64400005 cb007109 c350 01bb 00000001 00000000 5012 ffff 0000 0000":                                          "- | TCP 100.64.0.5:50000 > 203.0.113.9:443 [SA] 0 bytes ttl 64",
		macs + "0800 " + with("01") + "0800 0000 0001 0002 00000000 00000000":                                                                                  "- | 100.64.0.5 > 203.0.113.9 ICMP echo request id 1 seq 2 ttl 64",
		macs + "0800 " + strings.Replace(with("11"), "0000 0000 40", "0000 2001 40", 1) + "00":                                                                 "- | fragment 8+16 IPv4 100.64.0.5 > 203.0.113.9 protocol 17",
		macs + "0806 0001 0800 06 04 0001 020100000005 64400005 000000000000 64400001":                                                                         "- | ARP who has 100.64.0.1 tell 100.64.0.5",
		macs + "86dd 60000000 0018 3aff fe800000000000000000000000000001 ff0200000000000000000001ff000002 8700 0000 00000000 fe800000000000000000000000000002": "- | fe80::1 > ff02::1:ff00:2 ICMPv6 neighbour solicitation fe80::2 hlim 255",
		macs + "88cc 0000": "- | ethertype 0x88cc, 2 bytes",
		macs + "0800 45":   "- | [IPv4 cut off]",
		macs + "8100 00":   "- | [tags cut off]",
		macs:               "- | [Ethernet cut off]",
	}
}

func TestFrames(t *testing.T) {
	for frame, want := range frames() {
		s := Frame(bytesOf(t, frame))
		if got := s.Tags + " | " + s.Text; got != want {
			t.Errorf("%s\n got %s\nwant %s", frame, got, want)
		}
	}
}

func dhcp4Message() []byte {
	b := make([]byte, 240)
	b[0], b[1], b[2] = 1, 1, 6
	copy(b[4:], []byte{0, 0, 0, 9})
	copy(b[28:], []byte{2, 0, 0, 0, 0, 1})
	copy(b[236:], []byte{0x63, 0x82, 0x53, 0x63})
	b = append(b, 53, 1, 3, 50, 4, 100, 64, 0, 7, 12, 3, 'c', 'p', '\n', 51, 4, 0, 0, 14, 16, 82, 4, 1, 2, 'p', '1', 255)
	return b
}

func TestDHCP(t *testing.T) {
	got := DHCPv4(dhcp4Message())
	if want := `DHCP REQUEST xid 0x00000009 client 02:00:00:00:00:01 requested 100.64.0.7 host "cp\n" lease 3600s circuit "p1"`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	six := bytesOf(t, "03 000009 0019 0029 00000001 00000000 00000000 001a 0019 00000e10 00001c20 38 20010db8000100000000000000000000 000d 0002 0006")
	got = DHCPv6(six)
	if want := `DHCPv6 REQUEST xid 0x000009 IA_PD 0x1 prefix 2001:db8:1::/56 valid 7200s status NoPrefixAvail ""`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// No secret of PAP or CHAP is ever told.
func TestNoSecrets(t *testing.T) {
	for frame := range frames() {
		s := Frame(bytesOf(t, frame))
		if strings.Contains(s.Text, "secret") || strings.Contains(s.Text, "001122") {
			t.Error(s.Text)
		}
	}
}

func FuzzFrame(f *testing.F) {
	for frame := range frames() {
		f.Add(bytesOf(f, frame))
	}
	f.Add(append(bytesOf(f, macs+"0800 4500 0120 0000 0000 4011 0000 64400005 cb007109 0044 0043 0100 0000"), dhcp4Message()...))
	f.Add(bytesOf(f, macs+"86dd 60000000 0048 1101 fe800000000000000000000000000001 ff020000000000000000000000010002 0222 0223 0048 0000 0c00 fe800000000000000000000000000001 fe800000000000000000000000000001 0009 0004 01000001"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := Frame(b)
		if len(s.Text) > maxLineBytes+32 {
			t.Errorf("%d bytes", len(s.Text))
		}
		if strings.Contains(s.Text, "[not understood]") {
			t.Errorf("a decoder panicked: %s", s.Text)
		}
		for _, r := range s.Text + s.Tags {
			if !unicode.IsPrint(r) {
				t.Errorf("unprintable %q in %q", r, s.Text)
			}
		}
		for _, text := range []string{PPP(0xc021, b), PPP(0xc023, b), DHCPv4(b), DHCPv6(b)} {
			if strings.Contains(text, "[not understood]") {
				t.Errorf("a decoder panicked: %s", text)
			}
		}
	})
}
