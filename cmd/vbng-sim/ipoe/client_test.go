package ipoe

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"vbng/cmd/vbng-sim/dhcp"
	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/host6"
	"vbng/cmd/vbng-sim/life"
	"vbng/cmd/vbng-sim/toy"
)

const number = 7

// scene is one client on a toy router, with time in the test's hand.
type scene struct {
	t      *testing.T
	client *Client
	router *toy.Router
	now    time.Duration
	sent   [][]byte
}

func newScene(t *testing.T, change func(*Settings)) *scene {
	value := uint32(1000)
	random := func() uint32 { value++; return value }
	s := DefaultSettings(random)
	six := host6.DefaultSettings(random)
	six.NA, six.PD, six.Link = true, true, true
	s.IPv6 = &six
	if change != nil {
		change(&s)
	}
	id := life.Identity{
		MAC: frame.MAC{2, 0x54, 0, 0, 0, number}, Tags: frame.Tags{TPID: frame.TypeProvider, Outer: 100, Inner: 7},
		Hostname: "sim7", VendorClass: "box", ClientID: []byte{1, 2, 0x54, 0, 0, 0, number}, Circuit: []byte("eth 1/7"),
	}
	return &scene{t: t, client: New(&s, id), router: toy.New(frame.MAC{2, 0, 0, 0, 0, 0xac})}
}

// run passes frames between both until nobody has anything to say.
func (s *scene) run(frames [][]byte) {
	for round := 0; len(frames) > 0; round++ {
		if round > 200 {
			s.t.Fatalf("no end of talk: %v", s.router.Notes)
		}
		e, err := frame.ParseEthernet(frames[0])
		if err != nil || e.Src != s.client.MAC || e.Tags != s.client.Tags {
			s.t.Fatalf("sent %x: %v", frames[0], err)
		}
		s.sent = append(s.sent, frames[0])
		frames = frames[1:]
		for _, answer := range s.router.IPoE(number, e) {
			e, _ := frame.ParseEthernet(answer)
			if _, _, user := UserPacket(e); user {
				s.t.Errorf("%x is taken for user data", answer)
			}
			frames = append(frames, s.client.Receive(s.now, e)...)
		}
	}
}

func (s *scene) start() *scene {
	s.run(s.client.Start(s.now))
	return s
}

// expire moves the time to the client's next deadline.
func (s *scene) expire() bool {
	deadline := s.client.State().Deadline
	if deadline == 0 {
		return false
	}
	s.now = deadline
	s.run(s.client.Expire(s.now))
	return true
}

func (s *scene) mustBe(stage life.Stage) {
	s.t.Helper()
	if got := s.client.State(); got.Stage != stage {
		s.t.Fatalf("state %+v; %v", got, s.router.Notes)
	}
}

func TestSetUpOfBothFamilies(t *testing.T) {
	s := newScene(t, nil).start()
	s.mustBe(life.Up)
	want := life.Addresses{
		IPv4: netip.AddrFrom4(toy.Addr(number)), SLAAC: frame.Join(toy.Advertised(number).Addr(), s.client.MAC.EUI64()),
		Assigned: toy.Assigned(number).Addr(), Delegated: toy.Delegated(number),
	}
	if got := s.client.Addresses(); got != want {
		t.Errorf("addresses %+v", got)
	}
	if got := strings.Join(s.router.Notes, ", "); got != "DISCOVER, REQUEST, ARP request, probe, RS, probe, Solicit, Request, probe, NS" {
		t.Errorf("conversation %s", got)
	}
	if m := s.router.V4[1]; m.Hostname != "sim7" || m.VendorClass != "box" || string(m.Circuit) != "eth 1/7" || m.Requested != toy.Addr(number) ||
		m.Server == (frame.Addr{}) || m.Client != (frame.Addr{}) || string(m.ClientID) != string(s.client.ClientID) {
		t.Errorf("request %+v", m)
	}
	if s.client.GatewayMAC != s.router.MAC || s.client.IPv6.RouterMAC != s.router.MAC {
		t.Errorf("gateways %v and %v", s.client.GatewayMAC, s.client.IPv6.RouterMAC)
	}
}

func TestEitherFamilyAlone(t *testing.T) {
	s := newScene(t, func(s *Settings) { s.IPv6 = nil }).start()
	s.mustBe(life.Up)
	if s.router.Count("RS") != 0 {
		t.Error("IPv6 was asked for")
	}
	s = newScene(t, func(s *Settings) { s.IPv4 = false }).start()
	s.mustBe(life.Up)
	if s.router.Count("DISCOVER") != 0 || s.client.Addresses().IPv4.IsValid() {
		t.Error("IPv4 was asked for")
	}
}

