package crowd

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/life"
)

// scene is a crowd on a toy router, with time in the test's hand.
type scene struct {
	t      *testing.T
	crowd  *Crowd
	router *router
	now    time.Duration
	// at is called before each round.
	at func()
}

func newScene(t *testing.T, arguments ...string) *scene {
	t.Helper()
	return newSceneOf(t, &pppoeKind, arguments...)
}

// dualStack are the options for all that a subscriber can have.
var dualStack = []string{"--ipv6-na", "--ipv6-pd", "--internet-address6", "2001:db8:ffff::2/64", "--gateway6", "2001:db8:ffff::1"}

func newSceneOf(t *testing.T, k *kind, arguments ...string) *scene {
	t.Helper()
	o, err := parseOptions(k, append([]string{"--interface", "a", "--internet", "b", "--details",
		"--internet-address", "198.51.100.2/24", "--gateway", "198.51.100.1"}, arguments...), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r := newRouter(o)
	c := newCrowd(o, r.access, r.inet, time.Unix(1e9, 0), rand.New(rand.NewPCG(1, 2)), t.Logf)
	return &scene{t: t, crowd: c, router: r, at: func() {}}
}

// play runs the script to its end.
func (s *scene) play() report {
	s.t.Helper()
	for range 1_000_000 {
		s.at()
		idle, over := s.crowd.Round(s.now)
		if over {
			return s.crowd.report()
		}
		if len(s.router.access.inbox)+len(s.router.inet.inbox) > 0 {
			idle = 0 // a frame wakes the loop
		}
		s.now += max(idle, 100*time.Microsecond)
	}
	s.t.Fatalf("the script does not end: %v", s.crowd.player.steps)
	return report{}
}

// wantFault checks that the run failed for the named reason.
func (s *scene) wantFault(r report, part string) {
	s.t.Helper()
	if r.OK || !strings.Contains(strings.Join(r.Faults, "; "), part) {
		s.t.Errorf("faults %q, want one with %q", r.Faults, part)
	}
}

func TestAGoodRun(t *testing.T) {
	for _, vlans := range [][]string{
		nil,
		{"--svlan", "100"},
		{"--svlan", "100-101", "--cvlan", "1-20", "--outer-tpid", "0x88a8"},
	} {
		s := newScene(t, append(vlans, "--count", "40", "--size", "64,576,1492",
			"--script", "up; traffic 4000 2s; spoof 80; hold 1s; down")...)
		r := s.play()
		if !r.OK || r.Up != 40 || r.UpNow != 0 || len(r.Subscribers) != 40 {
			t.Fatalf("report %+v", r)
		}
		if n := r.Traffic.Up.Sent; n < 7900 || n > 8000 || r.Traffic.Down.Sent != n || r.Traffic.Up.Requested != 8000 || r.Traffic.Up.Lost+r.Traffic.Down.Lost != 0 {
			t.Errorf("traffic %+v", r.Traffic)
		}
		for i := range 40 {
			session := uint16(i + 1)
			got := r.Subscribers[i]
			if got.InBytes != s.router.in[session] || got.OutBytes != s.router.out[session] || got.InBytes == 0 {
				t.Errorf("octets %+v, the router counts %d and %d", got, s.router.in[session], s.router.out[session])
			}
			if !s.router.ended[session] {
				t.Errorf("session %d was not ended", session)
			}
		}
	}
}

// Each fault that a router might commit must be seen, one packet of thousands being enough.
func TestInjectedFaultsAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(h hop) []hop
		want  string
	}{
		"lost":    {func(hop) []hop { return nil }, "lost"},
		"twice":   {func(h hop) []hop { return []hop{h, h} }, "1 duplicate"},
		"swapped": {func(h hop) []hop { h.session = h.session%10 + 1; return []hop{h} }, "1 foreign"},
		"changed": {func(h hop) []hop { h.packet[60] ^= 1; return []hop{h} }, "1 corrupt"},
		"TTL":     {func(h hop) []hop { h.packet = forwarded(h.packet); return []hop{h} }, "1 corrupt"},
		"shorter": {func(h hop) []hop { h.packet = h.packet[:len(h.packet)-1]; return []hop{h} }, "1 corrupt"},
		"longer":  {func(h hop) []hop { h.packet = append(h.packet, 0); return []hop{h} }, "1 corrupt"},
	} {
		for _, downstream := range []bool{true, false} {
			if !downstream && (name == "swapped" || name == "longer") {
				continue // upstream there is no encapsulation behind the router
			}
			s := newScene(t, "--count", "10", "--script", "up; traffic 2000 1s")
			n := 0
			s.router.spoil = func(h hop) []hop {
				if h.downstream == downstream {
					if n++; n == 700 {
						return test.spoil(h)
					}
				}
				return []hop{h}
			}
			t.Run(name, func(t *testing.T) { s.wantFault(s.play(), test.want) })
		}
	}
}

func TestASpoofedPacketThatArrivesIsForeign(t *testing.T) {
	s := newScene(t, "--count", "5", "--script", "up; spoof 5")
	s.router.checkSource = false
	s.wantFault(s.play(), "up: 5 foreign")
}

