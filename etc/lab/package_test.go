//go:build lab

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// packageSubscribers are up during the whole test, each with traffic.
const packageSubscribers = 100

// packagePhase is the traffic of one part of the test.
const packagePhase = "traffic 4000 8s"

// TestPackage takes a Debian machine through the life of the package: installation without and with
// services, sessions, upgrades to a version that the forwarder understands and to one that it does not, a
// reboot, removal, purge.
func TestPackage(t *testing.T) {
	long(t)
	l := New(t)
	m := l.NewMachine()
	first, next, foreign := l.Package("1.0.1", nil), l.Package("1.0.2", nil), l.Package("1.0.3", otherFormat(t))
	m.Install(first) // no services run: nothing may fail
	m.Run("dpkg", "-P", "vbng")
	m.Boot()
	untouched := m.state()

	radius := l.FreeRADIUS(false)
	p := &packageTest{t, l, m, radius, nil}
	p.install(first)
	p.subscribersUp()
	p.upgrade(next)
	p.upgradeForeign(foreign)
	p.reboot()
	p.remove(untouched)
}

// otherFormat is the source with another format of entries.
func otherFormat(t *testing.T) map[string]string {
	t.Helper()
	const name = "forwarding/entry/codec.go"
	text, err := os.ReadFile(filepath.Join(root(), name))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^const FormatVersion = \d+$`)
	if !line.Match(text) {
		t.Fatalf("%s: no FormatVersion", name)
	}
	return map[string]string{name: string(line.ReplaceAll(text, []byte("const FormatVersion = 9999")))}
}

// packageTest is the test while it goes on.
type packageTest struct {
	*testing.T
	lab     *Lab
	machine *Machine
	radius  *RADIUS
	router  *Router
}

// state is what of the machine's kernel and processes the package must leave as it found it.
func (m *Machine) state() string {
	m.lab.t.Helper()
	var s strings.Builder
	for _, command := range []string{
		"ip addr", "ip rule", "ip -6 rule", "ip route show table all", "ip -6 route show table all", "ls -A /run/netns 2>/dev/null",
		"sysctl -a -r '^net[.](ipv4|ipv6)[.](conf|ip_forward|fwmark)'",
		"for d in access0 core0; do ethtool -k $d; done", "grep . /sys/class/net/*/flags",
		"ps -e -o comm= | grep -E '^(vbng|pppd)'",
	} {
		out, _ := output(m.lab.t.Context(), nil, "ip", "netns", "exec", m.lab.NS("R"), "sh", "-c", command)
		if strings.HasPrefix(command, "ls") || strings.HasPrefix(command, "ps") {
			out, _ = m.try("sh", "-c", command)
		}
		fmt.Fprintf(&s, "# %s\n%s", command, out)
	}
	return regexp.MustCompile(`(valid|preferred)_lft \w+`).ReplaceAllString(s.String(), "")
}

// install installs the first package and configures the router in its shell.
func (p *packageTest) install(deb string) {
	p.Helper()
	p.machine.Install(deb)
	need(p.T, p.machine.Run("vbngd", "version"), "1.0.1")
	p.router = p.machine.Router()
	p.answers()
	need(p.T, p.router.CLI("show version"), "1.0.1")
	for _, process := range []string{"vbngd.service", "vbng-forwarder.service"} {
		if user := p.machine.Run("ps", "-o", "user=", "-p", p.process(process)); strings.TrimSpace(user) != "vbng" {
			p.Errorf("%s runs as %q", process, user)
		}
	}
	p.router.CLI("configure", radiusConfig("", ""), "commit")
}

// process returns the process id of a unit.
func (p *packageTest) process(unit string) string {
	p.Helper()
	return strings.TrimSpace(p.machine.Run("systemctl", "show", "-P", "MainPID", unit))
}

// answers waits for a control that has taken up what the forwarder has.
func (p *packageTest) answers() {
	p.Helper()
	Until(p.T, 30*time.Second, "the router answers", func() bool {
		out, err := p.router.try("show engine")
		return err == nil && strings.Contains(out, "State") && !strings.Contains(out, "being programmed")
	})
}

// subscribersUp starts the subscribers, and the script of all phases.
func (p *packageTest) subscribersUp() {
	p.Helper()
	script := fmt.Sprintf("up; mark %s/up", p.lab.Dir)
	for _, phase := range []string{"calm", "upgrade", "foreign", "restart", "reboot"} {
		script += fmt.Sprintf("; wait %[1]s/%[2]s-go 200s; mark %[1]s/%[2]s-on; %[3]s; report %[1]s/%[2]s.json; mark %[1]s/%[2]s", p.lab.Dir, phase, packagePhase)
	}
	script += fmt.Sprintf("; wait %s/done 100s", p.lab.Dir)
	p.lab.Simulator(fmt.Sprint(packageSubscribers), script, "--max-loss", "100")
	p.lab.Marked("up", 60*time.Second)
	if lost := p.phase("calm", func() {}); lost > p.explained() {
		p.Errorf("calm: %d packets lost, full rings and unresolved neighbours explain only %d", lost, p.explained())
	}
}

// phase runs one part of the traffic with something that happens meanwhile, and returns how many packets
// have been lost up to its end.
func (p *packageTest) phase(name string, meanwhile func()) uint64 {
	p.Helper()
	p.lab.Mark(name + "-go")
	p.lab.Marked(name+"-on", 30*time.Second)
	time.Sleep(2 * time.Second)
	meanwhile()
	p.lab.Marked(name, 60*time.Second)
	r := p.lab.Report(name + ".json")
	p.Logf("%s, all until now: up %+v\n\tdown %+v", name, r.Traffic.Up, r.Traffic.Down)
	if r.Up != packageSubscribers || len(r.Faults) > 0 {
		p.Errorf("%s: %d of %d subscribers came up, faults %q", name, r.Up, packageSubscribers, r.Faults)
	}
	return uint64(r.Traffic.Up.Lost+r.Traffic.Down.Lost) - r.ownDrops()
}

// explained counts the packets that were lost for want of the test machine's time, or before the Internet
// side's address was known.
func (p *packageTest) explained() uint64 {
	return p.router.overflows() + p.router.losses()["adjacency/unresolved"] + 1
}

// kept is what an upgrade must not change.
func (p *packageTest) kept() string {
	p.Helper()
	return names(p.router.CLI("show subscribers")) + p.machine.Run("cat", "/var/lib/vbng/startup.conf") + fmt.Sprint(p.accounting())
}

// accounting tells the sessions that have begun and not ended by their accounting.
func (p *packageTest) accounting() (open int) {
	starts, stops := p.radius.Of("Start"), p.radius.Of("Stop")
	for id := range starts {
		if len(stops[id]) == 0 {
			open++
		}
	}
	return open
}

// upgrade installs a new version under traffic: no packet, no session and no line may go.
func (p *packageTest) upgrade(deb string) {
	p.Helper()
	before, forwarder := p.kept(), forwarderPid(p.T, p.router)
	lost := p.phase("upgrade", func() { need(p.T, p.machine.Install(deb), "forwarder runs on") })
	p.answers()
	need(p.T, p.router.CLI("show version"), "1.0.2")
	if lost > p.explained() {
		p.Errorf("upgrade: %d packets lost, full rings and unresolved neighbours explain only %d", lost, p.explained())
	}
	if after := p.kept(); after != before {
		p.Errorf("after the upgrade:\n%s\nbefore:\n%s", after, before)
	}
	if pid := forwarderPid(p.T, p.router); pid != forwarder {
		p.Errorf("the forwarder was process %d, is %d", forwarder, pid)
	}
	if n := p.accounting(); n != packageSubscribers {
		p.Errorf("%d sessions stand in accounting, want %d", n, packageSubscribers)
	}
}

// upgradeForeign installs a version that cannot program the forwarder that runs: packets flow until the
// operator restarts it, and after; those who dial in wait.
func (p *packageTest) upgradeForeign(deb string) {
	p.Helper()
	before, overflows, forwarder := p.kept(), p.explained(), p.process("vbng-forwarder.service")
	start := p.lab.Report("upgrade.json").Traffic
	lost := p.phase("foreign", func() {
		p.machine.Install(deb)
		Until(p.T, 20*time.Second, "control says what it cannot do", func() bool {
			out, err := p.router.try("show engine")
			return err == nil && strings.Contains(out, "of another version") && strings.Contains(out, forwarder)
		})
		p.Logf("show engine:\n%s", p.router.CLI("show engine"))
	})
	// This forwarder's counters cannot be read: what its rings could not take is known no more.
	flown := p.lab.Report("foreign.json").Traffic
	if flown.Up.Received == start.Up.Received || flown.Down.Received == start.Down.Received {
		p.Errorf("no packet flowed in an old forwarder under a new control")
	}
	if few := uint64(flown.Up.Sent-start.Up.Sent) / 100; lost > overflows+few {
		p.Errorf("an old forwarder under a new control lost %d packets", lost-overflows)
	}
	if pid := p.process("vbng-forwarder.service"); pid != forwarder {
		p.Errorf("the forwarder was process %s, is %s", forwarder, pid)
	}
	if code := p.dial("early"); code == 0 {
		p.Errorf("a session was set up in a forwarder that cannot be programmed")
	}
	p.phase("restart", func() {
		p.Logf("restart forwarder: %s", strings.TrimSpace(p.router.CLI("restart forwarder")))
	})
	restarted := p.lab.Report("restart.json").Traffic
	p.Logf("longest gap: up %.0f ms, down %.0f ms", restarted.Up.LongestGapMs, restarted.Down.LongestGapMs)
	p.answers()
	if after := p.kept(); after != before {
		p.Errorf("after the forwarder's restart:\n%s\nbefore:\n%s", after, before)
	}
	if code := p.dial("late"); code != 0 {
		p.Errorf("no session can be set up after the forwarder's restart")
	}
}

// dial tries one more session, and returns the simulator's exit status.
func (p *packageTest) dial(name string) int {
	p.Helper()
	s := p.lab.Start("A", "dial-"+name, Bin("vbng-sim"), "pppoe", "--interface", p.lab.NS("A")+":acc0", "--first", "9001",
		"--mac-base", "02:54:00:00:00:01", "--svlan", "200", "--cvlan", "1", "--script", "up 30s; down")
	s.Wait(p.T, 60*time.Second)
	return s.ExitCode()
}

// reboot takes the machine down and up: the sessions are restored, and their clients go on.
func (p *packageTest) reboot() {
	p.Helper()
	p.machine.PowerOff()
	p.machine.Boot()
	p.router = p.machine.Router()
	p.answers()
	Until(p.T, 30*time.Second, "sessions restored", func() bool {
		return strings.Count(p.router.CLI("show subscribers"), "sim") >= packageSubscribers
	})
	before := p.lab.Report("restart.json").Traffic
	p.phase("reboot", func() {})
	after := p.lab.Report("reboot.json").Traffic
	for _, d := range [][2]SimFlow{{before.Up, after.Up}, {before.Down, after.Down}} {
		lost := uint64(d[1].Lost - d[0].Lost)
		if d[1].Received == d[0].Received || lost > p.explained() {
			p.Errorf("after the reboot %d packets were lost, %d explained: %+v", lost, p.explained(), d[1])
		}
	}
	if n := p.accounting(); n != packageSubscribers {
		p.Errorf("%d sessions stand in accounting after the reboot, want %d", n, packageSubscribers)
	}
}

// remove removes the package, which leaves the state and nothing else, and purges it.
func (p *packageTest) remove(untouched string) {
	p.Helper()
	p.Logf("dpkg -r:\n%s", p.machine.Run("dpkg", "-r", "vbng"))
	if left := changedLines(untouched, p.machine.state()); left != "" {
		p.Errorf("changed by the package and not given back:\n%s", left)
	}
	need(p.T, p.machine.Run("ls", "/var/lib/vbng", "/etc/vbng"), "startup.conf", "store.db", "vbng.conf")
	p.Logf("dpkg -P:\n%s", p.machine.Run("dpkg", "-P", "vbng"))
	for _, path := range []string{"/var/lib/vbng", "/run/vbng", "/etc/vbng"} {
		if out, err := p.machine.try("ls", "-d", path); err == nil {
			p.Errorf("left after the purge: %s", out)
		}
	}
	if out, err := p.machine.try("getent", "passwd", "vbng"); err == nil {
		p.Errorf("left after the purge: user %s", out)
	}
	p.lab.Mark("done")
}

// changedLines lists the lines that one text has more often than the other, in whatever order.
func changedLines(before, after string) string {
	count := map[string]int{}
	for _, line := range strings.Split(before, "\n") {
		count[line]--
	}
	for _, line := range strings.Split(after, "\n") {
		count[line]++
	}
	var lines []string
	for line, n := range count {
		if n != 0 {
			lines = append(lines, fmt.Sprintf("%+d %q", n, line))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
