package pppoe

import (
	"encoding/binary"
	"testing"
	"time"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/life"
	"vbng/cmd/vbng-sim/toy"
)

// concentrator is a scripted access concentrator for one client: it answers what it is told to and
// takes notes. Its hooks return false to swallow the answer.
type concentrator struct {
	t       *testing.T
	client  *Client
	now     time.Duration
	mac     frame.MAC
	session uint16

	method   Method
	password string
	reject   string // message of a refused authentication
	address  frame.Addr
	dns      [2]frame.Addr
	lcpExtra []byte // options added to our Configure-Request

	maxPayload []byte // what we say for the client's PPP-Max-Payload; nil: nothing
	asked      []byte // the client's

	toy *toy.Router // nil: no IPv6

	mute    map[string]bool // by note: what is received but not answered
	notes   []string
	id      byte
	seen    packet // last LCP packet that is not a Configure packet
	rejects [][]byte
}

const testPassword = "wonderland"

func newConcentrator(t *testing.T, method Method) *concentrator {
	a := &concentrator{
		t: t, mac: frame.MAC{2, 0, 0, 0, 0, 0xac}, session: 77,
		method: method, password: testPassword,
		address: frame.Addr{100, 64, 0, 9}, dns: [2]frame.Addr{{9, 9, 9, 9}, {149, 112, 112, 112}},
		mute: map[string]bool{},
	}
	random := uint32(1000)
	settings := DefaultSettings(func() uint32 { random++; return random })
	a.client = New(&settings, life.Identity{
		Number: 5, User: "sim5", Password: testPassword,
		MAC: frame.MAC{2, 1, 0, 0, 0, 5}, Tags: frame.Tags{TPID: frame.TypeProvider, Outer: 100, Inner: 7},
	})
	return a
}

// run passes frames between both until nobody has anything to say.
func (a *concentrator) run(frames [][]byte) {
	for round := 0; len(frames) > 0; round++ {
		if round > 200 {
			a.t.Fatalf("no end of talk: %v", a.notes)
		}
		f := frames[0]
		frames = append(frames[1:], a.receive(f)...)
	}
}

// expire moves the time to the client's deadline.
func (a *concentrator) expire() bool {
	if a.client.Deadline == 0 {
		return false
	}
	a.now = a.client.Deadline
	a.run(a.client.Expire(a.now))
	return true
}

func (a *concentrator) note(s string) bool {
	a.notes = append(a.notes, s)
	return !a.mute[s]
}

func (a *concentrator) count(s string) (n int) {
	for _, x := range a.notes {
		if x == s {
			n++
		}
	}
	return n
}

func (a *concentrator) receive(b []byte) [][]byte {
	e, err := frame.ParseEthernet(b)
	if err != nil {
		a.t.Fatal(err)
	}
	if e.Tags != a.client.Tags || e.Src != a.client.MAC || len(b) < 60 {
		a.t.Errorf("frame with tags %v from %v, %d bytes", e.Tags, e.Src, len(b))
	}
	p, err := frame.ParsePPPoE(e.Payload)
	if err != nil {
		a.t.Fatal(err)
	}
	if e.Type == frame.TypeDiscovery {
		return a.discovery(e, p)
	}
	if p.Session != a.session || e.Dst != a.mac {
		a.t.Errorf("session frame for %d at %v", p.Session, e.Dst)
	}
	protocol, information, err := p.PPP()
	if err != nil {
		a.t.Fatal(err)
	}
	if protocol == frame.ProtocolIPv6 && a.toy != nil {
		return a.network6(information)
	}
	c, err := parsePacket(information)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.ppp(protocol, c)
}

func (a *concentrator) discovery(e frame.Ethernet, p frame.PPPoE) [][]byte {
	var unique, cookie []byte
	frame.DiscoveryTags(p.Payload, func(kind uint16, value []byte) {
		switch kind {
		case frame.TagHostUniq:
			unique = value
		case frame.TagACCookie:
			cookie = value
		case frame.TagMaxPayload:
			a.asked = value
		}
	})
	tags := frame.AppendDiscoveryTag(nil, frame.TagServiceName, nil)
	if a.maxPayload != nil {
		tags = frame.AppendDiscoveryTag(tags, frame.TagMaxPayload, a.maxPayload)
	}
	tags = frame.AppendDiscoveryTag(tags, frame.TagHostUniq, unique)
	switch p.Code {
	case frame.CodePADI:
		if e.Dst != frame.Broadcast {
			a.t.Errorf("PADI to %v", e.Dst)
		}
		tags = frame.AppendDiscoveryTag(tags, frame.TagACCookie, []byte("biscuit"))
		if a.note("PADI") {
			return a.discover(frame.CodePADO, 0, tags)
		}
	case frame.CodePADR:
		if string(cookie) != "biscuit" {
			a.t.Errorf("PADR with cookie %q", cookie)
		}
		if a.note("PADR") {
			out := a.discover(frame.CodePADS, a.session, tags)
			return append(out, a.configure(frame.ProtocolLCP)...)
		}
	case frame.CodePADT:
		a.note("PADT")
	}
	return nil
}

