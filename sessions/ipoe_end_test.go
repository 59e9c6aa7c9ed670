package sessions

import (
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
