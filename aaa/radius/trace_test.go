package radius

import (
	"strings"
	"testing"
)

func attribute(t byte, value string) string { return string([]byte{t, byte(len(value) + 2)}) + value }

func TestTraceTellsNoSecrets(t *testing.T) {
	const secret = "s3cret-s3cret-16"
	wire := strings.Repeat("\x01", headerBytes) + attribute(1, "alice\n") + attribute(2, secret) + attribute(3, secret) + attribute(60, secret) +
		attribute(69, secret) + attribute(79, secret) + attribute(24, secret) + attribute(80, secret) + attribute(200, secret) +
		attribute(8, "\x64\x40\x00\x01") + attribute(97, "\x00\x20\x20\x01\x0d\xb8") + attribute(26, "\x00\x00\x01\x37\x10\x12"+secret)
	got := describePacket([]byte(wire))
	for _, want := range []string{`Access-Request User-Name="alice\n" User-Password (16 bytes)`, "Framed-IP-Address=100.64.0.1", "Framed-IPv6-Prefix=2001:db8::/32",
		"MS-MPPE-Send-Key (16 bytes)"} {
		if !strings.Contains(got, want) {
			t.Errorf("nothing of %s in %s", want, got)
		}
	}
	if strings.Contains(got, "s3cret") {
		t.Error(got)
	}
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte(strings.Repeat("\x01", headerBytes) + attribute(97, "\x00\x20\x20\x01")))
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, wire []byte) { describePacket(wire) })
}
