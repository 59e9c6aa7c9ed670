//go:build lab

package lab

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A portCase is a way to move frames, as lines of an interface.
type portCase struct{ name, lines string }

var portCases = []portCase{
	{"af-packet", "driver af-packet"},
	{"af-xdp-native", "driver af-xdp\n xdp-mode native"},
	{"af-xdp-generic", "driver af-xdp\n xdp-mode generic"},
}

// portsConfig has PPPoE and IPoE on access0 for IP packets of so many bytes.
func portsConfig(c portCase, pppoeBytes, ipoeBytes int) string {
	return radiusConfig("", fmt.Sprintf("mru %[1]d\n mtu %[1]d", pppoeBytes)) + fmt.Sprintf(`interface access0
 %[1]s
 ipoe profile home
!
interface core0
 %[1]s
!
ipoe profile home
 password ipoe
 ip unnumbered loopback0
 ip pool residential
 mtu %[2]d
!
`, c.lines, ipoeBytes)
}

// portCrowd is a simulator among several on the same wires.
type portCrowd struct {
	*Process
	lab  *Lab
	name string
}

// startCrowd starts the number-th simulator of a lab with five subscribers. Its script runs each phase when the
// mark PHASE-go is set, and marks NAME-PHASE.
func (l *Lab) startCrowd(number int, access string, phases []string, traffic string, options ...string) portCrowd {
	l.t.Helper()
	name := fmt.Sprintf("crowd%d-%s", number, access)
	script := fmt.Sprintf("up; mark %s/%s-up", l.Dir, name)
	for _, phase := range phases {
		script += fmt.Sprintf("; wait %[1]s/%[3]s-go 100s; %[4]s; report %[1]s/%[2]s-%[3]s; mark %[1]s/%[2]s-%[3]s-done", l.Dir, name, phase, traffic)
	}
	command := append([]string{Bin("vbng-sim"), access, "--interface", l.NS("A") + ":acc0", "--internet", l.NS("I") + ":net0",
		"--internet-address", fmt.Sprintf("198.51.100.%d/24", 10+number), "--internet-mac", fmt.Sprintf("02:49:00:00:01:%02x", number),
		"--gateway", CoreAddr, "--count", "5", "--mac-base", fmt.Sprintf("02:53:00:%02x:00:01", number), "--vlan-shared",
		"--json", "--max-loss", "100", "--script", script}, options...)
	return portCrowd{l.Start("A", name, command...), l, name}
}

// reached waits for a mark of each portCrowd.
func (l *Lab) reached(crowds []portCrowd, mark string, limit time.Duration) {
	l.t.Helper()
	for _, c := range crowds {
		l.sim = c.Process
		l.Marked(c.name+"-"+mark, limit)
	}
}

// run lets all crowds go through a phase, and returns how many packets each way all have sent so far, and how many were lost.
func (l *Lab) runPhase(crowds []portCrowd, phase string, meanwhile func()) (sent, lost int, longestGap float64) {
	l.t.Helper()
	l.Mark(phase + "-go")
	meanwhile()
	l.reached(crowds, phase+"-done", 60*time.Second)
	for _, c := range crowds {
		r := l.Report(c.name + "-" + phase)
		up, down := r.Traffic.Up, r.Traffic.Down
		if r.Up != r.Sessions || len(r.Faults) > 0 || up.Received == 0 || down.Received == 0 {
			l.t.Errorf("%s, %s: %d of %d up, faults %q, up %+v, down %+v", c.name, phase, r.Up, r.Sessions, r.Faults, up, down)
		}
		if up.Lost+down.Lost > 0 {
			l.t.Logf("%s, %s: up %+v, down %+v", c.name, phase, up, down)
		}
		sent += up.Sent + down.Sent
		lost += up.Lost + down.Lost - int(r.ownDrops())
		longestGap = max(longestGap, up.LongestGapMs, down.LongestGapMs)
	}
	return sent, lost, longestGap
}

// checkLoss accepts only what the test machine had no time for, and what asked for a neighbour.
func checkLoss(t *testing.T, r *Router, before map[string]uint64, lost int) {
	t.Helper()
	losses := r.losses()
	unresolved := losses["adjacency/unresolved"]
	delete(losses, "adjacency/unresolved")
	for name, count := range losses {
		if count != before[name] {
			t.Errorf("%s: %d packets", name, count-before[name])
		}
	}
	if explained := int(r.overflows()+unresolved) + r.lab.wireDrops(); lost > explained {
		t.Errorf("%d packets lost, full rings and unresolved neighbours explain only %d\n%s%s%s", lost, explained, r.CLI("show engine"),
			r.CLI("show interfaces access0"), r.CLI("show interfaces core0"))
		for _, end := range [][2]string{{"A", "acc0"}, {"R", "access0"}, {"R", "core0"}, {"I", "net0"}} {
			t.Log(r.lab.In(end[0], "ethtool", "-S", end[1]))
		}
	}
}

