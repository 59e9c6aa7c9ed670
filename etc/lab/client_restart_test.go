//go:build lab

package lab

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestClientsOutliveRestarts kills control and the forwarder, and stops and starts control, while dhclient and dhcpcd
// hold leases of both families: no ping is lost by what happens to control, nobody loses an address, and the new
// process renews what the old one leased.
func TestClientsOutliveRestarts(t *testing.T) {
	long(t)
	l := New(t)
	l.Wire()
	radius := l.FreeRADIUS(false)
	r := l.StartRouter(dualConfig("lease-time 60"))
	isc, roy := l.Station("isc", "02:00:00:00:0d:01"), l.Station("roy", "02:1c:00:00:00:02")
	isc.NoIPv6()
	isc.Dhclient()
	roy.Dhcpcd("ia_na 1", "ia_pd 2")
	isc.Bound(t, 30*time.Second)
	Until(t, 30*time.Second, "dhcpcd has a prefix", func() bool { return roy.Last("BOUND6")["prefix6"] != "" })
	roy.Bound(t, 30*time.Second)
	own := strings.TrimSuffix(roy.Last("BOUND6")["prefix6"], "/56") + "1"
	roy.In("ip", "addr", "add", own+"/128", "dev", "lo")
	had := map[*Station]map[string]string{isc: isc.Last(allEvents...), roy: roy.Last(allEvents...)}
	targets := []string{had[isc]["address"], had[roy]["address"], had[roy]["address6"], own}
	for _, target := range targets {
		l.pingsFromInternet(t, target)
	}
	before := sessionsByID(r)

	check := func(what string) {
		t.Helper()
		if after := sessionsByID(r); after != before {
			t.Errorf("%s: sessions are\n%s\nand were\n%s", what, after, before)
		}
		renewed := roy.count("RENEW") + roy.count("REBIND")
		roy.tellDhcpcd(t, "-N")
		Until(t, 20*time.Second, what+": dhcpcd renews", func() bool { return roy.count("RENEW")+roy.count("REBIND") > renewed })
		for s, lease := range had {
			for name, now := range s.Last(allEvents...) {
				if now != lease[name] {
					t.Errorf("%s: %s of %s was %s, is %s", what, name, s.Name, lease[name], now)
				}
			}
		}
		for _, target := range targets {
			l.pingsFromInternet(t, target)
		}
	}
	during := func(what string, act func()) {
		t.Helper()
		var pings []*Process
		for i, target := range targets {
			pings = append(pings, l.Start("I", fmt.Sprintf("ping-%s-%d", what, i), "ping", "-i", "0.05", "-q", target))
		}
		time.Sleep(500 * time.Millisecond)
		act()
		time.Sleep(500 * time.Millisecond)
		for i, p := range pings {
			syscall.Kill(p.Pid(), syscall.SIGINT)
			if out := p.Wait(t, 5*time.Second); !strings.Contains(out, " 0% packet loss") {
				t.Errorf("%s: pings to %s:\n%s", what, targets[i], out)
			}
		}
	}

	during("kill", func() {
		r.Control.Kill()
		time.Sleep(time.Second)
		r.Start()
	})
	check("control killed")

	during("stop", func() {
		r.Control.Stop()
		time.Sleep(time.Second)
		r.Start()
	})
	check("control stopped")

	pid := forwarderPid(t, r)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	Until(t, 20*time.Second, "another forwarder", func() bool { return forwarderPid(t, r) != pid })
	for _, target := range targets {
		Until(t, 20*time.Second, "packets to "+target, func() bool {
			internet := &Station{lab: l, Name: "I", dir: l.Dir}
			_, err := internet.Try("ping", "-c", "1", "-W", "1", target)
			return err == nil
		})
	}
	check("forwarder killed")

	renewed := isc.count(renewedEvents...)
	Until(t, 45*time.Second, "dhclient renews", func() bool { return isc.count(renewedEvents...) > renewed })
	check("dhclient renewed")
	if starts, stops := len(radius.Of("Start")), len(radius.Of("Stop")); starts != 2 || stops != 0 {
		t.Errorf("accounting has %d sessions started and %d ended, want 2 and none", starts, stops)
	}
}

// sessionsByID is what "show subscribers" says of sessions, less what changes with time.
func sessionsByID(r *Router) string {
	var lines []string
	for _, line := range strings.Split(r.CLI("show subscribers"), "\n") {
		if fields := strings.Fields(line); len(fields) > 3 && strings.Contains(line, "02:") {
			lines = append(lines, strings.Join(fields[:4], " "))
		}
	}
	return strings.Join(lines, "\n")
}
