//go:build lab

package lab

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// customer is the configuration of one VRF: the same addresses in each.
const customer = `vrf %[1]s
 ip route 0.0.0.0/0 198.51.100.2
 ipv6 route ::/0 2001:db8:ffff::2
!
interface access%[2]d
 ipoe profile %[1]s
!
interface core%[2]d
 vrf %[1]s
 ip address 198.51.100.1/24
 ipv6 address 2001:db8:ffff::1/64
!
interface loopback%[2]d
 vrf %[1]s
 ip address 100.64.0.1/32
 ipv6 address 2001:db8::1/128
!
ip pool %[1]s
 range 100.64.0.2 100.64.0.9
!
ipv6 pool %[1]s
 prefix 2001:db8:a000::/48 length 64
!
ipoe profile %[1]s
 password ipoe
 ip unnumbered loopback%[2]d
 ip pool %[1]s
 ipv6 prefix pool %[1]s
!
`

// TestSubscribersInVRFs has two customers with the same addresses everywhere: of subscribers, gateways, routers and the
// Internet. Each reaches his own.
func TestSubscribersInVRFs(t *testing.T) {
	long(t)
	l := New(t)
	l.Wire()
	l.FreeRADIUS(false)
	l.run("ip", "netns", "add", l.NS("J"))
	t.Cleanup(func() { output(context.Background(), nil, "ip", "netns", "del", l.NS("J")) })
	l.link("R", "core1", "J", "net0", 1600)
	for _, command := range []string{"link set lo up", "addr add 198.51.100.2/24 dev net0", "route add default via 198.51.100.1",
		"addr add 2001:db8:ffff::2/64 dev net0 nodad", "route add default via 2001:db8:ffff::1"} {
		l.In("J", append([]string{"ip"}, strings.Fields(command)...)...)
	}
	red, blue := l.Station("red", "02:00:00:00:0f:01"), l.StationAt("blue", "02:00:00:00:0f:02", "R", "access1")
	radius := fmt.Sprintf("radius server main\n address %s\n secret %s\n vrf management\n!\naaa\n authentication radius\n accounting radius\n nas-ip-address %s\n!\n", RADIUSAddr, Secret, MgmtAddr)
	r := l.StartRouter(fmt.Sprintf(customer, "red", 0) + fmt.Sprintf(customer, "blue", 1) + radius)
	red.Dhclient()
	blue.Dhclient()
	for _, s := range []*Station{red, blue} {
		if got := s.Bound(t, 40*time.Second); got != "100.64.0.2" {
			t.Errorf("%s has %s", s.Name, got)
		}
		checkWithin(t, s.Name+" by SLAAC", s.global(t, "eth0"), "2001:db8:a000::/64")
		s.Pings(t, InternetAddr)
		s.Pings(t, InternetAddr6)
	}
	for name, ns := range map[string]string{"red": "I", "blue": "J"} {
		internet := &Station{lab: l, Name: ns, dir: l.Dir}
		internet.Pings(t, "100.64.0.2")
		need(t, r.CLI("show subscribers vrf "+name), "02:00:00:00:0f:0", "1 session")
	}
	if out := r.CLI("show subscribers ip 100.64.0.2"); !strings.Contains(out, red.MAC) || !strings.Contains(out, blue.MAC) {
		t.Errorf("show subscribers ip finds not both:\n%s", out)
	}
	t.Log(r.CLI("show ip pool", "show ipv6 pool"))

	l.In("J", "ip", "link", "set", "net0", "down")
	red.Pings(t, InternetAddr)
	if out, err := blue.Try("ping", "-c", "2", "-W", "1", InternetAddr); err == nil {
		t.Errorf("blue reaches the Internet of red:\n%s", out)
	}
	r.CLI("clear subscriber vrf blue")
	Until(t, 20*time.Second, "blue is gone", func() bool { return !strings.Contains(r.CLI("show subscribers"), blue.MAC) })
	red.Pings(t, InternetAddr)
}
