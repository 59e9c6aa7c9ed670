//go:build lab

package lab

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// TestDualStackPPPoE dials in with pppd, which negotiates IPV6CP; the kernel makes an address of our router
// advertisement, and wide-dhcpv6 asks for an address and a prefix, whose network exchanges traffic with the Internet.
// One subscriber's are fixed in RADIUS, the other's come from pools that RADIUS names.
func TestDualStackPPPoE(t *testing.T) {
	l := New(t)
	l.Wire()
	radius := l.FreeRADIUS(false)
	access, core, wire := l.Capture("A", "acc0"), l.Capture("I", "net0"), l.Capture("S", "rad0")
	r := l.StartRouter(dualConfig())
	l.ServeTransfers()
	guests := map[string]*Guest{}
	for i, user := range []string{"dora", "paul"} {
		guests[user] = l.Guest(user, "dual", i+1, "user="+user, "password="+map[string]string{"dora": "explorer", "paul": "pools"}[user],
			"server="+InternetAddr, "server6="+InternetAddr6, fmt.Sprintf("bytes=%d", transferBytes), "hold=15")
	}
	for user, g := range guests {
		Until(t, 90*time.Second, user+" has used its addresses", func() bool { return g.Results()["own"] != "" || g.Ended() })
	}
	for user, want := range map[string]map[string]string{
		"dora": {"linklocal": "fe80::d0a", "slaac": "2001:db8:d0a:1::d0a", "na": "2001:db8:d0a::1", "own": "2001:db8:d0a:101::/64"},
		"paul": {"linklocal": "fe80::/10", "slaac": "2001:db8:a000::/48", "na": "2001:db8:b000::/64", "own": "2001:db8:c000::/40"},
	} {
		got := guests[user].Results()
		for name, within := range want {
			checkWithin(t, user+" "+name, got[name], within)
		}
		for _, name := range []string{"slaac", "na", "own"} {
			l.pingsFromInternet(t, got[name])
		}
	}
	if t.Failed() {
		t.Log(r.CLI("show subscribers detail"))
	}
	transferred := fmt.Sprintf("sent=%[1]d received=%[1]d same=yes", transferBytes)
	for user, g := range guests {
		g.Wait(t, 60*time.Second)
		for name, want := range map[string]string{"ping6": "ok", "ping6-own": "ok", "ping6-1444": "ok", "ping": "ok", "released": "yes",
			"dns6": "2001:db8::53 2001:db8::54", "tcp-up": transferred, "tcp-down": transferred} {
			if got := strings.TrimSpace(g.Results()[name]); got != want {
				t.Errorf("%s: %s = %q, want %q", user, name, got, want)
			}
		}
	}
	if t.Failed() {
		t.Log(guests["dora"].Output(), guests["paul"].Output())
	}
	Until(t, 20*time.Second, "both Stops", func() bool { return len(radius.Of("Stop")) == 2 })
	told := map[string]bool{}
	for _, record := range radius.Records() {
		told[record["User-Name"]+" "+record["Delegated-IPv6-Prefix"]] = true
	}
	if !told["dora 2001:db8:d0a:100::/56"] {
		t.Errorf("accounting does not tell dora's delegated prefix: %v", told)
	}
	l.Decoded(access, core, wire)
	l.Saw(access, "eth.src == "+l.mac("access0"), "ipv6cp", "icmpv6.type == 134", "dhcpv6.msgtype == 2", "dhcpv6.msgtype == 7")
}

// checkWithin wants an address to lie in a prefix; a bare address is the prefix of itself.
func checkWithin(t *testing.T, what, got, within string) {
	t.Helper()
	if !strings.Contains(within, "/") {
		within += "/128"
	}
	addr, err := netip.ParseAddr(got)
	if err != nil || !netip.MustParsePrefix(within).Contains(addr) {
		t.Errorf("%s = %q, want one of %s", what, got, within)
	}
}

