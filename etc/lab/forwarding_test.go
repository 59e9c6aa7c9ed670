//go:build lab

package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The second next hop on the Internet side, and what lies behind both.
const (
	secondAddr  = "198.51.100.4"
	secondAddr6 = "2001:db8:ffff::4"
	secondMAC   = "02:00:00:00:0d:04"
	farAddr     = "203.0.113.9"
	farAddr6    = "2001:db8:fa::9"
	coreMTU     = 1380
	lineMTU     = 1400
)

// forwardingConfig has less room in the core than on the line (whose MTU the router advertises), two ways to one prefix, and routes that discard.
func forwardingConfig() string {
	return dualConfig(fmt.Sprintf("mtu %d", lineMTU)) + fmt.Sprintf(`interface core0
 mtu %d
 ip tcp adjust-mss 1300
!
ip route 203.0.113.0/25 %s
ip route 203.0.113.0/25 %s
ip route 203.0.113.128/25 blackhole
ipv6 route 2001:db8:fa::/48 %s
ipv6 route 2001:db8:fa::/48 %s
ipv6 route 2001:db8:dead::/48 blackhole
!
`, coreMTU, InternetAddr, secondAddr, InternetAddr6, secondAddr6)
}

// forwardingLab is the router between a dual-stack IPoE subscriber and an Internet of two next hops.
func forwardingLab(t *testing.T) (l *Lab, r *Router, s *Station, four, six string) {
	l = New(t)
	l.Wire()
	l.FreeRADIUS(false)
	for _, sysctl := range []string{"net.ipv4.conf.all.arp_ignore=1", "net.ipv4.conf.all.arp_announce=2", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.default.rp_filter=0"} {
		l.In("I", "sysctl", "-qw", sysctl)
	}
	l.In("I", "ip", "link", "add", "second", "link", "net0", "address", secondMAC, "type", "macvlan", "mode", "bridge")
	l.In("I", "ip", "link", "set", "second", "up")
	l.In("I", "ip", "addr", "add", secondAddr+"/32", "dev", "second")
	l.In("I", "ip", "addr", "add", secondAddr6+"/128", "dev", "second", "nodad")
	l.In("I", "ip", "addr", "add", farAddr+"/32", "dev", "lo")
	l.In("I", "ip", "addr", "add", farAddr6+"/128", "dev", "lo", "nodad")
	r = l.StartRouter(forwardingConfig())
	s = l.Station("host", "02:00:00:00:0f:01")
	s.Dhclient()
	four = s.Bound(t, 30*time.Second)
	Until(t, 30*time.Second, "the station has an IPv6 address by the router's advertisement", func() bool {
		out, _ := s.Try("ip", "-6", "-o", "addr", "show", "dev", "eth0", "scope", "global")
		_, rest, _ := strings.Cut(out, "inet6 ")
		six, _, _ = strings.Cut(rest, "/")
		return strings.HasPrefix(six, "2001:db8:a000:") && !strings.Contains(out, "tentative")
	})
	return l, r, s, four, six
}

// TestForwardingRules compares ICMP errors, fragments, MSS, the spread over next hops, traceroute and path MTU discovery
// with the RFCs, by scapy's and the kernel's eyes, in both families.
func TestForwardingRules(t *testing.T) {
	long(t)
	l, r, s, four, six := forwardingLab(t)
	access, core, radius := l.Capture("A", "acc0"), l.Capture("I", "net0"), l.Capture("S", "rad0")
	l.ServeTransfers()
	s.Pings(t, farAddr)
	s.Pings(t, farAddr6)

	t.Run("errors", func(t *testing.T) { l.scapyErrors(t, s, four, six) })
	t.Run("fragments", func(t *testing.T) {
		// Up they do not fit into the core, down not onto the line.
		s.Pings(t, "-M", "dont", "-s", "1472", "-p", "a55a", InternetAddr)
		l.pingsFromInternet(t, four, "-M", "dont", "-s", "1472", "-p", "a55a")
		l.pingsFromInternet(t, four, "-M", "dont", "-s", "5000", "-p", "c33c")
	})
	t.Run("traceroute", func(t *testing.T) {
		l.traces(t, s.Try, []string{"traceroute", "-n", "-q", "1", "-w", "2", farAddr}, " 1  100.64.0.1 ", " 2  "+farAddr+" ")
		l.traces(t, s.Try, []string{"traceroute", "-6", "-n", "-q", "1", "-w", "2", farAddr6}, " 1  2001:db8::1 ", " 2  "+farAddr6+" ")
		internet := &Station{lab: l, Name: "I", dir: l.Dir}
		l.traces(t, internet.Try, []string{"traceroute", "-n", "-q", "1", "-w", "2", four}, " 1  "+CoreAddr+" ", " 2  "+four+" ")
		l.traces(t, internet.Try, []string{"traceroute", "-6", "-n", "-q", "1", "-w", "2", six}, " 1  "+CoreAddr6+" ", " 2  "+six+" ")
	})
	t.Run("path-mtu", func(t *testing.T) {
		l.traces(t, s.Try, []string{"tracepath", "-n", farAddr}, fmt.Sprintf("pmtu %d", coreMTU), "reached")
		l.traces(t, s.Try, []string{"tracepath", "-6", "-n", farAddr6}, fmt.Sprintf("pmtu %d", coreMTU), "reached")
		internet := &Station{lab: l, Name: "I", dir: l.Dir}
		l.traces(t, internet.Try, []string{"tracepath", "-n", four}, fmt.Sprintf("pmtu %d", lineMTU), "reached")
		l.traces(t, internet.Try, []string{"tracepath", "-6", "-n", six}, fmt.Sprintf("pmtu %d", lineMTU), "reached")
	})
	t.Run("transfers", func(t *testing.T) {
		s.Transfers(t, InternetAddr)
		s.Transfers(t, InternetAddr6)
	})
	t.Run("next-hops", func(t *testing.T) { l.spread(t, s, core) })

	t.Log(r.CLI("show engine"))
	own := l.Decoded(access, core, radius)
	l.mssAtMost(t, access, own[access])
	l.mssAtMost(t, core, own[core])
	l.Saw(access, own[access], "icmp.type == 11", "icmp.type == 3 && icmp.code == 4", "icmp.type == 3 && icmp.code == 1",
		"icmpv6.type == 3", "icmpv6.type == 2", "icmpv6.type == 1", "ip.flags.mf == 1", "ip.frag_offset > 0")
	l.Saw(core, own[core], "icmp.type == 11", "icmpv6.type == 3", "icmpv6.type == 2", "icmp.type == 3 && icmp.code == 4", "ip.flags.mf == 1")
}

