package sessions

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// station is a small host on a line of IPoE, or the IPv6 side of one behind PPPoE: it writes DHCP, DHCPv6 and
// router solicitations byte by byte, and notes what it hears.
type station struct {
	w     *world
	place Place
	mac   entry.MAC
	ppp   *peer // its PPPoE session; nil: IPoE

	hostname string
	circuit  string // option 82 by an access node
	xid      uint32

	heard   []string // types of DHCP and DHCPv6 messages, "RA"
	address netip.Addr
	server  netip.Addr
	options map[byte][]byte
	toMAC   entry.MAC // where the last frame went
	ack     bool      // the last DHCP message was an ACK

	server6   []byte // DUID
	address6  netip.Addr
	delegated netip.Prefix
	status    []uint16 // status codes of the last DHCPv6 message
	prefix    netip.Prefix
	flags     byte // M and O of the last advertisement
	lifetime  uint16
	router    netip.Addr
	preferred uint32 // seconds, of the prefix
}

func (w *world) station(n int) *station {
	return &station{w: w, place: Place{Port: 1, OuterTPID: 0x8100, OuterVLAN: uint16(200 + n)}, mac: entry.MAC{2, 2, 0, 0, byte(n >> 8), byte(n)}}
}

// settleWith lets everything answer, with stations as well as peers.
func (w *world) settleWith(stations ...*station) {
	w.t.Helper()
	for range 10000 {
		w.drain()
		switch {
		case len(w.programming) > 0:
			w.answerProgrammer()
		case len(w.others) > 0:
			w.answerOther(0)
		case len(w.frames) > 0:
			frame := w.frames[0]
			w.frames = w.frames[1:]
			for _, s := range stations {
				s.receive(frame)
			}
		default:
			return
		}
	}
	w.t.Fatal("the world does not settle")
}

const (
	cDISCOVER = 1
	cREQUEST  = 3
	cDECLINE  = 4
	cRELEASE  = 7
	cINFORM   = 8
)

func option(code byte, value []byte) []byte { return append([]byte{code, byte(len(value))}, value...) }

// say4 sends a DHCP message; src is the IP source and ciaddr when valid.
func (s *station) say4(kind byte, src, dst netip.Addr, options ...[]byte) {
	s.xid++
	b := make([]byte, 236)
	b[0], b[1], b[2] = 1, 1, 6
	binary.BigEndian.PutUint32(b[4:], s.xid)
	from := netip.IPv4Unspecified()
	if src.IsValid() {
		copy(b[12:], src.AsSlice())
		from = src
	}
	copy(b[28:], s.mac[:])
	b = append(b, 99, 130, 83, 99)
	b = append(b, option(53, []byte{kind})...)
	if s.hostname != "" {
		b = append(b, option(12, []byte(s.hostname))...)
	}
	if s.circuit != "" {
		b = append(b, option(82, option(1, []byte(s.circuit)))...)
	}
	b = append(b, slices.Concat(options...)...)
	b = append(b, 255)
	packet := make([]byte, 28, 28+len(b))
	wire.PutIPv4(packet, from.As4(), dst.As4(), 17, 64, 0, 8+len(b))
	packet = append(packet, b...)
	wire.PutUDP(packet[20:], from.As4(), dst.As4(), 68, 67, len(b))
	s.send(entry.ClassDHCPv4, wire.TypeIPv4, packet)
}

var everybody = netip.AddrFrom4([4]byte{255, 255, 255, 255})

func (s *station) discover() { s.say4(cDISCOVER, netip.Addr{}, everybody) }

// request answers an offer (SELECTING).
func (s *station) request() {
	s.say4(cREQUEST, netip.Addr{}, everybody, option(50, s.address.AsSlice()), option(54, s.server.AsSlice()))
}

func (s *station) renew() { s.say4(cREQUEST, s.address, s.server) }

// dhcp brings the station's IPv4 up.
func (s *station) dhcp() *Session {
	s.w.t.Helper()
	s.discover()
	s.w.settleWith(s)
	s.request()
	s.w.settleWith(s)
	session := s.session()
	if session == nil || session.state != StateUp || !s.ack || s.w.routes[single(s.address)] != session.id {
		s.w.t.Fatalf("no lease: %+v, heard %v, failures %v, withheld %v", session, s.heard, s.w.m.stats.failures, s.w.m.stats.withheldSlots)
	}
	return session
}

func (s *station) session() *Session {
	if s.ppp != nil {
		return s.w.m.index.byTuple[s.ppp.tuple()]
	}
	return s.w.m.index.byTuple[tuple{client: client{place: s.place, mac: s.mac}}]
}

