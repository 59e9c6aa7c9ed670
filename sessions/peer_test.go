package sessions

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// peer is a small PPPoE client: it agrees to everything, and asks for an address and one name server.
// It shares no protocol code with the router but the headers.
type peer struct {
	w     *world
	place Place
	mac   entry.MAC
	user  string

	hostUniq []byte
	loss     float64 // of frames in each direction

	cookie   []byte
	session  uint16
	lcpAcked bool // our request was
	address  netip.Addr
	dns      netip.Addr
	ipcpUp   bool
	ipv6Up   bool
	asked6   bool
	router6  []byte // the router's interface identifier
	ended    string // why the session is over, from the client's view
	padsErr  string
	message  string // of the authentication
	lcpID    byte
	heard    map[string]int // frames of PADO, PADS, PADT, LCP codes
}

func newPeer(w *world, place Place, mac entry.MAC, user string) *peer {
	return &peer{w: w, place: place, mac: mac, user: user, hostUniq: []byte(user), heard: map[string]int{}}
}

func (w *world) peer(n int) *peer {
	return newPeer(w, Place{Port: 1, OuterTPID: 0x88a8, OuterVLAN: uint16(100 + n/1000), InnerVLAN: uint16(1 + n%1000)},
		entry.MAC{2, 1, 0, 0, byte(n >> 8), byte(n)}, "alice")
}

// dial begins with a PADI.
func (c *peer) dial() {
	c.session, c.lcpAcked, c.ipcpUp, c.ended, c.padsErr = 0, false, false, "", ""
	c.ipv6Up, c.asked6 = false, false
	c.discover(wire.CodePADI, 0, nil)
}

func (c *peer) discover(code byte, session uint16, tags []byte) {
	all := tags
	if code != wire.CodePADT {
		all = slices.Concat(tags, tag(0x0101, nil), tag(0x0103, c.hostUniq))
	}
	to := [6]byte(routerMAC)
	if code == wire.CodePADI {
		to = [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	}
	packet := make([]byte, wire.PPPoELength+len(all))
	wire.PutPPPoE(packet, code, session, len(all))
	copy(packet[wire.PPPoELength:], all)
	c.send(entry.ClassPPPoEDiscovery, to, wire.TypePPPoEDiscovery, packet)
}

func tag(kind uint16, value []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, kind)
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	return append(b, value...)
}

func (c *peer) ppp(protocol uint16, code, id byte, data []byte) {
	packet := make([]byte, wire.PPPoELength+wire.PPPProtocolLength+wire.ControlLength)
	n := wire.PutPPPoE(packet, 0, c.session, len(packet)-wire.PPPoELength+len(data))
	n += wire.PutPPP(packet[n:], protocol)
	wire.PutControl(packet[n:], code, id, len(data))
	class := entry.ClassPPPControl
	if _, known := c.w.tuples[c.tuple()]; !known {
		class = entry.ClassPPPoEUnknown
	}
	c.send(class, [6]byte(routerMAC), wire.TypePPPoESession, append(packet, data...))
}

func (c *peer) tuple() tuple {
	return tuple{client: client{place: c.place, mac: c.mac}, pppoe: c.session}
}

// send hands a frame to the router as the forwarder would, and spoils the bytes after the call.
func (c *peer) send(class entry.Class, to [6]byte, etherType uint16, packet []byte) {
	if c.w.random.Float64() < c.loss {
		return
	}
	frame := make([]byte, 64+len(packet))
	n := wire.PutTagged(frame, to, c.mac, c.place.OuterTPID, c.place.OuterVLAN, c.place.InnerVLAN, etherType)
	frame = frame[:n+copy(frame[n:], packet)]
	c.w.m.Punt(entry.Punt{
		Class: class, Port: c.place.Port, Session: c.w.tuples[c.tuple()], OuterTPID: c.place.OuterTPID,
		OuterVLAN: c.place.OuterVLAN, InnerVLAN: c.place.InnerVLAN, Payload: n, Data: frame,
	})
	for i := range frame {
		frame[i] = 0xee
	}
}