// TestDualStackIPoE serves hosts without PPP: the kernel makes its address of our advertisement, dhclient and dhcpcd
// have IPv4, an IPv6 address and a prefix at once, and addresses of the prefix exchange traffic with the Internet.
func TestDualStackIPoE(t *testing.T) {
	l := New(t)
	l.Wire()
	radius := l.FreeRADIUS(false)
	access, core, wire := l.Capture("A", "acc0"), l.Capture("I", "net0"), l.Capture("S", "rad0")
	r := l.StartRouter(dualConfig("ipv6 valid-lifetime 120", "ipv6 preferred-lifetime 60", "ipv6 ra interval 60"))
	l.ServeTransfers()

	isc, roy := l.Station("isc", "02:1b:00:00:00:01"), l.Station("roy", "02:1c:00:00:00:02")
	roy.Dhcpcd("ia_na 1", "ia_pd 2")
	isc.Dhclient()
	slaac := isc.global(t, "eth0")
	isc.Start6()
	for _, c := range []struct {
		*Station
		slaac, address, address6, prefix6 string
	}{
		{isc, "2001:db8:a000::/48", "100.64.1.27/32", "2001:db8:1b::1", "2001:db8:1b:100::/56"},
		{roy, "2001:db8:a000::/48", "100.64.0.0/18", "2001:db8:b000::/64", "2001:db8:c000::/40"},
	} {
		t.Run(c.Name, func(t *testing.T) {
			Until(t, 30*time.Second, c.Name+" has all addresses", func() bool {
				lease := c.Last(allEvents...)
				return lease["address"] != "" && lease["address6"] != "" && lease["prefix6"] != ""
			})
			lease := c.Last(allEvents...)
			checkWithin(t, "address", lease["address"], c.address)
			checkWithin(t, "address6", lease["address6"], c.address6)
			prefix, err := netip.ParsePrefix(lease["prefix6"])
			if err != nil || prefix.Bits() != 56 {
				t.Fatalf("delegated prefix %q", lease["prefix6"])
			}
			checkWithin(t, "delegated", prefix.Addr().String(), c.prefix6)
			if lease["dns6"] != "2001:db8::53,2001:db8::54" {
				t.Errorf("dns6 = %q", lease["dns6"])
			}
			own := prefix.Addr().Next().String()
			c.In("ip", "addr", "add", own+"/128", "dev", "lo")
			mine := map[string]string{"slaac": c.global(t, "eth0"), "address6": lease["address6"], "own": own}
			checkWithin(t, "slaac", mine["slaac"], c.slaac)
			need(t, r.CLI("show subscribers detail"), lease["prefix6"], lease["address6"], lease["address"])
			for _, from := range mine {
				c.Pings(t, "-I", from, InternetAddr6)
				c.Pings(t, "-M", "do", "-s", "1452", "-I", from, InternetAddr6)
				l.pingsFromInternet(t, from)
			}
			c.Pings(t, InternetAddr)
			c.Transfers(t, InternetAddr)
			via := strings.TrimSpace(c.In("sh", "-c", "ip -6 route show default | sed -nE 's/.*via ([0-9a-f:]+).*/\\1/p' | head -n 1"))
			c.In("ip", "-6", "route", "add", InternetAddr6, "via", via, "dev", "eth0", "src", own)
			c.Transfers(t, InternetAddr6)
		})
	}
	if now := isc.global(t, "eth0"); now != slaac {
		t.Errorf("the kernel's address was %s, is %s", slaac, now)
	}
	for _, s := range []*Station{isc, roy} {
		was := s.Last("BOUND6")
		Until(t, 60*time.Second, s.Name+" renews both", func() bool {
			now := s.Last("RENEW6", "REBIND6")
			return now["address6"] == was["address6"] && now["prefix6"] == was["prefix6"]
		})
	}
	roy.tellDhcpcd(t, "-k")
	Until(t, 20*time.Second, "no lease of "+roy.Name, func() bool { return !strings.Contains(r.CLI("show dhcp leases"), roy.MAC) })
	r.CLI("clear subscriber all")
	Until(t, 20*time.Second, "both Stops", func() bool { return len(radius.Of("Stop")) == 2 })
	l.Decoded(access, core, wire)
	l.Saw(access, "eth.src == "+l.mac("access0"), "icmpv6.type == 134", "dhcpv6.msgtype == 2", "dhcpv6.msgtype == 7")
}

// allEvents are those at which a client has something, of either family.
var allEvents = append([]string{"BOUND6", "RENEW6", "REBIND6"}, append(boundEvents, renewedEvents...)...)

// Start6 asks for an IPv6 address and a prefix with a dhclient of its own.
func (s *Station) Start6() {
	s.lab.t.Helper()
	s.lab.Start(s.Name, "dhclient6-"+s.Name, "dhclient", "-6", "-N", "-P", "-d", "-v", "-sf", s.hook(), "-cf", "/dev/null",
		"-lf", s.file("leases6"), "-pf", s.file("pid6"), "eth0")
}

// global waits for the kernel to have made an address of an advertised prefix, and returns it.
func (s *Station) global(t *testing.T, device string) (addr string) {
	t.Helper()
	Until(t, 20*time.Second, s.Name+" has an address by SLAAC", func() bool {
		for _, line := range strings.Split(s.In("ip", "-6", "-o", "addr", "show", "dev", device, "scope", "global", "-tentative"), "\n") {
			if fields := strings.Fields(line); len(fields) > 3 && strings.HasSuffix(fields[3], "/64") {
				addr, _, _ = strings.Cut(fields[3], "/")
			}
		}
		return addr != ""
	})
	return addr
}
