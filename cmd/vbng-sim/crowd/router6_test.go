package crowd

import (
	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/host6"
	"vbng/cmd/vbng-sim/ipoe"
	"vbng/cmd/vbng-sim/toy"
)

// fromLine takes a frame of an IPoE subscriber.
func (r *router) fromLine(session uint16, e frame.Ethernet) {
	if packet, _, user := ipoe.UserPacket(e); user && e.Type == frame.TypeIPv4 && e.Dst == r.mac {
		if ip, _ := frame.ParseIPv4(packet); ip.Src == toy.Addr(session) && len(ip.Payload) > 3 && ip.Payload[3] != 67 {
			r.upstream(session, packet)
			return
		}
	}
	if e.Type == frame.TypeIPv6 && e.Dst == r.mac {
		r.upstream6(session, e.Payload, e.Src, func(answer []byte) {
			f := frame.AppendEthernet(nil, e.Src, r.mac, e.Tags, frame.TypeIPv6)
			r.access.inbox = append(r.access.inbox, append(f, answer...))
		})
		return
	}
	r.access.inbox = append(r.access.inbox, r.toy.IPoE(session, e)...)
}

// upstream6 takes an IPv6 packet of a subscriber.
func (r *router) upstream6(session uint16, b []byte, link frame.MAC, answer func([]byte)) {
	p, err := frame.ParseIPv6(b)
	if err != nil {
		return
	}
	port := byte(0)
	if len(p.Payload) > 3 {
		port = p.Payload[3]
	}
	if host6.IsControl(p) || p.Dst.IsMulticast() || p.NextHeader == frame.UDP && p.Payload[2] == 2 && port == 0x23 {
		for _, a := range r.toy.IPv6(session, p, link) {
			answer(a)
		}
		return
	}
	if r.checkSource && toy.Number(p.Src) != session {
		return
	}
	r.in[session] += uint64(p.TotalBytes)
	for _, h := range r.spoil(hop{false, session, forwarded(b)}) {
		f := frame.AppendEthernet(nil, frame.MAC{2, 0x49, 0, 0, 0, 1}, r.mac, frame.Tags{}, frame.TypeIPv6)
		r.inet.inbox = append(r.inet.inbox, append(f, h.packet...))
	}
}

// fromInternet6 takes an IPv6 frame of the host behind the router.
func (r *router) fromInternet6(e frame.Ethernet) {
	p, err := frame.ParseIPv6(e.Payload)
	if err != nil {
		return
	}
	if !p.IsDiscovery() {
		r.downstream(toy.Number(p.Dst), e.Payload)
		return
	}
	_, body, _ := frame.ParseICMP6(p)
	if n, err := frame.ParseNeighbor(body); err == nil {
		f := frame.AppendEthernet(nil, e.Src, r.mac, frame.Tags{}, frame.TypeIPv6)
		r.inet.inbox = append(r.inet.inbox, append(f, frame.NeighborAdvertisement(p.Src, n.Target, r.mac)...))
	}
}

// deliver sends a packet down the line of a subscriber.
func (r *router) deliver(h hop) {
	ipv6 := h.packet[0]>>4 == 6
	switch {
	case r.ipoe && ipv6:
		r.access.inbox = append(r.access.inbox, append(r.lineHeader(h.session, frame.TypeIPv6), h.packet...))
	case r.ipoe:
		r.access.inbox = append(r.access.inbox, append(r.lineHeader(h.session, frame.TypeIPv4), h.packet...))
	case ipv6:
		r.sendSession(h.session, h.session, frame.ProtocolIPv6, h.packet)
	default:
		r.sendSession(h.session, h.session, frame.ProtocolIPv4, h.packet)
	}
}

func (r *router) lineHeader(session, ethertype uint16) []byte {
	return frame.AppendEthernet(nil, r.macOf(session), r.mac, r.tags[session], ethertype)
}
