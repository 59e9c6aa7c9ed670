package pppoe

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vbng/cmd/vbng-sim/frame"
)

func (a *concentrator) mustBeUp() {
	a.t.Helper()
	if a.client.Phase != Up {
		a.t.Fatalf("phase %v, end %v; %v", a.client.Phase, a.client.End, a.notes)
	}
}

func (a *concentrator) mustEnd(cause Cause, phase Phase) {
	a.t.Helper()
	if got := a.client.End; a.client.Phase != Ended || got.Cause != cause || got.Phase != phase {
		a.t.Fatalf("phase %v, end %v; want %v in %v; %v", a.client.Phase, got, cause, phase, a.notes)
	}
}

func TestSetUpWithEachMethod(t *testing.T) {
	for _, method := range []Method{MethodAny, MethodPAP, MethodCHAP} {
		a := newConcentrator(t, method)
		if method == MethodAny { // none demanded: the network phase follows LCP at once
			a.run(a.client.Start(0))
			a.run(a.configure(frame.ProtocolIPCP))
		} else {
			a.run(a.client.Start(0))
		}
		a.mustBeUp()
		c := a.client
		if c.Addr != a.address || c.DNS != a.dns || c.RouterIP != (frame.Addr{100, 64, 0, 1}) || c.Used != method {
			t.Errorf("address %v, DNS %v, router %v, method %v", c.Addr, c.DNS, c.RouterIP, c.Used)
		}
		if c.Deadline != 0 {
			t.Error("a timer is left running")
		}
	}
}

// The expected value is md5sum's of the octets 01 "secret" "challenge".
func TestCHAPDigestIsMD5OfIdentifierSecretChallenge(t *testing.T) {
	got := chapDigest(1, "secret", []byte("challenge"))
	if want := "46e47770030e2b4e26a0db72a7efec00"; hex.EncodeToString(got[:]) != want {
		t.Errorf("digest %x", got)
	}
}

func TestEachSilenceEndsWithItsCause(t *testing.T) {
	for _, test := range []struct {
		mute  string
		tries int
		cause Cause
		phase Phase
	}{
		{"PADI", 6, CausePADITimeout, Discovery},
		{"PADR", 6, CausePADRTimeout, Request},
		{"LCP request", 10, CauseLCPTimeout, Link},
		{"PAP request", 10, CauseAuthTimeout, Authenticate},
		{"IPCP request", 10, CauseIPCPTimeout, Network},
	} {
		a := newConcentrator(t, MethodPAP)
		a.mute[test.mute] = true
		a.run(a.client.Start(0))
		for range 100 {
			if !a.expire() {
				break
			}
		}
		a.mustEnd(test.cause, test.phase)
		if got := a.count(test.mute); got != test.tries {
			t.Errorf("%s was sent %d times, want %d", test.mute, got, test.tries)
		}
		if had := a.client.Session != 0; had != (a.count("PADT") == 1) {
			t.Errorf("%s: session %v, PADT %d", test.mute, had, a.count("PADT"))
		}
	}
}

func TestDiscoveryWaitsTwiceAsLongEachTime(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.mute["PADI"] = true
	a.run(a.client.Start(0))
	for _, want := range []time.Duration{1, 3, 7, 15, 31, 63} {
		if a.client.Deadline != want*time.Second {
			t.Fatalf("deadline %v, want %ds", a.client.Deadline, want)
		}
		a.expire()
	}
}

func TestALostAnswerIsRepaired(t *testing.T) {
	for _, lost := range []string{"PADI", "PADR", "LCP request", "PAP request", "IPCP request"} {
		a := newConcentrator(t, MethodPAP)
		a.mute[lost] = true
		a.run(a.client.Start(0))
		a.mute = map[string]bool{}
		a.expire()
		a.mustBeUp()
	}
}

func TestRejectedAuthenticationCarriesTheMessage(t *testing.T) {
	for _, method := range []Method{MethodPAP, MethodCHAP} {
		a := newConcentrator(t, method)
		a.reject = "no such subscriber"
		a.run(a.client.Start(0))
		a.mustEnd(CauseAuthRejected, Authenticate)
		if a.client.End.Message != a.reject {
			t.Errorf("message %q", a.client.End.Message)
		}
	}
}

func TestWrongPasswordIsSentAsGiven(t *testing.T) {
	a := newConcentrator(t, MethodCHAP)
	a.client.Password = "looking-glass"
	a.run(a.client.Start(0))
	a.mustEnd(CauseAuthRejected, Authenticate)
}

func TestMethodIsNegotiatedByNak(t *testing.T) {
	a := newConcentrator(t, MethodCHAP)
	a.client.settings.Method = MethodPAP
	a.run(a.client.Start(0))
	a.mustBeUp()
	if a.client.Used != MethodPAP || a.count("CHAP response") != 0 {
		t.Errorf("method %v", a.client.Used)
	}
}

