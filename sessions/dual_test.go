package sessions

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
)

// overPPP is the IPv6 side of a PPPoE client.
func (w *world) overPPP(n int) *station {
	c := w.peer(n)
	return &station{w: w, place: c.place, mac: c.mac, ppp: c}
}

// dialled6 brings a dual-stack client up, with all that it can have.
func (s *station) dialled6() *Session {
	s.w.t.Helper()
	s.ppp.dial()
	s.w.settleWith(s)
	s.solicit()
	s.w.settleWith(s)
	s.request6(3)
	s.w.settleWith(s)
	s.w.clock.Advance(time.Second)
	s.w.settleWith(s)
	session := s.session()
	if session == nil || session.state != StateUp || !s.ppp.ipcpUp || !s.ppp.ipv6Up || len(s.heard) < 3 {
		s.w.t.Fatalf("not up: %+v, heard %v", session, s.heard)
	}
	return session
}

func TestPPPoEDualStack(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.overPPP(0)
	session := s.dialled6()
	if s.prefix.String() != "2001:db8:1::/64" || s.address6.String() != "2001:db8:2::1" && !s.address6.IsValid() || s.delegated.Bits() != 56 {
		t.Fatalf("prefix %s, address %s, delegated %s", s.prefix, s.address6, s.delegated)
	}
	for _, p := range []netip.Prefix{single(s.ppp.address), s.prefix, single(s.address6), s.delegated} {
		if w.routes[p] != session.id {
			t.Errorf("no route %s in %v", p, w.routes)
		}
	}
	e := w.entries[fmt.Sprint("session ", session.id)].(entry.Session)
	own := linkLocal(binary.BigEndian.Uint64(s.ppp.router6))
	if e.IPv6 != s.prefix || e.LinkLocal != own || s.router != own || e.MSS != 1452 {
		t.Fatalf("entry %+v, router %s, own %s", e, s.router, own)
	}
	if r := w.last(); r.Type != aaa.Interim || r.Delegated != s.delegated || r.InterfaceID == 0 {
		t.Fatalf("record %+v", r)
	}
	// Renewal, and a client that asks for information only.
	w.clock.Advance(30 * time.Minute)
	w.settleWith(s)
	s.request6(5)
	w.settleWith(s)
	if s.heard[len(s.heard)-1] != "REPLY" || !s.delegated.IsValid() {
		t.Fatalf("heard %v", s.heard)
	}
	held := s.delegated
	s.say6(11)
	w.settleWith(s)
	if s.heard[len(s.heard)-1] != "REPLY" || w.routes[held] != session.id {
		t.Fatalf("heard %v", s.heard)
	}
	w.clock.Advance(3 * time.Hour) // the leases run out, the session goes on
	w.settleWith(s)
	if len(w.routes) != 2 || session.state != StateUp {
		t.Fatalf("routes %v", w.routes)
	}
	w.run("clear subscriber", map[string]string{"user": "alice"})
	w.settleWith(s)
	w.clean()
}

// TestIPV6CPComesAndGoes: IPv4 does not notice.
func TestIPV6CPComesAndGoes(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.overPPP(0)
	session := s.dialled6()
	prefix := s.prefix
	s.ppp.ppp(0x8057, 5, 77, nil) // the client closes IPV6CP
	w.settleWith(s)
	w.clock.Advance(10 * time.Second)
	w.settleWith(s)
	if session.state != StateUp || session.advert != nil || w.routes[single(s.ppp.address)] != session.id {
		t.Fatalf("session %+v", session)
	}
	heard := len(s.heard)
	s.ppp.lcpID++
	s.ppp.ppp(0x8057, 1, s.ppp.lcpID, append([]byte{1, 10, 2, 2, 2, 2, 2}, s.mac[3:]...))
	w.settleWith(s)
	w.clock.Advance(5 * time.Second)
	w.settleWith(s)
	if !slices.Contains(s.heard[heard:], "RA") || s.prefix != prefix {
		t.Fatalf("heard %v, prefix %s", s.heard[heard:], s.prefix)
	}
	s.ppp.discover(0xa7, s.ppp.session, nil)
	w.settleWith(s)
	w.clean()
}