func TestEachSilenceEndsWithItsCause(t *testing.T) {
	for _, test := range []struct {
		mute  string
		tries int
		cause string
	}{
		{"DISCOVER", 5, "discover-timeout"},
		{"REQUEST", 4, "request-timeout"},
		{"ARP request", 3, "arp-timeout"},
		{"RS", 3, "ra-timeout"},
		{"Solicit", 6, "dhcpv6-solicit-timeout"},
		{"Request", 10, "dhcpv6-request-timeout"},
		{"NS", 3, "nd-timeout"},
	} {
		s := newScene(t, nil)
		s.router.Mute[test.mute] = true
		s.start()
		for range 100 {
			if !s.expire() {
				break
			}
		}
		s.mustBe(life.Ended)
		if got := s.client.State(); got.Cause != test.cause || got.Closed || s.router.Count(test.mute) != test.tries {
			t.Errorf("%s: %+v after %d tries", test.mute, got, s.router.Count(test.mute))
		}
		bound := s.client.End.Phase >= Resolve
		if released := s.router.Count("RELEASE") == 1; released != bound {
			t.Errorf("%s: released %v", test.mute, released)
		}
	}
}

func TestALostAnswerIsRepaired(t *testing.T) {
	for _, lost := range []string{"DISCOVER", "REQUEST", "ARP request", "RS", "Solicit", "Request", "NS"} {
		s := newScene(t, nil)
		s.router.Mute[lost] = true
		s.start()
		delete(s.router.Mute, lost)
		s.expire()
		s.mustBe(life.Up)
	}
}

