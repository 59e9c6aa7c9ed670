package ppp

import (
	"bytes"
	"slices"
	"testing"
)

func FuzzDecode(f *testing.F) {
	f.Add(request(1, mruOpt(1492), magicOpt(7)).bytes())
	f.Add(papRequest(1, "me", "pw").bytes())
	f.Add(chapResponse(1, "me").bytes())
	f.Add([]byte{1, 1, 0, 6, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePacket(b)
		if err != nil {
			return
		}
		if again, err := ParsePacket(p.bytes()); err != nil || !bytes.Equal(again.Data, p.Data) {
			t.Fatalf("%x became %x, %v", p.Data, again.Data, err)
		}
		if opts, err := ParseOptions(p.Data); err == nil && !bytes.Equal(appendOptions(nil, opts), p.Data) {
			t.Fatalf("options %x do not encode back", p.Data)
		}
		ParsePAPRequest(p.Data)
		ParseCHAPValue(p.Data)
	})
}

// FuzzLink plays a random peer, owner and clock: each byte of the script chooses what happens next,
// and packets are cut from the script too. Whatever happens, every output decodes, no step puts out
// more than a few, and nothing follows Finished.
func FuzzLink(f *testing.F) {
	f.Add([]byte{0})
	up := script(8, 0, request(1, magicOpt(9)), 3, chapResponse(3, "a"), 6, 7, 9, 1, request(1, addrOpt("10.0.0.9")))
	f.Add(up)
	f.Add(slices.Concat(up, script(15, 0, request(7), 8, 1, request(9), 4, request(1))))
	f.Add(slices.Concat(up, script(0, Packet{Code: 5}, 12, 0, Packet{Code: 9, Data: []byte{1, 1, 1, 1}}, 10, 10)))
	f.Add(script(0, conf(3, 1, Option{OptAuth, []byte{0xc0, 0x23}}), 8, 0, request(1), 2, papRequest(1, "a", "b"), 14, 10, 10))
	both := script(8, 0, request(1, magicOpt(9)), 3, chapResponse(3, "a"), 5, 4, request(1, idOpt(0)), 7)
	f.Add(slices.Concat(both, script(4, request(2, idOpt(0x0202)), 9, 12, 13, 13, 0, Packet{Code: 8, Data: []byte{0x80, 0x57}})))
	f.Add(slices.Concat(both, script(1, request(1, addrOpt("10.0.0.9")), 9, 4, request(3), 15, 7, 4, Packet{Code: 5}, 13, 13, 10, 10)))
	f.Fuzz(func(t *testing.T, in []byte) {
		h := newHarness(t, chap)
		h.do(h.link.Start())
		for len(in) > 0 && len(h.log) < 1000 {
			before := len(h.log)
			in = h.fuzzStep(in)
			if n := len(h.log) - before; n > 16 {
				t.Fatalf("one step put out %d outputs", n)
			}
		}
		if len(h.ended) > 1 || len(h.ended) == 1 && h.log[len(h.log)-1] != "finished "+string(h.ended[0]) && h.link.Phase() != PhaseDead {
			t.Fatalf("ended %v; %v", h.ended, h.log)
		}
		for _, s := range h.sent {
			checkSent(t, s)
		}
	})
}

// script writes fuzz steps: a number is a step, and a Packet what the step before it receives.
func script(steps ...any) []byte {
	var b []byte
	for _, s := range steps {
		switch s := s.(type) {
		case int:
			b = append(b, byte(s))
		case Packet:
			b = append(append(b, byte(len(s.bytes()))), s.bytes()...)
		}
	}
	return b
}

func TestFuzzScriptReachesTheNetwork(t *testing.T) {
	h := newHarness(t, chap)
	h.do(h.link.Start())
	for in := script(8, 0, request(1, magicOpt(9)), 3, chapResponse(3, "a"), 6, 7, 9, 1, request(1, addrOpt("10.0.0.9"))); len(in) > 0; {
		in = h.fuzzStep(in)
	}
	if !h.link.networks[0].up {
		t.Fatalf("%q", h.log)
	}
}

func (h *harness) fuzzStep(in []byte) []byte {
	protos := [...]uint16{ProtoLCP, ProtoIPCP, ProtoPAP, ProtoCHAP, ProtoIPV6CP}
	op := in[0]
	in = in[1:]
	switch op % 16 {
	case 5:
		h.do(h.link.AuthDone(h.serial, true, "m", dualGrant("10.0.0.9")))
	case 6:
		h.do(h.link.AuthDone(h.serial, true, "m", grantFor("10.0.0.9")))
	case 7:
		h.do(h.link.OpenNetwork())
	case 8, 9: // the peer acknowledges what we asked
		for i := len(h.sent) - 1; i >= 0; i-- {
			if s := h.sent[i]; s.Info[0] == CodeConfigureRequest && (op%16 == 8) == (s.Proto == ProtoLCP) {
				ack := bytes.Clone(s.Info)
				ack[0] = CodeConfigureAck
				h.do(h.link.Receive(s.Proto, ack))
				break
			}
		}
	case 10, 11, 12, 13:
		id := TimerID(op%16 - 10)
		h.do(h.link.Timeout(id, h.timers[id].Generation))
	case 14:
		if len(h.sent)%2 == 0 {
			h.do(h.link.Close(""))
			break
		}
		h.do(h.link.AuthDone(h.serial, false, "", NetConfig{}))
	case 15:
		if s, ok := h.link.Snapshot(); ok {
			h.link, _ = Restore(chap, counting(), s)
		}
	default:
		if len(in) == 0 {
			return nil
		}
		n := min(int(in[0]), len(in)-1)
		h.do(h.link.Receive(protos[op%16], in[1:1+n]))
		return in[1+n:]
	}
	return in
}

func checkSent(t *testing.T, s Send) {
	t.Helper()
	p, err := ParsePacket(s.Info)
	if err != nil {
		t.Fatalf("sent %x: %v", s.Info, err)
	}
	if len(s.Info) > int(EthernetMRU) {
		t.Fatalf("sent %d bytes", len(s.Info))
	}
	if (s.Proto == ProtoLCP || s.Proto == ProtoIPCP || s.Proto == ProtoIPV6CP) && p.Code <= CodeConfigureReject {
		if _, err := ParseOptions(p.Data); err != nil {
			t.Fatalf("sent options %x: %v", p.Data, err)
		}
	}
}
