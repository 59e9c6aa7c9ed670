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
			"server="+InternetAddr, "server6="+InternetAddr6, fmt.Sprintf("bytes=%d", transferBytes))
	}
	for user, want := range map[string]map[string]string{
		"dora": {"linklocal": "fe80::d0a", "slaac": "2001:db8:d0a:1:0:0:0:d0a/128", "na": "2001:db8:d0a::1/128", "own": "2001:db8:d0a:101::/64"},
		"paul": {"linklocal": "fe80::/10", "slaac": "2001:db8:a000::/48", "na": "2001:db8:b000::/64", "own": "2001:db8:c000::/40"},
	} {
		g := guests[user]
		Until(t, 90*time.Second, user+" has used its addresses", func() bool { return g.Results()["own"] != "" || g.Ended() })
		got := g.Results()
		t.Log(r.CLI("show subscribers user " + user + " detail"))
		for name, within := range want {
			checkWithin(t, user+" "+name, got[name], within)
		}
		for _, name := range []string{"slaac", "na", "own"} {
			l.pingsFromInternet(t, got[name])
		}
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