func TestUnknownOptionsAreRejectedUnchanged(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	extra := []byte{7, 2, 8, 2} // protocol and address field compression: forbidden on PPPoE
	a.lcpExtra = extra
	a.run(a.client.Start(0))
	a.mustBeUp()
	if len(a.rejects) != 1 || string(a.rejects[0]) != string(extra) {
		t.Errorf("rejects %x", a.rejects)
	}
}

func TestErrorTagsOfPADS(t *testing.T) {
	for kind, cause := range map[uint16]Cause{
		frame.TagServiceNameError: CauseServiceRefused,
		frame.TagACSystemError:    CauseACSystemError,
		frame.TagGenericError:     CauseGenericError,
	} {
		a := newConcentrator(t, MethodPAP)
		a.mute["PADR"] = true
		a.run(a.client.Start(0))
		tags := frame.AppendDiscoveryTag(nil, frame.TagHostUniq, a.client.hostUniq[:])
		a.run(a.discover(frame.CodePADS, 0, frame.AppendDiscoveryTag(tags, kind, []byte("sorry"))))
		a.mustEnd(cause, Request)
		if a.client.End.Message != "sorry" || a.count("PADT") != 0 {
			t.Errorf("message %q", a.client.End.Message)
		}
	}
}

func TestAnswersToOthersAreIgnored(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.mute["PADI"] = true
	a.run(a.client.Start(0))
	tags := frame.AppendDiscoveryTag(nil, frame.TagServiceName, nil)
	a.run(a.discover(frame.CodePADO, 0, frame.AppendDiscoveryTag(tags, frame.TagHostUniq, []byte("another!"))))
	if a.client.Phase != Discovery {
		t.Errorf("phase %v", a.client.Phase)
	}
}

func TestAServiceThatIsNotOfferedTimesOut(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.client.settings.Service = "gold"
	a.run(a.client.Start(0))
	if a.client.Phase != Discovery || a.count("PADR") != 0 {
		t.Errorf("phase %v", a.client.Phase)
	}
}

func TestEchoIsAnsweredWithOurMagicAndTheData(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.run(a.client.Start(0))
	a.run(a.send(frame.ProtocolLCP, echoRequest, 200, []byte{1, 2, 3, 4, 'd', 'a', 't', 'a'}))
	magic := a.client.lcpOptions.magic
	want := string([]byte{byte(magic >> 24), byte(magic >> 16), byte(magic >> 8), byte(magic)}) + "data"
	if a.seen.code != echoReply || a.seen.id != 200 || string(a.seen.data) != want {
		t.Errorf("answer %+v", a.seen)
	}
}

func TestOwnEchoesFindADeadRouter(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.client.settings.EchoInterval = 10 * time.Second
	a.run(a.client.Start(0))
	a.expire()
	a.run(a.send(frame.ProtocolLCP, echoReply, a.seen.id, make([]byte, 4)))
	for range 4 {
		a.expire()
	}
	a.mustEnd(CauseEchoTimeout, Up)
}

func TestCloseTerminatesThenSendsPADT(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.run(a.client.Start(0))
	a.run(a.client.Close(a.now))
	a.mustEnd(CauseClosed, Closing)
	if got := strings.Join(a.notes[len(a.notes)-2:], ", "); got != "terminate, PADT" {
		t.Errorf("order %s", got)
	}
}

func TestCloseGivesUpOnAMuteRouter(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.mute["terminate"] = true
	a.run(a.client.Start(0))
	a.run(a.client.Close(a.now))
	a.expire()
	a.expire()
	a.mustEnd(CauseClosed, Closing)
	if a.count("terminate") != 2 || a.count("PADT") != 1 {
		t.Errorf("%v", a.notes)
	}
}

func TestRouterEndsTheSession(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.run(a.client.Start(0))
	a.run(a.discover(frame.CodePADT, a.session+1, nil))
	a.mustBeUp()
	a.run(a.discover(frame.CodePADT, a.session, frame.AppendDiscoveryTag(nil, frame.TagGenericError, []byte("cleared"))))
	a.mustEnd(CausePADT, Up)
	if a.client.End.Message != "cleared" || a.count("PADT") != 0 {
		t.Errorf("end %v, notes %v", a.client.End, a.notes)
	}

	a = newConcentrator(t, MethodPAP)
	a.run(a.client.Start(0))
	a.run(a.send(frame.ProtocolLCP, terminateRequest, 9, []byte("session timeout")))
	a.mustEnd(CauseTerminatedByRouter, Up)
	if a.client.End.Message != "session timeout" || a.seen.code != terminateAck || a.count("PADT") != 1 {
		t.Errorf("end %v, last %+v", a.client.End, a.seen)
	}
}

