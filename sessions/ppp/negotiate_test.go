package ppp

import (
	"strings"
	"testing"
)

func TestConfigureTimeout(t *testing.T) {
	h := newHarness(t, pap)
	h.do(h.link.Start())
	requests := len(h.sent)
	for len(h.ended) == 0 {
		h.skip()
		h.fire(TimerLCP)
		requests += len(h.sent)
	}
	if requests != 10 || h.ended[0] != CauseConfigureTimeout { // RFC 1661 section 4.6, Max-Configure
		t.Fatalf("%d requests, %v", requests, h.ended)
	}
}

// The Ack of the first request arrives after its retransmission, and a second Ack after that.
func TestDelayEqualToRestartTimer(t *testing.T) {
	h := newHarness(t, pap)
	h.do(h.link.Start())
	h.fire(TimerLCP)
	h.expect(`
		send LCP 1 #1 1=1492 3=c023 5=01010101
		timer 0 3s
		send LCP 1 #1 1=1492 3=c023 5=01010101
		timer 0 3s`)
	ack := conf(CodeConfigureAck, 1, mruOpt(1492), Option{OptAuth, []byte{0xc0, 0x23}}, magicOpt(0x01010101))
	h.recv(ProtoLCP, ack)
	h.recv(ProtoLCP, request(5, magicOpt(9)))
	h.recv(ProtoLCP, ack)                     // the second Ack
	h.recv(ProtoLCP, request(5, magicOpt(9))) // the peer's retransmission
	h.expect(`
		send LCP 2 #5 5=00000009
		lcp-up 01010101 00000009 1492/1492
		timer 1 30s
		stop 0
		send LCP 2 #5 5=00000009`)
	h.recv(ProtoLCP, request(5, magicOpt(9)))
	h.recv(ProtoLCP, request(5, magicOpt(9))) // one too many: a peer that began anew
	// The timer has learnt that three seconds are too few here.
	h.expect(`
		send LCP 2 #5 5=00000009
		stop 1
		lcp-down
		send LCP 1 #2 1=1492 3=c023 5=01010101
		timer 0 6s
		send LCP 2 #5 5=00000009`)
}

// Our Ack is lost: the peer repeats its request in Ack-Sent, where each repetition is acknowledged.
func TestLostAck(t *testing.T) {
	h := newHarness(t, pap)
	h.do(h.link.Start())
	h.recv(ProtoLCP, request(5, magicOpt(9)))
	h.recv(ProtoLCP, request(5, magicOpt(9)))
	h.fire(TimerLCP)
	h.ackLast(ProtoLCP)
	h.expect(`
		send LCP 1 #1 1=1492 3=c023 5=01010101
		timer 0 3s
		send LCP 2 #5 5=00000009
		send LCP 2 #5 5=00000009
		send LCP 1 #1 1=1492 3=c023 5=01010101
		timer 0 3s
		lcp-up 01010101 00000009 1492/1492
		timer 1 30s
		stop 0`)
}

// The peer acknowledged our request but its own never came: TO+ in Ack-Rcvd asks again, with a new
// identifier since the old request had its answer.
func TestTimeoutInAckReceived(t *testing.T) {
	h := newHarness(t, pap)
	h.do(h.link.Start())
	h.ackLast(ProtoLCP)
	h.fire(TimerLCP)
	h.expect(`
		send LCP 1 #1 1=1492 3=c023 5=01010101
		timer 0 3s
		send LCP 1 #2 1=1492 3=c023 5=01010101
		timer 0 3s`)
}

func TestOptionsRejectedAndNakked(t *testing.T) {
	h := newHarness(t, pap)
	h.do(h.link.Start())
	h.skip()
	h.recv(ProtoLCP, request(1, Option{2, []byte{0, 0, 0, 0}}, mruOpt(1500), Option{Type: 7}, Option{Type: 8},
		Option{OptAuth, []byte{0xc0, 0x23}}, magicOpt(9), magicOpt(9)))
	h.expect(`send LCP 4 #1 2=00000000 7= 8= 3=c023 5=00000009`) // Reject goes before Nak
	h.recv(ProtoLCP, request(2, mruOpt(1500), magicOpt(0)))
	h.expect(`send LCP 3 #2 1=1492 5=02020202`)
	h.recv(ProtoLCP, request(3, mruOpt(10), Option{OptMagic, []byte{1}}))
	h.expect(`send LCP 3 #3 1=128 5=03030303`)
	h.recv(ProtoLCP, Packet{Code: CodeConfigureRequest, ID: 4, Data: []byte{1, 9, 0}}) // runs past the end
	h.expect(``)
	big := newHarness(t, Config{MRU: 1500}) // RFC 4638 was agreed on
	big.do(big.link.Start())
	big.recv(ProtoLCP, request(2, mruOpt(1500)))
	big.ackLast(ProtoLCP)
	if !strings.Contains(strings.Join(big.log, "\n"), "lcp-up 01010101 00000000 1500/1500") {
		t.Fatalf("%q", big.log)
	}
}

