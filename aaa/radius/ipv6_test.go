package radius

import (
	"bytes"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"layeh.com/radius"

	"vbng/aaa"
)

const db8 = "\x20\x01\x0d\xb8"

func TestDecodeIPv6(t *testing.T) {
	host := func(last string) string { return db8 + strings.Repeat("\x00", 11) + last }
	got, err := decodeAccept(attributes(
		avp{96, "\x00\x00\x00\x00\x00\x00\x00\x42"},
		avp{97, "\x00\x40" + db8 + "\x00\x01\x00\x02"}, // only as many octets as needed
		avp{123, "\x00\x38" + db8 + "\x00\x01\x02" + strings.Repeat("\x00", 9)},
		avp{168, host("\x01")}, avp{169, host("\x53")}, avp{169, host("\x54")}, avp{169, host("\x55")},
		avp{100, "ra"}, avp{171, "pd"}, avp{172, "na"},
		avp{97, "\x00\x40" + db8 + "\x00\x01\x00\x03"},
	))
	if err != nil {
		t.Fatal(err)
	}
	want := aaa.Grant{
		InterfaceID: 0x42, Prefix: netip.MustParsePrefix("2001:db8:1:2::/64"), PrefixPool: "ra",
		Delegated: netip.MustParsePrefix("2001:db8:1:200::/56"), DelegatedPool: "pd",
		Address6: netip.MustParseAddr("2001:db8::1"), Pool6: "na",
		DNS6: [2]netip.Addr{netip.MustParseAddr("2001:db8::53"), netip.MustParseAddr("2001:db8::54")},
	}
	if !reflect.DeepEqual(got.grant, want) {
		t.Errorf("grant %+v\nwant  %+v", got.grant, want)
	}
	if w := []string{"third DNS-Server-IPv6-Address", "second Framed-IPv6-Prefix"}; !reflect.DeepEqual(got.ignored, w) {
		t.Errorf("ignored %q", got.ignored)
	}
}

func TestUnusableIPv6(t *testing.T) {
	for _, tt := range []struct {
		attribute avp
		want      string
	}{
		{avp{96, "1234567"}, "Framed-Interface-Id has 7 octets in place of 8"},
		{avp{96, strings.Repeat("\x00", 8)}, "Framed-Interface-Id is zero"},
		{avp{97, "\x00"}, "Framed-IPv6-Prefix has 1 octets in place of 2 to 18"},
		{avp{97, "\x00\x40" + db8}, "Framed-IPv6-Prefix has 4 octets, its length is 64 bits"},
		{avp{97, "\x00\x81" + strings.Repeat("\x20", 16)}, "Framed-IPv6-Prefix has 16 octets, its length is 129 bits"},
		{avp{97, "\x00\x40" + db8 + "\x00\x00\x00\x00\x01"}, "Framed-IPv6-Prefix 2001:db8:0:0:100::/64 has bits set beyond its length"},
		{avp{97, "\x00\x38" + db8 + "\x00\x00\x00"}, "Framed-IPv6-Prefix 2001:db8::/56 has a length of 56, only 64 can be given"},
		{avp{97, "\x00\x40\xfe\x80\x00\x00\x00\x00\x00\x00"}, "Framed-IPv6-Prefix fe80::/64 cannot be a subscriber's"},
		{avp{123, "\x00\x00"}, "Delegated-IPv6-Prefix ::/0 cannot be a subscriber's"},
		{avp{123, "\x00\x50" + db8 + "\x00\x00\x00\x00\x00\x00"}, "Delegated-IPv6-Prefix 2001:db8::/80 has a length of 80, only 1 to 64 can be given"},
		{avp{168, db8}, "Framed-IPv6-Address has 4 octets in place of 16"},
		{avp{168, "\xff\x02" + strings.Repeat("\x00", 14)}, "Framed-IPv6-Address ff02:: is no host's address"},
		{avp{169, strings.Repeat("\x00", 15) + "\x01"}, "DNS-Server-IPv6-Address ::1 is no host's address"},
		{avp{100, ""}, "Framed-IPv6-Pool is empty"},
	} {
		if _, err := decodeAccept(attributes(tt.attribute)); err == nil || err.Error() != tt.want {
			t.Errorf("%v: %v, want %q", tt.attribute, err, tt.want)
		}
	}
}

func TestAccountingIPv6(t *testing.T) {
	b := newBench(t, serverA())
	r := record(aaa.Start)
	r.InterfaceID, r.Address6 = 0x42, netip.MustParseAddr("2001:db8::1")
	r.Prefix, r.Delegated = netip.MustParsePrefix("2001:db8:1:2::/64"), netip.MustParsePrefix("2001:db8:1:200::/56")
	b.account(r)
	wire := b.next().wire
	for attribute, want := range map[radius.Type]string{
		96: "\x00\x00\x00\x00\x00\x00\x00\x42", 97: "\x00\x40" + db8 + "\x00\x01\x00\x02",
		123: "\x00\x38" + db8 + "\x00\x01\x02", 168: db8 + strings.Repeat("\x00", 11) + "\x01", 8: "\x64\x40\x00\x02",
	} {
		if got := value(t, wire, attribute); string(got) != want {
			t.Errorf("%s is %x, want %x", attributeName(byte(attribute)), got, want)
		}
	}
	b.account(record(aaa.Stop))
	absent(t, b.next().wire, 96, 97, 123, 168)
}