func TestUnknownProtocolsAndCodesAreRejected(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.run(a.client.Start(0))
	a.run(a.send(0x8057, configureRequest, 1, nil)) // IPV6CP
	if a.seen.code != protocolReject || string(a.seen.data[:3]) != "\x80\x57\x01" {
		t.Errorf("answer to IPV6CP %+v", a.seen)
	}
	a.run(a.send(frame.ProtocolLCP, 99, 1, nil))
	if a.seen.code != codeReject || a.seen.data[0] != 99 {
		t.Errorf("answer to code 99: %+v", a.seen)
	}
	a.mustBeUp()
}

func TestRenegotiationOnAnOpenLinkComesUpAgain(t *testing.T) {
	a := newConcentrator(t, MethodCHAP)
	a.run(a.client.Start(0))
	a.run(a.configure(frame.ProtocolLCP))
	a.mustBeUp()
	if a.count("CHAP response") != 2 {
		t.Errorf("%v", a.notes)
	}
}

func TestSilenceIsTotal(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.run(a.client.Start(0))
	a.client.Silence()
	before := len(a.notes)
	a.run(a.send(frame.ProtocolLCP, echoRequest, 1, make([]byte, 4)))
	a.run(a.discover(frame.CodePADT, a.session, nil))
	if a.client.Phase != Silent || len(a.notes) != before || a.client.Deadline != 0 {
		t.Errorf("phase %v, notes %v", a.client.Phase, a.notes[before:])
	}
}

func TestNoAgreementHasAnEnd(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.mute["LCP request"] = true
	a.run(a.client.Start(0))
	for range refusalMax + 1 {
		a.run(a.send(frame.ProtocolLCP, configureNak, a.client.lcp.id, []byte{optionMRU, 4, 5, 0}))
	}
	a.mustEnd(CauseLCPNoAgreement, Link)
}

// TestMaxPayload asks for more than PPPoE's 1492 bytes only of a router that agrees (RFC 4638 section 4).
func TestMaxPayload(t *testing.T) {
	for _, c := range []struct {
		own      uint16
		answer   []byte
		mru      uint16
		question bool
	}{
		{1492, []byte{0x05, 0xdc}, 1492, false},
		{1500, nil, 1492, true},
		{1500, []byte{0x05, 0xdc}, 1500, true},
		{1500, []byte{0x05}, 1492, true},
		{8992, []byte{0x05, 0xdc}, 1500, true},
	} {
		a := newConcentrator(t, MethodPAP)
		a.client.settings.MRU, a.maxPayload = c.own, c.answer
		a.run(a.client.Start(0))
		if a.client.Phase != Up || a.client.lcpOptions.mru != c.mru || (a.asked != nil) != c.question {
			t.Errorf("%+v: phase %v, MRU %d, asked %x", c, a.client.Phase, a.client.lcpOptions.mru, a.asked)
		}
	}
}

func TestAnAddressOfZeroIsNoAgreement(t *testing.T) {
	a := newConcentrator(t, MethodPAP)
	a.address, a.dns = frame.Addr{}, [2]frame.Addr{}
	a.run(a.client.Start(0))
	a.mustEnd(CauseIPCPNoAgreement, Network)
}

func FuzzClientReceive(f *testing.F) {
	f.Add(uint64(1), []byte{0xc0, 0x21, 1, 1, 0, 4})
	f.Add(uint64(2), []byte{0xc0, 0x23, 2, 1, 0, 5, 0})
	f.Add(uint64(3), []byte{0xc2, 0x23, 1, 1, 0, 6, 1, 7})
	f.Add(uint64(4), []byte{0x80, 0x21, 3, 1, 0, 10, 3, 6, 1, 2, 3, 4})
	f.Add(uint64(5), []byte{0xa7, 1, 3, 0, 1, 7})
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		a := newConcentrator(t, Method(seed%3))
		random := rand.New(rand.NewPCG(seed, 0))
		stop := []string{"PADI", "PADR", "LCP request", "PAP request", "CHAP response", "IPCP request", "none"}
		a.mute[stop[random.IntN(len(stop))]] = true
		a.run(a.client.Start(0))
		a.mute = map[string]bool{}
		e := frame.Ethernet{Src: a.mac, Type: frame.TypeSession}
		e.Payload = append(frame.AppendPPPoE(nil, frame.CodeSession, a.session, len(data)), data...)
		a.client.Receive(a.now, e)
		if len(data) > 0 {
			e.Type = frame.TypeDiscovery
			e.Payload = append(frame.AppendPPPoE(nil, data[0], a.session, len(data)-1), data[1:]...)
			a.client.Receive(a.now, e)
		}
		a.client.Expire(a.client.Deadline)
		a.client.Close(a.now)
	})
}