func TestPeerRejectsAndNaksOurOptions(t *testing.T) {
	h := newHarness(t, chap)
	h.do(h.link.Start())
	h.recv(ProtoLCP, conf(CodeConfigureReject, 1, mruOpt(1400))) // not what we asked: discarded
	h.recv(ProtoLCP, conf(CodeConfigureReject, 1, mruOpt(1492), magicOpt(0x01010101)))
	h.recv(ProtoLCP, conf(CodeConfigureNak, 2, Option{OptAuth, []byte{0xc2, 0x23, 0x81}})) // MS-CHAPv2
	h.expect(`
		send LCP 1 #1 1=1492 3=c22305 5=01010101
		timer 0 3s
		send LCP 1 #2 3=c22305
		timer 0 3s
		send LCP 1 #3 3=c023
		timer 0 3s`)
	h.recv(ProtoLCP, conf(CodeConfigureNak, 3, Option{OptAuth, []byte{0xc2, 0x23, 5}})) // was struck out
	h.expect(`
		send LCP 5 #4
		timer 0 3s`)
	h.fire(TimerLCP)
	h.fire(TimerLCP)
	if h.ended[0] != CauseNoAuthProtocol {
		t.Fatalf("ended %v", h.ended)
	}
}

func TestPeerPrefersPAP(t *testing.T) {
	h := newHarness(t, chap)
	h.do(h.link.Start())
	h.recv(ProtoLCP, conf(CodeConfigureNak, 1, mruOpt(1400), Option{OptAuth, []byte{0xc0, 0x23}}))
	h.ackLast(ProtoLCP)
	h.recv(ProtoLCP, request(1))
	h.expect(`
		send LCP 1 #1 1=1492 3=c22305 5=01010101
		timer 0 3s
		send LCP 1 #2 1=1400 3=c023 5=01010101
		timer 0 3s
		send LCP 2 #1
		lcp-up 01010101 00000000 1400/1492
		timer 1 30s
		stop 0`)
}

func TestAuthRejectedOutright(t *testing.T) {
	h := newHarness(t, pap)
	h.do(h.link.Start())
	h.recv(ProtoLCP, conf(CodeConfigureReject, 1, Option{OptAuth, []byte{0xc0, 0x23}}))
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck})
	if len(h.ended) != 1 || h.ended[0] != CauseNoAuthProtocol {
		t.Fatalf("ended %v", h.ended)
	}
}

// A peer that never takes no for an answer: Max-Failure Naks, as many Rejects, then the end.
func TestObstinatePeers(t *testing.T) {
	h := newHarness(t, pap)
	h.papOpen()
	h.do(h.link.OpenNetwork())
	h.ackLast(ProtoIPCP)
	h.skip()
	var codes []byte
	for id := uint8(1); id < 50 && h.link.Phase() == PhaseNetwork && len(codes) < 40; id++ {
		h.recv(ProtoIPCP, request(id, addrOpt("192.168.1.1")))
		for _, s := range h.sent {
			codes = append(codes, '0'+s.Info[0])
		}
		h.sent = nil
		if h.link.networks[0].fsm.state == Closing {
			break
		}
	}
	if string(codes) != "33333444445" {
		t.Fatalf("answers %s", codes)
	}
	h.recv(ProtoIPCP, Packet{Code: CodeTerminateAck})
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck})
	if len(h.ended) != 1 || h.ended[0] != CauseIPCPRefused {
		t.Fatalf("ended %v", h.ended)
	}
}

