package service

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"vbng/aaa"
	"vbng/aaa/radius"
	"vbng/control/oper"
)

const grouped = sample + `
aaa group kiosk
 authentication local
 accounting none
aaa group wholesale
 radius server two
`

func TestGroupPolicy(t *testing.T) {
	s := New(Options{})
	root := tree(t, s, grouped)
	if faults := s.Check(nil, root); len(faults) > 0 {
		t.Fatal(faults)
	}
	s.Apply(nil, root)
	p := s.active.Load()
	if g, client, known := p.judges("wholesale"); !known || client != "wholesale" || strings.Join(g.methodSet, " ") != "local radius" ||
		!g.account || strings.Join(g.servers, " ") != "two" || p.interimOf(g).Seconds() != 300 {
		t.Errorf("wholesale %+v", g)
	}
	if g, _, _ := p.judges("kiosk"); len(g.methods) != 1 || g.account || p.interimOf(g) != 0 || p.accounts("kiosk") {
		t.Errorf("kiosk %+v", g)
	}
	for text, want := range map[string]bool{
		"":     false, // nothing is configured
		sample: true,
		"radius server one\n address 192.0.2.1\n secret s\n": true, // somebody was accounted once: the end must be told
	} {
		s := New(Options{})
		s.Apply(nil, tree(t, s, text))
		if got := s.active.Load().accounts("unheard-of"); got != want {
			t.Errorf("%q: accounted %v", text, got)
		}
	}
}

// The records of a group that was removed go on to its servers; its requests are judged as aaa says.
func TestRemovedGroup(t *testing.T) {
	network := silent{make(chan netip.AddrPort, 10)}
	s := start(t, Options{OpenSocket: network.open}, grouped)
	s.Apply(nil, tree(t, s, sample))
	s.Account(aaa.Record{Type: aaa.Stop, AcctSessionID: "s-1", Group: "wholesale", Username: "carol"})
	if to := wait(t, network.sent); to != netip.MustParseAddrPort("192.0.2.2:1646") {
		t.Errorf("accounted at %v", to)
	}
	s.Authorize(aaa.Request{AcctSessionID: "s-2", Group: "wholesale", Username: "carol", Method: aaa.PAP}, func(aaa.Answer) {})
	if to := wait(t, network.sent); to != netip.MustParseAddrPort("192.0.2.1:1812") {
		t.Errorf("asked at %v", to)
	}
	if all := s.active.Load().summaries(); len(all) != 2 || !all[1].Former {
		t.Errorf("%+v", all)
	}
	answer, err := s.showAAA(context.Background(), oper.Call{})
	if lines := answer.(oper.Document).Sections[2].Lines; err != nil || len(lines) != 2 ||
		lines[1].Value != "authentication local radius, accounting radius, servers two (not configured any more)" {
		t.Errorf("%+v, %v", lines, err)
	}
	if _, err := s.testAAA(context.Background(), oper.Call{Args: map[string]string{"user": "x", "password": "y", "group": "wholesale"}}); err == nil {
		t.Error("a group that is gone was tested")
	}
}

func TestGroupFaults(t *testing.T) {
	s := New(Options{})
	for _, tt := range []struct{ text, want string }{
		{"aaa group g\n radius server none\n", `radius server "none" is not defined`},
		{"aaa group g\n authentication radius\n", "aaa group g / authentication: no radius server is configured"},
		{"aaa group g\n accounting radius\n", "aaa group g / accounting: no radius server is configured"},
		{"radius server one\n address 192.0.2.1\n secret s\n vrf red\n", `radius server one / vrf: vrf "red" is not defined`},
		{"user alice\n password x\n ipv6 address pool pd\n", `ipv6 pool "pd" is not defined`},
		{"user alice\n password x\n ipv6 address fe80::1\n", "user alice / ipv6 address: fe80::1 is not the address of a host"},
		{"user alice\n password x\n ipv6 prefix ff00:0:0:1::/64\n", "cannot be a subscriber's"},
		{"ipv6 pool pd\nuser alice\n password x\n ipv6 delegated-prefix 2001:db8::/56\n ipv6 delegated pool pd\n", "the user has a fixed ipv6 delegated-prefix"},
	} {
		if text := faultsOf(t, s, tt.text); !strings.Contains(text, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, text, tt.want)
		}
	}
	good := "vrf red\nradius server one\n address 192.0.2.1\n secret s\n vrf red\nradius server two\n address 192.0.2.1\n secret s\n vrf management\n" +
		"radius server three\n address 192.0.2.1\n secret s\n vrf default\n"
	if text := faultsOf(t, s, good); text != "" {
		t.Error(text)
	}
	servers := s.readSettings(tree(t, s, good), &policy{}).Servers
	if servers[0].VRF != "red" || servers[1].VRF != "management" || servers[2].VRF != "" {
		t.Errorf("%+v", servers)
	}
}

func TestUserIPv6(t *testing.T) {
	s := New(Options{})
	users := readUsers(tree(t, s, "ipv6 pool na\nipv6 pool ra\nipv6 pool pd\nuser alice\n password x\n ipv6 address 2001:db8::9\n ipv6 prefix 2001:db8:1::/64\n ipv6 delegated-prefix 2001:db8:2::/56\n"+
		"user bob\n password x\n ipv6 address pool na\n ipv6 prefix pool ra\n ipv6 delegated pool pd\n"))
	if u := users[0]; u.Address6 != netip.MustParseAddr("2001:db8::9") || u.Prefix.String() != "2001:db8:1::/64" || u.Delegated.String() != "2001:db8:2::/56" {
		t.Errorf("%+v", u)
	}
	if u := users[1]; u.Pool6 != "na" || u.PrefixPool != "ra" || u.DelegatedPool != "pd" {
		t.Errorf("%+v", u)
	}
}

func TestShowRADIUSGroupsAndVRF(t *testing.T) {
	network := silent{make(chan netip.AddrPort, 10)}
	s := start(t, Options{OpenSocket: network.open}, strings.Replace(grouped, " legacy", " legacy\n vrf management", 1))
	answer, err := s.showRADIUS(context.Background(), oper.Call{})
	if err != nil {
		t.Fatal(err)
	}
	rows := answer.(oper.Table[ServerRow]).Rows
	if rows[0].VRF != "management" || rows[0].Groups != "-" || rows[1].VRF != "default" || rows[1].Groups != "wholesale" {
		t.Errorf("%+v", rows)
	}
}

// noSockets refuses them all, and says for which VRF it was asked.
type noSockets struct{ asked chan string }

func (n noSockets) ListenUDP(vrf string, _ netip.AddrPort) (*net.UDPConn, error) {
	n.asked <- vrf
	return nil, errors.New("not today")
}

func TestSocketsAreInjected(t *testing.T) {
	var _ radius.Sockets = noSockets{}
	n := noSockets{make(chan string, 10)}
	s := start(t, Options{Sockets: n}, strings.Replace(sample, " legacy", " legacy\n vrf management", 1))
	s.Authorize(aaa.Request{Username: "carol", Method: aaa.PAP, Password: []byte("x")}, func(aaa.Answer) {})
	if got := wait(t, n.asked); got != "management" {
		t.Errorf("VRF %q", got)
	}
}
