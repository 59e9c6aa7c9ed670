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
	pppoeToIP6
	pppoeToEcho
	pppoeToPunt
)

const (
	pppoeNotEnabled = iota
	pppoeVersion
	pppoeCode
	pppoeLength
	pppoeProtocol
	pppoeSession
)

// pppoeInput finds the session of a frame (RFC 2516 section 6). User IP goes on, LCP to the echo node,
// all else to control.
func pppoeInput() graph.Spec {
	return graph.Spec{
		Name:  namePPPoE,
		Edges: []string{nameIP4, nameIP6, nameEcho, namePunt},
		Reasons: []string{
			"pppoe-not-enabled", "bad-version", "bad-code", "bad-length", "bad-protocol-field", "bad-session-id",
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
	w.Count.Prefetch(&c.Session, l, packet.Whole)
	pppoeDispatch(w, n, l)
}

// pppoeHeaders checks the PPPoE header, strips it with the PPP protocol field, and completes the session's
// key. Bytes behind the length that the header tells are padding and are cut.
func pppoeHeaders(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		offset := c.Offset[i]
		// Version and type, code, session id, length, PPP protocol: all in one word.
		header := binary.BigEndian.Uint64((*[pppoeHeader]byte)(memory[offset:])[:])
		length := uint32(header>>16) & 0xFFFF
		if header>>48 != pppoeData || length < wire.PPPProtocolLength || wire.PPPoELength+length > c.Length[i] || header&pppoeID == 0 {
			w.Drop(n, badPPPoE(header, c.Length[i]), slot)
			continue
		}
		c.KeyLow[i] |= header >> 32 & 0xFFFF // as table.SessionKey packs them
		c.Protocol[i] = uint16(header)
		c.Offset[i] = offset + pppoeHeader
		c.Length[i] = length - wire.PPPProtocolLength
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
}

// pppoeID is the session id in the header's word. No session has 0 (RFC 2516 section 4); in the table of sessions it
// stands for IPoE.
const pppoeID = 0xFFFF << 32

// pppoeData is version 1, type 1, code "session data".
const pppoeData = 0x1100 | wire.CodeSession

func badPPPoE(header uint64, length uint32) graph.Reason {
	switch {
	case length < wire.PPPoELength:
		return pppoeLength
	case header>>56 != 0x11:
		return pppoeVersion
	case header>>48 != pppoeData:
		return pppoeCode
	case header&pppoeID == 0:
		return pppoeSession
	}
	return pppoeLength
}

// pppoeDispatch sends the frames on by session and PPP protocol, IP in the session's VRF.
func pppoeDispatch(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, sessions := &w.Packets, w.Tables.Sessions
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		session := c.Session[i]
		if c.Protocol[i] != wire.ProtocolIPv4 || session == packet.None {
			pppoeOthers(w, n, slot)
			continue
		}
		c.VRF[i] = sessions[session].Up.VRF
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Pass(n, pppoeToIP4, l)
}

// pppoeOthers ends or turns the way of what is no user IP of a known session.
func pppoeOthers(w *graph.Worker, n *graph.Node, slot uint8) {
	c, i := &w.Packets, slot&slotMask
	switch protocol := c.Protocol[i]; {
	case c.Session[i] == packet.None:
		c.Class[i] = uint8(entry.ClassPPPoEUnknown)
		w.Send(n, pppoeToPunt, slot)
	case protocol == wire.ProtocolLCP:
		w.Send(n, pppoeToEcho, slot)
	case protocol == wire.ProtocolIPv6:
		c.VRF[i] = w.Tables.Sessions[c.Session[i]].Up.VRF
		w.Send(n, pppoeToIP6, slot)
	case protocol&0x0101 != 0x0001: // RFC 1661 section 2
		w.Drop(n, pppoeProtocol, slot)
	default:
		c.Class[i] = uint8(entry.ClassPPPControl)
		w.Send(n, pppoeToPunt, slot)
	}
}
