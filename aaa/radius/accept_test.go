package radius

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"layeh.com/radius"

	"vbng/aaa"
)

func attributes(list ...avp) radius.Attributes {
	var all radius.Attributes
	for _, a := range list {
		all.Add(radius.Type(a.number), radius.Attribute(a.value))
	}
	return all
}

func TestDecodeAccept(t *testing.T) {
	got, err := decodeAccept(attributes(
		avp{80, "0123456789abcdef"}, avp{1, "alice@isp"}, avp{6, "\x00\x00\x00\x02"}, avp{7, "\x00\x00\x00\x01"},
		avp{8, "\x64\x40\x00\x09"}, avp{9, "\xff\xff\xff\xff"}, avp{88, "gold"},
		avp{25, "\x00\xff\x00"}, avp{25, "\x00\xff\x00"}, avp{18, "welcome"}, avp{18, "back"},
		avp{27, "\x00\x01\x51\x80"}, avp{28, "\x00\x00\x02\x58"}, avp{85, "\x00\x00\x01\x2c"},
		avp{26, "\x00\x00\x01\x37\x1c\x06\x09\x09\x09\x09\x1d\x06\x01\x01\x01\x01"},
		avp{13, "\x00\x00\x00\x00"}, avp{10, "\x00\x00\x00\x00"},
	))
	if err != nil {
		t.Fatal(err)
	}
	want := aaa.Grant{
		Username: "alice@isp", Address: netip.MustParseAddr("100.64.0.9"), Pool: "gold",
		DNS:            [2]netip.Addr{netip.MustParseAddr("9.9.9.9"), netip.MustParseAddr("1.1.1.1")},
		SessionTimeout: 24 * time.Hour, IdleTimeout: 10 * time.Minute, InterimInterval: 5 * time.Minute,
		Class: [][]byte{{0, 0xff, 0}, {0, 0xff, 0}}, Message: "welcome back",
	}
	if !reflect.DeepEqual(got.grant, want) {
		t.Errorf("grant %+v\nwant  %+v", got.grant, want)
	}
	if len(got.ignored) != 0 {
		t.Errorf("ignored %v", got.ignored)
	}
}

func TestNotHonoured(t *testing.T) {
	tests := []struct {
		attribute avp
		want      string
	}{
		{avp{8, "\xff\xff\xff\xff"}, "Framed-IP-Address 255.255.255.255 (user's choice; the pool is used)"},
		{avp{9, "\xff\xff\xff\x00"}, "Framed-IP-Netmask shorter than /32"},
		{avp{12, "\x00\x00\x05\xdc"}, "Framed-MTU"},
		{avp{13, "\x00\x00\x00\x01"}, "Framed-Compression"},
		{avp{85, "\x00\x00\x00\x0a"}, "Acct-Interim-Interval under 60 (60 is used)"},
		{avp{85, "\x00\x00\x00\x00"}, "Acct-Interim-Interval of 0"},
		{avp{99, "2001:db8::/32 ::"}, "Framed-IPv6-Route"},
		{avp{250, "x"}, "Attribute-250"},
		{avp{26, "\x00\x00\x00\x09\x01\x03x"}, "Cisco-AVPair"},
		{avp{26, "\x00\x00\x00\x09\x63\x03x"}, "Cisco attribute 99"},
		{avp{26, "\x00\x01\x86\xa0\x63\x03x"}, "Vendor-100000 attribute 99"},
		{avp{26, "\x00\x01\x86\xa0\x63\x09x"}, "Vendor-100000 attribute of unknown format"},
		{avp{26, "\x00\x00\x01\x37\x0b\x03x"}, "MS-CHAP-Challenge"},
	}
	for _, tt := range tests {
		got, err := decodeAccept(attributes(tt.attribute))
		if err != nil || len(got.ignored) != 1 || got.ignored[0] != tt.want {
			t.Errorf("%v: ignored %q, %v; want %q", tt.attribute, got.ignored, err, tt.want)
		}
	}
}