func option6(code uint16, value ...[]byte) []byte {
	all := slices.Concat(value...)
	b := binary.BigEndian.AppendUint16(nil, code)
	b = binary.BigEndian.AppendUint16(b, uint16(len(all)))
	return append(b, all...)
}

func (s *station) linkLocal() netip.Addr { return linkLocal(eui64(s.mac)) }

func (s *station) duid() []byte { return append([]byte{0, 3, 0, 1}, s.mac[:]...) }

func ia(id uint32, inner ...[]byte) []byte {
	return slices.Concat(binary.BigEndian.AppendUint32(nil, id), make([]byte, 8), slices.Concat(inner...))
}

// say6 sends a DHCPv6 message for an address (IA_NA) and a prefix (IA_PD).
func (s *station) say6(kind byte, options ...[]byte) {
	s.xid++
	b := []byte{kind, byte(s.xid >> 16), byte(s.xid >> 8), byte(s.xid)}
	b = append(b, option6(1, s.duid())...)
	b = append(b, slices.Concat(options...)...)
	s.udp6(netip.MustParseAddr("ff02::1:2"), b)
}

func (s *station) udp6(dst netip.Addr, payload []byte) {
	udp := make([]byte, 8, 8+len(payload))
	binary.BigEndian.PutUint16(udp, 546)
	binary.BigEndian.PutUint16(udp[2:], 547)
	binary.BigEndian.PutUint16(udp[4:], uint16(8+len(payload)))
	udp = append(udp, payload...)
	s.ip6(entry.ClassDHCPv6, 17, 6, dst, udp)
}

// ip6 sends an IPv6 packet whose checksum is at an offset of its payload.
func (s *station) ip6(class entry.Class, next byte, checksum int, dst netip.Addr, payload []byte) {
	src := s.linkLocal()
	pseudo := slices.Concat(src.AsSlice(), dst.AsSlice(), binary.BigEndian.AppendUint32(nil, uint32(len(payload))), []byte{0, 0, 0, next}, payload)
	binary.BigEndian.PutUint16(payload[checksum:], wire.Checksum(pseudo))
	header := []byte{0x60, 0, 0, 0, byte(len(payload) >> 8), byte(len(payload)), next, 255}
	s.send(class, 0x86dd, slices.Concat(header, src.AsSlice(), dst.AsSlice(), payload))
}

func (s *station) solicitRouter() {
	s.ip6(entry.ClassSubscriberND, 58, 2, netip.MustParseAddr("ff02::2"), []byte{133, 0, 0, 0, 0, 0, 0, 0})
}

func (s *station) solicit() { s.say6(1, option6(3, ia(1)), option6(25, ia(2))) }

// request6 takes what was advertised; kind is REQUEST, RENEW, RELEASE or DECLINE.
func (s *station) request6(kind byte) {
	var options [][]byte
	options = append(options, option6(2, s.server6))
	if s.address6.IsValid() {
		options = append(options, option6(3, ia(1, option6(5, s.address6.AsSlice(), make([]byte, 8)))))
	}
	if s.delegated.IsValid() {
		options = append(options, option6(25, ia(2, option6(26, make([]byte, 8), []byte{byte(s.delegated.Bits())}, s.delegated.Addr().AsSlice()))))
	}
	s.say6(kind, options...)
}

// send hands a packet to the router as the forwarder would.
func (s *station) send(class entry.Class, etherType uint16, packet []byte) {
	id := s.w.tuples[tuple{client: client{place: s.place, mac: s.mac}}]
	if s.ppp != nil {
		id = s.w.tuples[s.ppp.tuple()]
		inner := make([]byte, wire.PPPoELength+wire.PPPProtocolLength)
		n := wire.PutPPPoE(inner, 0, s.ppp.session, wire.PPPProtocolLength+len(packet))
		wire.PutPPP(inner[n:], 0x57)
		packet, etherType = append(inner, packet...), wire.TypePPPoESession
	}
	frame := make([]byte, 64+len(packet))
	n := wire.PutTagged(frame, routerMAC, s.mac, s.place.OuterTPID, s.place.OuterVLAN, s.place.InnerVLAN, etherType)
	frame = frame[:n+copy(frame[n:], packet)]
	punt := entry.Punt{
		Class: class, Port: s.place.Port, Session: id, OuterTPID: s.place.OuterTPID, OuterVLAN: s.place.OuterVLAN,
		InnerVLAN: s.place.InnerVLAN, Payload: n, Data: frame,
	}
	if s.w.fuzz != nil {
		s.w.fuzz(punt)
		return
	}
	s.w.m.Punt(punt)
	for i := range frame {
		frame[i] = 0xee
	}
}

