//go:build lab

package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// unconfirmedChange touches the router, its routes and its subscribers.
const unconfirmedChange = `hostname other
ip route 203.0.113.0/24 198.51.100.10
ip pool residential
range 100.65.0.1 100.65.0.254
!
pppoe profile residential
dns 1.1.1.1
!`

// TestCommitConfirmed lets a commit come back by itself after a minute under traffic: once undisturbed, and once with a
// control that is killed and started again meanwhile.
func TestCommitConfirmed(t *testing.T) {
	long(t)
	l := New(t)
	l.SpareLink()
	l.FreeRADIUS(false)
	r := l.StartRouter(changesConfig())
	w := l.newWindows(r, 2, 70*time.Second)
	w.everybody(100, 50)
	base, sessions := r.CLI("show running-config"), r.sessions(t)

	for _, c := range []struct {
		name    string
		disturb func()
	}{
		{"undisturbed", func() {}},
		{"control killed", func() {
			time.Sleep(10 * time.Second)
			r.Control.Kill()
			time.Sleep(5 * time.Second)
			r.Start()
			if running := r.CLI("show running-config"); !strings.Contains(running, "hostname other") {
				t.Errorf("went back at the restart:\n%s", running)
			}
		}},
	} {
		o := w.open(func() {
			r.CLI(append(append([]string{"configure"}, strings.Split(unconfirmedChange, "\n")...), "commit confirmed 1")...)
			begin := time.Now()
			c.disturb()
			Until(t, 65*time.Second, "the router goes back", func() bool {
				running, err := r.try("show running-config")
				return err == nil && running == base
			})
			took := time.Since(begin)
			t.Logf("%s: went back after %.1f s", c.name, took.Seconds())
			if took < 55*time.Second || took > 65*time.Second {
				t.Errorf("%s: went back after %v, want a minute", c.name, took)
			}
		})
		t.Logf("%s: %d packets sent, %d lost, %d of them for want of room in a device", c.name, o.Sent, o.Lost, o.Room)
		if !o.lossless() {
			t.Errorf("%s: %d packets lost, %d explained; %s", c.name, o.Lost, o.Room, o.drops())
		}
		if d := difference(sessions, r.sessions(t)); len(d) > 0 {
			t.Errorf("%s: sessions changed:\n%s", c.name, strings.Join(d, "\n"))
		}
	}
	need(t, r.CLI("show configuration revisions"), "vbng")
	w.close()
}

// kills is how often control is killed amid commits.
const kills = 30

// TestControlKilledInCommits kills control at random moments while an operator's script commits without a pause. Each time it
// must start with what was committed last, or what was just being committed, with no line left out, and with all sessions.
func TestControlKilledInCommits(t *testing.T) {
	long(t)
	l := New(t)
	l.SpareLink()
	l.FreeRADIUS(false)
	r := l.StartRouter(changesConfig())
	w := l.newWindows(r, 1, changeTime)
	w.everybody(50, 25)
	sessions := r.sessions(t)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)

	number, amid := 0, 0
	for kill := range kills {
		committed, trying := l.commitUntilDead(r, number, time.Duration(random.IntN(int(600*time.Millisecond))))
		r.Start()
		number = r.revisionName(t)
		if number < committed || number > trying {
			t.Fatalf("kill %d: change %d runs, %d was committed and %d was tried", kill, number, committed, trying)
		}
		if number == trying {
			amid++ // it was on disk, and nobody was told any more
		}
		need(t, r.CLI("show configuration failed"), "All lines of the configuration were used at start")
		// They are listed as being restored for a moment.
		Until(t, 30*time.Second, fmt.Sprintf("kill %d: the same sessions are up", kill), func() bool { return len(difference(sessions, r.sessions(t))) == 0 })
	}
	t.Logf("%d changes, %d kills, after %d of them what had not been answered was there", number, kills, amid)
	if o := w.open(func() {}); !o.lossless() {
		t.Errorf("after all: %d packets lost, %d explained; %s", o.Lost, o.Room, o.drops())
	}
	w.close()
}

// commitUntilDead commits changes number+1, number+2, ... and kills control after some time. It returns the last change that
// was confirmed to be committed, and the last that was tried.
func (l *Lab) commitUntilDead(r *Router, number int, after time.Duration) (committed, trying int) {
	l.t.Helper()
	type result struct{ committed, trying int }
	done := make(chan result)
	go func() {
		committed, trying := number, number
		for {
			trying++
			if !r.commitNumber(trying) {
				break
			}
			committed = trying
		}
		done <- result{committed, trying}
	}()
	time.Sleep(after)
	r.Control.Kill()
	got := <-done
	return got.committed, got.trying
}

// commitNumber commits a change that tells its number, and touches more than the name. It may be called from any goroutine.
func (r *Router) commitNumber(number int) bool {
	lines := []string{"configure", fmt.Sprintf("hostname n%d", number), "interface core0", fmt.Sprintf("description \"Change %d\"", number), "!"}
	for i := range 20 {
		if no := map[bool]string{true: "no "}[number%2 == 0]; no == "" || number > 1 {
			lines = append(lines, fmt.Sprintf("%sip route 10.%d.0.0/16 198.51.100.2", no, 100+i))
		}
	}
	_, err := r.try(append(lines, "commit")...)
	return err == nil
}

// revisionName returns the number of the change that runs, 0 before the first.
func (r *Router) revisionName(t *testing.T) (number int) {
	t.Helper()
	lines := strings.Split(r.CLI("show running-config"), "\n")
	name, _ := strings.CutPrefix(lines[slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "hostname ") })], "hostname ")
	fmt.Sscanf(name, "n%d", &number)
	return number
}
