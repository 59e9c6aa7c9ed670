package ppp

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

// harness drives one link by hand and keeps a transcript of its outputs in words.
type harness struct {
	t      *testing.T
	link   *Link
	log    []string
	timers map[TimerID]SetTimer
	sent   []Send // since the last expect
	serial uint32 // of the last AuthRequest
	asked  AuthRequest
	ended  []Cause
}

// counting is a random source a test can predict: 01010101, 02020202 ...
func counting() func([]byte) {
	var n byte
	return func(b []byte) {
		n++
		for i := range b {
			b[i] = n
		}
	}
}

func newHarness(t *testing.T, cfg Config) *harness {
	return harnessFor(t, NewLink(cfg, counting()))
}

func harnessFor(t *testing.T, l *Link) *harness {
	return &harness{t: t, link: l, timers: map[TimerID]SetTimer{}}
}

func (h *harness) do(outs []Output) {
	h.t.Helper()
	for _, o := range outs {
		h.note(o)
	}
	if n := h.link.Counters().Internal; n != 0 {
		h.t.Fatalf("%d internal errors", n)
	}
}

func (h *harness) note(o Output) {
	line := ""
	switch o := o.(type) {
	case Send:
		h.sent = append(h.sent, o)
		line = "send " + describe(o.Proto, o.Info)
	case SetTimer:
		h.timers[o.ID] = o
		line = fmt.Sprintf("timer %d %v", o.ID, o.After)
	case StopTimer:
		delete(h.timers, o.ID)
		line = fmt.Sprintf("stop %d", o.ID)
	case LCPUp:
		line = fmt.Sprintf("lcp-up %08x %08x %d/%d", o.LocalMagic, o.PeerMagic, o.LocalMRU, o.PeerMRU)
	case LCPDown:
		line = "lcp-down"
	case AuthRequest:
		h.asked, h.serial = o, o.Serial
		line = fmt.Sprintf("ask %v %q %q", o.Method, o.Username, o.Password)
	case NetworkUp:
		line = fmt.Sprintf("network-up %v %v", o.Local, o.Peer)
		if o.Protocol == ProtoIPV6CP {
			line = fmt.Sprintf("network6-up %016x %016x", o.LocalInterfaceID, o.PeerInterfaceID)
		}
	case NetworkDown:
		line = "network-down"
		if o.Protocol == ProtoIPV6CP {
			line = "network6-down"
		}
	case NetworkFinished:
		line = fmt.Sprintf("network-finished %s %s", protoNames[o.Protocol], o.Cause)
	case Finished:
		h.ended = append(h.ended, o.Cause)
		line = "finished " + o.Cause.String()
	default:
		h.t.Fatalf("output of an unknown type %T", o)
	}
	h.log = append(h.log, line)
}