// receive takes a frame of the router if it is for this client.
func (c *peer) receive(frame []byte) {
	t, ok := wire.ReadTags(frame)
	mine := Place{Port: c.place.Port, OuterTPID: t.OuterTPID, OuterVLAN: t.OuterVLAN, InnerVLAN: t.InnerVLAN}
	if !ok || mine != c.place || wire.Ethernet(frame).Destination() != c.mac || c.w.random.Float64() < c.loss {
		return
	}
	packet := wire.PPPoE(frame[t.Offset:])
	if !packet.Valid() || wire.Ethernet(frame).Source() != routerMAC {
		c.w.t.Errorf("bad frame % x", frame)
		return
	}
	if t.Type == wire.TypePPPoEDiscovery {
		c.discovery(packet)
		return
	}
	if packet.Session() != c.session {
		return
	}
	ppp := wire.PPP(packet.Payload())
	if ppp.Protocol() == 0x57 {
		return // a station's
	}
	control := wire.Control(ppp.Information())
	if !control.Valid() {
		c.w.t.Errorf("bad control packet % x", ppp)
		return
	}
	switch ppp.Protocol() {
	case wire.ProtocolLCP:
		c.lcp(control)
	case wire.ProtocolCHAP:
		c.chap(control)
	case wire.ProtocolIPCP:
		c.ipcp(control)
	case 0x8057:
		c.ipv6cp(control)
	}
}

func (c *peer) discovery(packet wire.PPPoE) {
	tags := map[uint16][]byte{}
	for b := packet.Payload(); len(b) >= 4; b = b[4+int(word(b[2:])):] {
		tags[word(b)] = bytes.Clone(b[4 : 4+int(word(b[2:]))])
	}
	switch packet.Code() {
	case wire.CodePADO:
		c.heard["PADO"]++
		if c.session == 0 {
			c.cookie = tags[0x0104]
			c.request()
		}
	case wire.CodePADS:
		c.heard["PADS"]++
		if packet.Session() == 0 {
			c.padsErr = string(tags[0x0202])
			return
		}
		if c.session != packet.Session() {
			c.session, c.lcpAcked, c.ipcpUp = packet.Session(), false, false
			c.lcpRequest()
		}
	case wire.CodePADT:
		c.heard["PADT"]++
		if packet.Session() == c.session && c.session != 0 {
			c.session, c.ipcpUp, c.ended = 0, false, "PADT "+string(tags[0x0203])
		}
	}
}

func (c *peer) request() { c.discover(wire.CodePADR, 0, tag(0x0104, c.cookie)) }

func (c *peer) lcpRequest() {
	c.lcpID++
	c.ppp(wire.ProtocolLCP, 1, c.lcpID, append([]byte{5, 6, 0xaa}, c.mac[3:]...))
}

func (c *peer) lcp(p wire.Control) {
	switch p.Code() {
	case 1:
		c.ppp(wire.ProtocolLCP, 2, p.Identifier(), p.Data())
	case 2:
		c.lcpAcked = true
	case 5:
		c.heard["Terminate-Request"]++
		c.ppp(wire.ProtocolLCP, 6, p.Identifier(), nil)
	}
}

func (c *peer) chap(p wire.Control) {
	switch p.Code() {
	case 1:
		size := int(p.Data()[0])
		challenge := p.Data()[1 : 1+size]
		c.ppp(wire.ProtocolCHAP, 2, p.Identifier(),
			slices.Concat([]byte{16}, chapHash(p.Identifier(), "secret", challenge), []byte(c.user)))
	case 3, 4:
		c.message = string(p.Data())
		if p.Code() == 3 {
			c.ipcpRequest(netip.IPv4Unspecified(), netip.IPv4Unspecified())
		}
	}
}

func (c *peer) ipcpRequest(address, dns netip.Addr) {
	c.lcpID++
	c.ppp(wire.ProtocolIPCP, 1, c.lcpID,
		slices.Concat([]byte{3, 6}, address.AsSlice(), []byte{129, 6}, dns.AsSlice()))
}

// ipv6cp agrees to every identifier, and asks for one of its own.
func (c *peer) ipv6cp(p wire.Control) {
	switch p.Code() {
	case 1:
		c.router6 = bytes.Clone(p.Data()[2:10])
		c.ppp(0x8057, 2, p.Identifier(), p.Data())
		if !c.asked6 {
			c.asked6 = true
			c.lcpID++
			c.ppp(0x8057, 1, c.lcpID, append([]byte{1, 10, 2, 2, 2, 2, 2}, c.mac[3:]...))
		}
	case 2:
		c.ipv6Up = true
	case 5:
		c.ipv6Up = false
		c.ppp(0x8057, 6, p.Identifier(), nil)
	}
}

func (c *peer) ipcp(p wire.Control) {
	switch p.Code() {
	case 1:
		c.ppp(wire.ProtocolIPCP, 2, p.Identifier(), p.Data())
	case 2:
		c.ipcpUp = true
		c.address, c.dns = netip.AddrFrom4([4]byte(p.Data()[2:6])), netip.AddrFrom4([4]byte(p.Data()[8:12]))
	case 3:
		c.ipcpRequest(netip.AddrFrom4([4]byte(p.Data()[2:6])), netip.AddrFrom4([4]byte(p.Data()[8:12])))
	}
}
