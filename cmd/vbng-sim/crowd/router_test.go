package crowd

import (
	"encoding/binary"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/toy"
	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// pipe is a port in memory: what is sent goes to a function, what is received comes from a queue.
type pipe struct {
	inbox  [][]byte
	output func(frame []byte)
}

func (p *pipe) Receive(pool *packet.Pool, v *packet.Vector) int {
	n := 0
	for len(p.inbox) > 0 && v.N < packet.VectorSize {
		index, ok := pool.Take()
		if !ok {
			break
		}
		offset := index*packet.Stride + packet.Headroom
		v.Index[v.N], v.Offset[v.N] = index, offset
		v.Length[v.N] = uint32(copy(pool.Arena.Memory[offset:], p.inbox[0]))
		v.N++
		n++
		p.inbox = p.inbox[1:]
	}
	return n
}

func (p *pipe) Transmit(pool *packet.Pool, v *packet.Vector) {
	for i := range v.N {
		p.output(pool.Arena.Memory[v.Offset[i] : v.Offset[i]+v.Length[i]])
		pool.Give(v.Index[i])
	}
}

func (p *pipe) Descriptor() int              { return -1 }
func (p *pipe) State() entry.PortState       { return entry.PortState{Up: true} }
func (p *pipe) Counters() entry.PortCounters { return entry.PortCounters{} }
func (p *pipe) Close() error                 { return nil }

// hop is a user packet on its way through the router, for a test to spoil.
type hop struct {
	downstream bool
	session    uint16 // it came from or goes to
	packet     []byte // IP, TTL already decremented
}

// router is a toy that does just what the crowd expects of a router, or what a test tells it instead.
// It keeps hardly any state: session n belongs to the n-th MAC and has address 100.64.0.0 + n.
type router struct {
	access, inet *pipe
	mac          frame.MAC
	macBase      frame.MAC
	tags         map[uint16]frame.Tags
	ended        map[uint16]bool // Terminate-Request or PADT seen
	spoil        func(h hop) []hop
	refuse       map[uint16]string // authentication
	checkSource  bool
	in, out      map[uint16]uint64 // inner IP bytes
	ipoe         bool
	toy          *toy.Router // IPv6, and all of IPoE
}

func newRouter(o *options) *router {
	r := &router{
		mac: frame.MAC{2, 0, 0, 0, 0, 0xac}, macBase: o.macBase, tags: map[uint16]frame.Tags{},
		ended: map[uint16]bool{}, refuse: map[uint16]string{}, checkSource: true,
		in: map[uint16]uint64{}, out: map[uint16]uint64{},
		spoil: func(h hop) []hop { return []hop{h} },
		ipoe:  o.kind == &ipoeKind,
	}
	r.toy = toy.New(r.mac)
	r.access, r.inet = &pipe{output: r.fromAccess}, &pipe{output: r.fromInternet}
	return r
}

func (r *router) macOf(session uint16) frame.MAC {
	return frame.MACFrom(r.macBase.Uint64() + uint64(session) - 1)
}

func addrOf(session uint16) frame.Addr {
	return frame.Addr{100, 64, byte(session >> 8), byte(session)}
}

func (r *router) fromAccess(b []byte) {
	e, _ := frame.ParseEthernet(b)
	session := uint16(e.Src.Uint64()-r.macBase.Uint64()) + 1
	r.tags[session] = e.Tags
	if r.ipoe {
		r.fromLine(session, e)
		return
	}
	p, err := frame.ParsePPPoE(e.Payload)
	if err != nil {
		return
	}
	if e.Type == frame.TypeDiscovery {
		r.discovery(session, p)
		return
	}
	protocol, information, _ := p.PPP()
	if protocol == frame.ProtocolIPv4 {
		r.upstream(session, information)
		return
	}
	if protocol == frame.ProtocolIPv6 {
		r.upstream6(session, information, frame.MAC{}, func(answer []byte) {
			r.sendSession(session, session, frame.ProtocolIPv6, answer)
		})
		return
	}
	length := int(binary.BigEndian.Uint16(information[2:]))
	r.control(session, protocol, information[0], information[1], information[4:length])
}

func (r *router) discovery(session uint16, p frame.PPPoE) {
	switch p.Code {
	case frame.CodePADI:
		r.sendDiscovery(session, frame.CodePADO, 0, p.Payload)
	case frame.CodePADR:
		r.sendDiscovery(session, frame.CodePADS, session, p.Payload)
		r.sendPPP(session, frame.ProtocolLCP, 1, 1, []byte{3, 4, 0xc0, 0x23}) // demand PAP
		r.ended[session] = false
	case frame.CodePADT:
		r.ended[session] = true
	}
}

func (r *router) sendDiscovery(session uint16, code byte, id uint16, tags []byte) {
	b := frame.AppendEthernet(nil, r.macOf(session), r.mac, r.tags[session], frame.TypeDiscovery)
	b = append(frame.AppendPPPoE(b, code, id, len(tags)), tags...)
	r.access.inbox = append(r.access.inbox, b)
}

func (r *router) sendPPP(session, protocol uint16, code, id byte, data []byte) {
	b := append([]byte{code, id, 0, byte(len(data) + 4)}, data...)
	r.sendSession(session, session, protocol, b)
}

// sendSession sends to the owner of session to, under the session id given.
func (r *router) sendSession(to, id, protocol uint16, b []byte) {
	f := frame.AppendEthernet(nil, r.macOf(to), r.mac, r.tags[to], frame.TypeSession)
	f = append(frame.AppendPPP(f, id, protocol, len(b)), b...)
	r.access.inbox = append(r.access.inbox, f)
}

func (r *router) control(session, protocol uint16, code, id byte, data []byte) {
	address := addrOf(session)
	option := append([]byte{3, 6}, address[:]...)
	switch {
	case protocol == frame.ProtocolLCP && code == 1:
		r.sendPPP(session, protocol, 2, id, data)
	case protocol == frame.ProtocolLCP && code == 5:
		r.ended[session] = true
		r.sendPPP(session, protocol, 6, id, nil)
	case protocol == frame.ProtocolPAP && r.refuse[session] != "":
		message := r.refuse[session]
		r.sendPPP(session, protocol, 3, id, append([]byte{byte(len(message))}, message...))
	case protocol == frame.ProtocolPAP:
		r.sendPPP(session, protocol, 2, id, []byte{0})
		r.sendPPP(session, frame.ProtocolIPCP, 1, 1, []byte{3, 6, 100, 64, 255, 1})
	case protocol == frame.ProtocolIPV6CP && code == 1:
		r.sendPPP(session, protocol, 2, id, data)
		r.sendPPP(session, protocol, 1, 9, append([]byte{1, 10}, 2, 0, 0, 0xff, 0xfe, 0, 0, 0xac))
	case protocol == frame.ProtocolIPCP && code == 1 && string(data[:6]) == string(option):
		r.sendPPP(session, protocol, 2, id, data)
	case protocol == frame.ProtocolIPCP && code == 1:
		r.sendPPP(session, protocol, 3, id, option)
	}
}

func (r *router) clear(session uint16) { r.sendDiscovery(session, frame.CodePADT, session, nil) }

// forwarded returns a copy with the TTL decremented.
func forwarded(b []byte) []byte {
	if six, err := frame.ParseIPv6(b); err == nil {
		six.HopLimit--
		return append(frame.AppendIPv6(nil, six, len(six.Payload)), six.Payload...)
	}
	ip, _ := frame.ParseIPv4(b)
	ip.TTL--
	return append(frame.AppendIPv4(nil, ip, len(ip.Payload)), ip.Payload...)
}

func (r *router) upstream(session uint16, b []byte) {
	ip, err := frame.ParseIPv4(b)
	if err != nil || r.checkSource && ip.Src != addrOf(session) {
		return
	}
	r.in[session] += uint64(ip.TotalBytes)
	for _, h := range r.spoil(hop{false, session, forwarded(b)}) {
		f := frame.AppendEthernet(nil, frame.MAC{2, 0x49, 0, 0, 0, 1}, r.mac, frame.Tags{}, frame.TypeIPv4)
		r.inet.inbox = append(r.inet.inbox, append(f, h.packet...))
	}
}

func (r *router) fromInternet(b []byte) {
	e, _ := frame.ParseEthernet(b)
	if a, err := frame.ParseARP(e.Payload); err == nil && e.Type == frame.TypeARP {
		f := frame.AppendEthernet(nil, a.SenderMAC, r.mac, frame.Tags{}, frame.TypeARP)
		r.inet.inbox = append(r.inet.inbox, frame.AppendARP(f, frame.ARP{
			Operation: frame.ARPReply, SenderMAC: r.mac, SenderAddr: a.TargetAddr, TargetMAC: a.SenderMAC, TargetAddr: a.SenderAddr,
		}))
		return
	}
	if e.Type == frame.TypeIPv6 {
		r.fromInternet6(e)
		return
	}
	ip, err := frame.ParseIPv4(e.Payload)
	if err != nil {
		return
	}
	r.downstream(binary.BigEndian.Uint16(ip.Dst[2:]), e.Payload)
}

func (r *router) downstream(session uint16, b []byte) {
	for _, h := range r.spoil(hop{true, session, forwarded(b)}) {
		r.out[h.session] += uint64(len(h.packet))
		r.deliver(h)
	}
}
