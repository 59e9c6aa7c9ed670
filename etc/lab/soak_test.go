//go:build lab

package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	soakBase  = 500 // subscribers of each kind that stay
	soakChurn = 250 // of each kind that come and go in each cycle of about ten seconds
)

// TestSoak lets sessions of both kinds come and go, some 50 each second, beside others that stay, all with traffic, for as
// long as VBNG_LAB_SOAK says (5m), and looks whether anything grows: goroutines, memory, what pools have given out,
// routes. Without that variable it is left out: it takes too long for every run of the lab.
func TestSoak(t *testing.T) {
	limit, err := time.ParseDuration(os.Getenv("VBNG_LAB_SOAK"))
	if err != nil {
		t.Skip("VBNG_LAB_SOAK does not say for how long, as in 5m")
	}
	l := New(t)
	radius := l.FreeRADIUS(false)
	r := l.StartRouter(dualConfig())
	empty := r.gauges(t)
	script := fmt.Sprintf("up; mark @/up; traffic 3000 %s; report @/end.json; mark @/end; wait @/done 120s; down 60s", limit+30*time.Second)
	stay := crowds{
		l.Crowd(CrowdPlan{Kind: "pppoe", Number: 1, Count: soakBase, Script: script, Options: dualStack}),
		l.Crowd(CrowdPlan{Kind: "ipoe", Number: 2, Count: soakBase, Script: script, Options: dualStack}),
	}
	stay.Marked("up", 120*time.Second)
	l.churn(0)
	idle := r.stacks(t)
	l.churn(1) // what is allocated once is there afterwards
	l.churn(2)
	early := r.gauges(t)
	t.Logf("after 3 cycles: %+v, %d goroutines", early, idle)
	begun, cycles := time.Now(), 3
	for ; time.Since(begun) < limit; cycles++ {
		l.churn(cycles)
		if cycles%5 == 0 {
			t.Logf("after %d cycles, %.0f s: %+v", cycles+1, time.Since(begun).Seconds(), r.gauges(t))
		}
	}
	stay.Marked("end", 120*time.Second)
	time.Sleep(2 * time.Second)
	last := r.gauges(t)
	busy := r.stacks(t)
	t.Logf("after %d cycles: %+v, %d goroutines", cycles, last, busy)
	lost, own := stay.checkFlows(t, "end.json")
	r.checkLosses(t, lost, own)
	// Control and the forwarder share two rings of 8 MB, whose memory is touched little by little. The forwarder lets garbage
	// lie up to its fuse of 2 GB (forwarding/process): some 0.6 KB of each session that came and went.
	const slack, garbage = 48 << 20, 2 << 10
	sessions := uint64(cycles) * 2 * soakChurn
	if last.Control > early.Control+slack || last.Forwarder > early.Forwarder+slack+sessions*garbage || busy > idle+20 {
		t.Errorf("grown: %+v with %d goroutines, %+v with %d before", last, busy, early, idle)
	}
	if last.Sessions != early.Sessions || last.Addresses != early.Addresses || last.Prefixes != early.Prefixes || last.Routes != early.Routes {
		t.Errorf("left over: %+v, %+v before", last, early)
	}
	log, _ := os.ReadFile(r.Control.Log)
	t.Logf("warnings:\n%s", first(matching(string(log), "level=WARN"), 20))
	stay.Mark("done")
	for _, c := range stay {
		c.Wait(t, 120*time.Second)
	}
	Until(t, 60*time.Second, "nothing is left", func() bool {
		now := r.gauges(t)
		return now.Sessions+now.Addresses+now.Prefixes == 0 && now.Routes == empty.Routes
	})
	Until(t, 30*time.Second, "a Stop for every Start", func() bool { return len(radius.Of("Stop")) == len(radius.Of("Start")) })
}

// matching are the lines of a text that have a word.
func matching(text, word string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, word) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// churn lets subscribers of both kinds come, use what they have, and go.
func (l *Lab) churn(cycle int) {
	l.t.Helper()
	const script = "up; traffic 1000 3s; down 60s"
	both := crowds{
		l.Crowd(CrowdPlan{Kind: "pppoe", Number: 3, MACs: 16 + 2*(cycle%100), Name: fmt.Sprint("churn-pppoe", cycle), Count: soakChurn, Script: script, Options: dualStack}),
		l.Crowd(CrowdPlan{Kind: "ipoe", Number: 4, MACs: 17 + 2*(cycle%100), Name: fmt.Sprint("churn-ipoe", cycle), Count: soakChurn, Script: script, Options: dualStack}),
	}
	for _, c := range both {
		c.Wait(l.t, 120*time.Second)
		if c.ExitCode() != 0 {
			l.t.Errorf("%s: %s\n%s", c.Name, first(c.Output(), 20), matching(c.Output(), `"message"`))
		}
		os.RemoveAll(c.dir)
	}
}

// gauges are what may not grow.
type gauges struct {
	Control, Forwarder            uint64 // bytes resident
	Sessions, Addresses, Prefixes int
	Routes                        string // to subscribers, of each family
}

func (r *Router) gauges(t *testing.T) gauges {
	t.Helper()
	Until(t, 10*time.Second, "the forwarder runs", func() bool { return forwarderPid(t, r) != 0 })
	g := gauges{Control: residentBytes(t, r.Control.Pid()), Forwarder: residentBytes(t, forwarderPid(t, r)), Sessions: len(r.sessions(t))}
	g.Addresses, g.Prefixes = r.poolUse(t, "show ip pool"), r.poolUse(t, "show ipv6 pool")
	for _, line := range strings.Split(r.CLI("show ip route summary", "show ipv6 route summary"), "\n") {
		if strings.Contains(line, "subscriber") {
			g.Routes += strings.Join(strings.Fields(line)[3:], "/") + " "
		}
	}
	return g
}

// poolUse adds up what pools have given out.
func (r *Router) poolUse(t *testing.T, command string) (n int) {
	t.Helper()
	var pools []struct{ Used int }
	text := r.CLI(command + " | json")
	if err := json.Unmarshal([]byte(text), &pools); err != nil || len(pools) == 0 {
		t.Fatalf("%s | json: %v\n%s", command, err, text)
	}
	for _, p := range pools {
		n += p.Used
	}
	return n
}

// stacks counts the goroutines of control: it dies of the question, and another one takes over.
func (r *Router) stacks(t *testing.T) int {
	t.Helper()
	before, err := os.ReadFile(r.Control.Log)
	if err != nil {
		t.Fatal(err)
	}
	r.Control.cmd.Process.Signal(syscall.SIGQUIT)
	<-r.Control.done
	after, _ := os.ReadFile(r.Control.Log)
	r.Start()
	n := bytes.Count(after[len(before):], []byte("\ngoroutine "))
	if n == 0 {
		t.Fatal("control told no goroutines")
	}
	return n
}
