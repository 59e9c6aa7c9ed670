//go:build lab

package lab

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestDualStackKilled kills control, and then the forwarder, under 2,000 PPPoE and 2,000 IPoE subscribers of both
// families with traffic. Without control nothing may go lost that would not be lost with it, and the next one restores
// all sessions as they were. A new forwarder is programmed with all of them; how long that took is reported.
func TestDualStackKilled(t *testing.T) {
	long(t)
	const script = "up; mark @/up; wait @/calm 60s; traffic 10000 12s; report @/calm.json; mark @/calmed; " +
		"wait @/control 60s; mark @/running; traffic 10000 16s; report @/control.json; mark @/restored; " +
		"wait @/forwarder 60s; mark @/moving; traffic 10000 12s; report @/forwarder.json; mark @/replaced; " +
		"wait @/after 60s; traffic 10000 5s; report @/after.json; mark @/well; wait @/done 60s; down 60s"
	l := New(t)
	radius := l.FreeRADIUS(false)
	r := l.StartRouter(dualConfig())
	both := crowds{
		l.Crowd(CrowdPlan{Kind: "pppoe", Number: 1, Count: dualCount, Script: script, Options: dualStack}),
		l.Crowd(CrowdPlan{Kind: "ipoe", Number: 2, Count: dualCount, Script: script, Options: dualStack}),
	}
	both.Marked("up", 120*time.Second)
	both.Mark("calm")
	both.Marked("calmed", 60*time.Second)
	before, drops := r.sessions(t), r.losses()
	if len(before) != 2*dualCount {
		t.Fatalf("%d sessions, want %d", len(before), 2*dualCount)
	}

	both.Mark("control")
	both.Marked("running", 30*time.Second)
	time.Sleep(3 * time.Second)
	r.Control.Kill()
	time.Sleep(3 * time.Second)
	r.Start()
	both.Marked("restored", 120*time.Second)
	lost, own := both.checkFlows(t, "control.json")
	for name, count := range r.losses() {
		if count != drops[name] {
			t.Errorf("%s: %d packets while control was killed", name, count-drops[name])
		}
	}
	r.checkLosses(t, lost, own)
	Until(t, 30*time.Second, "the new control shows the same subscribers", func() bool { return slices.Equal(r.sessions(t), before) })

	both.Mark("forwarder")
	both.Marked("moving", 30*time.Second)
	time.Sleep(3 * time.Second)
	pid := forwarderPid(t, r)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	both.Marked("replaced", 120*time.Second)
	both.Mark("after")
	both.Marked("well", 60*time.Second)
	for _, c := range both {
		replaced, after := c.Report("forwarder.json"), c.Report("after.json")
		t.Logf("%s: longest outage up %.0f ms, down %.0f ms", c.Name, replaced.Traffic.Up.LongestGapMs, replaced.Traffic.Down.LongestGapMs)
		if after.Traffic.Up.Lost > replaced.Traffic.Up.Lost || after.Traffic.Down.Lost > replaced.Traffic.Down.Lost {
			t.Errorf("%s: packets are lost after the new forwarder was programmed: %+v", c.Name, after.Traffic)
		}
	}
	both.checkFlows(t, "after.json")
	if forwarderPid(t, r) == pid {
		t.Errorf("the forwarder is still process %d", pid)
	}
	log, _ := os.ReadFile(r.Control.Log)
	need(t, string(log), "forwarder programmed")
	if after := r.sessions(t); !slices.Equal(after, before) {
		t.Errorf("other sessions than before: %d, %d before", len(after), len(before))
	}

	both.Mark("done")
	for _, c := range both {
		c.Wait(t, 120*time.Second)
	}
	books := newBooks(both, "after.json", ^uint64(0))
	Until(t, 60*time.Second, "a Stop for everybody", func() bool { books.read(radius); return len(books.stops) == 2*dualCount })
	if len(books.began) != 2*dualCount {
		t.Errorf("%d sessions in accounting, want the same %d all the time", len(books.began), 2*dualCount)
	}
	for id, n := range books.began {
		if n != 1 || len(books.stops[id]) != 1 {
			t.Errorf("session %s: %d Starts, %d Stops", id, n, len(books.stops[id]))
		}
	}
}
