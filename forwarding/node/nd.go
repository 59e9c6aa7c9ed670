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
	ndToOut = iota
	ndToPunt
)

const (
	ndHopLimit = iota
	ndMalformed
	ndChecksum
	ndNotOurs
)

// ndInput answers neighbour solicitations for our own addresses (RFC 4861 section 7.2.4), on interfaces and on
// subscribers' links, and sends all other neighbour discovery up to control.
func ndInput() graph.Spec {
	return graph.Spec{
		Name:    nameND,
		Edges:   []string{arcPortOut, namePunt},
		Reasons: []string{"bad-hop-limit", "malformed", "bad-checksum", "not-our-address"},
		Process: ndProcess,
	}
}

func ndProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c := &w.Packets
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		p := wire.IPv6(w.Head(i))
		m := wire.ICMPv6(p[wire.IPv6Length:])
		switch {
		case p.HopLimit() != wire.NDHopLimit: // RFC 4861 section 7.1.1: it came over a router
			w.Drop(n, ndHopLimit, slot)
		case !m.Valid() || m.Code() != 0 || uint32(len(p)) != c.Length[i]: // the last: longer than a buffer
			w.Drop(n, ndMalformed, slot)
		case !m.ChecksumOK(p.Source(), p.Destination()):
			w.Drop(n, ndChecksum, slot)
		case m.Type() != wire.ICMPv6NeighborSolicitation:
			ndUp(w, n, slot)
		case !solicitationOK(p):
			w.Drop(n, ndMalformed, slot)
		case c.Interface[i] != packet.None:
			solicitedOnInterface(w, n, slot, p)
		default:
			solicitedBySubscriber(w, n, slot, p)
		}
	}
}

// ndUp sends a message up to control.
func ndUp(w *graph.Worker, n *graph.Node, slot uint8) {
	c, i := &w.Packets, slot&slotMask
	c.Class[i] = uint8(entry.ClassSubscriberND)
	if c.Interface[i] != packet.None {
		c.Class[i] = uint8(entry.ClassND)
	}
	w.Send(n, ndToPunt, slot)
}

// solicitationOK is what RFC 4861 section 7.1.1 asks of a solicitation beside hop limit, checksum and code.
func solicitationOK(p wire.IPv6) bool {
	s := wire.Neighbor(p[wire.IPv6Length:])
	if !s.Valid() || s[8] == 0xff {
		return false
	}
	if p.Source() != [16]byte{} {
		return true
	}
	_, option := s.LinkLayer(wire.NDSourceLinkLayer)
	return !option && [13]byte(p[24:37]) == solicitedNode
}

// solicitedNode begins the addresses of ff02::1:ff00:0/104 (RFC 4291 section 2.7.1).
var solicitedNode = [13]byte{0: 0xff, 1: 0x02, 11: 0x01, 12: 0xff}

// allNodes is ff02::1.
var allNodes = [16]byte{0: 0xff, 1: 0x02, 15: 0x01}

func targetOf(p wire.IPv6) table.Address6 {
	target := wire.Neighbor(p[wire.IPv6Length:]).Target()
	return table.ReadAddress6(&target)
}

func solicitedOnInterface(w *graph.Worker, n *graph.Node, slot uint8, p wire.IPv6) {
	c, i := &w.Packets, slot&slotMask
	on := w.Tables.Interfaces[c.Interface[i]].Load()
	if on == nil || !on.Owns(targetOf(p)) {
		w.Drop(n, ndNotOurs, slot)
		return
	}
	introduce6(w, on, p, slot)
	advertise(w, i, p, on.MAC, true)
	// RFC 4861 section 7.2.4: who probes for a duplicate has no address yet, so all nodes are told.
	if p.Destination() == allNodes {
		copy(w.Arena.Memory[c.Offset[i]:], []byte{0x33, 0x33, 0, 0, 0, 1})
	}
	w.Send(n, ndToOut, slot)
}

// introduce6 tells control of a solicitor that packets to it would have to be gleaned for, as introduce does.
func introduce6(w *graph.Worker, on *table.Interface, p wire.IPv6, slot uint8) {
	c, i := &w.Packets, slot&slotMask
	vrf := w.Tables.VRFs[on.VRF].Load()
	if vrf == nil || vrf.FIB6.Lookup(table.ReadAddress6((*[16]byte)(p[8:24]))).Kind() != table.KindConnected {
		return
	}
	start := packet.Start(c.Index[i])
	if !w.Policers.Admit(entry.ClassND, puntSource(w, start), w.NowNanos) {
		return
	}
	c.Class[i] = uint8(entry.ClassND)
	w.PuntCopy(slot, describe(w, i), start, c.Offset[i])
}

// solicitedBySubscriber answers for our addresses on a session's link; anything else, as a probe for a duplicate of the
// subscriber's own, is for control to judge. The answer always goes to the one subscriber, also when its IPv6
// destination is a group (RFC 6085).
func solicitedBySubscriber(w *graph.Worker, n *graph.Node, slot uint8, p wire.IPv6) {
	c, i := &w.Packets, slot&slotMask
	if c.Session[i] == packet.None {
		ndUp(w, n, slot)
		return
	}
	s := &w.Tables.Sessions[c.Session[i]].Down
	if !s.Owns6(targetOf(p)) {
		ndUp(w, n, slot)
		return
	}
	header := c.Offset[i] - packet.Start(c.Index[i])
	advertise(w, i, p, s.OwnMAC(), s.IPoE)
	if !s.IPoE {
		length := c.Length[i] - header + wire.PPPProtocolLength
		binary.BigEndian.PutUint16(w.Arena.Memory[c.Offset[i]+header-pppoeHeader+4:], uint16(length))
	}
	w.Send(n, ndToOut, slot)
}

// advertise turns a solicitation into the advertisement, in its own frame and with its tags; option: with our
// link-layer address, which a PPP link has not.
func advertise(w *graph.Worker, i uint8, p wire.IPv6, own entry.MAC, option bool) {
	c := &w.Packets
	target, asker := wire.Neighbor(p[wire.IPv6Length:]).Target(), p.Source()
	flags, length := uint8(wire.NAFlagRouter|wire.NAFlagOverride|wire.NAFlagSolicited), wire.NeighborLength
	if asker == [16]byte{} {
		asker, flags = allNodes, wire.NAFlagRouter|wire.NAFlagOverride
	}
	start, offset := packet.Start(c.Index[i]), c.Offset[i]
	b := w.Arena.Memory[offset : offset+wire.IPv6Length+wire.NeighborLength+wire.NDLinkLayerLength]
	wire.PutNeighborAdvertisement(b[wire.IPv6Length:], flags, target)
	if option {
		length += wire.PutLinkLayer(b[wire.IPv6Length+wire.NeighborLength:], wire.NDTargetLinkLayer, own)
	}
	wire.PutIPv6(b, target, asker, wire.NextICMPv6, wire.NDHopLimit, length)
	wire.ICMPv6(b[wire.IPv6Length:wire.IPv6Length+length]).PutChecksum(target, asker)
	frame := w.Arena.Memory[start:]
	copy(frame[0:6], frame[6:12]) // to whoever sent the frame
	copy(frame[6:12], own[:])
	c.Offset[i], c.Length[i] = start, offset-start+wire.IPv6Length+uint32(length)
	c.Port[i] = w.Port.Slot
}