func (a *concentrator) discover(code byte, session uint16, tags []byte) [][]byte {
	b := frame.AppendEthernet(nil, a.client.MAC, a.mac, a.client.Tags, frame.TypeDiscovery)
	b = frame.AppendPPPoE(b, code, session, len(tags))
	return a.deliver(append(b, tags...))
}

// configure sends our Configure-Request.
func (a *concentrator) configure(protocol uint16) [][]byte {
	options := appendOption(nil, optionAddress, 100, 64, 0, 1)
	if protocol == frame.ProtocolLCP {
		options = append(appendOption(nil, optionMRU, 0x05, 0xd4), optionMagic, 6, 1, 2, 3, 4)
		if a.method != MethodAny {
			options = a.method.append(options)
		}
		options = append(options, a.lcpExtra...)
	}
	a.id++
	return a.send(protocol, configureRequest, a.id, options)
}

func (a *concentrator) send(protocol uint16, code, id byte, data []byte) [][]byte {
	b := frame.AppendEthernet(nil, a.client.MAC, a.mac, a.client.Tags, frame.TypeSession)
	b = frame.AppendPPP(b, a.session, protocol, len(data)+4)
	b = append(b, code, id)
	b = binary.BigEndian.AppendUint16(b, uint16(len(data)+4))
	return a.deliver(append(b, data...))
}

func (a *concentrator) deliver(b []byte) [][]byte {
	e, err := frame.ParseEthernet(b)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.client.Receive(a.now, e)
}

func (a *concentrator) ppp(protocol uint16, p packet) [][]byte {
	switch protocol {
	case frame.ProtocolLCP:
		return a.lcp(p)
	case frame.ProtocolPAP:
		return a.pap(p)
	case frame.ProtocolCHAP:
		return a.chap(p)
	case frame.ProtocolIPCP:
		return a.ipcp(p)
	}
	if a.toy != nil {
		return a.ipv6(protocol, p)
	}
	a.t.Errorf("protocol %#04x", protocol)
	return nil
}

func (a *concentrator) lcp(p packet) [][]byte {
	switch p.code {
	case configureRequest:
		if a.note("LCP request") {
			return a.send(frame.ProtocolLCP, configureAck, p.id, p.data)
		}
	case configureAck:
		if a.note("LCP ack") && a.method == MethodCHAP {
			a.id++
			return a.send(frame.ProtocolCHAP, chapChallenge, a.id, append([]byte{16}, "0123456789abcdefbng"...))
		}
	case configureNak, configureReject:
		a.note("LCP refusal")
		a.rejects = append(a.rejects, p.data)
		a.lcpExtra = nil
		if p.code == configureNak && a.method != MethodAny {
			a.method = methodOf(p.data[2:])
		}
		return a.configure(frame.ProtocolLCP)
	case terminateRequest:
		if a.note("terminate") {
			return a.send(frame.ProtocolLCP, terminateAck, p.id, nil)
		}
	default:
		a.note("LCP other")
		a.seen = p
	}
	return nil
}

func (a *concentrator) pap(p packet) [][]byte {
	if !a.note("PAP request") {
		return nil
	}
	want := "\x04sim5" + string(rune(len(testPassword))) + a.password
	if string(p.data) != want || a.reject != "" {
		return a.send(frame.ProtocolPAP, papNak, p.id, append([]byte{byte(len(a.reject))}, a.reject...))
	}
	return append(a.send(frame.ProtocolPAP, papAck, p.id, []byte{0}), a.configure(frame.ProtocolIPCP)...)
}

func (a *concentrator) chap(p packet) [][]byte {
	if !a.note("CHAP response") {
		return nil
	}
	digest := chapDigest(p.id, a.password, []byte("0123456789abcdef"))
	if string(p.data) != "\x10"+string(digest[:])+"sim5" || a.reject != "" {
		return a.send(frame.ProtocolCHAP, chapFailure, p.id, []byte(a.reject))
	}
	return append(a.send(frame.ProtocolCHAP, chapSuccess, p.id, nil), a.configure(frame.ProtocolIPCP)...)
}

func (a *concentrator) ipcp(p packet) [][]byte {
	if p.code != configureRequest {
		a.note("IPCP other")
		return nil
	}
	if !a.note("IPCP request") {
		return nil
	}
	want := appendOption(nil, optionAddress, a.address[:]...)
	want = appendOption(want, optionPrimaryDNS, a.dns[0][:]...)
	want = appendOption(want, optionSecondaryDNS, a.dns[1][:]...)
	if string(p.data) != string(want) {
		return a.send(frame.ProtocolIPCP, configureNak, p.id, want)
	}
	return a.send(frame.ProtocolIPCP, configureAck, p.id, p.data)
}
