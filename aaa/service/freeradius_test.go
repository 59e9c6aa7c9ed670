package service

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vbng/aaa"
)

// freeRADIUS runs the lab's server on loopback and returns its ports and its accounting file.
func freeRADIUS(t *testing.T, mode ...string) (port int, detail string) {
	t.Helper()
	for _, name := range []string{"/usr/sbin/freeradius", "/usr/sbin/radiusd"} {
		if _, err := os.Stat(name); err == nil {
			return runFreeRADIUS(t, mode...)
		}
	}
	t.Skip("FreeRADIUS is not installed (Debian package freeradius)")
	return 0, ""
}

func runFreeRADIUS(t *testing.T, mode ...string) (int, string) {
	t.Helper()
	dir := t.TempDir()
	port := freePorts(t)
	command := exec.Command("sh", append([]string{"../../etc/lab/radius/freeradius.sh", dir, fmt.Sprint(port)}, mode...)...)
	command.Env = append(os.Environ(), "LISTEN=127.0.0.1", "SECRET=lab-secret")
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			command.Process.Kill()
		}
	})
	ready := func() bool {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		return strings.Contains(string(log), "Ready to process requests")
	}
	for deadline := time.Now().Add(20 * time.Second); !ready(); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			t.Fatalf("FreeRADIUS ended at once:\n%s", out.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("FreeRADIUS is not ready:\n%s", out.String())
		}
	}
	return port, filepath.Join(dir, "detail")
}

// freePorts finds two UDP ports in a row that nobody uses at the moment.
func freePorts(t *testing.T) int {
	t.Helper()
	for range 100 {
		first, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		port := first.LocalAddr().(*net.UDPAddr).Port
		second, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port + 1})
		first.Close()
		if err == nil {
			second.Close()
			return port
		}
	}
	t.Fatal("no two free ports in a row")
	return 0
}

func radiusConfig(port int, more string) string {
	return fmt.Sprintf(`
radius server lab
 address 127.0.0.1
 auth-port %d
 acct-port %d
 secret lab-secret
 timeout 2
%s
aaa
 authentication radius
 accounting radius
 nas-ip-address 192.0.2.9
hostname bng1
`, port, port+1, more)
}

func chap(user, password string) aaa.Request {
	challenge := []byte("0123456789abcdef")
	sum := md5.Sum(append([]byte("\x07"+password), challenge...))
	return aaa.Request{AcctSessionID: "s-" + user, Username: user, Method: aaa.CHAPMD5, CHAPID: 7,
		CHAPChallenge: challenge, CHAPResponse: sum[:], Line: line()}
}

func line() aaa.Line {
	return aaa.Line{Port: "access0", PortIndex: 3, OuterVLAN: 100, InnerVLAN: 200, MAC: [6]byte{2, 0, 0, 0, 0, 0xaa},
		OwnMAC: [6]byte{2, 0, 0, 0, 0, 1}, CircuitID: []byte("dslam 1/2/3"), RemoteID: []byte("remote")}
}

func askCHAP(t *testing.T, s *Service, user, password string) aaa.Answer {
	t.Helper()
	answered := make(chan aaa.Answer, 1)
	s.Authorize(chap(user, password), func(a aaa.Answer) { answered <- a })
	return wait(t, answered)
}

func TestFreeRADIUSAuthentication(t *testing.T) {
	port, _ := freeRADIUS(t)
	s := start(t, Options{}, radiusConfig(port, ""))
	for name, answer := range map[string]aaa.Answer{
		"PAP": ask(t, s, "alice", "wonderland"), "CHAP": askCHAP(t, s, "alice", "wonderland"),
	} {
		g := answer.Grant
		if g == nil {
			t.Fatalf("%s: %+v", name, answer.Reject)
		}
		if g.Address != netip.MustParseAddr("100.64.0.200") || g.DNS[0] != netip.MustParseAddr("9.9.9.9") ||
			len(g.Class) != 2 || string(g.Class[0]) != "al\x00\xffce" || string(g.Class[1]) != "second" ||
			g.SessionTimeout != 24*time.Hour || g.InterimInterval != time.Minute || g.Message != "Hello alice" {
			t.Errorf("%s: grant %+v", name, g)
		}
	}
	if g := askCHAP(t, s, "bob", "builder").Grant; g == nil || g.Address.IsValid() || g.Pool != "residential" || g.InterimInterval != 10*time.Minute {
		t.Errorf("bob's grant %+v", g)
	}
	for user, message := range map[string]string{"mallory": "Your account is locked, please call us", "alice": "Wrong password"} {
		if r := askCHAP(t, s, user, "guess").Reject; r == nil || r.Cause != aaa.BadCredentials || r.Message != message {
			t.Errorf("%s: reject %+v", user, r)
		}
	}
	status, err := s.client.Status(t.Context())
	if err != nil || len(status.Ignored) != 1 || status.Ignored[0].Name != "Filter-Id" || status.Endpoints[0].Counters.Dropped() != 0 {
		t.Errorf("status %+v, %v", status, err)
	}
}

