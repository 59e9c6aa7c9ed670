//go:build lab

package lab

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestIPoEClients leases addresses to three clients that were not written here, each a host of its own on one
// untagged wire: traffic both ways, renewal, release, and the records of FreeRADIUS.
func TestIPoEClients(t *testing.T) {
	l := New(t)
	l.Wire()
	radius := l.FreeRADIUS(false)
	access, core, wire := l.Capture("A", "acc0"), l.Capture("I", "net0"), l.Capture("S", "rad0")
	r := l.StartRouter(dualConfig("lease-time 60"))
	l.ServeTransfers()

	dhclient, udhcpc, dhcpcd := l.Station("isc", "02:00:00:00:0c:01"), l.Station("busy", "02:00:00:00:0c:02"), l.Station("roy", "02:00:00:00:0c:03")
	stations := []*Station{dhclient, udhcpc, dhcpcd}
	for _, s := range stations {
		s.NoIPv6()
	}
	dhclient.Dhclient()
	udhcpc.Udhcpc()
	dhcpcd.Dhcpcd("ipv4only")
	for _, s := range stations {
		t.Run(s.Name, func(t *testing.T) { l.useLease(t, r, s) })
	}

	// udhcpc and dhcpcd are told to renew; dhclient does at T1, after 30 seconds.
	syscall.Kill(udhcpc.daemon.Pid(), syscall.SIGUSR1)
	dhcpcd.tellDhcpcd(t, "-N")
	for _, s := range stations {
		before := s.Last(boundEvents...)["address"]
		Until(t, 45*time.Second, s.Name+" renews", func() bool { return s.count(renewedEvents...) > 0 })
		if after := s.Last(renewedEvents...)["address"]; after != before {
			t.Errorf("%s: renewed %s, had %s", s.Name, after, before)
		}
		s.Pings(t, InternetAddr)
	}

	if out, err := dhclient.Try(dhclient.dhclient("-4", "-r")...); err != nil {
		t.Errorf("dhclient -r: %v\n%s", err, out)
	}
	syscall.Kill(udhcpc.daemon.Pid(), syscall.SIGUSR2)
	dhcpcd.tellDhcpcd(t, "-k")
	for _, s := range stations {
		checkRecords(t, radius, s)
	}
	Until(t, 10*time.Second, "no subscriber is left", func() bool { return strings.TrimSpace(r.CLI("show subscribers")) == "0 sessions" })
	l.Decoded(access, core, wire)
	l.Saw(access, "eth.src == "+l.mac("access0"), "dhcp.option.dhcp == 2", "dhcp.option.dhcp == 5", "arp.opcode == 2")
}

// useLease waits for a station's lease and uses it in every way.
func (l *Lab) useLease(t *testing.T, r *Router, s *Station) {
	address := s.Bound(t, 30*time.Second)
	if !strings.HasPrefix(address, "100.64.") {
		t.Errorf("%s: address %q is not of the pool", s.Name, address)
	}
	if dns := s.Last(boundEvents...)["dns"]; dns != "9.9.9.9,149.112.112.112" {
		t.Errorf("%s: dns = %q", s.Name, dns)
	}
	need(t, r.CLI("show subscribers"), s.MAC, address)
	s.Pings(t, InternetAddr)
	s.Pings(t, "-M", "do", "-s", "1472", InternetAddr)
	l.pingsFromInternet(t, address)
	s.Transfers(t, InternetAddr)
}

// pingsFromInternet reaches a subscriber from outside, also with a packet of the full size.
func (l *Lab) pingsFromInternet(t *testing.T, address string, options ...string) {
	t.Helper()
	internet := &Station{lab: l, Name: "I", dir: l.Dir}
	internet.Pings(t, append(options, address)...)
}

