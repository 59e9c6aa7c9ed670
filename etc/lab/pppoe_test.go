//go:build lab

package lab

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// transferBytes go each way over TCP.
const transferBytes = 4_000_000

// passwords are those of radius/users.
var passwords = map[string]string{"alice": "wonderland", "bob": "builder", "sim1": "sim", "mallory": "any"}

// TestKernelPPPoE dials in with pppd on a Linux kernel's PPPoE, against FreeRADIUS, in each kind of
// authentication and tagging.
func TestKernelPPPoE(t *testing.T) {
	l := New(t)
	l.Wire()
	l.FreeRADIUS(false)
	access, core, radius := l.Capture("A", "acc0"), l.Capture("I", "net0"), l.Capture("S", "rad0")
	r := l.StartRouter(radiusConfig("", ""))
	l.ServeTransfers()

	for i, c := range []struct{ name, user, auth, vlan string }{
		{"chap-untagged", "alice", "chap", "none"},
		{"pap-untagged", "bob", "pap", "none"},
		{"chap-dot1q", "bob", "chap", "77"},
		{"pap-qinq", "bob", "pap", "100.200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := l.Guest(c.name, "pppoe", i+1, "user="+c.user, "password="+passwords[c.user], "auth="+c.auth,
				"vlan="+c.vlan, "server="+InternetAddr, fmt.Sprintf("bytes=%d", transferBytes))
			g.Wait(t, 100*time.Second)
			checkGuest(t, g, c.auth)
		})
	}
	t.Log(r.CLI("show engine"))
	l.Verify(access, core, radius)
}

// checkGuest judges what a guest of role pppoe reported.
func checkGuest(t *testing.T, g *Guest, auth string) {
	t.Helper()
	got := g.Results()
	for name, want := range map[string]string{"up": "yes", "ping": "ok", "ping1464": "ok"} {
		if got[name] != want {
			t.Errorf("guest: %s = %q, want %q", name, got[name], want)
		}
	}
	for _, direction := range []string{"tcp-up", "tcp-down"} {
		if want := fmt.Sprintf("sent=%[1]d received=%[1]d same=yes", transferBytes); got[direction] != want {
			t.Errorf("guest: %s: %q, want %q", direction, got[direction], want)
		}
	}
	if !strings.HasPrefix(got["dns"], "9.9.9.9 149.112.112.112") {
		t.Errorf("guest: dns = %q", got["dns"])
	}
	if got["echo-replies"] == "0" || got["echo-replies"] == "" {
		t.Errorf("guest: no LCP echo was answered")
	}
	need(t, strings.ToUpper(g.Output()), strings.ToUpper(auth))
	if t.Failed() {
		t.Log(g.Output())
	}
}

// TestFiftySubscribers dials 50 pppd on one wire, each with a VLAN pair, a MAC and a payload of its own.
func TestFiftySubscribers(t *testing.T) {
	long(t)
	l := New(t)
	l.Wire()
	l.FreeRADIUS(false)
	r := l.StartRouter(radiusConfig("", ""))
	g := l.Guest("many", "many", 1, "count=50", "user=sim1", "password=sim", "server="+InternetAddr)
	Until(t, 90*time.Second, "50 sessions up", func() bool {
		return strings.Count(r.CLI("show subscribers"), "sim1") == 50
	})
	g.Wait(t, 100*time.Second)
	for name, want := range map[string]string{"up": "50", "addresses": "50", "payloads": "50"} {
		if got := g.Results()[name]; got != want {
			t.Errorf("guest: %s = %q, want %q\n%s", name, got, want, g.Output())
		}
	}
}

// TestLegacyRADIUS proves both sides of the Message-Authenticator rule with an unchanged FreeRADIUS,
// which puts none into its Access-Accept: refused by default, accepted from a server marked legacy.
func TestLegacyRADIUS(t *testing.T) {
	l := New(t)
	l.Wire()
	l.FreeRADIUS(true)
	r := l.StartRouter(radiusConfig("", ""))

	g := l.Guest("strict", "pppoe", 1, "user=bob", "password=builder", "auth=chap", "vlan=none", "server="+InternetAddr)
	g.Wait(t, 100*time.Second)
	if got := g.Results()["up"]; got != "no" {
		t.Errorf("an Accept without Message-Authenticator was believed (up = %q)", got)
	}
	need(t, r.CLI("show pppoe"), "radius-no-answer")

	r.CLI("configure", "radius server main", "legacy", "commit")
	g = l.Guest("legacy", "pppoe", 2, "user=bob", "password=builder", "auth=chap", "vlan=none", "server="+InternetAddr)
	g.Wait(t, 100*time.Second)
	if got := g.Results()["ping"]; got != "ok" {
		t.Errorf("legacy server: ping = %q\n%s", got, g.Output())
	}
}

// TestRefused shows the server's words to the client and leaves nothing behind.
func TestRefused(t *testing.T) {
	l := New(t)
	l.Wire()
	l.FreeRADIUS(false)
	r := l.StartRouter(radiusConfig("", ""))
	for i, c := range []struct{ user, password, auth, words string }{
		{"mallory", "any", "chap", "Your account is locked"},
		{"bob", "wrong", "pap", "authentication failed"},
	} {
		g := l.Guest(c.user, "pppoe", i+1, "user="+c.user, "password="+c.password, "auth="+c.auth, "vlan=none", "server="+InternetAddr)
		g.Wait(t, 100*time.Second)
		if got := g.Results()["up"]; got != "no" {
			t.Errorf("%s came up with a wrong password", c.user)
		}
		need(t, g.Output(), c.words)
	}
	need(t, r.CLI("show pppoe"), "authentication-rejected")
	if out := r.CLI("show subscribers"); strings.Contains(out, "bob") || strings.Contains(out, "mallory") {
		t.Errorf("left behind:\n%s", out)
	}
}

// TestMaxPayload negotiates an MTU of 1,500 bytes by PPP-Max-Payload (RFC 4638), and uses all of it both ways.
func TestMaxPayload(t *testing.T) {
	long(t)
	l := New(t)
	l.Wire()
	l.FreeRADIUS(false)
	access, core, radius := l.Capture("A", "acc0"), l.Capture("I", "net0"), l.Capture("S", "rad0")
	r := l.StartRouter(radiusConfig("", "mru 1500\n mtu 1500"))
	l.ServeTransfers()
	g := l.JumboGuest("jumbo", "pppoe", 1, "user=bob", "password=builder", "auth=chap", "vlan=none", "server="+InternetAddr,
		fmt.Sprintf("bytes=%d", transferBytes), "mtu=1500", "hold=8")
	Until(t, 90*time.Second, "the guest has used its line", func() bool { return g.Results()["tcp-down"] != "" || g.Ended() })
	need(t, r.CLI("show subscribers detail"), "1500, 1460, 1500 bytes")
	l.pingsFromInternet(t, g.Results()["address"], "-M", "do", "-s", "1472")
	g.Wait(t, 60*time.Second)
	checkGuest(t, g, "chap")
	if got := g.Results()["ping1472"]; got != "ok" {
		t.Errorf("guest: ping1472 = %q", got)
	}
	l.Decoded(access, core, radius)
	l.Saw(access, "eth.src == "+l.mac("access0"), "pppoe.code == 0x07 && pppoed.tags.max_payload == 05:dc", "pppoe.code == 0x65 && pppoed.tags.max_payload == 05:dc",
		"pppoes && ip.len == 1500")
}