func TestPeerDisputesOurAddress(t *testing.T) {
	h := newHarness(t, pap)
	h.papOpen()
	h.do(h.link.OpenNetwork())
	naks := 0
	for h.link.networks[0].fsm.state != Closing && naks < 50 {
		naks++
		h.recv(ProtoIPCP, conf(CodeConfigureNak, h.lastRequest(ProtoIPCP).ID, addrOpt("10.9.9.9")))
	}
	if naks != 11 {
		t.Fatalf("%d naks taken", naks)
	}
	h.fire(TimerIPCP)
	h.fire(TimerIPCP)
	h.fire(TimerLCP)
	h.fire(TimerLCP)
	if len(h.ended) != 1 || h.ended[0] != CauseIPCPRefused {
		t.Fatalf("ended %v", h.ended)
	}
}

func TestPeerWithoutAddress(t *testing.T) {
	h := newHarness(t, pap)
	h.papOpen()
	h.do(h.link.OpenNetwork())
	h.skip()
	h.recv(ProtoIPCP, request(1, Option{2, []byte{0, 0x2d, 15, 1}}, Option{129, []byte{0, 0, 0, 0}}, Option{131, []byte{0, 0, 0, 0}}))
	h.expect(`send IPCP 4 #1 2=0.45.15.1 131=0.0.0.0`) // compression, and a second DNS we do not have
	h.recv(ProtoIPCP, request(2))
	h.expect(`send IPCP 3 #2 3=10.0.0.9`)
	for id := uint8(3); h.link.networks[0].fsm.state != Closing; id++ {
		h.recv(ProtoIPCP, request(id))
	}
	if got := h.link.networks[0].fsm.cause; got != CauseIPCPRefused {
		t.Fatalf("cause %v", got)
	}
}

func TestLoopDetected(t *testing.T) {
	h := newHarness(t, pap)
	h.do(h.link.Start())
	for i := 0; i < 100 && len(h.ended) == 0; i++ { // a hairpin: all we send comes back
		if len(h.sent) == 0 {
			t.Fatal("the link fell silent")
		}
		s := h.sent[0]
		h.sent = h.sent[1:]
		h.do(h.link.Receive(s.Proto, s.Info))
	}
	if len(h.ended) != 1 || h.ended[0] != CauseLoopDetected {
		t.Fatalf("ended %v\n%s", h.ended, strings.Join(h.log, "\n"))
	}
}

func TestEcho(t *testing.T) {
	h := newHarness(t, pap)
	h.do(h.link.Start())
	h.skip()
	h.recv(ProtoLCP, Packet{Code: CodeEchoRequest, ID: 1, Data: make([]byte, 4)}) // not Opened: no answer
	h.expect(``)
	h.ackLastOr(ProtoLCP, 1, mruOpt(1492), Option{OptAuth, []byte{0xc0, 0x23}}, magicOpt(0x01010101))
	h.recv(ProtoLCP, request(1, mruOpt(128), magicOpt(9)))
	h.skip()
	h.recv(ProtoLCP, Packet{Code: CodeEchoRequest, ID: 2, Data: make([]byte, 1000)})
	if n := len(h.sent[0].Info); n != 128 {
		t.Fatalf("reply of %d bytes to a peer with an MRU of 128", n)
	}
	h.recv(ProtoLCP, Packet{Code: 200, ID: 3, Data: make([]byte, 1000)})
	if n := len(h.sent[1].Info); n != 128 || h.sent[1].Info[0] != CodeCodeReject {
		t.Fatalf("Code-Reject %x", h.sent[1].Info)
	}
	h.skip()
	h.recv(ProtoLCP, Packet{Code: CodeEchoReply, ID: 2, Data: []byte{1, 1, 1, 1}})
	h.recv(ProtoLCP, Packet{Code: CodeDiscardRequest, ID: 2, Data: []byte{0, 0, 0, 9}})
	h.recv(ProtoLCP, Packet{Code: CodeIdentification, ID: 2, Data: []byte{0, 0, 0, 9, 'w'}})
	h.recv(ProtoLCP, Packet{Code: CodeEchoRequest, ID: 2, Data: []byte{1}})
	h.expect(``)
	for range maxLoops {
		h.recv(ProtoLCP, Packet{Code: CodeEchoRequest, ID: 2, Data: []byte{1, 1, 1, 1}})
	}
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck})
	if len(h.ended) != 1 || h.ended[0] != CauseLoopDetected {
		t.Fatalf("ended %v", h.ended)
	}
}

