package ppp

import (
	"encoding/json"
	"net/netip"
	"testing"
)

const ownID = 0x0200_00ff_fe00_0001

func idOpt(id uint64) Option { return optionID(id) }

func dualGrant(peer string) NetConfig {
	g := grantFor(peer)
	g.LocalInterfaceID = ownID
	return g
}

// authenticated brings a PAP link to the point where the grant's network protocols open.
func authenticated(t *testing.T, grant NetConfig) *harness {
	t.Helper()
	h := newHarness(t, pap)
	h.lcpOpen()
	h.recv(ProtoPAP, papRequest(7, "alice", "secret"))
	h.do(h.link.AuthDone(h.serial, true, "", grant))
	h.skip()
	return h
}

// dualOpen brings both network protocols up.
func dualOpen(t *testing.T) *harness {
	t.Helper()
	h := authenticated(t, dualGrant("10.0.0.9"))
	h.do(h.link.OpenNetwork())
	h.ackLast(ProtoIPCP)
	h.ackLast(ProtoIPV6CP)
	h.recv(ProtoIPCP, request(1, addrOpt("10.0.0.9")))
	h.recv(ProtoIPV6CP, request(1, idOpt(0x42)))
	h.skip()
	return h
}

// Golden bytes: the option of RFC 5072 section 4.1 is type 1, length 10.
func TestInterfaceIDOnTheWire(t *testing.T) {
	h := authenticated(t, NetConfig{LocalInterfaceID: ownID})
	h.do(h.link.OpenNetwork())
	if s := h.sent[0]; s.Proto != 0x8057 || string(s.Info) != "\x01\x01\x00\x0e\x01\x0a\x02\x00\x00\xff\xfe\x00\x00\x01" {
		t.Fatalf("%04x %x", s.Proto, s.Info)
	}
}

func TestBothFamilies(t *testing.T) {
	h := authenticated(t, dualGrant("10.0.0.9"))
	h.recv(ProtoIPV6CP, request(1, idOpt(0x42))) // early: kept, like IPCP's
	h.recv(ProtoIPCP, request(1, addrOpt("10.0.0.9")))
	h.expect(``)
	h.do(h.link.OpenNetwork())
	h.expect(`
		send IPCP 1 #1 3=10.0.0.1
		timer 2 3s
		send IPV6CP 1 #1 1=020000fffe000001
		timer 3 3s
		send IPCP 2 #1 3=10.0.0.9
		send IPV6CP 2 #1 1=0000000000000042`)
	h.ackLastOr(ProtoIPV6CP, 1, idOpt(ownID)) // IPv6 is first here
	h.ackLastOr(ProtoIPCP, 1, addrOpt("10.0.0.1"))
	h.expect(`
		network6-up 020000fffe000001 0000000000000042
		stop 3
		network-up 10.0.0.1 10.0.0.9
		stop 2`)
	h.do(h.link.OpenNetwork()) // once is enough
	h.expect(``)
	h.recv(ProtoIPV6CP, Packet{Code: CodeTerminateRequest, ID: 5})
	h.expect(`
		network6-down
		timer 3 3s
		send IPV6CP 6 #5`)
	h.fire(TimerIPV6CP)
	h.expect(`network-finished IPV6CP network-terminated`)
	h.recv(ProtoIPV6CP, request(6, idOpt(0x43))) // and the peer thinks again
	h.ackLast(ProtoIPV6CP)
	h.expect(`
		send IPV6CP 1 #2 1=020000fffe000001
		timer 3 3s
		send IPV6CP 2 #6 1=0000000000000043
		network6-up 020000fffe000001 0000000000000043
		stop 3`)
	h.recv(ProtoIPCP, Packet{Code: CodeTerminateRequest, ID: 9})
	h.fire(TimerIPCP)
	h.recv(ProtoIPV6CP, Packet{Code: CodeTerminateRequest, ID: 9})
	h.skip()
	h.fire(TimerIPV6CP) // nothing is left
	h.expect(`
		lcp-down
		send LCP 5 #2
		timer 0 3s`)
}

func TestIPv6Only(t *testing.T) {
	h := authenticated(t, NetConfig{LocalInterfaceID: ownID})
	h.recv(ProtoIPCP, request(3, addrOpt("0.0.0.0")))
	h.do(h.link.OpenNetwork())
	h.recv(ProtoIPV6CP, request(1, idOpt(0x42)))
	h.ackLast(ProtoIPV6CP)
	h.expect(`
		send LCP 8 #2 80210103000a030600000000000000
		send IPV6CP 1 #1 1=020000fffe000001
		timer 3 3s
		send IPV6CP 2 #1 1=0000000000000042
		network6-up 020000fffe000001 0000000000000042
		stop 3`)
	s, ok := h.link.Snapshot()
	if !ok || s.IPCP != Initial || s.IPV6CP != Opened || s.PeerInterfaceID != 0x42 {
		t.Fatalf("%+v %v", s, ok)
	}
	if _, err := Restore(pap, counting(), s); err != nil {
		t.Fatal(err)
	}
}

