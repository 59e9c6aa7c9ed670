//go:build lab

package lab

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Station is a namespace with an Ethernet device of its own, eth0, on the access wire: a subscriber's
// host that runs DHCP clients as they are.
type Station struct {
	lab    *Lab
	Name   string
	MAC    string
	dir    string // the clients' files, and the hook's file "events"
	daemon *Process
}

// Station makes a host on the access wire (Wire comes first).
func (l *Lab) Station(name, mac string) *Station {
	l.t.Helper()
	s := l.StationAt(name, mac, "A", "acc-"+name)
	l.In("A", "ip", "link", "set", "acc-"+name, "master", "br0")
	return s
}

// StationAt makes a host whose wire ends at a new device of a namespace.
func (l *Lab) StationAt(name, mac, ns, device string) *Station {
	l.t.Helper()
	s := &Station{lab: l, Name: name, MAC: mac, dir: filepath.Join(l.Dir, name)}
	l.run("ip", "netns", "add", l.NS(name))
	l.t.Cleanup(func() { output(context.Background(), nil, "ip", "netns", "del", l.NS(name)) })
	l.ownResolver(name)
	l.link(name, "eth0", ns, device, 1500)
	s.In("ip", "link", "set", "eth0", "address", mac)
	s.In("ip", "link", "set", "lo", "up")
	if err := os.CopyFS(s.dir, os.DirFS(filepath.Join(root(), "etc/lab/hooks"))); err != nil {
		l.t.Fatal(err)
	}
	if err := os.Chmod(s.hook(), 0o755); err != nil {
		l.t.Fatal(err)
	}
	return s
}

// NoIPv6 takes IPv6 off the station, so that it does not solicit the router.
func (s *Station) NoIPv6() {
	s.lab.t.Helper()
	s.In("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
}

// ownResolver gives a namespace a resolv.conf of its own, so that no client touches the machine's.
func (l *Lab) ownResolver(name string) {
	dir := filepath.Join("/etc/netns", l.NS(name))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		os.RemoveAll(dir)
		os.Remove("/etc/netns") // when it is empty
	})
	if err := os.WriteFile(filepath.Join(dir, "resolv.conf"), nil, 0o644); err != nil {
		l.t.Fatal(err)
	}
}

func (s *Station) hook() string { return filepath.Join(s.dir, "dhcp.sh") }

func (s *Station) file(name string) string { return filepath.Join(s.dir, name) }

// In runs a command at the station; a failure ends the test.
func (s *Station) In(command ...string) string {
	s.lab.t.Helper()
	return s.lab.In(s.Name, command...)
}

// Try runs a command at the station for at most half a minute.
func (s *Station) Try(command ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return output(ctx, nil, append([]string{"ip", "netns", "exec", s.lab.NS(s.Name), "env", "TMPDIR=" + s.dir}, command...)...)
}