func TestPPPoEDualStackRestart(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.overPPP(0)
	before := s.dialled6()
	entries, routes, heard := len(w.entries), len(w.routes), len(s.heard)
	old := w.entries[fmt.Sprint("session ", before.id)]
	w.crash(dualConfig)
	w.settleWith(s)
	session := s.session()
	if session == nil || session.state != StateUp || len(w.entries) != entries || len(w.routes) != routes || len(s.heard) != heard {
		t.Fatalf("session %+v, routes %v, heard %v", session, w.routes, s.heard[heard:])
	}
	if now := w.entries[fmt.Sprint("session ", before.id)]; now != old {
		t.Fatalf("entry %+v, was %+v", now, old)
	}
	s.solicitRouter()
	w.settleWith(s)
	w.clock.Advance(5 * time.Second)
	w.settleWith(s)
	s.request6(5)
	w.settleWith(s)
	if !slices.Contains(s.heard[heard:], "RA") || !slices.Contains(s.heard[heard:], "REPLY") || s.prefix.Bits() != 64 {
		t.Fatalf("heard %v", s.heard[heard:])
	}
	s.ppp.discover(0xa7, s.ppp.session, nil)
	w.settleWith(s)
	w.clean()
}

// TestBothAccessesOnOneVLAN: a device may dial and speak DHCP on the same VLAN.
func TestBothAccessesOnOneVLAN(t *testing.T) {
	w := newWorld(t, dualConfig)
	c := w.peer(0)
	s := &station{w: w, place: c.place, mac: c.mac}
	ppp := w.dialled(c)
	ip := s.dhcp()
	if ppp == ip || ppp.ipv4() == ip.ipv4() {
		t.Fatal("one session for both")
	}
	c.dial() // anew: only the PPPoE session is replaced
	w.settle(c)
	if w.m.index.byID[ip.id] != ip || w.m.stats.ends[CauseReplaced] != 1 {
		t.Fatalf("ends %v", w.m.stats.ends)
	}
}

func TestVLANRanges(t *testing.T) {
	text := strings.Replace(dualConfig, " pppoe profile residential\n ipoe profile home\n",
		" subscriber vlans 200-201 ipoe home\n subscriber vlans 300.any ipoe home\n subscriber vlans untagged ipoe home\n", 1)
	w := newWorld(t, text)
	inside, outside := w.station(0), w.station(5)
	double := w.station(7)
	double.place = Place{Port: 1, OuterTPID: 0x88a8, OuterVLAN: 300, InnerVLAN: 4094}
	plain := w.station(8)
	plain.place = Place{Port: 1}
	for _, s := range []*station{inside, double, plain} {
		s.dhcp()
	}
	outside.discover()
	w.settleWith(outside)
	if len(outside.heard) != 0 || w.m.stats.noProfile.Load() != 1 {
		t.Fatalf("heard %v", outside.heard)
	}
	w.configure(strings.Replace(text, " subscriber vlans 300.any ipoe home\n", "", 1))
	w.settleWith()
	if double.session() != nil || inside.session() == nil || plain.session() == nil || w.m.stats.ends[CauseProfileRemoved] != 1 {
		t.Fatalf("ends %v", w.m.stats.ends)
	}
}

// relayWorld is a world with a DHCP server behind the relay.
type relayWorld struct {
	*world
	sent []struct {
		to      netip.AddrPort
		payload []byte
	}
}

// Send implements Relay.
func (r *relayWorld) Send(_ entry.VRFID, from, to netip.AddrPort, payload []byte) error {
	if from.Addr() != addr("100.64.0.1") {
		r.t.Errorf("sent from %s", from)
	}
	r.sent = append(r.sent, struct {
		to      netip.AddrPort
		payload []byte
	}{to, bytes.Clone(payload)})
	return nil
}

// answer lets the server answer the last message it got.
func (r *relayWorld) answer(kind byte, lease uint32, address netip.Addr) {
	r.t.Helper()
	if len(r.sent) == 0 {
		r.t.Fatal("nothing was relayed")
	}
	b := bytes.Clone(r.sent[len(r.sent)-1].payload)
	var agent []byte
	for o := b[240:]; len(o) > 1 && o[0] != 255; o = o[2+int(o[1]):] {
		if o[0] == 82 {
			agent = bytes.Clone(o[:2+int(o[1])])
		}
	}
	if agent == nil || b[24] != 100 {
		r.t.Fatalf("no option 82 or giaddr in % x", b)
	}
	b = b[:240]
	b[0] = 2
	copy(b[16:20], address.AsSlice())
	b = append(b, slices.Concat(option(53, []byte{kind}), option(54, []byte{192, 0, 2, 53}))...)
	if lease > 0 {
		b = append(b, option(51, binary.BigEndian.AppendUint32(nil, lease))...)
	}
	b = append(append(b, agent...), 255)
	r.m.Relayed(0, netip.MustParseAddrPort("192.0.2.53:67"), b)
}