// Identifiers that cannot tell the ends apart are Nak'd with one drawn at random, universal bit clear.
func TestUnusableInterfaceIDs(t *testing.T) {
	h := authenticated(t, dualGrant("10.0.0.9"))
	h.do(h.link.OpenNetwork())
	h.skip()
	h.recv(ProtoIPV6CP, request(1, idOpt(0)))
	h.recv(ProtoIPV6CP, request(2, idOpt(ownID)))               // looped, or a copy of our address
	h.recv(ProtoIPV6CP, request(3, Option{1, []byte{1, 2, 3}})) // of a wrong length
	h.recv(ProtoIPV6CP, request(4))                             // not named at all
	h.recv(ProtoIPV6CP, request(5, idOpt(7), Option{2, []byte{0, 0x4f}}, idOpt(7)))
	h.recv(ProtoIPV6CP, request(6, idOpt(0x0103030303030303)))
	h.expect(`
		send IPV6CP 3 #1 1=0002020202020202
		send IPV6CP 3 #2 1=0002020202020202
		send IPV6CP 3 #3 1=0002020202020202
		send IPV6CP 3 #4 1=0002020202020202
		send IPV6CP 4 #5 2=004f 1=0000000000000007
		send IPV6CP 2 #6 1=0103030303030303`)
}

func TestGrantedInterfaceID(t *testing.T) {
	g := dualGrant("10.0.0.9")
	g.PeerInterfaceID = 0x99
	h := authenticated(t, g)
	h.do(h.link.OpenNetwork())
	h.skip()
	h.recv(ProtoIPV6CP, request(1, idOpt(0x42)))
	h.recv(ProtoIPV6CP, request(2, idOpt(0x99)))
	h.expect(`
		send IPV6CP 3 #1 1=0000000000000099
		send IPV6CP 2 #2 1=0000000000000099`)
}

// Both ends begin with the same identifier: each takes what the other suggests.
func TestOurInterfaceIDNakked(t *testing.T) {
	h := authenticated(t, dualGrant("10.0.0.9"))
	h.do(h.link.OpenNetwork())
	h.recv(ProtoIPV6CP, request(1, idOpt(ownID)))
	h.recv(ProtoIPV6CP, conf(CodeConfigureNak, 1, idOpt(0x77)))
	h.skip()
	h.ackLastOr(ProtoIPV6CP, 2, idOpt(0x77))
	h.recv(ProtoIPV6CP, request(2, idOpt(0x77))) // ours by now
	h.recv(ProtoIPV6CP, request(3, idOpt(ownID)))
	h.expect(`
		send IPV6CP 3 #2 1=0002020202020202
		send IPV6CP 2 #3 1=020000fffe000001
		network6-up 0000000000000077 020000fffe000001
		stop 3`)
	for _, bad := range []Option{idOpt(0), idOpt(ownID), {1, []byte{1}}} { // no help: we draw
		h := authenticated(t, dualGrant("10.0.0.9"))
		h.do(h.link.OpenNetwork())
		h.skip()
		h.recv(ProtoIPV6CP, conf(CodeConfigureNak, 1, bad))
		h.expect(`
			send IPV6CP 1 #2 1=0002020202020202
			timer 3 3s`)
	}
}

// What the peer does not speak ends itself alone, whichever it is.
func TestOneFamilyRejected(t *testing.T) {
	for _, c := range []struct {
		rejected []byte
		timer    TimerID
		want     string
	}{
		{[]byte{0x80, 0x57}, TimerIPV6CP, "network-finished IPV6CP ipv6cp-refused"},
		{[]byte{0x80, 0x21}, TimerIPCP, "network-finished IPCP ipcp-refused"},
	} {
		h := authenticated(t, dualGrant("10.0.0.9"))
		h.do(h.link.OpenNetwork())
		h.skip()
		h.recv(ProtoLCP, Packet{Code: CodeProtocolReject, ID: 1, Data: c.rejected})
		if len(h.log) != 2 || h.log[0] != c.want || h.link.Phase() != PhaseNetwork {
			t.Errorf("%x: %q", c.rejected, h.log)
		}
		if _, running := h.timers[c.timer]; running {
			t.Errorf("%x: the timer still runs", c.rejected)
		}
	}
}

func TestOneFamilySilent(t *testing.T) {
	h := authenticated(t, dualGrant("10.0.0.9"))
	h.do(h.link.OpenNetwork())
	h.ackLast(ProtoIPCP)
	h.recv(ProtoIPCP, request(1, addrOpt("10.0.0.9")))
	for range 10 {
		h.skip()
		h.fire(TimerIPV6CP)
	}
	h.expect(`network-finished IPV6CP ipv6cp-timeout`)
	h = authenticated(t, NetConfig{LocalInterfaceID: ownID})
	h.do(h.link.OpenNetwork())
	for h.link.Phase() == PhaseNetwork {
		h.fire(TimerIPV6CP)
	}
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck})
	if len(h.ended) != 1 || h.ended[0] != CauseIPV6CPTimeout {
		t.Fatalf("ended %v", h.ended)
	}
}

