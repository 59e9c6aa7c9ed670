//go:build lab

// Package lab holds the end-to-end tests: the router in a network namespace of its own between peers
// that were not written here. `make lab` runs them as root.
//
//	guest kernels / simulator          router                  Internet, RADIUS
//	ns A: br0 - taps - UML   acc0 ==== access0  [R]  core0 ==== net0  ns I
//	                                        [R]  mgmt0 ==== rad0  ns S
package lab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Addresses of the standard lab.
const (
	InternetAddr  = "198.51.100.2"
	CoreAddr      = "198.51.100.1"
	InternetAddr6 = "2001:db8:ffff::2"
	CoreAddr6     = "2001:db8:ffff::1"
	RADIUSAddr    = "192.0.2.10"
	MgmtAddr      = "192.0.2.1"
)

// namespacePrefix is followed by the number of the process that made the namespace.
const namespacePrefix = "vbnglab"

var labNumber atomic.Uint32

// Lab is one network of namespaces with its processes; everything ends with the test.
type Lab struct {
	t      *testing.T
	Dir    string // logs, state, captures
	prefix string
	sim    *Process
}

// New makes the standard lab's namespaces and links.
func New(t *testing.T) *Lab {
	t.Helper()
	l := &Lab{t: t, prefix: fmt.Sprintf("%s%d-%d-", namespacePrefix, os.Getpid(), labNumber.Add(1))}
	dir, err := os.MkdirTemp("", "vbng-lab-")
	if err != nil {
		t.Fatal(err)
	}
	l.Dir = dir
	t.Cleanup(func() {
		if t.Failed() {
			l.dumpLogs()
		}
		os.RemoveAll(dir)
	})
	for _, ns := range []string{"R", "V", "A", "I", "S"} {
		l.run("ip", "netns", "add", l.NS(ns))
		t.Cleanup(func() { exec.Command("ip", "netns", "del", l.NS(ns)).Run() })
		l.In(ns, "ip", "link", "set", "lo", "up")
	}
	l.link("R", "access0", "A", "acc0", 1600)
	l.link("R", "core0", "I", "net0", 1600)
	l.link("R", "mgmt0", "S", "rad0", 1500)
	l.In("I", "ip", "addr", "add", InternetAddr+"/24", "dev", "net0")
	l.In("I", "ip", "route", "add", "default", "via", CoreAddr)
	l.In("I", "ip", "addr", "add", InternetAddr6+"/64", "dev", "net0", "nodad")
	l.In("I", "ip", "route", "add", "default", "via", CoreAddr6)
	l.In("R", "ip", "addr", "add", MgmtAddr+"/24", "dev", "mgmt0")
	l.In("S", "ip", "addr", "add", RADIUSAddr+"/24", "dev", "rad0")
	return l
}

// NS returns the full name of one of the lab's namespaces.
func (l *Lab) NS(name string) string { return l.prefix + name }

// In runs a command in a namespace and returns its output; a failure ends the test.
func (l *Lab) In(ns string, command ...string) string {
	l.t.Helper()
	return l.run(append([]string{"ip", "netns", "exec", l.NS(ns)}, command...)...)
}

func (l *Lab) run(command ...string) string {
	l.t.Helper()
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

// link joins two namespaces by a veth pair. Offloads are off at both ends: a virtual wire would
// otherwise carry super-frames and unfinished checksums, which no real wire does.
func (l *Lab) link(nsA, devA, nsB, devB string, mtu int) {
	l.t.Helper()
	l.run("ip", "link", "add", devA, "netns", l.NS(nsA), "mtu", fmt.Sprint(mtu), "type", "veth",
		"peer", "name", devB, "netns", l.NS(nsB), "mtu", fmt.Sprint(mtu))
	for _, end := range [][2]string{{nsA, devA}, {nsB, devB}} {
		l.In(end[0], "ethtool", "-K", end[1], "tx", "off", "tso", "off", "gso", "off", "gro", "off")
		l.In(end[0], "ip", "link", "set", end[1], "up")
	}
}

// Process is a running program of the lab.
type Process struct {
	Name string
	Log  string // file with its output
	cmd  *exec.Cmd
	done chan struct{}
}

// Start runs a program in a namespace until the test ends; its output goes to a file.
func (l *Lab) Start(ns, name string, command ...string) *Process {
	l.t.Helper()
	p := &Process{Name: name, Log: filepath.Join(l.Dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		l.t.Fatal(err)
	}
	p.cmd = exec.Command("ip", append([]string{"netns", "exec", l.NS(ns)}, command...)...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		l.t.Fatalf("start %s: %v", name, err)
	}
	go func() { p.cmd.Wait(); log.Close(); close(p.done) }()
	l.t.Cleanup(func() { p.Stop() })
	return p
}

// Pid is the process id of the program itself.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Stop ends the process: gently, then surely.
func (p *Process) Stop() {
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		p.cmd.Process.Kill()
		<-p.done
	}
}

// Kill ends the process without a chance to clean up.
func (p *Process) Kill() {
	p.cmd.Process.Kill()
	<-p.done
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Wait waits for the process to end by itself and returns its output.
func (p *Process) Wait(t *testing.T, limit time.Duration) string {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		t.Errorf("%s did not end within %v", p.Name, limit)
		p.Kill()
	}
	return p.Output()
}

// ExitCode is the program's exit status, once it has ended.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Output is what the process has printed so far.
func (p *Process) Output() string {
	text, _ := os.ReadFile(p.Log)
	return string(text)
}

// Until waits for a condition to become true.
func Until(t *testing.T, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if condition() {
			return
		}
	}
	t.Fatalf("%s: not within %v", what, limit)
}

func (l *Lab) dumpLogs() {
	files, _ := filepath.Glob(filepath.Join(l.Dir, "*.log"))
	for _, name := range files {
		text, _ := os.ReadFile(name)
		lines := bytes.Split(text, []byte("\n"))
		if len(lines) > 80 {
			lines = lines[len(lines)-80:]
		}
		l.t.Logf("---- end of %s\n%s", filepath.Base(name), bytes.Join(lines, []byte("\n")))
	}
}

// Bin returns the path of one of our programs, built by `make build`.
func Bin(name string) string { return filepath.Join(root(), "bin", name) }

// root is the top of the source tree.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// output runs a program and returns what it printed together with its error.
func output(ctx context.Context, stdin io.Reader, command ...string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin = stdin
	out, err := cmd.CombinedOutput()
	return string(out), err
}