func TestFreeRADIUSWithoutMessageAuthenticator(t *testing.T) {
	port, _ := freeRADIUS(t, "legacy")
	s := start(t, Options{}, radiusConfig(port, " legacy"))
	if g := askCHAP(t, s, "sim7", "sim").Grant; g == nil {
		t.Error("a legacy server's grant was refused")
	}
	strict := start(t, Options{}, radiusConfig(port, " retransmit 0\n timeout 1"))
	if r := askCHAP(t, strict, "sim7", "sim").Reject; r == nil || r.Cause != aaa.NoAnswer {
		t.Errorf("an unsigned answer was believed: %+v", r)
	}
	status, err := strict.client.Status(t.Context())
	if err != nil || status.Endpoints[0].Counters.Unsigned != 1 {
		t.Errorf("status %+v, %v", status, err)
	}
}

func TestFreeRADIUSAccounting(t *testing.T) {
	port, detail := freeRADIUS(t)
	s := start(t, Options{}, radiusConfig(port, ""))
	record := aaa.Record{
		AcctSessionID: "s-1", Username: "alice", Class: [][]byte{[]byte("al\x00\xffce"), []byte("second")}, Line: line(),
		Address: netip.MustParseAddr("100.64.0.200"), Authentic: aaa.ByRADIUS, Time: time.Now(),
		SessionTime: 90 * time.Second, Usage: aaa.Usage{InputBytes: 5<<32 + 7, OutputBytes: 9}, Cause: aaa.LostCarrier,
	}
	var taken sync.WaitGroup
	for _, kind := range []aaa.RecordType{aaa.Start, aaa.Stop} {
		record.Type = kind
		taken.Add(1)
		s.AccountThen(record, func(ok bool) {
			if !ok {
				t.Errorf("record %d was not taken", kind)
			}
			taken.Done()
		})
	}
	taken.Wait()
	text, err := os.ReadFile(detail)
	if err != nil {
		t.Fatal(err)
	}
	startAt, stopAt := strings.Index(string(text), "Acct-Status-Type = Start"), strings.Index(string(text), "Acct-Status-Type = Stop")
	if startAt < 0 || stopAt < startAt {
		t.Fatalf("start at %d, stop at %d:\n%s", startAt, stopAt, text)
	}
	stop := string(text)[strings.LastIndex(string(text)[:stopAt], "\n\n")+1:]
	for _, want := range []string{
		`Acct-Session-Id = "s-1"`, `User-Name = "alice"`, `NAS-Identifier = "bng1"`, "NAS-IP-Address = 192.0.2.9",
		`NAS-Port-Id = "access0:100.200"`, "NAS-Port = 50741448", "NAS-Port-Type = PPPoEoQinQ",
		`Calling-Station-Id = "02-00-00-00-00-AA"`, `Called-Station-Id = "02-00-00-00-00-01"`,
		"Framed-IP-Address = 100.64.0.200", "Class = 0x616c00ff6365", "Class = 0x7365636f6e64",
		"Acct-Input-Octets = 7", "Acct-Input-Gigawords = 5", "Acct-Output-Octets = 9", "Acct-Session-Time = 90",
		"Acct-Terminate-Cause = Lost-Carrier", "Acct-Authentic = RADIUS", "Service-Type = Framed-User", "Framed-Protocol = PPP",
		`ADSL-Agent-Circuit-Id = 0x64736c616d20312f322f33`, "Event-Timestamp", "Acct-Delay-Time = ",
	} {
		if !strings.Contains(stop, want) {
			t.Errorf("the Stop lacks %s:\n%s", want, stop)
		}
	}
}

// TestFreeRADIUSMany authorizes and accounts 3,000 subscribers at once.
func TestFreeRADIUSMany(t *testing.T) {
	port, detail := freeRADIUS(t)
	s := start(t, Options{}, radiusConfig(port, " retransmit 5"))
	const all = 3000
	var open sync.WaitGroup
	open.Add(all)
	for i := range all {
		request := chap(fmt.Sprint("sim", i), "sim")
		s.Authorize(request, func(answer aaa.Answer) {
			if answer.Grant == nil {
				t.Errorf("%s: %+v", request.Username, answer.Reject)
				open.Done()
				return
			}
			s.AccountThen(aaa.Record{
				Type: aaa.Start, AcctSessionID: request.AcctSessionID, Username: request.Username, Line: request.Line,
				Class: answer.Grant.Class, Time: time.Now(), Authentic: answer.Grant.Authentic,
			}, func(taken bool) {
				if !taken {
					t.Errorf("%s: start not taken", request.Username)
				}
				open.Done()
			})
		})
	}
	open.Wait()
	text, _ := os.ReadFile(detail)
	if n := strings.Count(string(text), "Acct-Status-Type = Start"); n < all {
		t.Errorf("%d records of %d", n, all)
	}
}