func TestAWrongSessionIDIsForeign(t *testing.T) {
	s := newScene(t, "--count", "5", "--script", "up; traffic 1000 1s")
	n := 0
	s.router.spoil = func(h hop) []hop {
		if n++; h.downstream && n > 500 && n < 503 {
			s.router.sendSession(h.session, h.session+1, frame.ProtocolIPv4, h.packet)
			return nil
		}
		return []hop{h}
	}
	s.wantFault(s.play(), "down: 1 foreign")
}

func TestAnOutageIsMeasured(t *testing.T) {
	s := newScene(t, "--count", "5", "--max-loss", "100", "--script", "up; traffic 1000 2s")
	s.router.spoil = func(h hop) []hop {
		if s.now > 700*time.Millisecond && s.now < 1200*time.Millisecond {
			return nil
		}
		return []hop{h}
	}
	r := s.play()
	if gap := r.Traffic.Up.LongestGapMS; !r.OK || gap < 495 || gap > 510 {
		t.Errorf("report %+v", r)
	}
}

func TestSilentAndClearedSessions(t *testing.T) {
	dir := t.TempDir()
	mark, state := filepath.Join(dir, "mark"), filepath.Join(dir, "state.json")
	s := newScene(t, "--count", "30", "--script",
		"up; silence 10; mark "+mark+"; expect-ended 12 5s; terminate 3; report "+state+"; wait "+mark+" 1s; down")
	cleared := false
	s.at = func() {
		if _, err := os.Stat(mark); err == nil && !cleared {
			cleared = true
			for session := uint16(1); session <= 22; session++ {
				s.router.clear(session) // the first 10 are deaf
			}
		}
	}
	r := s.play()
	if !r.OK || r.Silent != 10 || r.EndedUp["padt"] != 12 || r.ExpectedEnds != 12 {
		t.Errorf("report %+v", r)
	}
	if strings.Count(strings.Join(phases(r), " "), "silent") != 10 {
		t.Errorf("phases %v", phases(r))
	}
	var written report
	b, err := os.ReadFile(state)
	if err != nil || json.Unmarshal(b, &written) != nil || written.UpNow != 5 {
		t.Errorf("written report %+v, %v", written, err)
	}
}

func phases(r report) (names []string) {
	for _, s := range r.Subscribers {
		names = append(names, s.Phase)
	}
	return names
}

func TestUnexpectedEndsAreFaults(t *testing.T) {
	s := newScene(t, "--count", "3", "--script", "up; hold 1s")
	s.at = func() {
		if s.now > 500*time.Millisecond {
			s.router.clear(2)
		}
	}
	s.wantFault(s.play(), "1 sessions ended unexpectedly")
}

func TestFailuresAreCountedByCause(t *testing.T) {
	s := newScene(t, "--count", "4", "--script", "up")
	s.router.refuse[2], s.router.refuse[3] = "unpaid", "unpaid"
	r := s.play()
	s.wantFault(r, "2 subscribers failed to come up")
	if r.Failed["auth-rejected"] != 2 || r.Subscribers[1].Message != "unpaid" || r.Up != 2 {
		t.Errorf("report %+v", r)
	}
}

// A report to /dev/null by root must leave the device what it is.
func TestReportDoesNotReplaceDevices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := writeReport(path, report{Sessions: 7}); err != nil {
		t.Error(err)
	}
	if there, err := os.Lstat(path); err != nil || there.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe was replaced: %v", err)
	}
	var r report
	if err := json.NewDecoder(reader).Decode(&r); err != nil || r.Sessions != 7 {
		t.Errorf("the pipe brought %+v, %v", r, err)
	}
}

func TestReconnect(t *testing.T) {
	s := newScene(t, "--count", "3", "--reconnect", "--script", "up; hold 3s; report "+os.DevNull+"; traffic 100 1s")
	cleared := false
	s.at = func() {
		if s.now > time.Second && !cleared {
			cleared = true
			s.router.clear(2)
		}
	}
	if r := s.play(); r.Reconnects != 1 || r.Up != 3 || r.Traffic.Up.DeadFlows != 0 || len(r.Failed) != 0 {
		t.Errorf("report %+v", r)
	}
}

func TestRateBoundsTheSetUps(t *testing.T) {
	s := newScene(t, "--count", "101", "--rate", "50", "--script", "up")
	if r := s.play(); !r.OK || r.SetupRate < 49 || r.SetupRate > 52 {
		t.Errorf("rate %.1f", r.SetupRate)
	}
}

func TestNoGatewayIsAProblemOfTheStep(t *testing.T) {
	s := newScene(t, "--count", "2", "--script", "up; traffic 100 1s; down")
	s.router.inet.output = func([]byte) {}
	s.wantFault(s.play(), "the gateway does not answer ARP")
}

