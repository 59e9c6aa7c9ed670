package service

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/aaa/radius"
	"vbng/control/config"
	"vbng/control/oper"
	"vbng/control/schema"
)

const sample = `
hostname bng1
ip pool gold
radius server one
 address 192.0.2.1
 secret s1
 source-address 192.0.2.9
 legacy
radius server two
 address 192.0.2.2
 auth-port 1645
 acct-port 1646
 secret s2
 timeout 5
 retransmit 1
 dead-time 300
aaa
 authentication local radius
 accounting radius
 interim-interval 300
 nas-ip-address 192.0.2.9
user alice
 password wonderland
 ip address 100.64.0.9
user bob
 password builder
 ip pool gold
 session-timeout 3600
`

// tree parses text by the service's schema and the nodes of others that it refers to.
func tree(t *testing.T, s *Service, text string) *config.Tree {
	t.Helper()
	parsed, faults := parse(t, s, text)
	for _, fault := range faults {
		t.Error(fault)
	}
	return parsed
}

// faultsOf returns all that is wrong with text, in one string.
func faultsOf(t *testing.T, s *Service, text string) string {
	t.Helper()
	parsed, faults := parse(t, s, text)
	if all := errors.Join(append(faults, s.Check(nil, parsed)...)...); all != nil {
		return all.Error()
	}
	return ""
}

func parse(t *testing.T, s *Service, text string) (*config.Tree, []error) {
	t.Helper()
	others := []*schema.Node{
		{Name: "hostname", Kind: schema.Leaf, Help: "name", Type: schema.Name()},
		{Name: "ip pool", Kind: schema.List, Mode: "config-pool", Help: "pool",
			Keys: []*schema.Node{{Name: "name", Kind: schema.Leaf, Help: "name", Type: schema.Name()}}},
		{Name: "ipv6 pool", Kind: schema.List, Mode: "config-pool6", Help: "pool",
			Keys: []*schema.Node{{Name: "name", Kind: schema.Leaf, Help: "name", Type: schema.Name()}}},
		{Name: "vrf", Kind: schema.List, Mode: "config-vrf", Help: "VRF",
			Keys: []*schema.Node{{Name: "name", Kind: schema.Leaf, Help: "name", Type: schema.Name()}}},
	}
	root, err := schema.Merge(others, s.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range schema.Validate(root) {
		t.Error(fault)
	}
	parsed, faults := config.Parse(root, text)
	return parsed, append(faults, config.Check(parsed)...)
}

func TestSettings(t *testing.T) {
	s := New(Options{})
	settings := s.readSettings(tree(t, s, sample), &policy{})
	want := []radius.Server{
		{Name: "one", Address: netip.MustParseAddr("192.0.2.1"), AuthPort: 1812, AcctPort: 1813, Secret: "s1",
			Timeout: 3 * time.Second, Retransmit: 2, DeadTime: time.Minute, Legacy: true, Source: netip.MustParseAddr("192.0.2.9")},
		{Name: "two", Address: netip.MustParseAddr("192.0.2.2"), AuthPort: 1645, AcctPort: 1646, Secret: "s2",
			Timeout: 5 * time.Second, Retransmit: 1, DeadTime: 5 * time.Minute},
	}
	if len(settings.Servers) != 2 || settings.Servers[0] != want[0] || settings.Servers[1] != want[1] {
		t.Errorf("servers %+v", settings.Servers)
	}
	if settings.NASIdentifier != "bng1" || settings.NASAddress != netip.MustParseAddr("192.0.2.9") {
		t.Errorf("settings %+v", settings)
	}
	if settings = s.readSettings(tree(t, s, "aaa\n nas-identifier other\nhostname bng1\n"), &policy{}); settings.NASIdentifier != "other" {
		t.Errorf("NAS-Identifier %q", settings.NASIdentifier)
	}
	if settings = s.readSettings(tree(t, s, ""), &policy{}); settings.NASIdentifier != "vbng" {
		t.Errorf("NAS-Identifier %q", settings.NASIdentifier)
	}
}

func TestCheck(t *testing.T) {
	s := New(Options{})
	if faults := s.Check(nil, tree(t, s, sample)); len(faults) != 0 {
		t.Errorf("the sample has faults: %v", faults)
	}
	server := "radius server one\n address 192.0.2.1\n secret s\n"
	tests := []struct{ text, want string }{
		{"aaa\n authentication radius\n", "aaa / authentication: no radius server is configured"},
		{"aaa\n accounting radius\n", "aaa / accounting: no radius server is configured"},
		{"aaa\n accounting-on\n", "aaa / accounting-on: needs accounting radius"},
		{"aaa\n interim-interval 59\n", "the shortest interval is 60 seconds"},
		{"radius server one\n address 224.0.0.1\n secret s\n", "radius server one / address: 224.0.0.1 is not the address of a host"},
		{server + " source-address 2001:db8::1\n", "radius server one / source-address: 2001:db8::1 cannot reach 192.0.2.1"},
		{server + "radius server two\n address 192.0.2.1\n secret s\n", "is also a port of server one"},
		{server + " acct-port 1812\n", "192.0.2.1:1812 is also a port of server one"},
		{"user alice\n password x\n ip address 255.255.255.255\n", "user alice / ip address: 255.255.255.255 is not"},
		{"ip pool gold\nuser alice\n password x\n ip address 100.64.0.9\n ip pool gold\n", "the user has a fixed ip address"},
	}
	for _, tt := range tests {
		faults := s.Check(nil, tree(t, s, tt.text))
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), tt.want) {
			t.Errorf("%q: faults %v, want %q", tt.text, faults, tt.want)
		}
	}
}