// expect compares the transcript since the last call with the wanted lines.
func (h *harness) expect(want string) {
	h.t.Helper()
	var lines []string
	for _, line := range strings.Split(want, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	got := strings.Join(h.log, "\n")
	if wanted := strings.Join(lines, "\n"); got != wanted {
		h.t.Fatalf("transcript:\n%s\nwant:\n%s", got, wanted)
	}
	h.skip()
}

// skip forgets the transcript.
func (h *harness) skip() { h.log, h.sent = nil, nil }

// recv hands a packet to the link; its bytes are spoilt after, to catch a link that kept them.
func (h *harness) recv(proto uint16, p Packet) {
	h.t.Helper()
	info := append(p.bytes(), 0, 0, 0) // padding is no harm
	h.do(h.link.Receive(proto, info))
	for i := range info {
		info[i] = 0xee
	}
}

// fire lets a running timer expire.
func (h *harness) fire(id TimerID) {
	h.t.Helper()
	timer, ok := h.timers[id]
	if !ok {
		h.t.Fatalf("timer %d is not running", id)
	}
	delete(h.timers, id)
	h.do(h.link.Timeout(id, timer.Generation))
}

// ackLast acknowledges the last Configure-Request the link sent on the protocol.
func (h *harness) ackLast(proto uint16) {
	h.t.Helper()
	h.recv(proto, Packet{Code: CodeConfigureAck, ID: h.lastRequest(proto).ID, Data: h.lastRequest(proto).Data})
}

func (h *harness) lastRequest(proto uint16) Packet {
	h.t.Helper()
	for i := len(h.sent) - 1; i >= 0; i-- {
		if p := mustParse(h.t, h.sent[i].Info); h.sent[i].Proto == proto && p.Code == CodeConfigureRequest {
			return p
		}
	}
	h.t.Fatal("no Configure-Request was sent")
	return Packet{}
}

func mustParse(t *testing.T, info []byte) Packet {
	t.Helper()
	p, err := ParsePacket(info)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// conf makes a Configure packet.
func conf(code, id uint8, opts ...Option) Packet {
	return Packet{Code: code, ID: id, Data: appendOptions(nil, opts)}
}

func request(id uint8, opts ...Option) Packet { return conf(CodeConfigureRequest, id, opts...) }

func magicOpt(m uint32) Option { return option32(OptMagic, m) }
func mruOpt(m uint16) Option   { return option16(OptMRU, m) }
func addrOpt(s string) Option  { return optionAddr(OptIPAddress, netip.MustParseAddr(s)) }

func grantFor(peer string) NetConfig {
	return NetConfig{
		Local: netip.MustParseAddr("10.0.0.1"), Peer: netip.MustParseAddr(peer),
		PrimaryDNS: netip.MustParseAddr("10.0.0.53"),
	}
}

// lcpOpen brings LCP up with a well-behaved peer.
func (h *harness) lcpOpen() {
	h.t.Helper()
	h.do(h.link.Start())
	h.ackLast(ProtoLCP)
	h.recv(ProtoLCP, request(1, mruOpt(1492), magicOpt(0xaabbccdd)))
}

// papOpen brings a PAP link to the point where the network opens.
func (h *harness) papOpen() {
	h.t.Helper()
	h.lcpOpen()
	h.recv(ProtoPAP, papRequest(7, "alice", "secret"))
	h.do(h.link.AuthDone(h.serial, true, "hi", grantFor("10.0.0.9")))
}

// netOpen brings a PAP link all the way up.
func (h *harness) netOpen() {
	h.t.Helper()
	h.papOpen()
	h.do(h.link.OpenNetwork())
	h.ackLast(ProtoIPCP)
	h.recv(ProtoIPCP, request(1, addrOpt("10.0.0.9")))
	if !h.link.networks[0].up {
		h.t.Fatalf("network did not come up:\n%s", strings.Join(h.log, "\n"))
	}
	h.skip()
}

func papRequest(id uint8, user, password string) Packet {
	return Packet{Code: PAPRequest, ID: id, Data: AppendPAPRequest(nil, user, password)}
}

var pap = Config{Auth: []AuthMethod{AuthPAP}}
var chap = Config{Auth: []AuthMethod{AuthCHAPMD5, AuthPAP}, Name: "bng"}

var protoNames = map[uint16]string{
	ProtoLCP: "LCP", ProtoIPCP: "IPCP", ProtoIPV6CP: "IPV6CP", ProtoPAP: "PAP", ProtoCHAP: "CHAP",
}

// describe prints a packet that the link sent: options of Configure packets by type and data.
func describe(proto uint16, info []byte) string {
	p, err := ParsePacket(info)
	if err != nil {
		return err.Error()
	}
	s := fmt.Sprintf("%s %d #%d", protoNames[proto], p.Code, p.ID)
	if proto == ProtoPAP || proto == ProtoCHAP || p.Code > CodeConfigureReject {
		if len(p.Data) > 0 {
			s += fmt.Sprintf(" %x", p.Data)
		}
		return s
	}
	opts, err := ParseOptions(p.Data)
	if err != nil {
		return err.Error()
	}
	for _, o := range opts {
		s += fmt.Sprintf(" %d=%s", o.Type, optionText(proto, o))
	}
	return s
}

func optionText(proto uint16, o Option) string {
	if proto == ProtoIPCP && len(o.Data) == 4 {
		a, _ := netip.AddrFromSlice(o.Data)
		return a.String()
	}
	if len(o.Data) == 2 && o.Type == OptMRU {
		return fmt.Sprint(binary.BigEndian.Uint16(o.Data))
	}
	return fmt.Sprintf("%x", o.Data)
}