func TestObstinateInterfaceID(t *testing.T) {
	h := dualOpen(t)
	for id := uint8(10); id < 40 && h.link.networks[1].fsm.state != Closing; id++ {
		h.recv(ProtoIPV6CP, request(id, idOpt(0)))
	}
	h.skip()
	h.recv(ProtoIPV6CP, Packet{Code: CodeTerminateAck})
	h.expect(`
		network-finished IPV6CP ipv6cp-refused
		stop 3`)
	h.recv(ProtoIPV6CP, Packet{Code: CodeTerminateRequest, ID: 1}) // Closed answers, no more
	h.expect(`send IPV6CP 6 #1`)
}

func TestRenegotiationBringsBothDown(t *testing.T) {
	h := dualOpen(t)
	h.recv(ProtoLCP, request(50, magicOpt(0x11111111)))
	h.expect(`
		network-down
		network6-down
		lcp-down
		send LCP 1 #2 1=1492 3=c023 5=01010101
		timer 0 3s
		send LCP 2 #50 5=11111111`)
	h.ackLastOr(ProtoLCP, 2, mruOpt(1492), Option{OptAuth, []byte{0xc0, 0x23}}, magicOpt(0x01010101))
	h.recv(ProtoPAP, papRequest(8, "alice", "secret"))
	h.do(h.link.AuthDone(h.serial, true, "", grantFor("10.0.0.9"))) // this time without IPv6
	h.skip()
	h.do(h.link.OpenNetwork())
	h.recv(ProtoIPV6CP, request(9, idOpt(0x42)))
	h.expect(`
		send IPCP 1 #2 3=10.0.0.1
		timer 2 3s
		send LCP 8 #3 80570109000e010a0000000000000042000000`)
}

func TestDualSnapshot(t *testing.T) {
	h := dualOpen(t)
	s, ok := h.link.Snapshot()
	if !ok || s.IPCP != Opened || s.IPV6CP != Opened || s.LocalInterfaceID != ownID || s.PeerInterfaceID != 0x42 {
		t.Fatalf("%+v %v", s, ok)
	}
	l, err := Restore(pap, counting(), s)
	if err != nil {
		t.Fatal(err)
	}
	if again, ok := l.Snapshot(); !ok || again != s {
		t.Fatalf("restored %+v, want %+v", again, s)
	}
	h = harnessFor(t, l)
	h.do(l.OpenNetwork()) // nothing is half done
	h.expect(``)
	h.recv(ProtoLCP, Packet{Code: CodeTerminateRequest, ID: 3})
	h.expect(`
		network-down
		network6-down
		lcp-down
		timer 0 3s
		send LCP 6 #3`)
}

// IPCP is up, IPV6CP was in negotiation when control died: it is asked for anew.
func TestSnapshotHalfWay(t *testing.T) {
	h := authenticated(t, dualGrant("10.0.0.9"))
	h.do(h.link.OpenNetwork())
	h.recv(ProtoIPV6CP, conf(CodeConfigureNak, 1, idOpt(0x77)))
	h.ackLast(ProtoIPCP)
	h.recv(ProtoIPCP, request(1, addrOpt("10.0.0.9")))
	s, ok := h.link.Snapshot()
	if !ok || s.IPCP != Opened || s.IPV6CP != Stopped || s.LocalInterfaceID != 0x77 {
		t.Fatalf("%+v %v", s, ok)
	}
	restored := func() *harness {
		l, err := Restore(pap, counting(), s)
		if err != nil {
			t.Fatal(err)
		}
		return harnessFor(t, l)
	}
	h = restored()
	h.do(h.link.OpenNetwork())
	h.expect(`
		send IPV6CP 1 #3 1=0000000000000077
		timer 3 3s`)
	h = restored()
	h.recv(ProtoIPV6CP, request(7, idOpt(0x42))) // the peer asks first
	h.do(h.link.OpenNetwork())
	h.expect(`
		send IPV6CP 1 #3 1=0000000000000077
		timer 3 3s
		send IPV6CP 2 #7 1=0000000000000042`)
}

// A snapshot that a program without IPV6CP wrote.
func TestOldSnapshot(t *testing.T) {
	var s Snapshot
	text := `{"local_magic":1,"peer_magic":2,"local_mru":1492,"peer_mru":1492,"lcp_id":1,"ipcp_id":4,"method":1,` +
		`"net":{"local":"10.0.0.1","peer":"10.0.0.9","primary_dns":"","secondary_dns":""}}`
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	l, err := Restore(pap, counting(), s)
	if err != nil {
		t.Fatal(err)
	}
	if _, ipcp, ipv6cp := l.States(); ipcp != Opened || ipv6cp != Initial || l.net.Peer != netip.MustParseAddr("10.0.0.9") {
		t.Fatalf("IPCP %v, IPV6CP %v", ipcp, ipv6cp)
	}
	s.IPV6CP = Opened // which the grant does not want
	if _, err := Restore(pap, counting(), s); err != ErrSnapshot {
		t.Fatalf("%v", err)
	}
}
