package radius

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"strings"
	"testing"

	"layeh.com/radius"

	"vbng/aaa"
)

func TestAccessRequestPAP(t *testing.T) {
	b := newBench(t, serverA())
	b.authorize("alice")
	wire := b.next().wire
	if wire[0] != 1 || wire[20] != 80 || wire[21] != 18 {
		t.Fatalf("code %d, first attribute %d of %d octets", wire[0], wire[20], wire[21])
	}
	clean := bytes.Clone(wire)
	clear(clean[22:38])
	mac := hmac.New(md5.New, []byte("secret-a"))
	mac.Write(clean)
	if !hmac.Equal(mac.Sum(nil), wire[22:38]) {
		t.Error("wrong Message-Authenticator")
	}
	password, err := radius.UserPassword(value(t, wire, 2), []byte("secret-a"), wire[4:20])
	if err != nil || string(password) != "sesame" {
		t.Errorf("User-Password %q, %v", password, err)
	}
	for attribute, want := range map[radius.Type]uint32{5: 3<<24 | 100<<12 | 200, 6: 2, 7: 1, 61: 34} {
		if got := number(t, wire, attribute); got != want {
			t.Errorf("%s is %d, want %d", attributeName(byte(attribute)), got, want)
		}
	}
	for attribute, want := range map[radius.Type]string{
		1: "alice", 4: "\xc6\x33\x64\x01", 30: "02-00-00-00-00-01:internet", 31: "02-00-00-00-00-AA", 32: "bng1",
		44: "s-alice", 87: "access0:100.200",
	} {
		if got := value(t, wire, attribute); string(got) != want {
			t.Errorf("%s is %q, want %q", attributeName(byte(attribute)), got, want)
		}
	}
	for _, want := range []string{"\x1a\x13\x00\x00\x0d\xe9\x01\x0ddslam 1/2/3", "\x1a\x0e\x00\x00\x0d\xe9\x02\x08remote"} {
		if !bytes.Contains(wire, []byte(want)) {
			t.Errorf("the ADSL-Forum attribute %q is not there", want)
		}
	}
}

func TestAccessRequestCHAP(t *testing.T) {
	b := newBench(t, serverA())
	r := request("alice")
	r.Method, r.Password = aaa.CHAPMD5, nil
	r.CHAPID, r.CHAPChallenge, r.CHAPResponse = 9, []byte("challenge of no fixed length"), []byte("0123456789abcdef")
	b.client.Authorize(r, func(aaa.Answer) {})
	b.drain()
	wire := b.next().wire
	if got := value(t, wire, 3); string(got) != "\x090123456789abcdef" {
		t.Errorf("CHAP-Password %q", got)
	}
	if got := value(t, wire, 60); string(got) != "challenge of no fixed length" {
		t.Errorf("CHAP-Challenge %q", got)
	}
	absent(t, wire, 2)
}

func TestImpossibleCredentials(t *testing.T) {
	for name, change := range map[string]func(*aaa.Request){
		"long password": func(r *aaa.Request) { r.Password = make([]byte, 129) },
		"long name":     func(r *aaa.Request) { r.Username = strings.Repeat("x", 254) },
		"CHAP response": func(r *aaa.Request) { r.Method, r.CHAPResponse = aaa.CHAPMD5, []byte("short") },
		"no name":       func(r *aaa.Request) { r.Username = "" },
		"no challenge":  func(r *aaa.Request) { r.Method, r.CHAPResponse = aaa.CHAPMD5, make([]byte, 16) },
		"no method":     func(r *aaa.Request) { r.Method = 0 },
	} {
		b := newBench(t, serverA())
		r := request("alice")
		change(&r)
		b.client.Authorize(r, func(a aaa.Answer) { b.answers = append(b.answers, a) })
		b.drain()
		if len(b.answers) != 1 || b.answers[0].Reject == nil || b.answers[0].Reject.Cause != aaa.BadCredentials || len(b.sent) != 0 {
			t.Errorf("%s: answers %+v, sent %d", name, b.answers, len(b.sent))
		}
	}
}

func TestPortNames(t *testing.T) {
	tests := []struct {
		outer, inner uint16
		id           string
		port         uint32
		kind         uint32
	}{
		{0, 0, "access0", 3 << 24, 32},
		{7, 0, "access0:7", 3<<24 | 7<<12, 33},
		{4094, 4093, "access0:4094.4093", 3<<24 | 4094<<12 | 4093, 34},
	}
	for _, tt := range tests {
		l := aaa.Line{Port: "access0", PortIndex: 0x103, OuterVLAN: tt.outer, InnerVLAN: tt.inner}
		if nasPortID(l) != tt.id || nasPort(l) != tt.port || uint32(nasPortType(l)) != tt.kind {
			t.Errorf("%d.%d: %s %#x %d", tt.outer, tt.inner, nasPortID(l), nasPort(l), nasPortType(l))
		}
	}
}
