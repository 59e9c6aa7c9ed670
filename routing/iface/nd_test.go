package iface

import (
	"strings"
	"testing"
	"time"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// newLAN6 returns interface 1, core0, up with 2001:db8::1/64, and what it says at first over.
func newLAN6(t *testing.T) *bench {
	b := newBench(t, "", "core0")
	b.configure(t, "interface core0\n ipv6 address 2001:db8::1/64\n")
	b.up(1, 1)
	b.advance(10 * time.Second)
	b.programmed()
	b.sent()
	return b
}

const (
	question6 = "port 1 02:00:00:00:00:01 > 33:33:ff:00:00:07: 2001:db8::1 > ff02::1:ff00:7 asks for 2001:db8::7 mac 02:00:00:00:00:01"
	probing6  = "port 1 02:00:00:00:00:01 > 06:00:00:00:00:07: 2001:db8::1 > 2001:db8::7 asks for 2001:db8::7 mac 02:00:00:00:00:01"
)

func (b *bench) gleans6(id entry.InterfaceID, destination string) {
	data := make([]byte, wire.EthernetLength+wire.IPv6Length)
	wire.PutIPv6(data[wire.EthernetLength:], addr("2001:db8:9::9").As16(), addr(destination).As16(), wire.NextNone, 64, 0)
	b.Punt(entry.Punt{Class: entry.ClassGlean, Interface: id, Payload: wire.EthernetLength, Data: data})
	b.settle()
}

func (b *bench) stateOf(id entry.InterfaceID, a string) string {
	n := b.links[id].neighbors[addr(a)]
	if n == nil {
		return "none"
	}
	return n.state.String()
}

// TestIPv6Interface: entries, routes, and how our addresses are made known.
func TestIPv6Interface(t *testing.T) {
	b := newBench(t, "", "core0", "loopback0")
	b.configure(t, "interface core0\n ipv6 address 2001:db8::1/64\n ip tcp adjust-mss 1400\n ip verify unicast source reachable-via rx\n!\n"+
		"interface loopback0\n ip address 192.0.2.1/32\n ipv6 address 2001:db8:ff::1/128\n")
	b.up(1, 1)
	b.expect(t, "entries", lines(b.forwarder.entriesText()), lines(`port 1 driver af-packet device core0
vrf 0
interface 1 port 1 vrf 0 mtu 1500 source4 192.0.2.1 source6 2001:db8::1 verify strict mss 1400
local 2001:db8::1 interface 1
local fe80::ff:fe00:1 interface 1
route 2001:db8::/64 vrf 0 to connected interface 1
route 2001:db8::1/128 vrf 0 to local
route 192.0.2.1/32 vrf 0 to local
route 2001:db8:ff::1/128 vrf 0 to local`))
	b.expect(t, "duplicate address detection", b.sent(),
		"port 1 02:00:00:00:00:01 > 33:33:ff:00:00:01: :: > ff02::1:ff00:1 asks for 2001:db8::1\n"+
			"port 1 02:00:00:00:00:01 > 33:33:ff:00:00:01: :: > ff02::1:ff00:1 asks for fe80::ff:fe00:1")
	b.advance(time.Second)
	b.expect(t, "advertised", b.sent(),
		"port 1 02:00:00:00:00:01 > 33:33:00:00:00:01: 2001:db8::1 > ff02::1 says 0xa0 of 2001:db8::1 mac 02:00:00:00:00:01\n"+
			"port 1 02:00:00:00:00:01 > 33:33:00:00:00:01: fe80::ff:fe00:1 > ff02::1 says 0xa0 of fe80::ff:fe00:1 mac 02:00:00:00:00:01")
	b.programmed()
	b.configure(t, "interface core0\n ipv6 enable\n ipv6 address fe80::1 link-local\n")
	if got := b.forwarder.entriesText(); !strings.Contains(got, "local fe80::1 interface 1") || strings.Contains(got, "2001:db8") {
		t.Errorf("with a link-local address of the operator's:\n%s", got)
	}
}

func TestNeighborSolicitation(t *testing.T) {
	b := newLAN6(t)
	b.gleans6(1, "2001:db8::7")
	b.expect(t, "asked", b.sent(), question6)
	b.hearsND(1, nd{advert: true, flags: wire.NAFlagSolicited | wire.NAFlagOverride, source: "2001:db8::7", destination: "2001:db8::1", target: "2001:db8::7", mac: 7})
	b.expect(t, "resolved", b.programmed(), `put neighbor 2001:db8::7 interface 1 mac 06:00:00:00:00:07
--
put route 2001:db8::7/128 vrf 0 to neighbor 2001:db8::7 interface 1
`)
	b.advance(19 * time.Minute)
	b.advance(time.Minute)
	if got := b.sent(); !strings.Contains(got, probing6) || strings.Count(got, "\n") < 3 {
		t.Errorf("verification: %s", got)
	}
	b.gleans6(1, "2001:db8:9::9")
	if b.nd.offLink != 1 {
		t.Error("a destination that is on no network of the link was not counted")
	}
}

// TestAdvertisements follows RFC 4861 7.2.5 and appendix C.
func TestAdvertisements(t *testing.T) {
	const solicited, override = wire.NAFlagSolicited, wire.NAFlagOverride
	for _, c := range []struct {
		name  string
		flags uint8
		mac   byte // 0: no option
		state string
		after byte // MAC
	}{
		{"solicited, same", solicited, 7, "reachable", 7},
		{"solicited, no option", solicited, 0, "reachable", 7},
		{"solicited, other without override", solicited, 8, "stale", 7},
		{"solicited, other with override", solicited | override, 8, "reachable", 8},
		{"unsolicited, same", override, 7, "reachable", 7},
		{"unsolicited, other with override", override, 8, "stale", 8},
		{"unsolicited, other", 0, 8, "stale", 7},
	} {
		b := newLAN6(t)
		b.gleans6(1, "2001:db8::7")
		b.hearsND(1, nd{advert: true, flags: solicited, source: "2001:db8::7", destination: "2001:db8::1", target: "2001:db8::7", mac: 7})
		destination := "2001:db8::1"
		if c.flags&solicited == 0 {
			destination = "ff02::1"
		}
		b.hearsND(1, nd{advert: true, flags: c.flags, source: "2001:db8::7", destination: destination, target: "2001:db8::7", mac: c.mac})
		n := b.links[1].neighbors[addr("2001:db8::7")]
		if n.state.String() != c.state || n.mac[5] != c.after {
			t.Errorf("%s: %v at %v, want %s at ..%02x", c.name, n.state, n.mac, c.state, c.after)
		}
	}
	b := newLAN6(t)
	b.hearsND(1, nd{advert: true, flags: override, source: "2001:db8::7", destination: "ff02::1", target: "2001:db8::7", mac: 7})
	if got := b.stateOf(1, "2001:db8::7"); got != "none" || b.nd.unsolicited != 1 {
		t.Errorf("an advertisement of somebody unknown: %s, counted %d", got, b.nd.unsolicited)
	}
}

// TestWhoAsksIsLearnt: RFC 4861 7.2.3, stale until it is proven.
func TestWhoAsksIsLearnt(t *testing.T) {
	b := newLAN6(t)
	b.hearsND(1, nd{source: "2001:db8::7", destination: "ff02::1:ff00:1", target: "2001:db8::1", mac: 7})
	b.expect(t, "used", b.programmed(), `put neighbor 2001:db8::7 interface 1 mac 06:00:00:00:00:07
--
put route 2001:db8::7/128 vrf 0 to neighbor 2001:db8::7 interface 1
`)
	b.expect(t, "verified", b.sent(), probing6)
	b.hearsND(1, nd{source: "2001:db8::8", destination: "ff02::1:ff00:9", target: "2001:db8::9", mac: 8})
	if got := b.stateOf(1, "2001:db8::8"); got != "none" {
		t.Errorf("who asks for somebody else is %s", got)
	}
	b.hearsND(1, nd{source: "fe80::7", destination: "ff02::1:ff00:1", target: "fe80::ff:fe00:1", mac: 7})
	if got := b.programmed(); strings.Contains(got, "route") {
		t.Errorf("a link-local neighbour has a route: %s", got)
	}
}

// TestLinkLocalNextHop: RFC 4861 has routers name their link-local addresses.
func TestLinkLocalNextHop(t *testing.T) {
	b := newLAN6(t)
	b.Want(1, addr("fe80::9"), func() {})
	b.settle()
	b.expect(t, "entry", b.programmed(), "put neighbor fe80::9 interface 1 unresolved\n")
	if got := b.sent(); !strings.Contains(got, "fe80::ff:fe00:1 > ff02::1:ff00:9 asks for fe80::9") {
		t.Errorf("sent %q", got)
	}
	b.hearsND(1, nd{advert: true, flags: wire.NAFlagSolicited | wire.NAFlagRouter, source: "fe80::9", destination: "fe80::ff:fe00:1", target: "fe80::9", mac: 9})
	b.expect(t, "resolved", b.programmed(), "put neighbor fe80::9 interface 1 mac 06:00:00:00:00:09\n")
	b.Unwant(1, addr("fe80::9"))
	b.settle()
	b.expect(t, "no longer a next hop", b.programmed(), "delete neighbor fe80::9 interface 1\n")
}

// TestDuplicateAddress: others who have or want an address of ours are told so, and counted.
func TestDuplicateAddress(t *testing.T) {
	defence := "port 1 02:00:00:00:00:01 > 33:33:00:00:00:01: 2001:db8::1 > ff02::1 says 0xa0 of 2001:db8::1 mac 02:00:00:00:00:01"
	for _, m := range []nd{
		{source: "::", destination: "ff02::1:ff00:1", target: "2001:db8::1"},
		{advert: true, source: "2001:db8::1", destination: "ff02::1", target: "2001:db8::1", mac: 7},
		{source: "2001:db8::1", destination: "ff02::1:ff00:1", target: "2001:db8::1", mac: 7},
	} {
		b := newLAN6(t)
		b.hearsND(1, m)
		if b.nd.conflicts != 1 {
			t.Errorf("%+v: %d conflicts", m, b.nd.conflicts)
		}
		b.expect(t, "defence", b.sent(), defence)
	}
}

// TestRefusedND: RFC 4861 7.1.
func TestRefusedND(t *testing.T) {
	good := nd{source: "2001:db8::7", destination: "2001:db8::1", target: "2001:db8::1", mac: 7}
	if _, ok := decodeND(good.packet()); !ok {
		t.Fatal("a good one is refused")
	}
	for name, spoil := range map[string]func(m *nd){
		"hop limit":              func(m *nd) { m.hopLimit = 254 },
		"multicast target":       func(m *nd) { m.target = "ff02::1" },
		"solicited to a group":   func(m *nd) { m.advert, m.flags, m.destination = true, wire.NAFlagSolicited, "ff02::1" },
		"unspecified to unicast": func(m *nd) { m.source, m.mac = "::", 0 },
		"unspecified, option":    func(m *nd) { m.source, m.destination = "::", "ff02::1:ff00:1" },
	} {
		m := good
		spoil(&m)
		if _, ok := decodeND(m.packet()); ok {
			t.Errorf("%s: taken", name)
		}
	}
	bad := good.packet()
	bad[wire.IPv6Length+2]++
	if _, ok := decodeND(bad); ok {
		t.Error("wrong checksum: taken")
	}
}

func TestNamedNeighbors(t *testing.T) {
	b := newBench(t, "", "core0")
	text := "interface core0\n ip address 10.0.0.1/24\n ip arp 10.0.0.7 mac 06:00:00:00:00:07\n ipv6 address 2001:db8::1/64\n ipv6 neighbor 2001:db8::7 mac 06:00:00:00:00:08\n"
	b.configure(t, text)
	b.up(1, 1)
	if got := b.forwarder.entriesText(); !strings.Contains(got, "neighbor 10.0.0.7 interface 1 mac 06:00:00:00:00:07") || !strings.Contains(got, "neighbor 2001:db8::7 interface 1 mac 06:00:00:00:00:08") {
		t.Errorf("entries:\n%s", got)
	}
	b.advance(10 * time.Second)
	b.sent()
	b.hears(1, wire.ARPReply, 9, "10.0.0.7", "10.0.0.1")
	b.advance(30 * time.Minute)
	if got := b.sent(); got != "" || b.links[1].neighbors[addr("10.0.0.7")].mac[5] != 7 {
		t.Errorf("asked or overridden: %s", got)
	}
	b.configure(t, "interface core0\n ip address 10.0.0.1/24\n ipv6 address 2001:db8::1/64\n")
	if got := b.forwarder.entriesText(); strings.Contains(got, "neighbor") {
		t.Errorf("entries:\n%s", got)
	}
}

func FuzzNeighborDiscovery(f *testing.F) {
	f.Add(nd{source: "2001:db8::7", destination: "2001:db8::1", target: "2001:db8::1", mac: 7}.packet())
	f.Add(nd{advert: true, flags: 0x60, source: "2001:db8::7", destination: "2001:db8::1", target: "2001:db8::7", mac: 7}.packet())
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, ok := decodeND(b); ok && (m.target.IsMulticast() || m.mac[0]&1 != 0) {
			t.Errorf("taken: %+v", m)
		}
	})
}