// receive takes a frame of the router if it is for this station.
func (s *station) receive(frame []byte) {
	if s.ppp != nil {
		s.ppp.receive(frame)
	}
	t, ok := wire.ReadTags(frame)
	at := Place{Port: s.place.Port, OuterTPID: t.OuterTPID, OuterVLAN: t.OuterVLAN, InnerVLAN: t.InnerVLAN}
	to := entry.MAC(wire.Ethernet(frame).Destination())
	if !ok || at != s.place || to != s.mac && to != broadcastMAC {
		return
	}
	s.toMAC = to
	packet, kind := frame[t.Offset:], t.Type
	if s.ppp != nil {
		outer := wire.PPPoE(packet)
		if t.Type != wire.TypePPPoESession || wire.PPP(outer.Payload()).Protocol() != 0x57 || outer.Session() != s.ppp.session {
			return
		}
		packet, kind = wire.PPP(outer.Payload()).Information(), 0x86dd
	}
	switch {
	case kind == wire.TypeIPv4:
		ip := wire.IPv4(packet)
		if !ip.Valid() || !ip.ChecksumOK() || !wire.UDP(ip.Payload()).ChecksumOK(ip.Source(), ip.Destination()) {
			s.w.t.Errorf("bad packet % x", packet)
			return
		}
		s.dhcpReply(wire.UDP(ip.Payload()).Payload())
	case kind == 0x86dd && packet[6] == 58:
		s.advertised(packet)
	case kind == 0x86dd && packet[6] == 17:
		s.dhcp6Reply(packet[48:])
	}
}

func (s *station) dhcpReply(b []byte) {
	if entry.MAC(b[28:34]) != s.mac || binary.BigEndian.Uint32(b[4:]) != s.xid {
		return
	}
	s.options = map[byte][]byte{}
	for o := b[240:]; len(o) > 1 && o[0] != 255; {
		if o[0] == 0 {
			o = o[1:]
			continue
		}
		s.options[o[0]] = bytes.Clone(o[2 : 2+int(o[1])])
		o = o[2+int(o[1]):]
	}
	kind := s.options[53][0]
	s.heard = append(s.heard, [...]string{2: "OFFER", 5: "ACK", 6: "NAK"}[kind])
	s.ack = kind == 5
	if kind == 6 {
		s.address = netip.Addr{}
	} else if a := netip.AddrFrom4([4]byte(b[16:20])); !a.IsUnspecified() {
		s.address = a
	}
	if id := s.options[54]; id != nil {
		s.server = netip.AddrFrom4([4]byte(id))
	}
}

func (s *station) advertised(packet []byte) {
	b := packet[40:]
	if b[0] != 134 {
		return
	}
	s.heard = append(s.heard, "RA")
	s.router = netip.AddrFrom16([16]byte(packet[8:24]))
	s.flags, s.lifetime = b[5], binary.BigEndian.Uint16(b[6:])
	s.prefix = netip.Prefix{}
	for o := b[16:]; len(o) >= 8; o = o[8*int(o[1]):] {
		if o[0] == 3 && o[3]&0xc0 == 0x40 { // autonomous, not on-link
			s.preferred = binary.BigEndian.Uint32(o[8:])
			s.prefix = netip.PrefixFrom(netip.AddrFrom16([16]byte(o[16:32])), int(o[2]))
		}
	}
}

func (s *station) dhcp6Reply(b []byte) {
	s.heard = append(s.heard, [...]string{2: "ADVERTISE", 7: "REPLY"}[b[0]])
	s.address6, s.delegated, s.status = netip.Addr{}, netip.Prefix{}, nil
	s.options6(b[4:])
}

func (s *station) options6(b []byte) {
	for len(b) >= 4 {
		code, value := word(b), b[4:4+int(word(b[2:]))]
		switch code {
		case 2:
			s.server6 = bytes.Clone(value)
		case 3, 25:
			s.options6(value[12:])
		case 5:
			s.address6 = netip.AddrFrom16([16]byte(value[:16]))
		case 26:
			s.delegated = netip.PrefixFrom(netip.AddrFrom16([16]byte(value[9:25])), int(value[8]))
		case 13:
			s.status = append(s.status, word(value))
		}
		b = b[4+len(value):]
	}
}