// silent opens sockets to servers that never answer; what was sent is counted.
type silent struct{ sent chan netip.AddrPort }

func (s silent) open(_ string, _ netip.Addr, server netip.AddrPort, _ radius.Sink) (radius.Socket, error) {
	return s, nil
}
func (s silent) Send(_ []byte, to netip.AddrPort) error { s.sent <- to; return nil }
func (s silent) Local() netip.Addr                      { return netip.Addr{} }
func (s silent) Close() error                           { return nil }

// start runs a configured service until the test ends.
func start(t *testing.T, options Options, text string) *Service {
	t.Helper()
	s := New(options)
	s.Apply(nil, tree(t, s, text))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return s
}

func TestLocalFirst(t *testing.T) {
	network := silent{make(chan netip.AddrPort, 10)}
	s := start(t, Options{OpenSocket: network.open}, sample)
	answer := ask(t, s, "alice", "wonderland")
	if g := answer.Grant; g == nil || g.Address != netip.MustParseAddr("100.64.0.9") || g.InterimInterval != 5*time.Minute {
		t.Errorf("answer %+v", answer)
	}
	if answer = ask(t, s, "alice", "wrong"); answer.Reject == nil || answer.Reject.Cause != aaa.BadCredentials {
		t.Errorf("answer %+v", answer)
	}
	if len(network.sent) != 0 {
		t.Error("a local user was asked about elsewhere")
	}
	s.Authorize(aaa.Request{Username: "carol", Method: aaa.PAP, Password: []byte("x")}, func(aaa.Answer) {})
	if to := <-network.sent; to != netip.MustParseAddrPort("192.0.2.1:1812") {
		t.Errorf("an unknown user was asked about at %v", to)
	}
	document, err := s.showAAA(context.Background(), oper.Call{})
	if err != nil {
		t.Fatal(err)
	}
	sum := document.(oper.Document).Data.(Summary)
	if sum.GrantsLocal != 1 || sum.Rejects["authentication-rejected"] != 1 {
		t.Errorf("summary %+v", sum)
	}
}

// ask authorizes by PAP and waits for the answer.
func ask(t *testing.T, s *Service, user, password string) aaa.Answer {
	t.Helper()
	request := aaa.Request{AcctSessionID: "s-" + user, Username: user, Method: aaa.PAP, Password: []byte(password)}
	answered := make(chan aaa.Answer, 1)
	s.Authorize(request, func(a aaa.Answer) { answered <- a })
	return wait(t, answered)
}

// wait bounds a failing test only.
func wait[T any](t *testing.T, c chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("no answer")
		panic("unreachable")
	}
}

func TestNothingConfigured(t *testing.T) {
	s := New(Options{})
	if answer := ask(t, s, "alice", "x"); answer.Reject == nil || answer.Reject.Cause != aaa.NoSuchMethod {
		t.Errorf("answer %+v", answer)
	}
	told := make(chan bool, 1)
	s.AccountThen(aaa.Record{Type: aaa.Start}, func(taken bool) { told <- taken })
	if <-told {
		t.Error("taken, with accounting off")
	}
}

func TestShowRADIUS(t *testing.T) {
	s := start(t, Options{OpenSocket: silent{make(chan netip.AddrPort, 10)}.open}, sample)
	answer, err := s.showRADIUS(context.Background(), oper.Call{})
	if err != nil {
		t.Fatal(err)
	}
	rows := answer.(oper.Table[ServerRow]).Rows
	if len(rows) != 4 || rows[0].Server != "one" || rows[0].Role != "auth" || rows[3].Address != "192.0.2.2:1646" || rows[3].State != "up" {
		t.Errorf("rows %+v", rows)
	}
	if answer, err = s.showRADIUS(context.Background(), oper.Call{Args: map[string]string{"detail": "true"}}); err != nil {
		t.Fatal(err)
	}
	if d := answer.(oper.Document); len(d.Sections) != 4 || d.Sections[0].Title != "one auth" {
		t.Errorf("document %+v", d)
	}
}

func TestTestAAA(t *testing.T) {
	s := start(t, Options{}, "aaa\n authentication local\nuser alice\n password wonderland\n")
	for password, title := range map[string]string{"wonderland": "Granted", "wrong": "Refused"} {
		answer, err := s.testAAA(context.Background(), oper.Call{Args: map[string]string{"user": "alice", "password": password}})
		if err != nil || answer.(oper.Document).Sections[0].Title != title {
			t.Errorf("%s: %+v, %v", password, answer, err)
		}
	}
}

func TestAnnounce(t *testing.T) {
	network := silent{make(chan netip.AddrPort, 10)}
	s := start(t, Options{OpenSocket: network.open}, strings.Replace(grouped, " accounting radius", " accounting radius\n accounting-on", 1))
	s.AnnounceStart()
	if to := wait(t, network.sent); to != netip.MustParseAddrPort("192.0.2.1:1813") {
		t.Errorf("sent to %v", to)
	}
}