// scapyErrors lets scapy ask for errors at the station and judge them.
func (l *Lab) scapyErrors(t *testing.T, s *Station, four, six string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := output(ctx, nil, "ip", "netns", "exec", l.NS(s.Name), "env", "HOME="+s.dir, "/usr/bin/python3", filepath.Join(root(), "etc/lab/scapy/forwarding.py"),
		"eth0", l.mac("access0"), four, six, "100.64.0.1", "2001:db8::1", fmt.Sprint(coreMTU), farAddr, farAddr6, "203.0.113.200", "2001:db8:dead::1")
	if err != nil {
		t.Fatalf("scapy: %v\n%s", err, out)
	}
	for _, name := range []string{"ttl", "ttl-long", "ttl-options", "ttl-first-fragment", "discard", "too-big", "about-error", "later-fragment",
		"hop-limit", "hop-limit-long", "hop-limit-options", "discard6", "too-big6", "about-error6", "later-fragment6"} {
		if !strings.Contains(out, "RESULT "+name+" ok\n") {
			_, rest, _ := strings.Cut(out, "RESULT "+name+" ")
			line, _, _ := strings.Cut(rest, "\n")
			t.Errorf("%s: %s", name, line)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// traces runs a tracing program, whose output must have all parts.
func (l *Lab) traces(t *testing.T, try func(...string) (string, error), command []string, wanted ...string) {
	t.Helper()
	out, err := try(command...)
	if err != nil {
		t.Errorf("%s: %v", strings.Join(command, " "), err)
	}
	need(t, out, wanted...)
}

// spread sends flows to a prefix with two next hops: each gets its share, and a flow keeps to one.
func (l *Lab) spread(t *testing.T, s *Station, core string) {
	t.Helper()
	script := `import socket
for family, to in ((socket.AF_INET, "%s"), (socket.AF_INET6, "%s")):
    for port in range(20000, 20100):
        u = socket.socket(family, socket.SOCK_DGRAM)
        u.bind(("", port))
        for n in range(3):
            u.sendto(b"flow", (to, 7777))
        u.close()
`
	if out, err := s.Try("/usr/bin/python3", "-c", fmt.Sprintf(script, farAddr, farAddr6)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	time.Sleep(1500 * time.Millisecond) // the recorder writes its last block
	for _, family := range []string{"ip", "ipv6"} {
		hop, packets, flows := map[string]string{}, 0, map[string]int{}
		for _, line := range strings.Split(l.tshark(core, family+" && udp.dstport == 7777 && !icmp && !icmpv6", "udp.srcport", "eth.dst"), "\n") {
			port, mac, _ := strings.Cut(line, "\t")
			if hop[port] == "" {
				hop[port] = mac
				flows[mac]++
			} else if hop[port] != mac {
				t.Errorf("%s: flow %s changed from %s to %s", family, port, hop[port], mac)
			}
			packets++
		}
		if packets != 300 || len(flows) != 2 || flows[secondMAC] < 25 || flows[secondMAC] > 75 {
			t.Errorf("%s: %d packets, flows by next hop: %v", family, packets, flows)
		}
	}
}

// mssAtMost looks at the openings of TCP connections among frames of ours: the clamp has reached all of them.
func (l *Lab) mssAtMost(t *testing.T, file, own string) {
	t.Helper()
	for family, most := range map[string]int{"ip": 1300, "ipv6": 1280} {
		l.Saw(file, own, fmt.Sprintf("%s && tcp.flags.syn == 1 && tcp.options.mss_val == %d", family, most))
		if bad := l.tshark(file, fmt.Sprintf("(%s) && %s && tcp.options.mss_val > %d", own, family, most), "frame.number"); bad != "" {
			t.Errorf("%s: %s: MSS above %d in frames %s", file, family, most, bad)
		}
	}
}
