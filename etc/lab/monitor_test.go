//go:build lab

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Shell starts a shell of the operator's that runs one command.
func (r *Router) Shell(name, command string) *Process {
	r.lab.t.Helper()
	return r.lab.Start("R", name, append(slices.Clone(r.shell), "-c", command)...)
}

// captures is how many captures run.
func (r *Router) captures() int {
	return strings.Count(r.CLI("show captures"), "interface access0") + strings.Count(r.CLI("show captures"), "subscriber sim")
}

// TestMonitorAndDebug watches two subscribers dial, speak and go, by lines and files, and compares the files with tshark.
func TestMonitorAndDebug(t *testing.T) {
	l := New(t)
	l.FreeRADIUS(false)
	r := l.StartRouter(radiusConfig("", ""))
	debug := r.Shell("debug", "debug subscriber user sim1 seconds 120")
	port := r.Shell("port", "monitor packets interface access0 seconds 100 count 60 file dial")
	Until(t, 10*time.Second, "the port is captured", func() bool { return r.captures() == 1 })
	l.Simulator("2", fmt.Sprintf("up; mark %[1]s/up; traffic 200 20s; mark %[1]s/spoken; wait %[1]s/done 60s; down", l.Dir), "--max-loss", "100")
	l.Marked("up", 60*time.Second)
	need(t, port.Wait(t, 60*time.Second), "60 packets,", "dial.pcap")
	file := filepath.Join(l.Dir, "state", "captures", "dial.pcap")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	for filter, what := range map[string]string{"pppoe.code == 0x09": "PADI", "pppoe.code == 0x65": "PADS", "lcp && ppp.code == 2": "Configure-Ack", "ipcp": "IPCP"} {
		if strings.TrimSpace(l.tshark(file, filter, "frame.number")) == "" {
			t.Errorf("no %s in the file", what)
		}
	}

	data := r.Shell("data", "monitor packets subscriber user sim1 count 20 file data")
	lines := r.Shell("lines", "monitor packets subscriber user sim1 count 20")
	need(t, data.Wait(t, 40*time.Second), "20 packets,")
	need(t, lines.Wait(t, 40*time.Second), "UDP 100.64.", "PPPoE session", " in  access0", " out access0", "Ended after 20 pieces")
	both := l.tshark(filepath.Join(l.Dir, "state", "captures", "data.pcap"), "pppoes && ip", "pppoe.session_id", "eth.addr")
	sessions := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(both), "\n") {
		sessions[strings.Fields(line)[0]] = true
	}
	if len(sessions) != 1 {
		t.Errorf("the capture of one session has frames of %v", sessions)
	}

	t.Run("a shell that dies", func(t *testing.T) {
		dies := r.Shell("dies", "monitor packets interface access0 seconds 100 count 90000")
		Until(t, 10*time.Second, "the port is captured", func() bool { return r.captures() == 1 })
		dies.Kill()
		Until(t, 10*time.Second, "nothing is captured", func() bool { return r.captures() == 0 })
	})
	t.Run("a forwarder that dies", func(t *testing.T) {
		goes := r.Shell("goes on", "monitor packets subscriber user sim1 seconds 60 count 90000")
		Until(t, 10*time.Second, "packets are shown", func() bool { return strings.Count(goes.Output(), "\n") > 20 })
		if err := syscall.Kill(forwarderPid(t, r), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		Until(t, 20*time.Second, "packets are shown again", func() bool {
			_, after, ok := strings.Cut(goes.Output(), "a new forwarder was programmed")
			return ok && strings.Count(after, "\n") > 5
		})
		r.CLI("clear subscriber user sim1")
		need(t, goes.Wait(t, 30*time.Second), "the session ended, cleared-by-operator", "LCP Terminate-Request")
	})
	l.Mark("done")
	Until(t, 10*time.Second, "the end is told", func() bool { return strings.Contains(debug.Output(), "ended: cleared-by-operator") })
	debug.Stop()
	said := debug.Output()
	need(t, said, "nobody yet", "CHAP", "Access-Request Message-Authenticator", "User-Name=\"sim1\"", "Access-Accept", "of pool residential", "-> up", "route to 100.64.", "Accounting-Request",
		"LCP Terminate-Request")
	if strings.Contains(said, Secret) || strings.Contains(said, "sim2") {
		t.Errorf("too much was told:\n%s", said)
	}
	if t.Failed() {
		t.Log(said)
	}
	need(t, r.CLI("clear captures"), "2 files deleted")
}
