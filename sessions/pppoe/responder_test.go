package pppoe

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

var (
	client = MAC{0x02, 0, 0, 0, 0, 0x01}
	ours   = MAC{0x02, 0, 0, 0, 0, 0xac}
	all    = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	line   = Line{Port: 3, Outer: 100, Inner: 7}
	noon   = time.Unix(1_000_000_020, 0) // in the middle of a cookie's bucket
)

// unhex reads bytes as the RFC draws them: groups of hexadecimal digits, with comments behind ';'.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	var digits strings.Builder
	for _, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(l, ";")
		digits.WriteString(strings.Join(strings.Fields(l), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func responder(t testing.TB, change func(*Config)) *Responder {
	t.Helper()
	cfg := Config{ACName: "bng", CookieKey: []byte("0123456789abcdef")}
	if change != nil {
		change(&cfg)
	}
	r, err := NewResponder(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func frame(dst MAC, payload []byte) Frame {
	return Frame{Line: line, Own: ours, Dst: dst, Src: client, Payload: payload}
}

func packet(t testing.TB, code Code, id uint16, tags ...Tag) []byte {
	t.Helper()
	b, err := build(code, id, tags)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func text(t TagType, s string) Tag { return Tag{t, []byte(s)} }

var anyService = Tag{TagServiceName, nil}

// goodPADR goes through PADI and PADO, and adds the tags to the PADR.
func goodPADR(t testing.TB, r *Responder, tags ...Tag) []byte {
	t.Helper()
	reply, _ := r.Handle(frame(all, packet(t, CodePADI, 0, anyService)), noon)
	offer, err := ParsePacket(reply)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseTags(offer.Tags)
	if err != nil {
		t.Fatal(err)
	}
	return packet(t, CodePADR, 0, append(tags, Tag{TagACCookie, sortTags(got).cookie})...)
}

// RFC 2516 appendix B shows PADI and PADO; these are laid out in the same way.
func TestGoldenOffer(t *testing.T) {
	r := responder(t, nil)
	padi := unhex(t, `
		11 09 0000 000e   ; version 1, type 1, PADI, session 0, 14 bytes
		0101 0000         ; Service-Name, any
		0103 0002 abcd    ; Host-Uniq
		0000 0000         ; End-Of-List
		ffff ff           ; Ethernet padding`)
	reply, ev := r.Handle(frame(all, padi), noon)
	if ev.Kind != EventOffered {
		t.Fatalf("%+v", ev)
	}
	want := unhex(t, `
		11 07 0000 0025   ; PADO, session 0, 37 bytes
		0101 0000         ; Service-Name, as asked
		0102 0003 626e67  ; AC-Name "bng"
		0104 0010 `+hex.EncodeToString(cookie([]byte("0123456789abcdef"), client, line, bucket(noon)))+`
		0103 0002 abcd    ; Host-Uniq, echoed`)
	if !bytes.Equal(reply, want) {
		t.Fatalf("reply %x\nwant  %x", reply, want)
	}
}

func TestGoldenSession(t *testing.T) {
	r := responder(t, func(c *Config) { c.MaxPayload = 1500 })
	_, ev := r.Handle(frame(ours, goodPADR(t, r, text(TagServiceName, "net"), Tag{TagHostUniq, nil},
		text(TagRelaySessionID, "relay"), Tag{TagMaxPayload, []byte{0x07, 0xd0}},
		Tag{TagVendorSpecific, unhex(t, `
			00000de9 0107 636972637569 74 0203 726d74 ; circuit-id "circuit", remote-id "rmt"
			8204 00002710                             ; actual downstream rate, 10000 kbit/s
			0120 00`)})), noon) // a sub-option that looks like the head of PPP-Max-Payload spoils the tag
	if ev.Kind != EventRequested || ev.Request.Access.CircuitID != nil {
		t.Fatalf("%+v", ev)
	}
	_, ev = r.Handle(frame(ours, goodPADR(t, r, text(TagServiceName, "net"), Tag{TagHostUniq, nil},
		text(TagRelaySessionID, "relay"), Tag{TagMaxPayload, []byte{0x07, 0xd0}},
		Tag{TagVendorSpecific, unhex(t, `00000de9 0107 636972637569 74 0203 726d74 8204 00002710`)},
		Tag{TagVendorSpecific, unhex(t, `000007db 0103 787878`)})), noon) // another vendor's
	req := ev.Request
	if ev.Kind != EventRequested || req.Client != client || req.Own != ours || req.Line != line ||
		req.Service != "net" || req.HostUniq == nil || len(req.HostUniq) != 0 ||
		string(req.RelayID) != "relay" || req.MaxPayload != 1500 ||
		string(req.Access.CircuitID) != "circuit" || string(req.Access.RemoteID) != "rmt" {
		t.Fatalf("%+v", ev)
	}
	if rate, ok := req.Access.Value(SubActualRateDown); !ok || rate != 10000 {
		t.Fatalf("rate %d %v", rate, ok)
	}
	if _, ok := req.Access.Value(SubActualRateUp); ok {
		t.Fatal("a rate nobody sent")
	}
	pads, err := BuildPADS(req, 0x1234)
	if want := unhex(t, `
		11 65 1234 001a       ; PADS, session 0x1234, 26 bytes
		0101 0003 6e6574      ; Service-Name "net"
		0103 0000             ; Host-Uniq of no length
		0110 0005 72656c6179  ; Relay-Session-Id
		0120 0002 05dc        ; PPP-Max-Payload 1500`); err != nil || !bytes.Equal(pads, want) {
		t.Fatalf("%x %v", pads, err)
	}
	no, err := BuildPADSError(req, TagACSystemError, "full")
	if want := unhex(t, `
		11 65 0000 001c
		0101 0003 6e6574
		0202 0004 66756c6c    ; AC-System-Error "full"
		0103 0000
		0110 0005 72656c6179`); err != nil || !bytes.Equal(no, want) {
		t.Fatalf("%x %v", no, err)
	}
}

// A TR-101 tag whose bytes contain 0x0120 is no PPP-Max-Payload.
func TestVendorTagIsNoMaxPayload(t *testing.T) {
	r := responder(t, func(c *Config) { c.MaxPayload = 1500 })
	_, ev := r.Handle(frame(ours, goodPADR(t, r, anyService,
		Tag{TagVendorSpecific, unhex(t, `00000de9 0106 0120000205dc`)})), noon)
	if ev.Kind != EventRequested || ev.Request.MaxPayload != 0 || len(ev.Request.Access.CircuitID) != 6 {
		t.Fatalf("%+v", ev)
	}
	for asked, want := range map[uint16]uint16{0: 0, 1492: 0, 1493: 1493, 1500: 1500, 9000: 1500} {
		if got := r.agreePayload(asked); got != want {
			t.Errorf("asked %d, agreed %d, want %d", asked, got, want)
		}
	}
	if got := responder(t, nil).agreePayload(1500); got != 0 {
		t.Errorf("agreed %d without being configured to", got)
	}
}

func TestTermination(t *testing.T) {
	padt, err := BuildPADT(0x1234, "bye")
	if want := unhex(t, `11 a7 1234 0007 0203 0003 627965`); err != nil || !bytes.Equal(padt, want) {
		t.Fatalf("%x %v", padt, err)
	}
	_, ev := responder(t, nil).Handle(frame(ours, padt), noon)
	want := Termination{Client: client, Line: line, SessionID: 0x1234, Message: "bye"}
	if ev.Kind != EventTerminated || ev.Termination != want {
		t.Fatalf("%+v", ev)
	}
	if padt, err := BuildPADT(1, ""); err != nil || !bytes.Equal(padt, unhex(t, `11 a7 0001 0000`)) {
		t.Fatalf("%x %v", padt, err)
	}
	for _, id := range []uint16{0, 0xffff} {
		_, pads := BuildPADS(Request{}, id)
		if _, err := BuildPADT(id, ""); err != ErrSessionID || pads != ErrSessionID {
			t.Errorf("session id %#x was taken", id)
		}
	}
}

func TestRefusals(t *testing.T) {
	r := responder(t, func(c *Config) { c.Services = []string{"net", "tv"} })
	padi := packet(t, CodePADI, 0, anyService)
	with := func(change func(*Frame)) Frame {
		f := frame(all, bytes.Clone(padi))
		change(&f)
		return f
	}
	tags := func(tags ...Tag) Frame { return frame(all, packet(t, CodePADI, 0, tags...)) }
	long := packet(t, CodePADI, 0, anyService, Tag{TagHostUniq, make([]byte, 1460)})
	for name, c := range map[string]struct {
		f    Frame
		want Reason
	}{
		"zero source":       {with(func(f *Frame) { f.Src = MAC{} }), ReasonSource},
		"multicast source":  {with(func(f *Frame) { f.Src[0] |= 1 }), ReasonSource},
		"our own source":    {with(func(f *Frame) { f.Src = ours }), ReasonSource},
		"multicast":         {with(func(f *Frame) { f.Dst = MAC{1} }), ReasonDestination},
		"to somebody else":  {with(func(f *Frame) { f.Dst = MAC{2} }), ReasonDestination},
		"PADR broadcast":    {frame(all, goodPADR(t, r, anyService)), ReasonDestination},
		"PADT broadcast":    {frame(all, packet(t, CodePADT, 5)), ReasonDestination},
		"version":           {with(func(f *Frame) { f.Payload[0] = 0x21 }), ReasonVersion},
		"PADO to us":        {with(func(f *Frame) { f.Payload[1] = byte(CodePADO) }), ReasonCode},
		"session stage":     {with(func(f *Frame) { f.Payload[1] = 0 }), ReasonCode},
		"PADI with session": {with(func(f *Frame) { f.Payload[3] = 1 }), ReasonSessionID},
		"PADT without":      {frame(ours, packet(t, CodePADT, 0)), ReasonSessionID},
		"length":            {with(func(f *Frame) { f.Payload[5] = 200 }), ReasonMalformed},
		"short":             {with(func(f *Frame) { f.Payload = f.Payload[:5] }), ReasonMalformed},
		"tag length":        {with(func(f *Frame) { f.Payload[9] = 9 }), ReasonMalformed},
		"no service":        {tags(text(TagHostUniq, "x")), ReasonNoService},
		"two services":      {tags(anyService, text(TagServiceName, "net")), ReasonDuplicateService},
		"unknown service":   {tags(text(TagServiceName, "ne")), ReasonUnknownService},
		"other AC":          {tags(anyService, text(TagACName, "bng2")), ReasonOtherAC},
		"relay id":          {tags(anyService, Tag{TagRelaySessionID, make([]byte, 13)}), ReasonRelayID},
		"no room":           {frame(all, long), ReasonTooLong},
		"beyond 1484":       {frame(all, oversized()), ReasonTooLong},
		"no cookie":         {frame(ours, packet(t, CodePADR, 0, anyService)), ReasonCookie},
	} {
		reply, ev := r.Handle(c.f, noon)
		if ev.Kind != EventRefused || ev.Reason != c.want || reply != nil {
			t.Errorf("%s: %v %v %x", name, ev.Kind, ev.Reason, reply)
		}
	}
}

func oversized() []byte {
	b := []byte{0x11, 0x09, 0, 0, 0x05, 0xd0} // 1488 bytes of tags
	b = Tag{TagServiceName, nil}.Append(b)
	return Tag{TagHostUniq, make([]byte, 1480)}.Append(b)
}

func TestServiceNames(t *testing.T) {
	r := responder(t, func(c *Config) { c.Services = []string{"net", "tv"} })
	reply, ev := r.Handle(frame(ours, packet(t, CodePADI, 0, text(TagServiceName, "tv"), text(TagACName, "bng"))), noon)
	p, err := ParsePacket(reply)
	if ev.Kind != EventOffered || err != nil {
		t.Fatal(ev, err)
	}
	tags, _ := ParseTags(p.Tags)
	if d := sortTags(tags); len(d.services) != 2 || string(d.services[0]) != "tv" || string(d.services[1]) != "net" {
		t.Fatalf("services %q", d.services)
	}
	reply, ev = r.Handle(frame(ours, goodPADR(t, r, text(TagServiceName, "voice"), text(TagHostUniq, "h"))), noon)
	if ev.Reason != ReasonUnknownService {
		t.Fatalf("%+v", ev)
	}
	if p, err = ParsePacket(reply); err != nil || p.Code != CodePADS || p.SessionID != 0 {
		t.Fatalf("%+v %v", p, err)
	}
	tags, _ = ParseTags(p.Tags)
	if len(tags) != 3 || tags[1].Type != TagServiceNameError || string(tags[2].Value) != "h" {
		t.Fatalf("%+v", tags)
	}
}

func TestAnswersFit(t *testing.T) {
	r := responder(t, nil)
	huge := goodPADR(t, r, anyService, Tag{TagHostUniq, make([]byte, 1440)})
	_, ev := r.Handle(frame(ours, huge), noon)
	if ev.Kind != EventRequested {
		t.Fatalf("%+v", ev)
	}
	b, err := BuildPADSError(ev.Request, TagGenericError, strings.Repeat("x", 300))
	if err != nil || len(b) > maxPacketBytes {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
}

func TestCookies(t *testing.T) {
	r := responder(t, nil)
	padr := goodPADR(t, r, anyService)
	good := func(f Frame, now time.Time) bool {
		_, ev := r.Handle(f, now)
		return ev.Kind == EventRequested
	}
	if !good(frame(ours, padr), noon) || !good(frame(ours, padr), noon.Add(time.Minute)) {
		t.Fatal("a fresh cookie was refused")
	}
	if good(frame(ours, padr), noon.Add(2*time.Minute)) || good(frame(ours, padr), noon.Add(-time.Minute)) {
		t.Fatal("a cookie of another time was taken")
	}
	for i := range 4 {
		f := frame(ours, padr)
		switch i {
		case 0:
			f.Src[5]++
		case 1:
			f.Line.Port++
		case 2:
			f.Line.Outer++
		case 3:
			f.Line.Inner++
		}
		if good(f, noon) {
			t.Errorf("case %d: somebody else's cookie was taken", i)
		}
	}
}

func TestConfigRefused(t *testing.T) {
	key := make([]byte, 16)
	for _, cfg := range []Config{
		{CookieKey: key}, {ACName: "x"}, {ACName: "x", CookieKey: key[1:]}, {ACName: strings.Repeat("x", 901), CookieKey: key},
	} {
		if _, err := NewResponder(cfg); err != ErrConfig {
			t.Errorf("%+v was taken", cfg)
		}
	}
}