func TestInterruptEndsAllSessionsInGoodOrder(t *testing.T) {
	s := newScene(t, "--count", "5", "--traffic", "1000", "--duration", "10s", "--hold", "forever")
	interrupted := false
	s.at = func() {
		if s.now > 2*time.Second && !interrupted {
			interrupted = true
			s.crowd.Interrupt()
		}
	}
	r := s.play()
	if s.now > 3*time.Second || r.UpNow != 0 || !s.router.ended[5] {
		t.Errorf("at %v: %+v", s.now, r)
	}
}

func TestPingIsAnsweredOnBothSides(t *testing.T) {
	s := newScene(t, "--count", "2", "--script", "up; hold 1s")
	echo := []byte{8, 0, 0xf7, 0xfd, 0, 1, 0, 1}
	replies := 0
	s.router.spoil = func(h hop) []hop {
		if ip, _ := frame.ParseIPv4(h.packet); !h.downstream && ip.Protocol == frame.ICMP && ip.Payload[0] == 0 {
			replies++
		}
		return []hop{h}
	}
	sent := false
	s.at = func() {
		if s.now > 200*time.Millisecond && !sent {
			sent = true
			ip := frame.IPv4{Src: frame.Addr{198, 51, 100, 9}, Dst: addrOf(2), TTL: 64, Protocol: frame.ICMP}
			s.router.downstream(2, append(frame.AppendIPv4(nil, ip, len(echo)), echo...))
		}
	}
	r := s.play()
	if !r.OK || replies != 1 || r.Subscribers[1].InBytes != 28 || r.Subscribers[1].OutBytes != 28 {
		t.Errorf("%d replies, report %+v", replies, r)
	}
}

func TestManySubscribers(t *testing.T) {
	s := newScene(t, "--count", "4000", "--svlan", "100-103", "--cvlan", "1-1000", "--window", "1000",
		"--script", "up; traffic 20000 500ms")
	if r := s.play(); !r.OK || r.Up != 4000 {
		t.Errorf("faults %v, up %d", r.Faults, r.Up)
	}
	if s.crowd.stages[life.Ended] != 4000 {
		t.Errorf("phases %v", s.crowd.stages)
	}
}

func TestAFrameOnAWrongVLANIsAFault(t *testing.T) {
	s := newScene(t, "--count", "2", "--svlan", "10", "--script", "up; hold 1s")
	sent := false
	s.at = func() {
		if s.now > 500*time.Millisecond && !sent {
			sent = true
			s.router.tags[1] = frame.Tags{TPID: frame.TypeVLAN, Outer: 11}
			s.router.clear(1)
		}
	}
	s.wantFault(s.play(), "1 frames came to a subscriber's MAC address on VLANs")
}

func TestHangUpsKeepToTheWindow(t *testing.T) {
	s := newScene(t, "--count", "50", "--window", "8", "--script", "up; down")
	most := 0
	s.at = func() { most = max(most, s.crowd.stages[life.Closing]) }
	if r := s.play(); !r.OK || most != 8 {
		t.Errorf("%d hung up at a time; %v", most, r.Faults)
	}
}

func FuzzFrames(f *testing.F) {
	o, err := parseOptions(&pppoeKind, []string{"--interface", "a", "--internet", "b", "--internet-address", "198.51.100.2/24",
		"--gateway", "198.51.100.1", "--count", "2", "--script", "up"}, io.Discard)
	if err != nil {
		f.Fatal(err)
	}
	session := frame.AppendEthernet(nil, o.macBase, frame.Broadcast, frame.Tags{}, frame.TypeSession)
	f.Add(frame.AppendPPP(session, 1, frame.ProtocolIPv4, 0))
	f.Add(frame.AppendARP(frame.AppendEthernet(nil, frame.Broadcast, o.macBase, frame.Tags{}, frame.TypeARP), frame.ARP{Operation: 1, TargetAddr: o.address.As4()}))
	f.Add(frame.AppendIPv4(frame.AppendEthernet(nil, o.internetMAC, o.macBase, frame.Tags{}, frame.TypeIPv4), frame.IPv4{TTL: 1, Dst: o.address.As4()}, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newRouter(o)
		c := newCrowd(o, r.access, r.inet, time.Unix(0, 0), rand.New(rand.NewPCG(1, 2)), t.Logf)
		for round := range time.Duration(20) {
			c.Round(round * time.Millisecond)
			if round == 10 {
				r.access.inbox, r.inet.inbox = append(r.access.inbox, b), append(r.inet.inbox, b)
			}
		}
		if r := c.report(); r.Traffic.Up.Received+r.Traffic.Down.Received != 0 {
			t.Errorf("packets judged good that were never sent: %+v", r.Traffic)
		}
	})
}

func TestReportTextNamesTheFaults(t *testing.T) {
	s := newScene(t, "--count", "2", "--script", "up; traffic 100 1s")
	s.router.refuse[1] = "unpaid"
	s.router.spoil = func(hop) []hop { return nil }
	var text bytes.Buffer
	s.play().writeText(&text)
	for _, want := range []string{"up 1", "auth-rejected", "unpaid", "FAULT", "lost", "sim2"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, text.String())
		}
	}
}
