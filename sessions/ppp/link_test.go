package ppp

import (
	"encoding/json"
	"testing"
)

// The transcripts read: "send PROTOCOL code #identifier options". Codes 1 to 4 are
// Configure-Request, -Ack, -Nak and -Reject; 5 and 6 Terminate-Request and -Ack; 8 Protocol-Reject.
// Timer 0 is LCP's, 1 authentication's, 2 IPCP's, 3 IPV6CP's.

func TestConversationPAP(t *testing.T) {
	h := newHarness(t, pap)
	h.do(h.link.Start())
	h.expect(`
		send LCP 1 #1 1=1492 3=c023 5=01010101
		timer 0 3s`)
	h.recv(ProtoLCP, request(9, mruOpt(1480), magicOpt(0xaabbccdd)))
	h.expect(`send LCP 2 #9 1=1480 5=aabbccdd`)
	h.link.Receive(ProtoPAP, papRequest(1, "early", "bird").bytes()) // wrong phase: dropped
	h.recv(ProtoLCP, conf(CodeConfigureAck, 1, mruOpt(1492), Option{OptAuth, []byte{0xc0, 0x23}}, magicOpt(0x01010101)))
	h.expect(`
		lcp-up 01010101 aabbccdd 1492/1480
		timer 1 30s
		stop 0`)
	h.recv(ProtoIPCP, request(1, addrOpt("0.0.0.0"))) // dropped: not authenticated
	h.recv(ProtoPAP, papRequest(7, "alice", "secret"))
	h.expect(`
		stop 1
		ask pap "alice" "secret"`)
	h.recv(ProtoPAP, papRequest(8, "alice", "secret")) // the owner is slow; the peer repeats
	h.recv(ProtoPAP, papRequest(9, "mallory", "x"))    // and somebody else cannot slip in
	h.do(h.link.AuthDone(h.serial, true, "hi", grantFor("10.0.0.9")))
	h.expect(`send PAP 2 #8 026869`)
	h.recv(ProtoPAP, papRequest(10, "alice", "secret")) // our Ack was lost
	h.expect(`send PAP 2 #10 026869`)
	h.recv(ProtoIPCP, request(3, addrOpt("1.1.1.1"))) // early: the last is kept
	h.recv(ProtoIPCP, request(4, addrOpt("0.0.0.0"), Option{OptPrimaryDNS, []byte{0, 0, 0, 0}}))
	h.expect(``)
	h.do(h.link.OpenNetwork())
	h.expect(`
		send IPCP 1 #1 3=10.0.0.1
		timer 2 3s
		send IPCP 3 #4 3=10.0.0.9 129=10.0.0.53`)
	h.recv(ProtoIPCP, conf(CodeConfigureAck, 1, addrOpt("10.0.0.1")))
	h.recv(ProtoIPCP, request(5, addrOpt("10.0.0.9"), Option{OptPrimaryDNS, []byte{10, 0, 0, 53}}))
	h.expect(`
		send IPCP 2 #5 3=10.0.0.9 129=10.0.0.53
		network-up 10.0.0.1 10.0.0.9
		stop 2`)
	want := Counters{WrongPhase: 2, Mismatch: 1}
	if got := h.link.Counters(); got != want {
		t.Errorf("counters %+v, want %+v", got, want)
	}
}

func TestConversationCHAP(t *testing.T) {
	h := newHarness(t, chap)
	h.lcpOpen()
	h.expect(`
		send LCP 1 #1 1=1492 3=c22305 5=01010101
		timer 0 3s
		send LCP 2 #1 1=1492 5=aabbccdd
		lcp-up 01010101 aabbccdd 1492/1492
		send CHAP 1 #3 1003030303030303030303030303030303626e67
		timer 1 3s
		stop 0`)
	h.fire(TimerAuth) // the challenge was lost, or the answer is slow
	h.expect(`
		send CHAP 1 #4 1004040404040404040404040404040404626e67
		timer 1 3s`)
	h.recv(ProtoCHAP, chapResponse(9, "alice")) // no challenge of ours
	h.recv(ProtoCHAP, chapResponse(3, "alice")) // to the first challenge, late
	h.expect(`
		stop 1
		ask chap-md5 "alice" ""`)
	if h.asked.CHAPID != 3 || len(h.asked.Response) != 16 || h.asked.Challenge[0] != 3 {
		t.Fatalf("asked %+v", h.asked)
	}
	h.recv(ProtoCHAP, chapResponse(3, "alice")) // repeated while the owner thinks
	h.do(h.link.AuthDone(h.serial, true, "ok", grantFor("10.0.0.9")))
	h.expect(`send CHAP 3 #3 6f6b`)
	h.recv(ProtoCHAP, chapResponse(3, "alice")) // our Success was lost
	h.expect(`send CHAP 3 #3 6f6b`)
	h.recv(ProtoCHAP, chapResponse(4, "alice")) // the answer to the other challenge comes too late
	h.expect(``)
}