func TestRelay(t *testing.T) {
	text := strings.Replace(dualConfig, " lease-time 600\n", " dhcp relay server 192.0.2.53\n dhcp relay server 192.0.2.54\n", 1)
	w := &relayWorld{world: newWorld(t, text)}
	w.m.needs.Relay = w
	s := w.station(0)
	s.discover()
	w.settleWith(s)
	if len(w.sent) != 2 {
		t.Fatalf("%d messages to servers", len(w.sent))
	}
	leased := addr("100.64.9.9")
	w.answer(2, 300, leased)
	w.settleWith(s)
	if !slices.Equal(s.heard, []string{"OFFER"}) || s.address != leased {
		t.Fatalf("heard %v, refused %d, stray %d", s.heard, w.m.stats.relayRefused.Load(), w.m.stats.relayStray.Load())
	}
	s.request()
	w.settleWith(s)
	w.answer(5, 300, leased)
	w.drain()
	if slices.Contains(s.heard, "ACK") {
		t.Fatal("the client was told before packets find it")
	}
	w.settleWith(s)
	session := s.session()
	if !s.ack || w.routes[single(leased)] != session.id || session.state != StateUp {
		t.Fatalf("heard %v, routes %v", s.heard, w.routes)
	}
	// Another client cannot have the address, whatever its server says.
	other := w.station(1)
	other.discover()
	w.settleWith(other)
	w.answer(5, 300, leased)
	w.settleWith(other)
	if slices.Contains(other.heard, "ACK") || w.routes[single(leased)] != session.id {
		t.Fatalf("heard %v", other.heard)
	}
	// Nor can it give the address back in its holder's name.
	relayed := len(w.sent)
	other.say4(cRELEASE, leased, addr("100.64.0.1"), option(54, []byte{192, 0, 2, 53}))
	other.say4(cDECLINE, netip.Addr{}, everybody, option(50, leased.AsSlice()), option(54, []byte{192, 0, 2, 53}))
	w.settleWith(other)
	if len(w.sent) != relayed {
		t.Fatal("a RELEASE of somebody else's address reached the servers")
	}
	// A restart, a renewal, and the end of the lease.
	w.crash(text)
	w.m.needs.Relay = w
	w.settleWith(s)
	s.ack = false
	s.renew()
	w.settleWith(s)
	w.answer(5, 300, leased)
	w.settleWith(s)
	if !s.ack || s.session() == nil {
		t.Fatalf("heard %v", s.heard)
	}
	w.clock.Advance(301 * time.Second)
	w.settleWith(s)
	if w.m.stats.ends[CauseLeaseExpired] != 1 {
		t.Fatalf("ends %v", w.m.stats.ends)
	}
	w.clean()
}

// TestLeaseIsNoLink: DHCPv6 that is faster than the network protocols neither is served nor makes a PPP session
// up, which the store could not keep.
func TestLeaseIsNoLink(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.overPPP(0)
	s.ppp.dial()
	for range 1000 {
		w.drain()
		if x := s.session(); x != nil && x.state == StateNetwork {
			break
		}
		switch {
		case len(w.programming) > 0:
			w.answerProgrammer()
		case len(w.others) > 0:
			w.answerOther(0)
		case len(w.frames) > 0:
			frame := w.frames[0]
			w.frames = w.frames[1:]
			s.receive(frame)
		}
	}
	session := s.session()
	w.frames = nil // its NCPs wait
	s.server6 = duid(session.ownMAC)
	s.solicit()
	s.request6(3)
	s.say6(3, option6(2, s.server6), option6(3, ia(1)), option6(25, ia(2)))
	w.drain()
	for len(w.programming)+len(w.others) > 0 {
		if len(w.programming) > 0 {
			w.answerProgrammer()
		} else {
			w.answerOther(0)
		}
		w.drain()
	}
	if session.state != StateNetwork || len(w.records) != 0 || w.m.stats.no6.Load() != 3 {
		t.Fatalf("state %s, records %v, %d not served", session.state, w.records, w.m.stats.no6.Load())
	}
}
