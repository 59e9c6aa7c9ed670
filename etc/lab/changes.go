//go:build lab

package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The two simulators of the tests of changes: each is a host behind static routes of its own.
const (
	pppoeHost, pppoeHost6 = "203.0.113.3", "2001:db8:f1::3"
	ipoeHost, ipoeHost6   = "203.0.114.3", "2001:db8:f2::3"
	pppoeMAC, ipoeMAC     = "02:49:00:00:00:01", "02:49:00:00:00:02"
)

// trafficSeconds is how long packets flow in a window; within it a change is made, and taken back.
const trafficSeconds = 2.5

// crowd is a simulator that sends in windows.
type crowd struct {
	name  string
	sim   *Process
	count int
	last  SimReport
}

// Windows plays PPPoE and IPoE subscribers with traffic in windows that a test opens.
type Windows struct {
	l      *Lab
	r      *Router
	crowds []*crowd
	next   int
}

// startWindows brings both kinds of subscribers up and waits for them.
func (l *Lab) startWindows(r *Router, pppoe, ipoe, windows int) *Windows {
	l.t.Helper()
	w := &Windows{l: l, r: r}
	hosts := func(host, host6, mac string) []string {
		return []string{"--internet-address", host + "/0", "--internet-address6", host6 + "/0", "--gateway6", CoreAddr6, "--internet-mac", mac}
	}
	w.add("pppoe", pppoe, windows, 3000, append(hosts(pppoeHost, pppoeHost6, pppoeMAC), "--user", "sim%d", "--password", "sim", "--svlan", "100-103", "--cvlan", "1-50")...)
	w.add("ipoe", ipoe, windows, 1000, append(hosts(ipoeHost, ipoeHost6, ipoeMAC), "--mac-base", "02:54:00:00:00:01", "--svlan", "200-201", "--cvlan", "1-50")...)
	for _, c := range w.crowds {
		w.until(c, "up", 90*time.Second)
	}
	return w
}

func (w *Windows) add(name string, count, windows, perSecond int, options ...string) {
	script := []string{"up", "mark %D/up"}
	for i := range windows {
		script = append(script, fmt.Sprintf("wait %%D/../open-%[1]d 1h; mark %%D/opened-%[1]d; traffic %[2]d %[3]vs; report %%D/report-%[1]d; mark %%D/closed-%[1]d",
			i, perSecond, trafficSeconds))
	}
	script = append(script, "down")
	dir := filepath.Join(w.l.Dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.l.t.Fatal(err)
	}
	command := append([]string{Bin("vbng-sim"), name, "--interface", w.l.NS("A") + ":acc0", "--internet", w.l.NS("I") + ":net0", "--gateway", CoreAddr,
		"--count", fmt.Sprint(count), "--ipv6-na", "--ipv6-pd", "--json", "--max-loss", "100",
		"--script", strings.ReplaceAll(strings.Join(script, "; "), "%D", dir)}, options...)
	w.crowds = append(w.crowds, &crowd{name: name, count: count, sim: w.l.Start("A", "vbng-sim-"+name, command...)})
}

func (w *Windows) until(c *crowd, mark string, limit time.Duration) {
	w.l.t.Helper()
	Until(w.l.t, limit, c.name+": "+mark, func() bool {
		if c.sim.Ended() {
			w.l.t.Fatalf("%s ended before its mark %q:\n%s", c.name, mark, c.sim.Output())
		}
		_, err := os.Stat(filepath.Join(w.l.Dir, c.name, mark))
		return err == nil
	})
}

// outcome is what one window showed.
type outcome struct {
	Sent, Lost int
	Room       uint64            // packets for which a device had no room
	Drops      map[string]uint64 // the forwarder's, by name
	Faults     []string
}

// unexplained are packets that nothing admits to have dropped.
func (o outcome) unexplained() int { return max(0, o.Lost-int(o.Room)) }

// lossless reports whether the router has lost nothing.
func (o outcome) lossless() bool {
	return o.unexplained() == 0 && len(o.Drops) == 0 && len(o.Faults) == 0
}

func (o outcome) drops() string {
	var words []string
	for name, n := range o.Drops {
		words = append(words, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(words)
	return strings.Join(append(words, o.Faults...), ", ")
}

// open lets traffic flow for a window, calls during while it does, and returns what was lost in it.
func (w *Windows) open(during func()) outcome {
	w.l.t.Helper()
	number := w.next
	w.next++
	drops, room := w.r.losses(), w.r.overflows()
	w.l.Mark(fmt.Sprintf("open-%d", number))
	for _, c := range w.crowds {
		w.until(c, fmt.Sprintf("opened-%d", number), 20*time.Second)
	}
	time.Sleep(500 * time.Millisecond)
	during()
	o := outcome{Drops: map[string]uint64{}}
	for _, c := range w.crowds {
		w.until(c, fmt.Sprintf("closed-%d", number), 30*time.Second)
		report := w.l.Report(fmt.Sprintf("%s/report-%d", c.name, number))
		was := c.last
		c.last = report
		o.Sent += report.Traffic.Up.Sent + report.Traffic.Down.Sent - was.Traffic.Up.Sent - was.Traffic.Down.Sent
		o.Lost += report.Traffic.Up.Lost + report.Traffic.Down.Lost - was.Traffic.Up.Lost - was.Traffic.Down.Lost
		o.Room += report.ownDrops() - was.ownDrops()
		for _, fault := range report.Faults {
			if !slices.Contains(was.Faults, fault) {
				o.Faults = append(o.Faults, c.name+": "+fault)
			}
		}
	}
	o.Room += w.r.overflows() - room
	for name, n := range w.r.losses() {
		if n != drops[name] {
			o.Drops[name] = n - drops[name]
		}
	}
	return o
}

// close lets everybody hang up, whether or not all windows were used.
func (w *Windows) close() {
	for _, c := range w.crowds {
		c.sim.Stop()
	}
}

// sessions lists who is up: the number of a session, whose it is, and what it has.
func (r *Router) sessions(t *testing.T) []string {
	t.Helper()
	var all []struct {
		ID        uint64 `json:"session_id"`
		MAC       string
		VLAN      string
		Access    string
		Address   string
		IPv6      string
		Delegated string `json:"delegated_prefix"`
		State     string
	}
	text := r.CLI("show subscribers | json")
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("show subscribers | json: %v\n%s", err, text)
	}
	var lines []string
	for _, s := range all {
		lines = append(lines, fmt.Sprint(s.Access, " ", s.ID, " ", s.MAC, " ", s.VLAN, " ", s.Address, " ", s.IPv6, " ", s.Delegated, " ", s.State))
	}
	slices.Sort(lines)
	return lines
}

// commit makes edits and commits them. It returns the notes of the commit, and how long an operator with the lines in
// the clipboard waits for all of it.
func (r *Router) commit(lines string) (notes []string, took time.Duration, err error) {
	begin := time.Now()
	out, err := r.try(append(append([]string{"configure"}, strings.Split(lines, "\n")...), "commit")...)
	took = time.Since(begin)
	if err != nil {
		return nil, took, fmt.Errorf("%w:\n%s", err, out)
	}
	for _, line := range strings.Split(out, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "Committed") {
			notes = append(notes, line)
		}
	}
	return notes, took, nil
}

// difference lists what only one of two sorted lists has.
func difference(before, after []string) (lines []string) {
	for _, s := range before {
		if !slices.Contains(after, s) {
			lines = append(lines, "- "+s)
		}
	}
	for _, s := range after {
		if !slices.Contains(before, s) {
			lines = append(lines, "+ "+s)
		}
	}
	return lines
}