// checkRecords waits for the accounting of a station that has released its lease.
func checkRecords(t *testing.T, radius *RADIUS, s *Station) {
	t.Helper()
	var start, stop []AcctRecord
	Until(t, 20*time.Second, s.Name+" has a Stop", func() bool {
		start, stop = nil, nil
		for _, record := range radius.Records() {
			switch {
			case record["User-Name"] != s.MAC:
			case record["Acct-Status-Type"] == "Start":
				start = append(start, record)
			case record["Acct-Status-Type"] == "Stop":
				stop = append(stop, record)
			}
		}
		return len(stop) > 0
	})
	if len(start) != 1 || len(stop) != 1 {
		t.Fatalf("%s: %d Starts, %d Stops", s.Name, len(start), len(stop))
	}
	address := s.Last(boundEvents...)["address"]
	for _, record := range []AcctRecord{start[0], stop[0]} {
		if record["Framed-IP-Address"] != address {
			t.Errorf("%s: %s with address %s, had %s", s.Name, record["Acct-Status-Type"], record["Framed-IP-Address"], address)
		}
	}
	if cause := stop[0]["Acct-Terminate-Cause"]; cause != "User-Request" {
		t.Errorf("%s: Acct-Terminate-Cause %s", s.Name, cause)
	}
	if input, out := stop[0].Octets(); input < transferBytes || out < transferBytes {
		t.Errorf("%s: Stop counts %d octets in and %d out, TCP alone carried %d each way", s.Name, input, out, transferBytes)
	}
	if id := fmt.Sprint(start[0]["Acct-Session-Id"]); id != stop[0]["Acct-Session-Id"] {
		t.Errorf("%s: Start of session %s, Stop of %s", s.Name, id, stop[0]["Acct-Session-Id"])
	}
}

// TestIPoEOnVLANs leases to busybox's client behind the kernel's VLAN devices, two tags deep, and to one that has a
// PPPoE session on the same VLAN from the same MAC address.
func TestIPoEOnVLANs(t *testing.T) {
	long(t)
	l := New(t)
	l.Wire()
	l.FreeRADIUS(false)
	access, core, wire := l.Capture("A", "acc0"), l.Capture("I", "net0"), l.Capture("S", "rad0")
	r := l.StartRouter(dualConfig())
	l.ServeTransfers()
	guest := func(name string, number int, arguments ...string) *Guest {
		return l.Guest(name, "ipoe", number, append(arguments, "server="+InternetAddr, fmt.Sprintf("bytes=%d", transferBytes))...)
	}
	qinq := guest("qinq", 1, "vlan=100.200")
	both := guest("both", 2, "vlan=77", "user=bob", "password=builder", "hold=5")

	Until(t, 60*time.Second, "both kinds of session on VLAN 77", func() bool { return both.Results()["ppp-ping"] != "" })
	need(t, r.CLI("show subscribers"), both.Results()["address"], both.Results()["ppp-address"])
	l.pingsFromInternet(t, both.Results()["address"])
	l.pingsFromInternet(t, both.Results()["ppp-address"])
	for _, g := range []*Guest{qinq, both} {
		g.Wait(t, 100*time.Second)
		g.checkLease(t)
	}
	for _, name := range []string{"ping-again", "ppp-ping"} {
		if got := both.Results()[name]; got != "ok" {
			t.Errorf("guest both: %s = %q", name, got)
		}
	}
	Until(t, 10*time.Second, "no subscriber is left", func() bool { return strings.TrimSpace(r.CLI("show subscribers")) == "0 sessions" })
	l.Decoded(access, core, wire)
	l.Saw(access, "eth.src == "+l.mac("access0"), "ieee8021ad && dhcp.option.dhcp == 5", "vlan.id == 77 && dhcp", "vlan.id == 77 && pppoes")
}

// checkLease judges what a guest of role ipoe reported.
func (g *Guest) checkLease(t *testing.T) {
	t.Helper()
	transferred := fmt.Sprintf("sent=%[1]d received=%[1]d same=yes", transferBytes)
	bad := t.Failed()
	for name, want := range map[string]string{"up": "yes", "ping": "ok", "ping1472": "ok", "renewed": "yes", "released": "yes",
		"tcp-up": transferred, "tcp-down": transferred} {
		if got := g.Results()[name]; got != want {
			t.Errorf("%s: %s = %q, want %q", g.Name, name, got, want)
		}
	}
	if t.Failed() && !bad {
		t.Log(g.Output())
	}
}
