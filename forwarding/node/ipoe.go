package node

import (
	"encoding/binary"

	"vbng/forwarding/entry"
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

const (
	ipoeToIP4 = iota
	ipoeToIP6
	ipoeToOut
	ipoeToPunt
)

const (
	ipoeStranger = iota
	ipoeMulticast
	ipoeBadARP
	ipoeARPNotAnswered
)

// ipoeInput finds the session of a frame without PPPoE, by the same key with session id 0. IP of known sessions goes
// on, DHCPv4 to control, ARP requests are answered. IPv6 of strangers goes on as well: ip6-input lets nothing of theirs
// pass but what is for control.
func ipoeInput() graph.Spec {
	return graph.Spec{
		Name:    nameIPoE,
		Edges:   []string{nameIP4, nameIP6, arcPortOut, namePunt},
		Reasons: []string{"unknown-subscriber", "multicast", "malformed-arp", "arp-not-answered"},
		Process: ipoeProcess,
	}
}

func ipoeProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, sessions := &w.Packets, w.Tables.Sessions
	w.Tables.BySession.Prepare(c, l)
	w.Tables.BySession.FindAll(c, l, &c.Session)
	table.PrefetchUp(sessions, &c.Session, l)
	w.Count.Prefetch(&c.Session, l, packet.Whole)
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		session := c.Session[i]
		if c.Protocol[i] != wire.TypeIPv4 || session == packet.None || c.Flags[i]&packet.FlagGroup != 0 ||
			toDHCPServer(w.Head(i)) {
			ipoeOthers(w, n, slot)
			continue
		}
		c.VRF[i] = sessions[session].Up.VRF
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Pass(n, ipoeToIP4, l)
}

const portDHCPv4Server = 67 // RFC 2131 section 4.1

// toDHCPServer reports an IPv4 packet to UDP port 67, whatever its address: a client renews by unicast (RFC 2131
// section 4.3.6). Only a first fragment has ports.
func toDHCPServer(p wire.IPv4) bool {
	if len(p) < wire.IPv4Length+wire.UDPLength || p.Protocol() != wire.IPProtocolUDP || p[0]>>4 != 4 {
		return false
	}
	header := p.HeaderLength()
	return header >= wire.IPv4Length && header+4 <= len(p) && binary.BigEndian.Uint16(p[6:8])&0x1FFF == 0 &&
		binary.BigEndian.Uint16(p[header+2:]) == portDHCPv4Server
}

// ipoeOthers ends or turns the way of what is no unicast IPv4 of a known session.
func ipoeOthers(w *graph.Worker, n *graph.Node, slot uint8) {
	c, i := &w.Packets, slot&slotMask
	session := c.Session[i]
	switch {
	case c.Protocol[i] == wire.TypeARP:
		ipoeARP(w, n, slot)
	case c.Protocol[i] == wire.TypeIPv6:
		c.VRF[i] = 0
		if session != packet.None {
			c.VRF[i] = w.Tables.Sessions[session].Up.VRF
		}
		w.Send(n, ipoeToIP6, slot)
	case toDHCPServer(w.Head(i)):
		c.Class[i] = uint8(entry.ClassDHCPv4)
		w.Send(n, ipoeToPunt, slot)
	case session == packet.None:
		w.Drop(n, ipoeStranger, slot)
	default:
		w.Drop(n, ipoeMulticast, slot)
	}
}

// ipoeARP answers a known subscriber's requests for every address but its own: whom it looks for it reaches through us
// only, also a neighbour on its own line (local proxy ARP). Before the session has an address nothing is answered, for
// the client may be probing the one that it was just offered (RFC 5227 section 2.1.1).
func ipoeARP(w *graph.Worker, n *graph.Node, slot uint8) {
	c, i := &w.Packets, slot&slotMask
	a := wire.ARP(w.Head(i))
	if c.Session[i] == packet.None {
		w.Drop(n, ipoeStranger, slot)
		return
	}
	s := &w.Tables.Sessions[c.Session[i]]
	switch {
	case !a.Valid():
		w.Drop(n, ipoeBadARP, slot)
	case a.Operation() != wire.ARPRequest || a.SenderIP() == a.TargetIP() || !proxied(s, a):
		w.Drop(n, ipoeARPNotAnswered, slot)
	default:
		answerARP(w, s.Down.OwnMAC(), a, i)
		w.Send(n, ipoeToOut, slot)
	}
}

func proxied(s *table.Session, a wire.ARP) bool {
	target := a.TargetIP()
	return s.Up.Flags&table.SessionIPv4 != 0 && binary.BigEndian.Uint32(target[:]) != s.Up.IPv4
}