// Events returns the hook's lines so far.
func (s *Station) Events() []string {
	text, _ := os.ReadFile(s.file("events"))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// Last returns what the events of the kinds said last, by name.
func (s *Station) Last(kinds ...string) map[string]string {
	values := map[string]string{}
	for _, line := range s.Events() {
		fields := strings.Fields(line)
		if len(fields) == 0 || !slices.Contains(kinds, fields[0]) {
			continue
		}
		for _, field := range fields[1:] {
			if name, value, _ := strings.Cut(field, "="); value != "" {
				values[name] = value
			}
		}
	}
	return values
}

// count returns how many events of the kinds there were.
func (s *Station) count(kinds ...string) (n int) {
	for _, line := range s.Events() {
		for _, kind := range kinds {
			if strings.HasPrefix(line, kind+" ") {
				n++
			}
		}
	}
	return n
}

// Kinds of events at which a client has, or has kept, an address.
var (
	boundEvents   = []string{"BOUND", "REBOOT", "bound"}
	renewedEvents = []string{"RENEW", "REBIND", "renew"}
)

// Bound waits for the station's lease and returns the address.
func (s *Station) Bound(t *testing.T, limit time.Duration) string {
	t.Helper()
	Until(t, limit, s.Name+" has a lease", func() bool { return s.count(boundEvents...) > 0 })
	return s.Last(append(boundEvents, renewedEvents...)...)["address"]
}

// Dhclient starts ISC's client, for IPv4 or with options of its own.
func (s *Station) Dhclient(options ...string) {
	s.lab.t.Helper()
	if len(options) == 0 {
		options = []string{"-4"}
	}
	s.daemon = s.lab.Start(s.Name, "dhclient-"+s.Name, s.dhclient(append(options, "-d")...)...)
}

func (s *Station) dhclient(options ...string) []string {
	command := append([]string{"dhclient", "-v", "-sf", s.hook(), "-cf", "/dev/null", "-lf", s.file("leases"), "-pf", s.file("pid")}, options...)
	return append(command, "eth0")
}

// Udhcpc starts busybox's client.
func (s *Station) Udhcpc() {
	s.lab.t.Helper()
	s.daemon = s.lab.Start(s.Name, "udhcpc-"+s.Name, "udhcpc", "-f", "-i", "eth0", "-s", s.hook(), "-t", "5", "-T", "2", "-A", "2")
}

// Dhcpcd starts dhcpcd with lines of its configuration. What it keeps at fixed places of the machine is put into
// the station's folder: each program of a station has a mount namespace of its own.
func (s *Station) Dhcpcd(lines ...string) {
	s.lab.t.Helper()
	for name, text := range map[string]string{"self": "", "dhcpcd.conf": strings.Join(append(lines, "noarp", "persistent", "option domain_name_servers, dhcp6_name_servers", ""), "\n")} {
		if err := os.WriteFile(s.file(name), []byte(text), 0o644); err != nil {
			s.lab.t.Fatal(err)
		}
	}
	script := fmt.Sprintf(`mkdir -p %[1]s/run %[1]s/lib /run/dhcpcd && mount --bind %[1]s/run /run/dhcpcd && mount --bind %[1]s/lib /var/lib/dhcpcd &&
exec dhcpcd -B -d -f %[1]s/dhcpcd.conf -c %[1]s/dhcp.sh eth0`, s.dir)
	s.daemon = s.lab.Start(s.Name, "dhcpcd-"+s.Name, "sh", "-c", script)
}

// tellDhcpcd runs dhcpcd's command in the daemon's view of the machine.
func (s *Station) tellDhcpcd(t *testing.T, option string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	out, err := output(ctx, nil, "nsenter", "-m", "-n", "-t", fmt.Sprint(s.daemon.Pid()), "dhcpcd", "-f", s.file("dhcpcd.conf"), option, "eth0")
	if err != nil {
		t.Errorf("dhcpcd %s: %v\n%s", option, err, out)
	}
}

// Pings sends pings and wants an answer to each.
func (s *Station) Pings(t *testing.T, options ...string) {
	t.Helper()
	pings(t, s.Name, s.Try, options...)
}

func pings(t *testing.T, who string, try func(...string) (string, error), options ...string) {
	t.Helper()
	out, err := try(append([]string{"ping", "-c", "3", "-i", "0.2", "-W", "2"}, options...)...)
	if err != nil || !strings.Contains(out, " 3 received") {
		t.Errorf("%s: ping %s: %v\n%s", who, strings.Join(options, " "), err, out)
	}
}

// Transfers moves counted bytes both ways over TCP.
func (s *Station) Transfers(t *testing.T, server string) {
	t.Helper()
	out, err := s.Try("bash", filepath.Join(root(), "etc/lab/uml/transfer.sh"), server, fmt.Sprint(transferBytes))
	for _, direction := range []string{"tcp-up", "tcp-down"} {
		if want := fmt.Sprintf("RESULT %s sent=%[2]d received=%[2]d same=yes", direction, transferBytes); !strings.Contains(out, want) {
			t.Errorf("%s: missing %q: %v\n%s", s.Name, want, err, out)
		}
	}
}
