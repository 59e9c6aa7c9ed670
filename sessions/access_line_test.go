package sessions

import (
	"strings"
	"testing"

	"vbng/aaa"
)

// TestOtherLine: on a VLAN of many lines, who borrows a neighbour's MAC address neither is its subscriber nor can
// end its lease by a goodbye; a client that moved is asked about anew.
func TestOtherLine(t *testing.T) {
	w := newWorld(t, circuitConfig)
	s := w.station(0)
	s.circuit = "slot7"
	first := s.dhcp()
	s.circuit = "slot8"
	s.say4(cRELEASE, s.address, s.server, option(54, s.server.AsSlice()))
	s.say4(cDECLINE, s.address, s.server, option(50, s.address.AsSlice()), option(54, s.server.AsSlice()))
	w.settleWith(s)
	if s.session() != first || first.state != StateUp || w.m.stats.otherLine.Load() != 2 {
		t.Fatalf("state %s, ends %v", first.state, w.m.stats.ends)
	}
	s.circuit = "" // a renewal that the access node left alone
	s.ack = false
	s.renew()
	w.settleWith(s)
	if !s.ack || s.session() != first {
		t.Fatalf("heard %v", s.heard)
	}
	s.circuit = "slot8"
	s.heard = nil
	second := s.dhcp()
	if second == first || w.m.stats.ends[CauseLineChanged] != 1 || !strings.HasSuffix(second.username, "/slot8") {
		t.Fatalf("user %q, ends %v", second.username, w.m.stats.ends)
	}
	if w.kindsOf() != "1 2 1" && w.kindsOf() != "1 1 2" {
		t.Fatalf("records %s", w.kindsOf())
	}
}

// TestLineIsAwaited: a router solicitation, which no access node marks, does not make a client somebody else.
func TestLineIsAwaited(t *testing.T) {
	w := newWorld(t, circuitConfig)
	s := w.station(0)
	s.circuit = "slot7"
	s.solicitRouter()
	s.solicit()
	w.settleWith(s)
	if len(w.requests) != 0 || len(w.m.index.byID) != 0 || w.m.stats.lineUntold.Load() != 2 {
		t.Fatalf("%d requests", len(w.requests))
	}
	s.dhcp()
	s.solicitRouter()
	w.settleWith(s)
	if r := w.requests; len(r) != 1 || !strings.HasSuffix(r[0].Username, "/slot7") || r[0].Method != aaa.ByLine {
		t.Fatalf("requests %+v", r)
	}
}