func TestPoolSentinel(t *testing.T) {
	got, err := decodeAccept(attributes(avp{8, "\xff\xff\xff\xfe"}))
	if err != nil || got.grant.Address.IsValid() || len(got.ignored) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestInterimFloor(t *testing.T) {
	got, _ := decodeAccept(attributes(avp{85, "\x00\x00\x00\x01"}))
	if got.grant.InterimInterval != time.Minute {
		t.Errorf("interval %v", got.grant.InterimInterval)
	}
}

func TestUnusableAccept(t *testing.T) {
	tests := []struct {
		attribute avp
		want      string
	}{
		{avp{6, "\x00\x00\x00\x06"}, "Service-Type is 6, only 2 can be given"},
		{avp{6, "\x00\x02"}, "Service-Type has 2 octets in place of 4"},
		{avp{7, "\x00\x00\x00\x02"}, "Framed-Protocol is 2, only 1 can be given"},
		{avp{8, "\x64\x40\x00"}, "Framed-IP-Address has 3 octets in place of 4"},
		{avp{8, strings.Repeat("\x20", 16)}, "Framed-IP-Address has 16 octets in place of 4"},
		{avp{8, "\x00\x00\x00\x00"}, "Framed-IP-Address 0.0.0.0 is no host's address"},
		{avp{8, "\xe0\x00\x00\x01"}, "Framed-IP-Address 224.0.0.1 is no host's address"},
		{avp{8, "\x7f\x00\x00\x01"}, "Framed-IP-Address 127.0.0.1 is no host's address"},
		{avp{8, "\xf0\x00\x00\x01"}, "Framed-IP-Address 240.0.0.1 is no host's address"},
		{avp{27, "\x00"}, "Session-Timeout has 1 octets in place of 4"},
		{avp{85, "12345"}, "Acct-Interim-Interval has 5 octets in place of 4"},
		{avp{25, ""}, "Class is empty"},
		{avp{1, ""}, "User-Name is empty"},
		{avp{26, "\x00\x00\x01"}, "Vendor-Specific has 3 octets, too few"},
		{avp{26, "\x00\x00\x01\x37\x1c\x05\x01\x01\x01"}, "MS-Primary-DNS-Server has 3 octets in place of 4"},
		{avp{26, "\x00\x00\x01\x37\x1c\x07\x01\x01\x01\x01"}, "Microsoft attribute has a wrong length"},
		{avp{26, "\x00\x00\x01\x37\x1c"}, "Microsoft attribute has a wrong length"},
	}
	for _, tt := range tests {
		if _, err := decodeAccept(attributes(tt.attribute)); err == nil || err.Error() != tt.want {
			t.Errorf("%v: %v, want %q", tt.attribute, err, tt.want)
		}
	}
}

func FuzzOpenReply(f *testing.F) {
	request := make([]byte, 20)
	f.Add(answer(request, radius.CodeAccessAccept, "secret", true, avp{18, "hello"}))
	f.Add(answer(request, radius.CodeAccessReject, "secret", false))
	f.Add([]byte{2, 0, 0, 20})
	f.Fuzz(func(t *testing.T, datagram []byte) {
		for _, signed := range []bool{true, false} {
			r, err := openReply(datagram, proof{secret: []byte("secret"), mustBeSigned: signed})
			if err == nil && len(datagram) < headerBytes+len(r.attributes)*2 {
				t.Error("more attributes than octets")
			}
		}
	})
}

// FuzzAccept gives the decoder what an authentic server may send.
func FuzzAccept(f *testing.F) {
	for _, seed := range []string{
		"\x06\x06\x00\x00\x00\x02\x08\x06\x64\x40\x00\x09\x19\x05abc", "\x1a\x0c\x00\x00\x01\x37\x1c\x06\x09\x09\x09\x09",
		"\x61\x0c\x00\x40\x20\x01\x0d\xb8\x00\x01\x00\x02\x7b\x08\x00\x30\x20\x01\x0d\xb8\x60\x0a\x00\x00\x00\x00\x00\x00\x00\x07",
		"\xa8\x12\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x64\x03a\xab\x03b\xac\x03c",
		"\x1a\x08\x00\x00\x00\x09\x01\x02", "\x55\x06\x00\x00\x00\x00", "\x12\x02",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		all, err := radius.ParseAttributes(content)
		if err != nil {
			return
		}
		got, err := decodeAccept(all)
		if err != nil {
			return
		}
		g := got.grant
		if g.Address.IsValid() && (!g.Address.Is4() || g.Address.IsMulticast()) {
			t.Errorf("address %v", g.Address)
		}
		if g.InterimInterval != 0 && g.InterimInterval < interimFloor || g.SessionTimeout < 0 {
			t.Errorf("interim %v, timeout %v", g.InterimInterval, g.SessionTimeout)
		}
		decodeMessage(all)
		accountingIgnored(all)
	})
}
