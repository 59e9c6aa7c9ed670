//go:build lab

package lab

import (
	"fmt"
	"testing"
	"time"
)

const (
	dualCount   = 2000 // subscribers of each kind
	dualCleared = 250  // of each kind, ended by an operator
	dualSilent  = 250  // of each kind, that just stop
	dualRelease = 100  // of each kind, that say goodbye
)

// dualScript is played by both simulators at once: 10 kpps each way each.
var dualScript = fmt.Sprintf("up; mark @/up; wait @/go 120s; traffic 10000 60s; mark @/traffic; spoof 200; report @/traffic.json; mark @/spoofed; "+
	"wait @/cleared 120s; silence %d; release %d 60s; mark @/released; wait @/done 300s; down 60s", dualSilent, dualRelease)

// shortLeases lets an IPoE client's silence end its session within two minutes.
var shortLeases = []string{"lease-time 60", "ipv6 valid-lifetime 60", "ipv6 preferred-lifetime 60"}

// TestDualStack brings up 2,000 subscribers of PPPoE and 2,000 of IPoE with all that IPv4 and IPv6 give and FreeRADIUS,
// verifies every flow of every family for a minute at 20 kpps each way, spoofs, ends 500 by an operator's clear, 500 by
// their silence and 200 by their own word, and compares the server's accounting with what the simulators sent and received.
func TestDualStack(t *testing.T) {
	long(t)
	l := New(t)
	radius := l.FreeRADIUS(false)
	r := l.StartRouter(dualConfig(shortLeases...))
	start := time.Now()
	ppp := l.Crowd(CrowdPlan{Kind: "pppoe", Number: 1, Count: dualCount, Script: dualScript, Options: dualStack})
	ip := l.Crowd(CrowdPlan{Kind: "ipoe", Number: 2, Count: dualCount, Script: dualScript, Options: dualStack})
	both := crowds{ppp, ip}

	both.Marked("up", 120*time.Second)
	Until(t, 30*time.Second, "every Accounting-Start taken", func() bool { return len(radius.Of("Start")) >= 2*dualCount })
	t.Logf("all up and accounted for within %.1f s", time.Since(start).Seconds())
	before := r.losses()
	both.Mark("go")
	both.Marked("traffic", 180*time.Second)
	both.Marked("spoofed", 30*time.Second)
	lost, own := both.checkFlows(t, "traffic.json")
	for _, c := range both {
		report := c.Report("traffic.json")
		t.Logf("%s: %d up in %.1f s, %.0f per second", c.Name, report.Up, report.SetupSeconds, report.SetupRate)
		if report.Up != dualCount || report.UpNow != dualCount || len(report.Faults) > 0 {
			t.Fatalf("%s: %d of %d up, now %d, faults %q", c.Name, report.Up, dualCount, report.UpNow, report.Faults)
		}
	}
	r.checkLosses(t, lost, own)
	r.checkSpoofed(t, before, 2*200)

	ends := map[string]string{} // user to Acct-Terminate-Cause
	var commands []string
	for _, c := range both {
		all := c.Report("traffic.json").Subscribers
		for _, s := range all[:dualSilent] { // the simulator takes the first ones that are up
			ends[s.User] = "Lost-Carrier"
		}
		for _, s := range all[dualSilent : dualSilent+dualRelease] {
			ends[s.User] = "User-Request"
		}
		for _, s := range all[dualCount-dualCleared:] {
			ends[s.User] = "Admin-Reset"
			commands = append(commands, "clear subscriber user "+s.User)
		}
	}
	r.CLI(commands...)
	both.Mark("cleared")
	both.Marked("released", 120*time.Second)
	books := newBooks(both, "traffic.json", lost)
	Until(t, 180*time.Second, "a Stop for each that was cleared, silent or released", func() bool {
		books.read(radius)
		return books.ended(ends) == len(ends)
	})
	books.checkCauses(t, ends)
	t.Logf("router:\n%s%s", r.CLI("show interfaces"), r.CLI("show engine"))

	both.Mark("done")
	for _, c := range both {
		c.Wait(t, 120*time.Second)
	}
	Until(t, 60*time.Second, "no session", func() bool { return len(r.sessions(t)) == 0 })
	Until(t, 30*time.Second, "a Stop for every Start", func() bool { return len(radius.Of("Stop")) == len(radius.Of("Start")) })
	books.read(radius)
	books.check(t)
}

// checkLosses wants every packet that did not arrive to be in a counter with a name: what found a ring full, and what
// came before the Internet side's address was resolved (the packet that asked for it, and those behind it).
func (r *Router) checkLosses(t *testing.T, lost, own uint64) {
	t.Helper()
	const askers = 4 // hosts and families
	explained := r.overflows() + own + r.losses()["adjacency/unresolved"] + askers
	if lost > explained {
		t.Errorf("%d packets lost, full rings and unresolved neighbours explain only %d; drops:\n%v", lost, explained, r.losses())
	}
}

// checkSpoofed wants the source checks to have counted as many packets as were spoofed; none arrived, says the
// simulator. A full ring may have swallowed some.
func (r *Router) checkSpoofed(t *testing.T, before map[string]uint64, sent uint64) {
	t.Helper()
	after := r.losses()
	dropped := uint64(0)
	for _, name := range []string{"source-check/source-not-assigned", "source-check6/source-not-assigned"} {
		dropped += after[name] - before[name]
	}
	if dropped == 0 || dropped > sent {
		t.Errorf("the source checks dropped %d packets, %d were spoofed", dropped, sent)
	}
	t.Logf("source checks dropped %d of %d spoofed packets", dropped, sent)
}
