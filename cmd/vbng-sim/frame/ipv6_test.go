package frame

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var (
	testMAC  = MAC{2, 0x53, 0, 0, 0, 1}
	testHere = netip.MustParseAddr("fe80::53:ff:fe00:1")
)

func TestIdentifierAndAddresses(t *testing.T) {
	if got := LinkLocal(testMAC.EUI64()); got != testHere {
		t.Errorf("link-local %v", got)
	}
	if got := SolicitedNode(testHere); got != netip.MustParseAddr("ff02::1:ff00:1") {
		t.Errorf("solicited node %v", got)
	}
	if got := GroupMAC(AllServers()); got != (MAC{0x33, 0x33, 0, 1, 0, 2}) {
		t.Errorf("group %v", got)
	}
}

// The checksum was added up by hand: pseudo header, then the message with zero in its place.
func TestRouterSolicitationByteForByte(t *testing.T) {
	want := unhex(t, `60000000 0010 3a ff fe80000000000000005300fffe000001 ff020000000000000000000000000002
		8500 7a86 00000000 0101 025300000001`)
	got := RouterSolicitation(testHere, testMAC)
	if !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	p, err := ParseIPv6(got)
	if err != nil || !p.IsDiscovery() {
		t.Fatalf("%+v, %v", p, err)
	}
	for i := 8; i < len(got); i++ { // all but the first line is covered by the checksum
		changed := bytes.Clone(got)
		changed[i] ^= 4
		if p, err := ParseIPv6(changed); err == nil {
			if _, _, err := ParseICMP6(p); err == nil {
				t.Errorf("byte %d changed, not found", i)
			}
		}
	}
}

func TestRouterAdvertIsRead(t *testing.T) {
	b := unhex(t, `40 c0 0708 00000000 00000000 0101 0200000000aa 0501 0000 000005d4
		0304 40 40 00001c20 00000e10 00000000 20010db8000100020000000000000000
		1903 0000 00000708 20010db8000000000000000000000053`)
	a, err := ParseRouterAdvert(b)
	if err != nil || !a.Managed || !a.Other || a.Lifetime != 30*time.Minute || a.Source != (MAC{2, 0, 0, 0, 0, 0xaa}) || a.MTU != 1492 ||
		len(a.Prefixes) != 1 || len(a.DNS) != 1 {
		t.Fatalf("read as %+v, %v", a, err)
	}
	want := Prefix{Prefix: netip.MustParsePrefix("2001:db8:1:2::/64"), Autonomous: true, Valid: 2 * time.Hour, Preferred: time.Hour}
	if a.Prefixes[0] != want {
		t.Errorf("prefix %+v", a.Prefixes[0])
	}
	b[13] = 0 // an option of length 0
	if _, err := ParseRouterAdvert(b); err == nil {
		t.Error("an option of length 0 was accepted")
	}
}

func TestNeighborMessages(t *testing.T) {
	target := netip.MustParseAddr("2001:db8::1")
	p, _ := ParseIPv6(NeighborAdvertisement(testHere, target, testMAC))
	kind, body, err := ParseICMP6(p)
	n, err2 := ParseNeighbor(body)
	if kind != TypeNeighborAdvertisement || err != nil || err2 != nil || n != (Neighbor{Target: target, Link: testMAC, Solicited: true}) {
		t.Errorf("%d %+v, %v, %v", kind, n, err, err2)
	}
	p, _ = ParseIPv6(NeighborSolicitation(netip.IPv6Unspecified(), target, testMAC))
	_, body, _ = ParseICMP6(p)
	if n, _ := ParseNeighbor(body); n.Link != (MAC{}) || p.Dst != SolicitedNode(target) {
		t.Errorf("a probe bears %+v to %v", n, p.Dst)
	}
}

func TestEchoReply6(t *testing.T) {
	a, b := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	request := AppendICMP6(AppendIPv6(nil, IPv6{Src: a, Dst: b, NextHeader: ICMPv6, HopLimit: 3}, 12), a, b, 128, []byte("12345678"))
	p, err := ParseIPv6(request)
	reply, ok := EchoReply6(p)
	if err != nil || !ok {
		t.Fatal("no reply", err)
	}
	r, _ := ParseIPv6(reply)
	kind, body, err := ParseICMP6(r)
	if kind != 129 || string(body) != "12345678" || err != nil || r.Src != b || r.Dst != a {
		t.Errorf("reply %d %q %+v, %v", kind, body, r, err)
	}
}

func FuzzDiscovery(f *testing.F) {
	f.Add(RouterSolicitation(testHere, testMAC))
	f.Add(NeighborAdvertisement(testHere, testHere, testMAC))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseIPv6(b)
		if err != nil {
			return
		}
		EchoReply6(p)
		ParseUDP6(p)
		ParseRouterAdvert(p.Payload)
		ParseNeighbor(p.Payload)
	})
}
