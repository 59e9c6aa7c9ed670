//go:build lab

package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	floodRate  = 10000 // frames per second
	floodCount = 250   // subscribers of each kind that set up
)

// floods are what one MAC address sends too much of, and where its frames end.
var floods = []struct {
	name, ns, device string
	frame            func(n uint32) []byte
	counter          string
}{
	{"PADI", "A", "acc0", floodPADI, "punt/policed-pppoe-discovery"},
	{"DISCOVER", "A", "acc0", floodDiscover, "punt/policed-dhcpv4"},
	{"RS", "A", "acc0", floodSolicit, "punt/policed-subscriber-nd"},
	{"ARP on access", "A", "acc0", floodSubscriberARP, "ipoe-input/unknown-subscriber"},
	{"ARP on core", "I", "net0", floodCoreARP, "punt/policed-arp"},
}

// TestFlood lets 500 subscribers of both kinds set up while one MAC address floods: all must come up and stay, what the
// flood brings must be counted by name, and neither process may grow. The set-up rate, in relation to the same
// without flood, is a measurement: what other work the machine does shows in it.
func TestFlood(t *testing.T) {
	long(t)
	l := New(t)
	l.FreeRADIUS(false)
	r := l.StartRouter(dualConfig())
	warm := l.setUp(r, "warm", 1)
	t.Logf("warm-up: %.0f set-ups per second", warm)
	forwarder, control := residentBytes(t, forwarderPid(t, r)), residentBytes(t, r.Control.Pid())
	for k, flood := range floods {
		t.Run(flood.name, func(t *testing.T) {
			calm := l.setUp(r, fmt.Sprint("calm", k), 2*k+2)
			before, full := r.counters(), r.overflows()
			f := l.Flood(flood.ns, flood.device, floodRate, flood.frame)
			time.Sleep(200 * time.Millisecond)
			flooded := l.setUp(r, fmt.Sprint("flood", k), 2*k+3)
			sent := f.Stop()
			time.Sleep(100 * time.Millisecond)
			after := r.counters()
			counted := after[flood.counter] - before[flood.counter]
			t.Logf("%.0f set-ups per second, %.0f without flood: ratio %.2f; %d frames sent, %s %d", flooded, calm, flooded/calm, sent, flood.counter, counted)
			t.Logf("dropped meanwhile: %s", dropped(before, after))
			// A few per second are let through; what the devices' rings had no room for is counted there.
			if overflows := r.overflows() - full; counted+overflows < sent*9/10 {
				t.Errorf("%d frames sent, only %d counted in %s and %d in full rings", sent, counted, flood.counter, overflows)
			}
		})
	}
	const slack = 64 << 20
	for _, p := range []struct {
		name          string
		before, after uint64
	}{
		{"forwarder", forwarder, residentBytes(t, forwarderPid(t, r))},
		{"control", control, residentBytes(t, r.Control.Pid())},
	} {
		t.Logf("%s: %d MB resident, %d MB before the floods", p.name, p.after>>20, p.before>>20)
		if p.after > p.before+slack {
			t.Errorf("%s grew from %d to %d MB", p.name, p.before>>20, p.after>>20)
		}
	}
}

// setUp brings subscribers of both kinds up and down again, and returns how many came up per second, from the first
// frame to the last one up. Each round has MAC addresses of its own: a station that came and went twice within seconds
// would be paced.
func (l *Lab) setUp(r *Router, name string, round int) float64 {
	l.t.Helper()
	const script = "up; report @/up.json; mark @/up; wait @/seen 60s; down"
	both := crowds{
		l.Crowd(CrowdPlan{Kind: "pppoe", Number: 1, MACs: 2 * round, Name: name + "-pppoe", Count: floodCount, Script: script, Options: dualStack}),
		l.Crowd(CrowdPlan{Kind: "ipoe", Number: 2, MACs: 2*round + 1, Name: name + "-ipoe", Count: floodCount, Script: script, Options: dualStack}),
	}
	both.Marked("up", 120*time.Second)
	if n := len(r.sessions(l.t)); n < 2*floodCount {
		l.t.Errorf("%s: %d sessions, want %d", name, n, 2*floodCount)
	}
	both.Mark("seen")
	begun, last := 0.0, 0.0
	for _, c := range both {
		c.Wait(l.t, 60*time.Second)
		if c.ExitCode() != 0 {
			l.t.Errorf("%s: %s", c.Name, first(c.Output(), 20))
		}
		report := c.Report("up.json")
		if report.Up != floodCount || len(report.Faults) > 0 {
			l.t.Errorf("%s: %d of %d up, faults %q", c.Name, report.Up, floodCount, report.Faults)
		}
		began := max(report.FirstPADI, report.FirstDiscover)
		if begun == 0 || began < begun {
			begun = began
		}
		last = max(last, began+report.SetupSeconds)
		l.t.Logf("%s: %.0f per second, %d frames dropped by the simulator", c.Name, report.SetupRate, report.ownDrops())
	}
	return 2 * floodCount / (last - begun)
}

// dropped names the counters, other than those of work, that have moved.
func dropped(before, after map[string]uint64) string {
	var moved []string
	for name, value := range after {
		if _, what, _ := strings.Cut(name, "/"); value != before[name] && what != "packets" && what != "vectors" {
			moved = append(moved, fmt.Sprint(name, " ", value-before[name]))
		}
	}
	slices.Sort(moved)
	return strings.Join(moved, ", ")
}

// counters are the forwarder's counters by name.
func (r *Router) counters() map[string]uint64 {
	r.lab.t.Helper()
	var engine struct {
		Counters []struct {
			Name  string
			Value uint64
		}
	}
	text := r.CLI("show engine all | json")
	if err := json.Unmarshal([]byte(text), &engine); err != nil || len(engine.Counters) == 0 {
		r.lab.t.Fatalf("show engine all | json: %v\n%s", err, text)
	}
	found := map[string]uint64{}
	for _, c := range engine.Counters {
		found[c.Name] = c.Value
	}
	return found
}

// residentBytes is the memory of a process.
func residentBytes(t *testing.T, pid int) uint64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kilobytes, _ := strconv.ParseUint(fields[1], 10, 64)
			return kilobytes << 10
		}
	}
	t.Fatalf("process %d has no VmRSS", pid)
	return 0
}