func chapResponse(id uint8, user string) Packet {
	return Packet{Code: CHAPResponse, ID: id, Data: AppendCHAPValue(nil, make([]byte, 16), user)}
}

func TestWrongPassword(t *testing.T) {
	h := newHarness(t, pap)
	h.lcpOpen()
	h.recv(ProtoPAP, papRequest(7, "alice", "wrong"))
	h.skip()
	h.do(h.link.AuthDone(h.serial, false, "no", NetConfig{}))
	h.expect(`
		send PAP 3 #7 026e6f
		lcp-down
		send LCP 5 #2
		timer 0 3s`)
	h.recv(ProtoPAP, papRequest(8, "alice", "wrong")) // our Nak was lost
	h.expect(`send PAP 3 #8 026e6f`)
	h.fire(TimerLCP)
	h.expect(`
		send LCP 5 #3
		timer 0 3s`)
	h.fire(TimerLCP)
	h.expect(`finished auth-failed`)
	if outs := h.link.Start(); outs != nil {
		t.Fatalf("a dead link said %v", outs)
	}
}

func TestCHAPFailureIsRepeated(t *testing.T) {
	h := newHarness(t, chap)
	h.lcpOpen()
	h.recv(ProtoCHAP, chapResponse(3, "alice"))
	h.do(h.link.AuthDone(h.serial, false, "", NetConfig{}))
	h.skip()
	h.recv(ProtoCHAP, chapResponse(3, "alice"))
	h.expect(`send CHAP 4 #3`)
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck, ID: 2})
	h.expect(`
		finished auth-failed
		stop 0`)
}

func TestAuthTimeouts(t *testing.T) {
	h := newHarness(t, Config{Auth: []AuthMethod{AuthCHAPMD5}, AuthTries: 2})
	h.lcpOpen()
	h.fire(TimerAuth)
	h.skip()
	h.fire(TimerAuth)
	h.fire(TimerLCP)
	h.fire(TimerLCP)
	if len(h.ended) != 1 || h.ended[0] != CauseAuthTimeout {
		t.Fatalf("ended %v", h.ended)
	}
	h = newHarness(t, pap)
	h.lcpOpen()
	h.fire(TimerAuth)
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck, ID: 2})
	if len(h.ended) != 1 || h.ended[0] != CauseAuthTimeout {
		t.Fatalf("ended %v", h.ended)
	}
}

func TestNoAuthenticationStillAsks(t *testing.T) {
	h := newHarness(t, Config{})
	h.lcpOpen()
	h.expect(`
		send LCP 1 #1 1=1492 5=01010101
		timer 0 3s
		send LCP 2 #1 1=1492 5=aabbccdd
		lcp-up 01010101 aabbccdd 1492/1492
		ask none "" ""
		stop 0`)
	h.do(h.link.AuthDone(h.serial, true, "", grantFor("10.0.0.9")))
	h.do(h.link.OpenNetwork())
	h.expect(`
		send IPCP 1 #1 3=10.0.0.1
		timer 2 3s`)
}

func TestPeerTerminates(t *testing.T) {
	h := newHarness(t, pap)
	h.netOpen()
	h.recv(ProtoLCP, Packet{Code: CodeTerminateRequest, ID: 77})
	h.expect(`
		network-down
		lcp-down
		timer 0 3s
		send LCP 6 #77`)
	h.recv(ProtoIPCP, request(9, addrOpt("10.0.0.9"))) // RFC 1661 section 3.7: discarded
	h.fire(TimerLCP)
	h.expect(`finished peer-terminated`)
}

func TestOwnerTerminates(t *testing.T) {
	h := newHarness(t, pap)
	h.netOpen()
	h.do(h.link.Close("session-timeout"))
	h.expect(`
		network-down
		lcp-down
		send LCP 5 #2
		timer 0 3s`)
	h.do(h.link.Close("something-else")) // the first cause stays
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck, ID: 2})
	h.expect(`
		finished session-timeout
		stop 0`)
}

