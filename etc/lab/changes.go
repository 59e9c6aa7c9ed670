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

// changeTime is how long packets flow while a change is made and taken back.
const changeTime = 2500 * time.Millisecond

// crowd is a simulator that sends in windows.
type crowd struct {
	name string
	sim  *Process
	last SimReport
}

// Windows plays subscribers of both families with traffic in windows that a test opens.
type Windows struct {
	l      *Lab
	r      *Router
	crowds []*crowd
	count  int           // windows in all
	length time.Duration // of each
	next   int
}

// newWindows returns windows without subscribers.
func (l *Lab) newWindows(r *Router, count int, length time.Duration) *Windows {
	return &Windows{l: l, r: r, count: count, length: length}
}

// everybody brings both kinds of subscribers up.
func (w *Windows) everybody(pppoe, ipoe int) {
	w.l.t.Helper()
	w.pppoe("pppoe", "acc0", pppoe, "--svlan", "100-103", "--cvlan", fmt.Sprintf("1-%d", (pppoe+3)/4))
	w.add("ipoe", "ipoe", "acc0", 1000, "--count", fmt.Sprint(ipoe), "--internet-address", ipoeHost+"/0", "--internet-address6", ipoeHost6+"/0",
		"--internet-mac", ipoeMAC, "--mac-base", "02:54:00:00:00:01", "--svlan", "200-201", "--cvlan", fmt.Sprintf("1-%d", (ipoe+1)/2))
	w.up()
}

// pppoe adds PPPoE subscribers on a device of the access side.
func (w *Windows) pppoe(name, device string, count int, options ...string) {
	w.l.t.Helper()
	w.add(name, "pppoe", device, 3000, append([]string{"--count", fmt.Sprint(count), "--internet-address", pppoeHost + "/0",
		"--internet-address6", pppoeHost6 + "/0", "--internet-mac", pppoeMAC, "--user", "sim%d", "--password", "sim"}, options...)...)
}

// up waits until all subscribers are.
func (w *Windows) up() {
	w.l.t.Helper()
	for _, c := range w.crowds {
		w.until(c, "up", 90*time.Second)
	}
}

func (w *Windows) add(name, kind, device string, perSecond int, options ...string) {
	w.l.t.Helper()
	script := []string{"up", "mark %D/up"}
	for i := range w.count {
		script = append(script, fmt.Sprintf("wait %%D/../open-%[1]d 1h; mark %%D/opened-%[1]d; traffic %[2]d %[3]v; report %%D/report-%[1]d; mark %%D/closed-%[1]d",
			i, perSecond, w.length))
	}
	script = append(script, "hold 1h", "down")
	dir := filepath.Join(w.l.Dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.l.t.Fatal(err)
	}
	command := append([]string{Bin("vbng-sim"), kind, "--interface", w.l.NS("A") + ":" + device, "--internet", w.l.NS("I") + ":net0",
		"--gateway", CoreAddr, "--gateway6", CoreAddr6, "--ipv6-na", "--ipv6-pd", "--json", "--max-loss", "100",
		"--script", strings.ReplaceAll(strings.Join(script, "; "), "%D", dir)}, options...)
	w.crowds = append(w.crowds, &crowd{name: name, sim: w.l.Start("A", "vbng-sim-"+name, command...)})
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
		w.until(c, fmt.Sprintf("closed-%d", number), w.length+30*time.Second)
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
	if now := w.r.overflows(); now > room { // a port that is removed takes its counters along
		o.Room += now - room
	}
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

// subscriber is a session as the router shows it: whose it is, and what it has.
type subscriber struct {
	Port, VLAN string
	ID         uint64 `json:"session_id"`
	MAC        string
	Access     string
	Address    string
	IPv6       string
	Delegated  string `json:"delegated_prefix"`
	State      string `json:"state"`
	Cause      string // of one that has ended
}

func (s subscriber) String() string {
	return fmt.Sprint(s.Port, " ", s.VLAN, " ", s.ID, " ", s.MAC, " ", s.Access, " ", s.Address, " ", s.IPv6, " ", s.Delegated, " ", s.State)
}

// subscribers lists who is up.
func (r *Router) subscribers(t *testing.T) []subscriber {
	return r.listed(t, "show subscribers | json")
}

func (r *Router) listed(t *testing.T, command string) (all []subscriber) {
	t.Helper()
	text := r.CLI(command)
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, text)
	}
	return all
}

// sessions lists who is up in lines that can be compared.
func (r *Router) sessions(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, s := range r.subscribers(t) {
		lines = append(lines, s.String())
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
