package sessions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vbng/aaa"
)

// TestLeaseRunsOutWithoutControl: a client whose lease ended while control was away has no session afterwards,
// and accounting hears of its end.
func TestLeaseRunsOutWithoutControl(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.station(0)
	s.dhcp()
	w.clock.Advance(time.Hour)
	w.crash(dualConfig)
	w.clock.Advance(time.Second) // before the forwarder has answered
	w.settleWith(s)
	w.clock.Advance(time.Hour)
	w.settleWith(s)
	if s.session() != nil || w.last().Type != aaa.Stop || w.last().Cause != CauseLeaseExpired.Terminate() {
		t.Fatalf("session %+v, record %+v", s.session(), w.last())
	}
	w.clean()
}

// TestReleaseOfAllIsAnswered: RFC 8415 18.3.7, also when the session ends by it; a repetition that crosses the
// answer begins nothing.
func TestReleaseOfAllIsAnswered(t *testing.T) {
	config := strings.ReplaceAll(strings.ReplaceAll(dualConfig, " ip pool residential\n", ""), " ipv6 prefix pool lines\n", "")
	for _, kind := range []byte{8, 9} {
		w := newWorld(t, config)
		s := w.station(0)
		s.solicit()
		w.settleWith(s)
		s.delegated = s.delegated.Masked()
		if kind == 9 { // a prefix cannot be declined
			s.say6(3, option6(2, s.server6), option6(3, ia(1, option6(5, s.address6.AsSlice(), make([]byte, 8)))))
			w.settleWith(s)
			w.clock.Advance(offerTime + time.Second)
		} else {
			s.request6(3)
		}
		w.settleWith(s)
		address, delegated := s.address6, s.delegated
		s.heard = nil
		s.request6(kind)
		w.settleWith(s)
		if s.session() != nil || len(s.heard) == 0 || s.heard[0] != "REPLY" || w.last().Type != aaa.Stop {
			t.Fatalf("heard %v, session %+v", s.heard, s.session())
		}
		asked := len(w.requests)
		s.address6, s.delegated = address, delegated
		s.request6(kind)
		w.settleWith(s)
		if len(w.requests) != asked || len(w.m.index.byID) != 0 {
			t.Fatal("a RELEASE of a stranger opened a session")
		}
	}
}

// TestGoodbyeOfStranger: what ends nothing begins nothing.
func TestGoodbyeOfStranger(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.station(0)
	for _, kind := range []byte{cRELEASE, cDECLINE, cINFORM} {
		s.say4(kind, addr("100.64.0.9"), addr("100.64.0.1"), option(50, addr("100.64.0.9").AsSlice()), option(54, addr("100.64.0.1").AsSlice()))
	}
	w.settleWith(s)
	if len(w.requests) != 0 || len(w.m.index.byID) != 0 || w.m.stats.late.Load() != 3 {
		t.Fatalf("%d requests, %d sessions, %d late", len(w.requests), len(w.m.index.byID), w.m.stats.late.Load())
	}
}

// TestBackBeforeBuried: a client that begins anew while its last session is still being taken down is served when that
// is done, as the line that it is; what an ended session could not answer begins nothing.
func TestBackBeforeBuried(t *testing.T) {
	w := newWorld(t, circuitConfig)
	s := w.station(0)
	s.circuit = "slot7"
	first := s.dhcp()
	s.say4(cRELEASE, s.address, s.server, option(54, s.server.AsSlice()))
	w.drain()
	if !first.ending() || s.session() != first {
		t.Fatalf("session %+v", s.session())
	}
	s.heard = nil
	s.discover()
	s.solicitRouter()
	w.drain()
	w.settleWith(s)
	next := s.session()
	if next == nil || next == first || !slices.Contains(s.heard, "OFFER") {
		t.Fatalf("heard %v", s.heard)
	}
	if r := w.requests[len(w.requests)-1]; !strings.HasSuffix(r.Username, "/slot7") {
		t.Fatalf("asked about %q", r.Username)
	}
	w.run("clear subscriber", map[string]string{"mac": s.mac.String()})
	w.settleWith(s)
	if s.session() != nil {
		t.Fatal("a session after the operator's clear")
	}
	w.authorize = func(aaa.Request) aaa.Answer { return aaa.Answer{Reject: &aaa.Reject{Cause: aaa.NoAnswer}} }
	asked := len(w.requests)
	s.discover()
	w.settleWith(s)
	w.clock.Advance(time.Hour)
	w.settleWith(s)
	if len(w.requests) != asked+1 || s.session() != nil {
		t.Fatalf("asked %d times", len(w.requests)-asked)
	}
	w.clean()
}

// TestLastAdvertisement: a client that is told goodbye also hears that its prefix is over (RFC 4861 6.2.5).
func TestLastAdvertisement(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.station(0)
	s.solicitRouter()
	w.settleWith(s)
	w.clock.Advance(time.Second)
	w.settleWith(s)
	prefix := s.prefix
	if !prefix.IsValid() || s.preferred != 600 {
		t.Fatalf("advertised %s for %d seconds", prefix, s.preferred)
	}
	w.run("clear subscriber", map[string]string{"all": "true"})
	w.settleWith(s)
	if s.prefix != prefix || s.preferred != 0 || s.lifetime != 0 {
		t.Fatalf("advertised %s for %d seconds, router for %d", s.prefix, s.preferred, s.lifetime)
	}
}

// TestOfferIsNotAccounted: a record names what the subscriber may use, not what it was offered.
func TestOfferIsNotAccounted(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.station(0)
	s.discover()
	s.solicit()
	w.settleWith(s)
	if r := w.last(); r.Type != aaa.Start || !r.Prefix.IsValid() || r.Address.IsValid() || r.Address6.IsValid() || r.Delegated.IsValid() {
		t.Fatalf("record %+v", r)
	}
}

func TestAdvertisementsOutlastTheirInterval(t *testing.T) {
	for lines, fault := range map[string]string{
		"ipv6 ra lifetime 500":                        "ipv6 ra lifetime: is shorter",
		"ipv6 ra interval 601":                        "ipv6 preferred-lifetime: is shorter",
		"ipv6 ra lifetime 0":                          "",
		"ipv6 ra interval 500\n ipv6 ra lifetime 500": "",
	} {
		text := strings.Replace(dualConfig, " lease-time 600\n", " lease-time 600\n "+lines+"\n", 1)
		tree, faults := parseConfig(t, text)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		got := ""
		for _, err := range new(Manager).Check(nil, tree) {
			got += err.Error()
		}
		if (got == "") != (fault == "") || !strings.Contains(got, fault) {
			t.Errorf("%s: %s", lines, got)
		}
	}
}
