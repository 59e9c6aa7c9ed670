//go:build lab

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Guest is a Linux kernel in user mode whose eth0 lies on the access wire.
type Guest struct{ *Process }

// Wire puts the access link on a bridge, so that several guests can share it.
func (l *Lab) Wire() {
	l.t.Helper()
	l.In("A", "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1") // the bridge is no host
	l.In("A", "ip", "link", "add", "br0", "type", "bridge")
	l.In("A", "ip", "link", "set", "br0", "mtu", "1600", "type", "bridge", "mcast_snooping", "0")
	l.In("A", "ip", "link", "set", "br0", "up")
	l.In("A", "ip", "link", "set", "acc0", "master", "br0")
}

// noAVX keeps the guest's C library from vector registers that the guest kernel, started by umlexec,
// does not save at a page fault.
const noAVX = "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX_Fast_Unaligned_Load"

// Guest boots a kernel that plays a role of the uml folder, with arguments as "name=value".
func (l *Lab) Guest(name, role string, number int, arguments ...string) *Guest {
	l.t.Helper()
	return l.boot(name, role, number, "eth0=tuntap,tap%[1]d,02:00:00:00:01:%02[1]x", arguments)
}

// JumboGuest is a Guest with the device vec0, which takes 1,600 bytes, as eth0 does not; but it leaves the checksums
// of TCP and UDP to the other side unless they are within PPPoE.
func (l *Lab) JumboGuest(name, role string, number int, arguments ...string) *Guest {
	l.t.Helper()
	return l.boot(name, role, number, "vec0:transport=tap,ifname=tap%[1]d,mac=02:00:00:00:01:%02[1]x,mtu=1600", append(arguments, "device=vec0"))
}

func (l *Lab) boot(name, role string, number int, device string, arguments []string) *Guest {
	l.t.Helper()
	tap := fmt.Sprintf("tap%d", number)
	l.In("A", "ip", "tuntap", "add", "dev", tap, "mode", "tap")
	l.In("A", "ip", "link", "set", tap, "mtu", "1600", "master", "br0", "up")
	scripts := l.scripts()
	command := []string{"timeout", "120", Bin("umlexec"), "/usr/bin/linux.uml", "mem=256M", "umid=" + filepath.Base(l.Dir) + name,
		"root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", "init=" + filepath.Join(scripts, "init.sh"),
		"con0=fd:0,fd:1", "con=null", fmt.Sprintf(device, number),
		noAVX, "role=" + filepath.Join(scripts, "role-"+role+".sh")}
	for _, a := range arguments {
		command = append(command, "arg."+a)
	}
	return &Guest{l.Start("A", "guest-"+name, command...)}
}

// scripts copies the guests' scripts to where a guest may read them, whatever the rights on the tree.
func (l *Lab) scripts() string {
	dir := filepath.Join(l.Dir, "uml")
	for _, folder := range []string{"uml", "hooks"} {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root(), "etc/lab", folder))); err != nil && !os.IsExist(err) {
			l.t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "init.sh"), 0o755); err != nil {
		l.t.Fatal(err)
	}
	return dir
}

// Results returns the guest's lines "RESULT name value", by name.
func (g *Guest) Results() map[string]string {
	results := map[string]string{}
	for _, line := range strings.Split(g.Output(), "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "RESULT "); ok {
			name, value, _ := strings.Cut(rest, " ")
			results[name] = value
		}
	}
	return results
}
