//go:build lab

package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// keaConfig has an address for each of two lines, known by option 82 alone.
const keaConfig = `{"Dhcp4": {
  "interfaces-config": {"interfaces": ["net0"], "dhcp-socket-type": "udp"},
  "lease-database": {"type": "memfile", "persist": true, "name": "%[1]s/kea.csv"},
  "valid-lifetime": 120, "renew-timer": 60, "rebind-timer": 105,
  "client-classes": [
    {"name": "busy", "test": "relay4[1].hex == 'access0:0.0' and relay4[2].hex == '02:00:00:00:0e:01'"},
    {"name": "isc", "test": "relay4[1].hex == 'access0:0.0' and relay4[2].hex == '02:00:00:00:0e:02'"}],
  "subnet4": [{"subnet": "100.64.0.0/10", "pools": [
      {"pool": "100.64.128.11 - 100.64.128.11", "client-class": "busy"},
      {"pool": "100.64.128.12 - 100.64.128.12", "client-class": "isc"}],
    "option-data": [{"name": "routers", "data": "100.64.0.1"}, {"name": "domain-name-servers", "data": "9.9.9.9, 149.112.112.112"}]}],
  "loggers": [{"name": "kea-dhcp4", "severity": "INFO", "output_options": [{"output": "stdout"}]}]
}}`

// Kea starts ISC's DHCP server on the Internet side; its leases are kept in the lab's folder.
func (l *Lab) Kea() *Process {
	l.t.Helper()
	file := filepath.Join(l.Dir, "kea.json")
	if err := os.WriteFile(file, fmt.Appendf(nil, keaConfig, l.Dir), 0o644); err != nil {
		l.t.Fatal(err)
	}
	p := l.Start("I", "kea", "env", "KEA_LOCKFILE_DIR="+l.Dir, "KEA_PIDFILE_DIR="+l.Dir, "kea-dhcp4", "-c", file)
	started := strings.Count(p.Output(), "DHCP4_STARTED")
	Until(l.t, 20*time.Second, "Kea is started", func() bool { return strings.Count(p.Output(), "DHCP4_STARTED") > started })
	return p
}

// TestRelay has Kea lease the addresses, which tells lines apart by our option 82. Without the server a client gets
// nothing, and an address when it is back.
func TestRelay(t *testing.T) {
	l := New(t)
	l.Wire()
	radius := l.FreeRADIUS(false)
	access, core, wire := l.Capture("A", "acc0"), l.Capture("I", "net0"), l.Capture("S", "rad0")
	r := l.StartRouter(dualConfig("dhcp relay server " + InternetAddr))
	l.ServeTransfers()
	kea := l.Kea()
	busy, isc := l.Station("busy", "02:00:00:00:0e:01"), l.Station("isc", "02:00:00:00:0e:02")
	busy.NoIPv6()
	isc.NoIPv6()
	busy.Udhcpc()
	busy.useRelayed(t, "100.64.128.11")
	need(t, r.CLI("show subscribers"), busy.MAC, "100.64.128.11")
	syscall.Kill(busy.daemon.Pid(), syscall.SIGUSR1)
	Until(t, 20*time.Second, "udhcpc renews", func() bool { return busy.count("renew") > 0 })

	kea.Stop()
	isc.Dhclient()
	Until(t, 20*time.Second, "dhclient asks", func() bool { return strings.Contains(isc.daemon.Output(), "DHCPDISCOVER") })
	time.Sleep(3 * time.Second)
	if isc.count(boundEvents...) > 0 {
		t.Errorf("a lease without a server: %v", isc.Events())
	}
	busy.Pings(t, InternetAddr)
	kea = l.Kea()
	isc.useRelayed(t, "100.64.128.12")

	syscall.Kill(busy.daemon.Pid(), syscall.SIGUSR2)
	if out, err := isc.Try(isc.dhclient("-4", "-r")...); err != nil {
		t.Errorf("dhclient -r: %v\n%s", err, out)
	}
	checkRecords(t, radius, busy)
	checkRecords(t, radius, isc)
	Until(t, 20*time.Second, "Kea has both releases", func() bool { return strings.Count(kea.Output(), "DHCP4_RELEASE ") == 2 })
	l.Decoded(access, core, wire)
	l.Saw(core, "eth.src == "+l.mac("core0"), "dhcp.option.type == 82 && dhcp.hops == 1")
	l.Saw(access, "eth.src == "+l.mac("access0"), "dhcp.option.dhcp == 5 && !(dhcp.option.type == 82)")
}

func (s *Station) useRelayed(t *testing.T, address string) {
	t.Helper()
	if got := s.Bound(t, 40*time.Second); got != address {
		t.Errorf("%s has %s, its line's address is %s", s.Name, got, address)
	}
	if dns := s.Last(boundEvents...)["dns"]; dns != "9.9.9.9,149.112.112.112" {
		t.Errorf("%s: dns = %q", s.Name, dns)
	}
	s.Pings(t, "-M", "do", "-s", "1472", InternetAddr)
	s.lab.pingsFromInternet(t, address)
	s.Transfers(t, InternetAddr)
}