// RFC 2131 section 4.1: 4, 8, 16 ... seconds, each with one second's play.
func TestDiscoverWaitsTwiceAsLongEachTime(t *testing.T) {
	s := newScene(t, nil)
	s.router.Mute["DISCOVER"] = true
	s.start()
	for _, want := range []time.Duration{4, 8, 16, 32, 64} {
		if d := s.client.Deadline - s.now - want*time.Second; d < -time.Second || d > time.Second {
			t.Errorf("waits %v, want %ds", s.client.Deadline-s.now, want)
		}
		s.expire()
	}
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*toy.Router, *host6.Settings)
		cause string
	}{
		"nak":       {func(r *toy.Router, _ *host6.Settings) { r.Nak = true }, "nak"},
		"no prefix": {func(r *toy.Router, _ *host6.Settings) { r.Refuse = dhcp.StatusNoPrefixAvail }, "dhcpv6-refused"},
		"binding":   {func(r *toy.Router, _ *host6.Settings) { r.Refuse = dhcp.StatusNoBinding }, "dhcpv6-no-binding"},
		"duplicate": {func(r *toy.Router, _ *host6.Settings) { r.Duplicate = true }, "ipv6-duplicate-address"},
		"no SLAAC": {func(r *toy.Router, s *host6.Settings) {
			r.NoPrefix, s.NA, s.PD = true, false, false
		}, "ra-no-prefix"},
	} {
		var six *host6.Settings
		s := newScene(t, func(s *Settings) { six = s.IPv6 })
		test.spoil(s.router, six)
		s.start()
		if got := s.client.State(); got.Cause != test.cause {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestLeasesAreRenewedAndRebound(t *testing.T) {
	s := newScene(t, nil).start()
	for s.now < 65*time.Minute {
		s.expire()
	}
	s.mustBe(life.Up)
	if s.router.Count("REQUEST") < 3 || s.router.Count("Renew") < 3 {
		t.Fatalf("conversation %v", s.router.Notes)
	}
	if m := s.router.V4[2]; m.Client != toy.Addr(number) || m.Requested != (frame.Addr{}) || m.Server != (frame.Addr{}) {
		t.Errorf("a renewal bears %+v", m)
	}
	s.router.Mute["REQUEST"] = true
	for s.client.Phase != Rebind && s.expire() {
	}
	s.mustBe(life.Up)
	for s.client.Phase != Ended && s.expire() {
	}
	if got := s.client.State(); got.Cause != "lease-expired" {
		t.Errorf("state %+v", got)
	}
}

func TestALeaseOfIPv6IsReboundAndExpires(t *testing.T) {
	s := newScene(t, func(s *Settings) { s.IPv4 = false }).start()
	s.router.Mute["Renew"] = true
	for s.router.Count("Rebind") == 0 && s.expire() {
	}
	s.mustBe(life.Up)
	if s.client.IPv6.Phase != host6.Ready || s.now > 31*time.Minute {
		t.Errorf("phase %v at %v", s.client.IPv6.Phase, s.now)
	}
	s.router.Mute["Rebind"] = true
	for s.client.Phase != Ended && s.expire() {
	}
	if got := s.client.State(); got.Cause != "dhcpv6-lease-expired" {
		t.Errorf("state %+v", got)
	}
}

func TestANakEndsARenewal(t *testing.T) {
	s := newScene(t, nil).start()
	s.router.Nak = true
	s.run(s.client.Renewal(s.now))
	if got := s.client.State(); got.Cause != "nak" || got.Message != "go away" {
		t.Errorf("state %+v", got)
	}
}

func TestCloseReleasesBoth(t *testing.T) {
	s := newScene(t, nil).start()
	s.run(s.client.Close(s.now))
	s.mustBe(life.Ended)
	if got := s.client.State(); !got.Closed || s.router.Count("Release") != 1 || s.router.Count("RELEASE") != 1 {
		t.Errorf("state %+v, %v", got, s.router.Notes)
	}
	if m := s.router.V4[len(s.router.V4)-1]; m.Client != toy.Addr(number) || m.Server == (frame.Addr{}) {
		t.Errorf("release %+v", m)
	}
}

func TestCloseDoesNotWaitForEver(t *testing.T) {
	s := newScene(t, nil).start()
	s.router.Mute["Release"] = true
	s.run(s.client.Close(s.now))
	s.mustBe(life.Closing)
	for s.expire() {
	}
	s.mustBe(life.Ended)
	if s.router.Count("Release") != 4 || s.router.Count("RELEASE") != 1 {
		t.Errorf("conversation %v", s.router.Notes)
	}
}

// asked is a neighbour solicitation, or an ARP request, of the router for the client.
func (s *scene) asked(target netip.Addr) frame.Ethernet {
	b := frame.AppendEthernet(nil, frame.Broadcast, s.router.MAC, s.client.Tags, frame.TypeARP)
	b = frame.AppendARP(b, frame.ARP{Operation: frame.ARPRequest, SenderMAC: s.router.MAC, TargetAddr: s.client.Addr})
	if target.Is6() {
		b = frame.AppendEthernet(nil, frame.GroupMAC(frame.SolicitedNode(target)), s.router.MAC, s.client.Tags, frame.TypeIPv6)
		b = append(b, frame.NeighborSolicitation(s.client.IPv6.Router, target, s.router.MAC)...)
	}
	e, _ := frame.ParseEthernet(b)
	return e
}

func TestNeighboursAreAnsweredUntilSilence(t *testing.T) {
	s := newScene(t, nil).start()
	a := s.client.Addresses()
	for _, target := range []netip.Addr{a.IPv4, a.SLAAC, a.Assigned, s.client.IPv6.LinkLocal} {
		answers := s.client.Receive(s.now, s.asked(target))
		if len(answers) != 1 {
			t.Fatalf("%v: %d answers", target, len(answers))
		}
		if e, _ := frame.ParseEthernet(answers[0]); e.Dst != s.router.MAC || e.Tags != s.client.Tags {
			t.Errorf("%v: answered to %v", target, e.Dst)
		}
	}
	if n := len(s.client.Receive(s.now, s.asked(a.InDelegated()))); n != 0 {
		t.Error("an address behind the client was answered for")
	}
	s.client.Silence()
	if n := len(s.client.Receive(s.now, s.asked(a.IPv4))) + len(s.client.Receive(s.now, s.asked(a.SLAAC))); n != 0 {
		t.Error("a silent client answers")
	}
	if s.client.State().Deadline != 0 {
		t.Error("a silent client has a timer")
	}
}

func TestAnswersToOthersAreIgnored(t *testing.T) {
	s := newScene(t, nil)
	frames := s.client.Start(0)
	e, _ := frame.ParseEthernet(frames[0])
	other := s.router.IPoE(number, e)[0]
	other[len(other)-300+4]++ // the transaction id; the checksum is wrong then, too
	e, _ = frame.ParseEthernet(other)
	if s.client.Receive(0, e); s.client.Phase != Discover {
		t.Errorf("phase %v", s.client.Phase)
	}
}

func TestUserPackets(t *testing.T) {
	short := frame.AppendIPv4(nil, frame.IPv4{TTL: 9, Protocol: frame.ICMP}, 8)
	short = append(short, make([]byte, 26)...) // padded to what Ethernet demands
	packet, _, ok := UserPacket(frame.Ethernet{Type: frame.TypeIPv4, Payload: short})
	if !ok || len(packet) != 28 {
		t.Errorf("%d bytes, %v", len(packet), ok)
	}
	long := append(frame.AppendIPv4(nil, frame.IPv4{TTL: 9}, 80), make([]byte, 81)...)
	if packet, _, _ := UserPacket(frame.Ethernet{Type: frame.TypeIPv4, Payload: long}); len(packet) != 101 {
		t.Error("a byte too much was hidden")
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(byte(0), []byte{})
	s := newScene(&testing.T{}, nil)
	e, _ := frame.ParseEthernet(s.client.Start(0)[0])
	f.Add(byte(0), s.router.IPoE(number, e)[0])
	f.Add(byte(3), frame.RouterSolicitation(netip.IPv6LinkLocalAllNodes(), frame.MAC{}))
	f.Fuzz(func(t *testing.T, phase byte, b []byte) {
		s := newScene(t, nil)
		mutes := []string{"DISCOVER", "REQUEST", "ARP request", "RS", "Solicit", "Request", "NS", ""}
		s.router.Mute[mutes[int(phase)%len(mutes)]] = true
		s.start()
		if e, err := frame.ParseEthernet(b); err == nil {
			UserPacket(e)
			s.client.Receive(s.now, e)
		}
		for _, ethertype := range []uint16{frame.TypeIPv4, frame.TypeIPv6, frame.TypeARP} {
			e := frame.Ethernet{Dst: s.client.MAC, Src: s.router.MAC, Tags: s.client.Tags, Type: ethertype, Payload: b}
			UserPacket(e)
			s.client.Receive(s.now, e)
		}
		s.client.State()
		s.client.Expire(s.now + time.Hour)
	})
}
