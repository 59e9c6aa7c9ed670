//go:build lab

package lab

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestTwoThousand brings up 2,000 subscribers of IPv4 alone with FreeRADIUS, verifies every flow for 20 seconds at
// 20 kpps each way (TestDualStack does for a minute), ends 200 by an operator's clear and 200 by their silence, and compares the
// server's accounting with what the simulator sent and received.
func TestTwoThousand(t *testing.T) {
	long(t)
	const count = 2000
	l := New(t)
	radius := l.FreeRADIUS(false)
	r := l.StartRouter(radiusConfig("", ""))
	sim := l.Simulator(fmt.Sprint(count), fmt.Sprintf("up; mark %[1]s/up; traffic 20000 20s; report %[1]s/traffic.json; "+
		"mark %[1]s/traffic; wait %[1]s/cleared 120s; expect-ended 200 60s; silence 200; mark %[1]s/silent; wait %[1]s/done 120s; down", l.Dir), "--max-loss", "100")

	l.Marked("up", 120*time.Second)
	Until(t, 30*time.Second, "every Accounting-Start taken", func() bool { return len(radius.Of("Start")) == count })
	last := time.Now()

	l.Marked("traffic", 180*time.Second)
	report := l.Report("traffic.json")
	rate := float64(count) / (float64(last.UnixMilli())/1000 - report.FirstPADI)
	t.Logf("set-up rate: %.0f sessions per second, first PADI to last Accounting-Response", rate)
	for _, direction := range []struct {
		name string
		SimFlow
	}{{"up", report.Traffic.Up}, {"down", report.Traffic.Down}} {
		t.Logf("%s: %+v", direction.name, direction.SimFlow)
		// How much the machine managed to send is its own affair; what was sent must be right.
		if direction.Received == 0 || direction.Dup+direction.Foreign+direction.Corrupt > 0 {
			t.Errorf("%s: %+v", direction.name, direction.SimFlow)
		}
	}
	// Lost by right is what found a ring full, and what came before the Internet side's address was
	// resolved: the packet that asked for it, and those behind it.
	lost := uint64(report.Traffic.Up.Lost + report.Traffic.Down.Lost)
	if explained := r.overflows() + report.ownDrops() + r.losses()["adjacency/unresolved"] + 1; lost > explained {
		t.Errorf("%d packets lost, full rings and unresolved neighbours explain only %d", lost, explained)
	}
	t.Logf("router:\n%s%s", r.CLI("show interfaces"), r.CLI("show engine"))
	if report.Up != count || len(report.Faults) > 0 {
		t.Fatalf("%d of %d up, faults %q", report.Up, count, report.Faults)
	}
	if got := strings.Count(r.CLI("show subscribers"), "sim"); got < count {
		t.Errorf("show subscribers: %d lines of simulated users, want %d", got, count)
	}

	cleared := map[string]SimSubscriber{}
	var commands []string
	for _, s := range report.Subscribers[:200] {
		cleared[s.User] = s
		commands = append(commands, "clear subscriber user "+s.User)
	}
	r.CLI(commands...)
	l.Mark("cleared")
	l.Marked("silent", 120*time.Second)
	Until(t, 60*time.Second, "one Stop for each of the 400", func() bool { return len(radius.Of("Stop")) >= 400 })
	checkStops(t, radius, cleared)

	l.Mark("done")
	sim.Wait(t, 120*time.Second)
	Until(t, 30*time.Second, "a Stop for everybody", func() bool { return len(radius.Of("Stop")) == count })
	starts := radius.Of("Start")
	for id, stops := range radius.Of("Stop") {
		if len(stops) != 1 || len(starts[id]) != 1 {
			t.Fatalf("session %s: %d Stops", id, len(stops))
		}
	}
}

// checkStops compares Stop records with the simulator's counts.
func checkStops(t *testing.T, radius *RADIUS, cleared map[string]SimSubscriber) {
	t.Helper()
	causes := map[string]int{}
	for id, stops := range radius.Of("Stop") {
		if len(stops) != 1 {
			t.Errorf("session %s has %d Stops", id, len(stops))
		}
		causes[stops[0]["Acct-Terminate-Cause"]]++
		s, ok := cleared[stops[0]["User-Name"]]
		if !ok {
			continue
		}
		if input, output := stops[0].Octets(); input != s.InBytes || output != s.OutBytes {
			t.Errorf("%s: octets %d/%d in the detail file, %d/%d in the simulator", s.User, input, output, s.InBytes, s.OutBytes)
		}
	}
	if causes["Admin-Reset"] != 200 || causes["Lost-Carrier"] != 200 {
		t.Errorf("terminate causes %v, want 200 Admin-Reset and 200 Lost-Carrier", causes)
	}
}