func TestLowerDown(t *testing.T) {
	h := newHarness(t, pap)
	h.netOpen()
	h.do(h.link.LowerDown())
	h.expect(`
		network-down
		lcp-down
		finished lower-layer-down`)
	h = newHarness(t, pap)
	h.do(h.link.Close(""))
	h.expect(`finished admin-close`)
}

func TestRenegotiationInOpened(t *testing.T) {
	h := newHarness(t, pap)
	h.netOpen()
	h.recv(ProtoLCP, request(50, mruOpt(1400), magicOpt(0x11111111)))
	h.expect(`
		network-down
		lcp-down
		send LCP 1 #2 1=1492 3=c023 5=01010101
		timer 0 3s
		send LCP 2 #50 1=1400 5=11111111`)
	h.recv(ProtoIPCP, request(9, addrOpt("10.0.0.9"))) // dropped: all has to be done anew
	h.recv(ProtoLCP, conf(CodeConfigureAck, 2, mruOpt(1492), Option{OptAuth, []byte{0xc0, 0x23}}, magicOpt(0x01010101)))
	h.expect(`
		lcp-up 01010101 11111111 1492/1400
		timer 1 30s
		stop 0`)
	h.recv(ProtoPAP, papRequest(1, "bob", "pw"))
	first := h.serial
	h.recv(ProtoLCP, request(51)) // and again, while the owner thinks
	h.recv(ProtoLCP, conf(CodeConfigureAck, 3, mruOpt(1492), Option{OptAuth, []byte{0xc0, 0x23}}, magicOpt(0x01010101)))
	h.recv(ProtoPAP, papRequest(2, "carol", "pw"))
	h.skip()
	h.do(h.link.AuthDone(first, true, "", grantFor("10.0.0.9"))) // bob's answer is not carol's
	h.expect(``)
	h.do(h.link.AuthDone(h.serial, true, "", grantFor("10.0.0.10")))
	h.do(h.link.OpenNetwork())
	h.expect(`
		send PAP 2 #2 00
		send IPCP 1 #2 3=10.0.0.1
		timer 2 3s`)
	h.ackLastOr(ProtoIPCP, 2, addrOpt("10.0.0.1"))
	h.recv(ProtoIPCP, request(1, addrOpt("10.0.0.10")))
	h.expect(`
		send IPCP 2 #1 3=10.0.0.10
		network-up 10.0.0.1 10.0.0.10
		stop 2`)
}

func TestIPCPRenegotiationInOpened(t *testing.T) {
	h := newHarness(t, pap)
	h.netOpen()
	h.recv(ProtoIPCP, request(9, addrOpt("10.0.0.9")))
	h.expect(`
		network-down
		send IPCP 1 #2 3=10.0.0.1
		timer 2 3s
		send IPCP 2 #9 3=10.0.0.9`)
	h.ackLastOr(ProtoIPCP, 2, addrOpt("10.0.0.1"))
	h.expect(`
		network-up 10.0.0.1 10.0.0.9
		stop 2`)
}

func (h *harness) ackLastOr(proto uint16, id uint8, opts ...Option) {
	h.recv(proto, conf(CodeConfigureAck, id, opts...))
}

func TestSnapshotRestore(t *testing.T) {
	h := newHarness(t, pap)
	if _, ok := h.link.Snapshot(); ok {
		t.Fatal("snapshot of a link that is not open")
	}
	h.netOpen()
	s, ok := h.link.Snapshot()
	if !ok {
		t.Fatal("no snapshot of an open link")
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Snapshot
	if err := json.Unmarshal(text, &back); err != nil || back != s {
		t.Fatalf("%s became %+v (%v)", text, back, err)
	}
	l, err := Restore(pap, counting(), back)
	if err != nil {
		t.Fatal(err)
	}
	if again, ok := l.Snapshot(); !ok || again != s {
		t.Fatalf("restored %+v, want %+v", again, s)
	}
	h = harnessFor(t, l)
	h.recv(ProtoLCP, Packet{Code: CodeEchoRequest, ID: 5, Data: []byte{0xaa, 0xbb, 0xcc, 0xdd, 'x'}})
	h.recv(ProtoPAP, papRequest(12, "alice", "secret"))
	h.recv(ProtoIPCP, Packet{Code: CodeTerminateRequest, ID: 3})
	h.expect(`
		send LCP 10 #5 0101010178
		send PAP 2 #12 026869
		network-down
		timer 2 3s
		send IPCP 6 #3`)
	if _, err := Restore(pap, counting(), Snapshot{}); err != ErrSnapshot {
		t.Fatalf("an empty snapshot: %v", err)
	}
}