func TestFreeRADIUSIPv6(t *testing.T) {
	port, detail := freeRADIUS(t)
	s := start(t, Options{}, radiusConfig(port, " source-address 127.0.0.1"))
	dora := askCHAP(t, s, "dora", "explorer").Grant
	if dora == nil {
		t.Fatal("dora was refused")
	}
	want := aaa.Grant{
		Address: netip.MustParseAddr("100.64.0.201"), InterfaceID: 0xd0a, Prefix: netip.MustParsePrefix("2001:db8:d0a:1::/64"),
		Address6: netip.MustParseAddr("2001:db8:d0a::1"), Delegated: netip.MustParsePrefix("2001:db8:d0a:100::/56"),
		DNS6:  [2]netip.Addr{netip.MustParseAddr("2001:db8::53"), netip.MustParseAddr("2001:db8::54")},
		Class: [][]byte{[]byte("dora")}, InterimInterval: 10 * time.Minute, Source: "lab", Authentic: aaa.ByRADIUS,
	}
	if !reflect.DeepEqual(*dora, want) {
		t.Errorf("grant %+v\nwant  %+v", *dora, want)
	}
	if g := askCHAP(t, s, "paul", "pools").Grant; g == nil || g.Pool != "residential" || g.PrefixPool != "ra" || g.Pool6 != "na" || g.DelegatedPool != "pd" {
		t.Errorf("paul's grant %+v", g)
	}
	tell(t, s, aaa.Record{
		Type: aaa.Start, AcctSessionID: "s-6", Username: "dora", Line: line(), Address: dora.Address, Address6: dora.Address6,
		Prefix: dora.Prefix, Delegated: dora.Delegated, InterfaceID: dora.InterfaceID, Authentic: aaa.ByRADIUS, Time: time.Now(),
	})
	contains(t, detail, "Framed-IP-Address = 100.64.0.201", "Framed-IPv6-Prefix = 2001:db8:d0a:1::/64", "Framed-IPv6-Address = 2001:db8:d0a::1",
		"Delegated-IPv6-Prefix = 2001:db8:d0a:100::/56", "Framed-Interface-Id = 0:0:0:d0a", "NAS-IP-Address = 192.0.2.9")
	status, err := s.client.Status(t.Context())
	if err != nil || len(status.Ignored) != 0 {
		t.Errorf("status %+v, %v", status, err)
	}
}

func TestFreeRADIUSLines(t *testing.T) {
	port, detail := freeRADIUS(t)
	s := start(t, Options{}, strings.Replace(radiusConfig(port, " source-address 127.0.0.1"), " nas-ip-address 192.0.2.9\n", "", 1))
	request := aaa.Request{AcctSessionID: "s-7", Username: "02:1b:00:00:00:0a", Method: aaa.ByLine, Password: []byte("ipoe"), Line: line()}
	request.Line.Access, request.Line.Vendor = aaa.IPoE, []byte("udhcp 1.36")
	judge := func(name, password string) aaa.Answer {
		r := request
		r.Username, r.Password = name, []byte(password)
		answered := make(chan aaa.Answer, 1)
		s.Authorize(r, func(a aaa.Answer) { answered <- a })
		return wait(t, answered)
	}
	if g := judge("02:1b:00:00:00:0a", "ipoe").Grant; g == nil || g.Address != netip.MustParseAddr("100.64.1.27") || g.Delegated != netip.MustParsePrefix("2001:db8:1b:100::/56") {
		t.Errorf("grant %+v", g)
	}
	if g := judge("02:1c:00:00:00:0a", "ipoe").Grant; g == nil || g.Pool != "residential" || g.DelegatedPool != "pd" {
		t.Errorf("grant %+v", g)
	}
	for name, password := range map[string]string{"02:1b:00:00:00:0a": "guess", "0a:00:00:00:00:0a": "ipoe"} {
		if r := judge(name, password).Reject; r == nil || r.Cause != aaa.BadCredentials {
			t.Errorf("%s with %s: %+v", name, password, r)
		}
	}
	tell(t, s, aaa.Record{
		Type: aaa.Start, AcctSessionID: "s-7", Username: request.Username, Line: request.Line,
		Address: netip.MustParseAddr("100.64.1.27"), Delegated: netip.MustParsePrefix("2001:db8:1b:100::/56"), Time: time.Now(),
	})
	contains(t, detail, `User-Name = "02:1b:00:00:00:0a"`, "NAS-Port-Type = Ethernet", `Alc-DHCP-Vendor-Class-Id = "udhcp 1.36"`,
		"Delegated-IPv6-Prefix = 2001:db8:1b:100::/56", "NAS-IP-Address = 127.0.0.1", "ADSL-Agent-Circuit-Id")
	if text, _ := os.ReadFile(detail); strings.Contains(string(text), "Framed-Protocol") {
		t.Error("an IPoE session speaks PPP")
	}
}

// tell accounts a record and waits until a server has it.
func tell(t *testing.T, s *Service, record aaa.Record) {
	t.Helper()
	taken := make(chan bool, 1)
	s.AccountThen(record, func(ok bool) { taken <- ok })
	if !wait(t, taken) {
		t.Fatal("the record was not taken")
	}
}

func contains(t *testing.T, file string, all ...string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range all {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s:\n%s", file, want, text)
		}
	}
}
