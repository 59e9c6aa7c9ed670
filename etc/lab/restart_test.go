//go:build lab

package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// killTraffic is the load under which processes are killed.
const killTraffic = "traffic 20000 14s"

// TestControlKilled kills control under traffic. Forwarding must not notice: in a run with the kill no
// packet may go lost that would not in a run without.
func TestControlKilled(t *testing.T) {
	l := New(t)
	radius := l.FreeRADIUS(false)
	r := l.StartRouter(radiusConfig("", ""))
	l.Simulator("500", fmt.Sprintf("up; mark %[1]s/up; %[2]s; report %[1]s/calm.json; mark %[1]s/calm; wait %[1]s/go 60s; "+
		"mark %[1]s/started; %[2]s; report %[1]s/killed.json; mark %[1]s/killed; wait %[1]s/done 60s; down", l.Dir, killTraffic), "--max-loss", "100")
	l.Marked("calm", 120*time.Second)
	before, dropsBefore, overflowsBefore := r.CLI("show subscribers"), r.losses(), r.overflows()
	l.Mark("go")
	l.Marked("started", 30*time.Second)
	time.Sleep(4 * time.Second)
	r.Control.Kill()
	time.Sleep(4 * time.Second)
	r.Start()
	l.Marked("killed", 60*time.Second)

	calm, killed := l.Report("calm.json"), l.Report("killed.json")
	t.Logf("calm:   up %+v\n        down %+v", calm.Traffic.Up, calm.Traffic.Down)
	t.Logf("killed: up %+v\n        down %+v (the calm run is in it)", killed.Traffic.Up, killed.Traffic.Down)
	// The kernel's rings overflow when this machine has no time for the forwarder; that depends on the
	// machine, not on control. Everything else that could swallow a packet must stand still.
	for name, count := range r.losses() {
		if count != dropsBefore[name] {
			t.Errorf("%s: %d packets while control was killed", name, count-dropsBefore[name])
		}
	}
	// What the calm run lost, as at its start while the Internet's address is asked for, is no matter of the kill.
	lost := killed.Traffic.Up.Lost + killed.Traffic.Down.Lost - calm.Traffic.Up.Lost - calm.Traffic.Down.Lost
	if overflow := r.overflows() - overflowsBefore + killed.ownDrops() - calm.ownDrops(); uint64(max(lost, 0)) > overflow {
		t.Errorf("%d packets lost beyond the calm run, the devices' rings explain only %d", lost, overflow)
	}
	after := r.CLI("show subscribers")
	if names(before) != names(after) {
		t.Errorf("the new control shows other subscribers:\n%s\nbefore:\n%s", after, before)
	}
	l.Mark("done")
	Until(t, 60*time.Second, "a Stop for everybody", func() bool { return len(radius.Of("Stop")) == 500 })
	if starts := len(radius.Of("Start")); starts != 500 {
		t.Errorf("%d sessions in accounting, want the same 500 before and after", starts)
	}
}

// losses are the forwarder's counters that would count a packet of the simulator as lost.
func (r *Router) losses() map[string]uint64 {
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
		node, what, _ := strings.Cut(c.Name, "/")
		switch node {
		case "pppoe-input", "ipoe-input", "ip4-input", "ip6-input", "source-check", "source-check6", "ip4-lookup", "ip6-lookup",
			"adjacency", "subscriber-output", "port-output":
			// What hosts say to groups by themselves is no packet of the simulator.
			if what != "packets" && what != "vectors" && !strings.Contains(what, "multicast") {
				found[c.Name] = c.Value
			}
		}
	}
	return found
}

// overflows counts frames that the router's devices dropped for want of room.
func (r *Router) overflows() (frames uint64) {
	r.lab.t.Helper()
	var interfaces []struct {
		InputDrops  uint64 `json:"input_drops"`
		OutputDrops uint64 `json:"output_drops"`
	}
	text := r.CLI("show interfaces | json")
	if err := json.Unmarshal([]byte(text), &interfaces); err != nil || len(interfaces) == 0 {
		r.lab.t.Fatalf("show interfaces | json: %v\n%s", err, text)
	}
	for _, i := range interfaces {
		frames += i.InputDrops + i.OutputDrops
	}
	return frames
}

// names reduces a table of subscribers to its first columns, which a restart must not change.
func names(table string) string {
	var lines []string
	for _, line := range strings.Split(table, "\n") {
		if fields := strings.Fields(line); len(fields) > 3 && strings.Contains(line, "sim") {
			lines = append(lines, strings.Join(fields[:3], " "))
		}
	}
	return strings.Join(lines, "\n")
}

// TestForwarderKilled kills the forwarder under traffic: control starts a new one, programs it, and
// says how long that took.
func TestForwarderKilled(t *testing.T) {
	l := New(t)
	l.FreeRADIUS(false)
	r := l.StartRouter(radiusConfig("", ""))
	l.Simulator("500", fmt.Sprintf("up; mark %[1]s/up; traffic 20000 15s; report %[1]s/killed.json; mark %[1]s/killed; "+
		"traffic 20000 5s; report %[1]s/after.json; mark %[1]s/after; wait %[1]s/done 60s; down", l.Dir), "--max-loss", "100")
	l.Marked("up", 60*time.Second)
	time.Sleep(4 * time.Second)
	pid := forwarderPid(t, r)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	l.Marked("killed", 60*time.Second)
	l.Marked("after", 60*time.Second)
	killed, after := l.Report("killed.json"), l.Report("after.json")
	t.Logf("longest outage: up %.0f ms, down %.0f ms", killed.Traffic.Up.LongestGapMs, killed.Traffic.Down.LongestGapMs)
	if after.Traffic.Up.Lost > killed.Traffic.Up.Lost || after.Traffic.Down.Lost > killed.Traffic.Down.Lost {
		t.Errorf("packets are lost after the new forwarder was programmed: %+v", after.Traffic)
	}
	if forwarderPid(t, r) == pid {
		t.Errorf("the forwarder is still process %d", pid)
	}
	log, _ := os.ReadFile(r.Control.Log)
	need(t, string(log), "forwarder programmed")
	l.In("I", "ping", "-c", "3", "-i", "0.2", "-W", "2", CoreAddr) // the kernel serves our addresses on the new TUN
	l.Mark("done")
}

// forwarderPid reads the process id from "show engine".
func forwarderPid(t *testing.T, r *Router) int {
	t.Helper()
	for _, line := range strings.Split(r.CLI("show engine"), "\n") {
		if _, value, ok := strings.Cut(line, "Process id"); ok {
			if pid, err := strconv.Atoi(strings.TrimSpace(strings.TrimLeft(value, ": "))); err == nil {
				return pid
			}
		}
	}
	t.Fatal("show engine does not tell the process id")
	return 0
}
