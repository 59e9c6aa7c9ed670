//go:build lab

package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const bgpd = "/usr/lib/frr/bgpd"

// StartFRR starts FRR's bgpd in a namespace, and returns how to ask it.
func (l *Lab) StartFRR(ns, config string) (ask func(command string) string) {
	l.t.Helper()
	if _, err := exec.LookPath(bgpd); err != nil {
		l.t.Skip("needs FRR: apt-get install frr")
	}
	dir, err := os.MkdirTemp("", "vbng-frr-") // FRR gives up being root, and may not enter the lab's folder
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "bgpd.conf")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		l.t.Fatal(err)
	}
	l.run("chown", "-R", "frr", dir)
	l.Start(ns, "bgpd-"+ns, bgpd, "-Z", "-n", "-f", file, "-i", filepath.Join(dir, "pid"), "--vty_socket", dir, "-u", "frr", "-g", "frr", "-P", "0", "--log", "stdout")
	return func(command string) string {
		out, _ := exec.Command("vtysh", "--vty_socket", dir, "-c", command).CombinedOutput()
		return string(out)
	}
}

// frrConfig is a neighbour in AS 65001 that announces so many /24 of a /16.
func frrConfig(routerID, neighbor, first string, count int) string {
	var c strings.Builder
	fmt.Fprintf(&c, `router bgp 65001
 bgp router-id %[1]s
 no bgp ebgp-requires-policy
 no bgp network import-check
 timers bgp 3 9
 neighbor %[2]s remote-as 65000
 neighbor %[2]s timers connect 1
 address-family ipv4 unicast
`, routerID, neighbor)
	for i := range count {
		fmt.Fprintf(&c, "  network %s.%d.%d.0/24\n", first, i>>8, i&255)
	}
	return c.String()
}

const bgpRouter = `hostname bng1
!
interface access0
 ip address 203.0.113.1/24
!
interface core0
 ip address %s/24
!
router bgp 65000
 router-id %[1]s
 timers keepalive 3
 timers hold 9
 neighbor %[2]s
  remote-as 65001
  address-family ipv4 unicast
   activate
  !
 !
 redistribute connected
!
`

// TestBGP learns 1,000 prefixes from FRR: a packet to each arrives there, none after they have been withdrawn.
func TestBGP(t *testing.T) {
	l := New(t)
	ask := l.StartFRR("I", frrConfig(InternetAddr, CoreAddr, "10", 1000))
	l.In("A", "ip", "addr", "add", "203.0.113.2/24", "dev", "acc0")
	l.In("A", "ip", "route", "add", "default", "via", "203.0.113.1")
	r := l.StartRouter(fmt.Sprintf(bgpRouter, CoreAddr, InternetAddr))
	learned := func() bool { return strings.Contains(r.CLI("show bgp summary"), "1000") }
	Until(t, 60*time.Second, "1,000 prefixes", learned)
	Until(t, 20*time.Second, "the last route", func() bool { return strings.Contains(r.CLI("show ip route 10.3.231.1"), "10.3.231.0/24") })
	Until(t, 20*time.Second, "our prefix at FRR", func() bool { return strings.Contains(ask("show bgp ipv4 unicast 203.0.113.0/24"), "65000") })
	l.In("A", "ping", "-c", "1", "-W", "5", InternetAddr) // both neighbours are known now

	if n := l.arrived(1000); n != 1000 {
		t.Errorf("packets to %d of 1,000 prefixes arrived", n)
	}
	ask("conf t\nrouter bgp 65001\nneighbor " + CoreAddr + " shutdown")
	Until(t, 30*time.Second, "no route", func() bool { return !strings.Contains(r.CLI("show ip route 10.3.231.1"), "10.3.231.0/24") })
	if n := l.arrived(1000); n != 0 {
		t.Errorf("packets to %d withdrawn prefixes arrived", n)
	}
}

// arrived sends a packet from behind the router to an address in each prefix and counts the addresses that
// are seen at FRR's side.
func (l *Lab) arrived(count int) int {
	l.t.Helper()
	file := filepath.Join(l.Dir, fmt.Sprintf("bgp-%d.pcapng", time.Now().UnixNano()))
	p := l.Start("I", filepath.Base(file), "dumpcap", "-q", "-i", "net0", "-f", "udp port 9", "-w", file)
	Until(l.t, 10*time.Second, "capture", func() bool { return strings.Contains(p.Output(), "File:") })
	time.Sleep(time.Second)
	script := fmt.Sprintf(`for ((i = 0; i < %d; i++)); do echo x >/dev/udp/10.$((i >> 8)).$((i & 255)).1/9; sleep 0.001; done`, count)
	l.In("A", "bash", "-c", script)
	time.Sleep(2 * time.Second)
	p.Stop()
	seen := map[string]bool{}
	for _, line := range strings.Fields(l.tshark(file, "udp.dstport == 9", "ip.dst")) {
		seen[line] = true
	}
	return len(seen)
}

// TestBGPInTwoVRFs has BGP in two VRFs with the same addresses on both sides.
func TestBGPInTwoVRFs(t *testing.T) {
	l := New(t)
	config := "hostname bng1\n!\nvrf red\n!\nvrf blue\n!\n"
	router := "router bgp 65000\n router-id 192.0.2.1\n timers keepalive 3\n timers hold 9\n"
	var asks []func(string) string
	for i, vrf := range []string{"red", "blue"} {
		ns, port := "F"+vrf, fmt.Sprint("core", 1+i)
		l.run("ip", "netns", "add", l.NS(ns))
		t.Cleanup(func() { exec.Command("ip", "netns", "del", l.NS(ns)).Run() })
		l.link("R", port, ns, "net0", 1600)
		l.In(ns, "ip", "addr", "add", "192.0.2.2/24", "dev", "net0")
		asks = append(asks, l.StartFRR(ns, frrConfig("192.0.2.2", "192.0.2.1", fmt.Sprint(10+i), 10+i)))
		config += fmt.Sprintf("interface %s\n vrf %s\n ip address 192.0.2.1/24\n!\n", port, vrf)
		router += fmt.Sprintf(" vrf %s\n  neighbor 192.0.2.2\n   remote-as 65001\n   address-family ipv4 unicast\n    activate\n   !\n  !\n  redistribute connected\n !\n", vrf)
	}
	r := l.StartRouter(config + router + "!\n")
	for i, vrf := range []string{"red", "blue"} {
		learned := fmt.Sprintf("%d.0.9.0/24", 10+i)
		Until(t, 60*time.Second, "BGP in "+vrf, func() bool {
			out := r.CLI("show bgp summary vrf " + vrf)
			return strings.Contains(out, "established")
		})
		Until(t, 20*time.Second, "the routes of "+vrf, func() bool { return strings.Contains(r.CLI("show ip route vrf "+vrf), learned) })
		Until(t, 20*time.Second, "FRR of "+vrf, func() bool { return strings.Contains(asks[i]("show bgp ipv4 unicast"), "192.0.2.0/24") })
	}
}