func TestOtherNetworkProtocols(t *testing.T) {
	h := newHarness(t, pap)
	h.netOpen()
	h.recv(ProtoIPV6CP, request(1, Option{1, make([]byte, 8)}))
	h.recv(ProtoIPV6CP, Packet{Code: CodeTerminateRequest, ID: 2}) // ends nothing but itself
	h.recv(ProtoCCP, request(1))
	h.recv(ProtoIPv4, request(1))
	h.expect(`
		send LCP 8 #2 80570101000e010a0000000000000000000000
		send LCP 8 #3 805705020004000000
		send LCP 8 #4 80fd01010004000000`)
	if got := h.link.Counters(); got.ProtocolReject != 3 || got.DataDiscarded != 1 {
		t.Fatalf("%+v", got)
	}
}

func TestProtocolRejectReceived(t *testing.T) {
	rejected := func(proto ...byte) Packet { return Packet{Code: CodeProtocolReject, ID: 1, Data: proto} }
	h := newHarness(t, pap)
	h.netOpen()
	h.recv(ProtoLCP, rejected(0x80, 0x57)) // nothing we need
	h.recv(ProtoLCP, rejected(0x80))
	h.expect(``)
	h.recv(ProtoLCP, rejected(0x80, 0x21))
	h.expect(`
		network-down
		send IPCP 5 #2
		timer 2 3s`)
	h.fire(TimerIPCP)
	h.fire(TimerIPCP)
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck})
	if len(h.ended) != 1 || h.ended[0] != CauseIPCPRefused {
		t.Fatalf("ended %v", h.ended)
	}
	h = newHarness(t, pap)
	h.netOpen()
	h.recv(ProtoLCP, rejected(0xc0, 0x21)) // catastrophic
	h.expect(`
		network-down
		lcp-down
		send LCP 5 #2
		timer 0 3s`)
	h = newHarness(t, pap)
	h.do(h.link.Start())
	h.recv(ProtoLCP, Packet{Code: CodeCodeReject, ID: 1, Data: []byte{CodeConfigureRequest, 1, 0, 4}})
	if len(h.ended) != 1 || h.ended[0] != CauseRejected {
		t.Fatalf("ended %v", h.ended)
	}
	h = newHarness(t, pap)
	h.lcpOpen()
	h.recv(ProtoLCP, rejected(0xc0, 0x23))
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck})
	if len(h.ended) != 1 || h.ended[0] != CauseNoAuthProtocol {
		t.Fatalf("ended %v", h.ended)
	}
}

func TestNetworkEnds(t *testing.T) {
	h := newHarness(t, pap)
	h.netOpen()
	h.recv(ProtoIPCP, Packet{Code: CodeTerminateRequest, ID: 4})
	h.fire(TimerIPCP)
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck})
	if len(h.ended) != 1 || h.ended[0] != CauseNetworkTerminated {
		t.Fatalf("ended %v", h.ended)
	}
	h = newHarness(t, pap)
	h.papOpen()
	h.do(h.link.OpenNetwork())
	for h.link.Phase() == PhaseNetwork {
		h.fire(TimerIPCP)
	}
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck})
	if len(h.ended) != 1 || h.ended[0] != CauseIPCPTimeout {
		t.Fatalf("ended %v", h.ended)
	}
	h = newHarness(t, pap)
	h.lcpOpen()
	h.recv(ProtoPAP, papRequest(1, "six", "only"))
	h.do(h.link.OpenNetwork()) // too early: nothing
	h.do(h.link.AuthDone(h.serial, true, "", NetConfig{}))
	h.do(h.link.OpenNetwork())
	h.recv(ProtoLCP, Packet{Code: CodeTerminateAck})
	if len(h.ended) != 1 || h.ended[0] != CauseNoNetwork {
		t.Fatalf("ended %v", h.ended)
	}
}

func TestStaleTimer(t *testing.T) {
	h := newHarness(t, pap)
	h.do(h.link.Start())
	old := h.timers[TimerLCP]
	h.fire(TimerLCP)
	h.skip()
	h.do(h.link.Timeout(TimerLCP, old.Generation))
	h.do(h.link.Timeout(TimerAuth, 0))
	h.do(h.link.Timeout(NumTimers, 0))
	h.expect(``)
	if got := h.link.Counters().StaleTimer; got != 2 {
		t.Fatalf("%d stale timers counted", got)
	}
}