func TestIPoERequest(t *testing.T) {
	b := newBench(t, serverA())
	r := request("02:00:00:00:00:aa")
	r.Method, r.Line.Access, r.Line.Service = aaa.ByLine, aaa.IPoE, ""
	r.Line.Vendor = []byte("udhcp 1.36")
	b.client.Authorize(r, func(aaa.Answer) {})
	b.drain()
	wire := b.next().wire
	password, err := radius.UserPassword(value(t, wire, 2), []byte("secret-a"), wire[4:20])
	if err != nil || string(password) != "sesame" {
		t.Errorf("User-Password %q, %v", password, err)
	}
	if n := number(t, wire, 61); n != 15 {
		t.Errorf("NAS-Port-Type %d", n)
	}
	if number(t, wire, 6) != 2 || !bytes.Contains(wire, []byte("\x1a\x12\x00\x00\x19\x7f\x24\x0cudhcp 1.36")) {
		t.Error("Service-Type or the vendor class is not there")
	}
	absent(t, wire, 7, 3, 60)
}

func TestNASAddress(t *testing.T) {
	four, six := netip.MustParseAddr("192.0.2.9"), netip.MustParseAddr("2001:db8::9")
	for _, tt := range []struct {
		name     string
		settings Settings
		local    netip.Addr
		want     nas
	}{
		{"nothing known", Settings{}, netip.IPv4Unspecified(), nas{}},
		{"nothing bound", Settings{}, netip.Addr{}, nas{}},
		{"the socket's", Settings{}, four, nas{address4: four}},
		{"the socket's, IPv6", Settings{}, six, nas{address6: six}},
		{"configured", Settings{NASAddress: netip.MustParseAddr("10.0.0.1"), NASAddress6: six}, four,
			nas{address4: netip.MustParseAddr("10.0.0.1"), address6: six}},
		{"one of each", Settings{NASAddress: four}, six, nas{address4: four, address6: six}},
	} {
		if got := nasFor(tt.settings, tt.local); got != tt.want {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	b := newBench(t)
	s := serverA()
	s.Source = six
	s.Address = netip.MustParseAddr("2001:db8::1")
	b.client.Configure(Settings{Servers: []Server{s}, NASIdentifier: "bng1"})
	b.authorize("alice")
	wire := b.next().wire
	if got := value(t, wire, 95); !bytes.Equal(got, six.AsSlice()) {
		t.Errorf("NAS-IPv6-Address %x", got)
	}
	absent(t, wire, 4)
}

func TestGroups(t *testing.T) {
	b := newBench(t)
	groups := map[string][]string{"second": {"b", "a"}, "any": nil, "gone": {"c"}}
	b.client.Configure(Settings{Servers: []Server{serverA(), serverB()}, Groups: groups})
	ask := func(group string) netip.Addr {
		r := request("alice")
		r.Group = group
		b.client.Authorize(r, func(aaa.Answer) {})
		b.drain()
		x := b.next()
		b.accept(x)
		return x.socket.remote.Addr()
	}
	for group, want := range map[string]netip.Addr{"": addressA, "second": addressB, "any": addressA, "gone": addressA, "unheard-of": addressA} {
		if got := ask(group); got != want {
			t.Errorf("group %q asked %v", group, got)
		}
	}
	b.logged("no server of the aaa group is configured")
	r := record(aaa.Start)
	r.Group = "second"
	b.account(r)
	if x := b.next(); x.socket.remote != netip.AddrPortFrom(addressB, 1813) {
		t.Errorf("accounted at %v", x.socket.remote)
	}
	b.pass(17e9) // b is silent: the group's other server has its turn
	for range 2 {
		b.next()
	}
	if x := b.next(); x.socket.remote.Addr() != addressA {
		t.Errorf("then at %v", x.socket.remote)
	}
	if e := b.client.status().Endpoints[1]; !reflect.DeepEqual(e.Groups, []string{"second"}) {
		t.Errorf("groups %v", e.Groups)
	}
}

func TestVRFIsAPlace(t *testing.T) {
	b := newBench(t, serverA())
	b.authorize("alice")
	s := serverA()
	s.VRF = "management"
	b.configure(s)
	b.authorize("bob")
	if len(b.sockets) != 2 || b.sockets[0].vrf != "" || b.sockets[1].vrf != "management" {
		t.Fatalf("%d sockets", len(b.sockets))
	}
	if e := b.client.status().Endpoints[0]; e.VRF != "management" {
		t.Errorf("%+v", e)
	}
	if _, err := OpenVia(hostOnly{})("red", netip.Addr{}, netip.MustParseAddrPort("192.0.2.1:1812"), Sink{}); err == nil {
		t.Error("a socket of a VRF that is not there")
	}
}
