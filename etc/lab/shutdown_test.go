//go:build lab

package lab

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestPortShutdown takes the access port out of service under its subscribers: their sessions end for that
// reason, then the port closes, and it serves again when it is back.
func TestPortShutdown(t *testing.T) {
	const count = 20
	l := New(t)
	radius := l.FreeRADIUS(false)
	r := l.StartRouter(radiusConfig("", ""))
	sim := l.Simulator(fmt.Sprint(count), fmt.Sprintf("up; mark %[1]s/up; expect-ended %[2]d 60s; mark %[1]s/ended; down", l.Dir, count))
	l.Marked("up", 60*time.Second)
	r.CLI("configure", "interface access0", "shutdown", "commit")
	l.Marked("ended", 60*time.Second)
	Until(t, 30*time.Second, "a Stop for everybody", func() bool { return len(radius.Of("Stop")) == count })
	for id, stops := range radius.Of("Stop") {
		if len(stops) != 1 || stops[0]["Acct-Terminate-Cause"] != "Admin-Reset" {
			t.Errorf("session %s: Stops %v", id, stops)
		}
	}
	need(t, r.CLI("show pppoe"), "port-shutdown")
	device := strings.TrimSpace(l.In("R", "cat", "/sys/class/net/access0/ifindex"))
	Until(t, 10*time.Second, "the port closes", func() bool { return l.packetSockets("R", device) == 0 })
	sim.Wait(t, 30*time.Second)

	r.CLI("configure", "interface access0", "no shutdown", "commit")
	Until(t, 10*time.Second, "the port opens", func() bool { return l.packetSockets("R", device) > 0 })
	l.Simulator("3", "up; down")
	l.sim.Wait(t, 60*time.Second)
	if l.sim.ExitCode() != 0 {
		t.Errorf("after the port came back:\n%s", l.sim.Output())
	}
}

// packetSockets counts the AF_PACKET sockets on a device.
func (l *Lab) packetSockets(ns, index string) (n int) {
	for _, line := range strings.Split(l.In(ns, "cat", "/proc/net/packet"), "\n") {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == index {
			n++
		}
	}
	return n
}