// wireDrops counts frames that the virtual wires have dropped: a veth whose peer has a native XDP program queues
// in a ring of 256 frames, and counts as not sent what finds it full.
func (l *Lab) wireDrops() (frames int) {
	l.t.Helper()
	for _, end := range [][2]string{{"A", "acc0"}, {"R", "access0"}, {"R", "core0"}, {"I", "net0"}} {
		n, err := strconv.Atoi(strings.TrimSpace(l.In(end[0], "cat", "/sys/class/net/"+end[1]+"/statistics/tx_dropped")))
		if err != nil {
			l.t.Fatal(err)
		}
		if frames += n; n > 0 {
			l.t.Logf("%s: %d frames dropped by the wire", end[1], n)
		}
	}
	return frames
}

// TestPorts carries IP packets of 1,500 bytes to and from PPPoE and IPoE subscribers behind one and two tags
// of each type, by each way to move frames.
func TestPorts(t *testing.T) {
	long(t)
	for _, c := range portCases {
		t.Run(c.name, func(t *testing.T) {
			l := New(t)
			l.FreeRADIUS(false)
			for _, device := range []string{"access0", "core0"} { // AF_XDP must switch it off
				l.In("R", "ethtool", "-K", device, "rxvlan", "on", "txvlan", "on")
			}
			r := l.StartRouter(portsConfig(c, 1500, 1500))
			var crowds []portCrowd
			for _, tpid := range []string{"0x8100", "0x88a8", "0x9100"} {
				for _, tags := range [][]string{{"--svlan", "100-104"}, {"--svlan", "100", "--cvlan", "100-104"}} {
					options := append([]string{"--outer-tpid", tpid, "--size", "1500,64,1499,577"}, tags...)
					crowds = append(crowds,
						l.startCrowd(len(crowds), "ipoe", []string{"calm", "killed", "after"}, "traffic 150 3s", options...),
						l.startCrowd(len(crowds)+1, "pppoe", []string{"calm", "killed", "after"}, "traffic 150 3s", append(options, "--mru", "1500")...))
				}
			}
			l.reached(crowds, "up", 60*time.Second)
			if strings.Contains(c.lines, "xdp") {
				checkNoTagOffloads(t, l)
			}
			before := r.losses()
			sent, lost, _ := l.runPhase(crowds, "calm", func() {})
			t.Logf("%d packets, %d lost", sent, lost)
			checkLoss(t, r, before, lost)
			t.Logf("show interfaces:\n%s", r.CLI("show interfaces"))

			forwarder := forwarderPid(t, r)
			_, lost, gap := l.runPhase(crowds, "killed", func() {
				time.Sleep(time.Second)
				if err := syscall.Kill(forwarder, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			})
			t.Logf("forwarder killed: longest gap %.0f ms", gap)
			if gap > 5000 {
				t.Errorf("the ports were away for %.0f ms", gap)
			}
			if _, after, _ := l.runPhase(crowds, "after", func() {}); after > lost+int(r.overflows()) {
				t.Errorf("%d packets lost behind the new forwarder", after-lost)
			}
		})
	}
}

// checkNoTagOffloads wants the devices to leave tags in the frames.
func checkNoTagOffloads(t *testing.T, l *Lab) {
	t.Helper()
	for _, device := range []string{"access0", "core0"} {
		for _, line := range strings.Split(l.In("R", "ethtool", "-k", device), "\n") {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch name {
			case "rx-vlan-offload", "tx-vlan-offload", "rx-vlan-stag-hw-parse", "tx-vlan-stag-hw-insert":
				if !strings.HasPrefix(value, "off") {
					t.Errorf("%s: %s", device, strings.TrimSpace(line))
				}
			}
		}
	}
}

// TestPortRefused names what is wrong with a device that AF_XDP cannot serve.
func TestPortRefused(t *testing.T) {
	l := New(t)
	l.In("R", "ip", "link", "add", "bridge1", "type", "bridge")
	l.In("R", "ip", "link", "set", "bridge1", "up")
	l.link("R", "wide0", "A", "wide1", 65000)
	r := l.StartRouter(`interface bridge1
 driver af-xdp
 xdp-mode native
!
interface wide0
 driver af-xdp
 xdp-mode native
!
interface nowhere0
 driver af-xdp
!
interface core0
 driver af-xdp
 xdp-mode generic
!
`)
	for name, want := range map[string]string{"bridge1": "use xdp-mode generic", "nowhere0": "no such device"} {
		Until(t, 10*time.Second, name+" is refused", func() bool { return strings.Contains(r.CLI("show interfaces "+name), want) })
		t.Log(r.CLI("show interfaces " + name))
	}
	// Kernels whose veth takes frames in pieces serve any MTU; the others must name it.
	Until(t, 10*time.Second, "wide0 is opened or refused for its MTU", func() bool {
		out := r.CLI("show interfaces wide0")
		return strings.Contains(out, "its MTU of 65000") || !strings.Contains(out, "not open") && strings.Contains(out, "up")
	})
	t.Log(r.CLI("show interfaces"))
	r.CLI("configure", "interface bridge1", "xdp-mode generic", "commit")
	Until(t, 10*time.Second, "bridge1 opens", func() bool { return !strings.Contains(r.CLI("show interfaces bridge1"), "XDP") })
	t.Log(r.CLI("show interfaces bridge1"))
}

// jumboMTU lets 9,000 bytes of IP pass with PPPoE and two tags.
const jumboMTU = 9018

// TestPortsJumbo carries IP packets of 9,000 bytes from core to core and to subscribers.
func TestPortsJumbo(t *testing.T) {
	for _, c := range portCases {
		t.Run(c.name, func(t *testing.T) {
			l := New(t)
			l.FreeRADIUS(false)
			l.link("R", "core1", "S", "net1", 9000)
			for _, end := range [][2]string{{"A", "acc0"}, {"R", "access0"}, {"I", "net0"}, {"R", "core0"}} {
				mtu := jumboMTU
				if end[0] == "I" || end[1] == "core0" {
					mtu = 9000
				}
				l.In(end[0], "ip", "link", "set", end[1], "mtu", fmt.Sprint(mtu))
			}
			l.In("S", "ip", "addr", "add", "203.0.113.2/24", "dev", "net1")
			l.In("S", "ip", "route", "add", "198.51.100.0/24", "via", "203.0.113.1")
			l.In("I", "ip", "route", "replace", "203.0.113.0/24", "via", CoreAddr)
			r := l.StartRouter(portsConfig(c, 8992, 9000) + "interface core1\n " + c.lines + "\n ip address 203.0.113.1/24\n!\n")
			Until(t, 20*time.Second, "the ports are up", func() bool { return l.pingsWhole("S", "8", InternetAddr) })
			for _, ends := range [][2]string{{"S", InternetAddr}, {"I", "203.0.113.2"}} {
				if !l.pingsWhole(ends[0], "8972", ends[1]) {
					t.Errorf("9,000 bytes do not pass from %s to %s\n%s", ends[0], ends[1], r.CLI("show engine"))
				}
			}
			tags := []string{"--outer-tpid", "0x88a8", "--svlan", "100", "--cvlan", "100-104"}
			crowds := []portCrowd{
				l.startCrowd(0, "ipoe", []string{"calm"}, "traffic 300 3s", append(tags, "--size", "9000,64,4500")...),
				l.startCrowd(1, "pppoe", []string{"calm"}, "traffic 300 3s", append(tags, "--mru", "8992", "--size", "8992,64,4500,1493")...),
			}
			l.reached(crowds, "up", 60*time.Second)
			before := r.losses()
			sent, lost, _ := l.runPhase(crowds, "calm", func() {})
			t.Logf("%d packets, %d lost", sent, lost)
			checkLoss(t, r, before, lost)
			t.Logf("show interfaces:\n%s", r.CLI("show interfaces"))
		})
	}
}

// pings sends pings of a size that must not be fragmented; they compare what comes back, byte for byte.
func (l *Lab) pingsWhole(ns, bytes, address string) bool {
	out, err := output(l.t.Context(), nil, "ip", "netns", "exec", l.NS(ns), "ping", "-M", "do", "-c", "3", "-i", "0.2", "-W", "2",
		"-p", "5a17c3", "-s", bytes, address)
	return err == nil && !strings.Contains(out, "wrong data")
}
