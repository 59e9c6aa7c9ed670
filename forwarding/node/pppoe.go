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
	pppoeToIP4 = iota
	pppoeToEcho
	pppoeToPunt
)

const (
	pppoeNotEnabled = iota
	pppoeVersion
	pppoeCode
	pppoeLength
	pppoeProtocol
	pppoeIPv6
)

// pppoeInput finds the session of a frame (RFC 2516 section 6). User IP goes on, LCP to the echo node,
// all else to control.
func pppoeInput() graph.Spec {
	return graph.Spec{
		Name:  namePPPoE,
		Edges: []string{nameIP4, nameEcho, namePunt},
		Reasons: []string{
			"pppoe-not-enabled", "bad-version", "bad-code", "bad-length", "bad-protocol-field", "ipv6-not-supported",
		},
		Process: pppoeProcess,
	}
}

const pppoeHeader = wire.PPPoELength + wire.PPPProtocolLength

func pppoeProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	if !w.Port.PPPoE {
		for _, slot := range l.Slot[:l.N] {
			w.Drop(n, pppoeNotEnabled, slot)
		}
		return
	}
	pppoeHeaders(w, n, l)
	c := &w.Packets
	w.Tables.BySession.Prepare(c, l)
	w.Tables.BySession.FindAll(c, l, &c.Session)
	table.PrefetchUp(w.Tables.Sessions, &c.Session, l)
	w.Count.Prefetch(&c.Session, l)
	pppoeDispatch(w, n, l)
}

// pppoeHeaders checks the PPPoE header, strips it with the PPP protocol field, and makes the session's
// key. Bytes behind the length that the header tells are padding and are cut.
func pppoeHeaders(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		offset := c.Offset[i]
		b := (*[pppoeHeader]byte)(memory[offset:])
		length := uint32(binary.BigEndian.Uint16(b[4:6]))
		if b[0] != 0x11 || b[1] != wire.CodeSession || length < wire.PPPProtocolLength || wire.PPPoELength+length > c.Length[i] {
			w.Drop(n, badPPPoE(b, c.Length[i]), slot)
			continue
		}
		frame := (*[12]byte)(memory[packet.Start(c.Index[i]):])
		// The peer's address and the session id, as table.SessionKey packs them.
		c.KeyLow[i] = binary.BigEndian.Uint64(frame[4:12])<<16 | uint64(binary.BigEndian.Uint16(b[2:4]))
		c.Offset[i] = offset + pppoeHeader
		c.Length[i] = length - wire.PPPProtocolLength
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
}

func badPPPoE(b *[pppoeHeader]byte, length uint32) graph.Reason {
	switch {
	case length < wire.PPPoELength:
		return pppoeLength
	case b[0] != 0x11:
		return pppoeVersion
	case b[1] != wire.CodeSession:
		return pppoeCode
	}
	return pppoeLength
}

// pppoeDispatch sends the frames on by session and PPP protocol.
func pppoeDispatch(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		protocol := binary.BigEndian.Uint16(memory[c.Offset[i]-wire.PPPProtocolLength:])
		switch {
		case c.Session[i] == packet.None:
			c.Class[i] = uint8(entry.ClassPPPoEUnknown)
			w.Send(n, pppoeToPunt, slot)
		case protocol == wire.ProtocolIPv4:
			l.Slot[kept&slotMask] = slot
			kept++
		case protocol == wire.ProtocolLCP:
			w.Send(n, pppoeToEcho, slot)
		case protocol == wire.ProtocolIPv6:
			w.Drop(n, pppoeIPv6, slot)
		case protocol&0x0101 != 0x0001: // RFC 1661 section 2
			w.Drop(n, pppoeProtocol, slot)
		default:
			c.Class[i] = uint8(entry.ClassPPPControl)
			w.Send(n, pppoeToPunt, slot)
		}
	}
	l.N = kept
	w.Pass(n, pppoeToIP4, l)
}
