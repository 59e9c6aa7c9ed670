//go:build lab

package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The system on which packages are tried.
const (
	debianSuite   = "bookworm"
	debianInclude = "systemd,systemd-sysv,dbus,iproute2,adduser,init-system-helpers,procps"
)

// Machine is a Debian system in a folder. Booted, it runs in a container of systemd-nspawn whose network is
// that of the lab's namespace R: the links and the peers are those of the other tests.
type Machine struct {
	lab    *Lab
	Dir    string
	leader string // process id of its first process; empty: not booted
	nspawn *exec.Cmd
}

// NewMachine copies a clean system, which debootstrap makes once.
func (l *Lab) NewMachine() *Machine {
	l.t.Helper()
	for _, tool := range []string{"debootstrap", "systemd-nspawn"} {
		if _, err := exec.LookPath(tool); err != nil {
			l.t.Skipf("needs %s: make packages", tool)
		}
	}
	m := &Machine{lab: l, Dir: filepath.Join(l.Dir, "machine")}
	l.run("cp", "-a", "--reflink=auto", l.cleanDebian(), m.Dir)
	return m
}

// cleanDebian returns a folder with a fresh system, kept for later runs.
func (l *Lab) cleanDebian() string {
	l.t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = "/var/cache"
	}
	dir := filepath.Join(cache, "vbng-lab", debianSuite)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	l.run("mkdir", "-p", filepath.Dir(dir))
	making := fmt.Sprintf("%s.%d", dir, os.Getpid())
	l.t.Cleanup(func() { os.RemoveAll(making) })
	l.run("debootstrap", "--variant=minbase", "--include="+debianInclude, debianSuite, making, l.debianMirror())
	l.run("mv", making, dir)
	return dir
}

// Boot starts the system and waits until it has come up.
func (m *Machine) Boot() {
	m.lab.t.Helper()
	log, err := os.OpenFile(filepath.Join(m.lab.Dir, "machine.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		m.lab.t.Fatal(err)
	}
	defer log.Close()
	m.nspawn = exec.Command("systemd-nspawn", "--register=no", "--keep-unit", "--machine="+m.lab.NS("machine"), "-D", m.Dir, "--boot", "--capability=all",
		"--network-namespace-path=/run/netns/"+m.lab.NS("R"), "--system-call-filter=bpf perf_event_open", "--bind=/dev/net/tun")
	m.nspawn.Env = append(os.Environ(), "SYSTEMD_NSPAWN_API_VFS_WRITABLE=network") // sysctls of the network
	m.nspawn.Stdout, m.nspawn.Stderr = log, log
	if err := m.nspawn.Start(); err != nil {
		m.lab.t.Fatal(err)
	}
	m.lab.t.Cleanup(m.PowerOff)
	Until(m.lab.t, 60*time.Second, "the machine boots", func() bool {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", m.nspawn.Process.Pid))
		m.leader = strings.TrimSpace(string(children))
		out, _ := m.try("systemctl", "is-system-running")
		return strings.TrimSpace(out) == "running"
	})
}

// PowerOff ends the system in good order.
func (m *Machine) PowerOff() {
	if m.leader == "" {
		return
	}
	m.try("systemctl", "poweroff")
	m.leader = ""
	late := time.AfterFunc(30*time.Second, func() { m.nspawn.Process.Kill() })
	defer late.Stop()
	m.nspawn.Wait()
}

// Run runs a command in the system, or without its services when it is not booted, and returns its output; a
// failure ends the test.
func (m *Machine) Run(command ...string) string {
	m.lab.t.Helper()
	out, err := m.try(command...)
	if err != nil {
		m.lab.t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return out
}

func (m *Machine) try(command ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	return output(ctx, strings.NewReader(""), append(m.inside(), command...)...)
}

// inside is the beginning of a command that runs in the system.
func (m *Machine) inside() []string {
	quiet := []string{"env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "HOME=/root"}
	if m.leader == "" {
		return append([]string{"chroot", m.Dir}, quiet...)
	}
	return append([]string{"nsenter", "-t", m.leader, "-a"}, quiet...)
}

// debianMirror is where this machine's own packages come from.
func (l *Lab) debianMirror() string {
	l.t.Helper()
	sites := strings.Fields(l.run("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages", "Codename: "+debianSuite))
	if len(sites) == 0 {
		l.t.Fatalf("apt knows no source of Debian %s", debianSuite)
	}
	return sites[0]
}

// Install installs a package, whatever version was there.
func (m *Machine) Install(deb string) string {
	m.lab.t.Helper()
	m.lab.run("cp", deb, m.Dir)
	out := m.Run("dpkg", "-i", "/"+filepath.Base(deb))
	m.lab.t.Logf("dpkg -i %s:\n%s", filepath.Base(deb), out)
	return out
}

// Router is the shell of the router that runs in the system.
func (m *Machine) Router() *Router {
	return &Router{lab: m.lab, shell: append(m.inside(), "vbng")}
}

// Package builds a package of a version from the programs that `make build` has left, with a vbngd of its
// own. The file of the source tree named by overlay, if any, is replaced.
func (l *Lab) Package(version string, overlay map[string]string) string {
	l.t.Helper()
	dir := filepath.Join(l.Dir, "bin-"+version)
	l.run("mkdir", "-p", dir)
	l.run("cp", Bin("vbng"), Bin("vbng-sim"), dir)
	build := []string{"env", "-C", root(), "CGO_ENABLED=0", "go", "build", "-trimpath", "-ldflags", "-X main.release=" + version, "-o", dir + "/"}
	if overlay != nil {
		build = append(build, "-overlay", l.overlay(overlay))
	}
	l.run(append(build, "./cmd/vbngd")...)
	l.run(filepath.Join(root(), "etc/deb/build.sh"), dir, l.Dir, version)
	debs, _ := filepath.Glob(filepath.Join(l.Dir, "vbng_"+version+"_*.deb"))
	if len(debs) != 1 {
		l.t.Fatalf("packages of version %s: %v", version, debs)
	}
	return debs[0]
}

// overlay writes what go build takes other texts of source files from; names are relative to the tree.
func (l *Lab) overlay(texts map[string]string) string {
	l.t.Helper()
	dir := filepath.Join(l.Dir, "overlay")
	l.run("mkdir", "-p", dir)
	var lines []string
	for name, text := range texts {
		file := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			l.t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%q: %q", filepath.Join(root(), name), file))
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, []byte(`{"Replace": {`+strings.Join(lines, ",")+"}}"), 0o644); err != nil {
		l.t.Fatal(err)
	}
	return list
}
