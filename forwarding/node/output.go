package node

import (
	"encoding/binary"

	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

const pppoeMTU = 0

// pppoeOutput writes the header of the subscriber's session (RFC 2516 section 6) and counts what the
// subscriber gets: inner IP packets and bytes.
func pppoeOutput() graph.Spec {
	return graph.Spec{
		Name:    namePPPoEOut,
		Edges:   []string{arcPortOut},
		Reasons: []string{"mtu-exceeded"},
		Process: pppoeOutputProcess,
	}
}

func pppoeOutputProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		c.Target[i] = table.Target(c.Target[i]).Index()
	}
	table.PrefetchDown(w.Tables.Sessions, &c.Target, l)
	w.Count.Prefetch(&c.Target, l)
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		session := c.Target[i]
		s := &w.Tables.Sessions[session].Down
		length := c.Length[i]
		if length > uint32(s.MTU) {
			w.Drop(n, pppoeMTU, slot)
			continue
		}
		w.Count.Output(session, length)
		offset := c.Offset[i]
		header := (*[table.EncapBytes]byte)(memory[offset-table.EncapBytes:])
		*header = s.Encap
		binary.BigEndian.PutUint16(header[table.EncapBytes-4:], uint16(length)+wire.PPPProtocolLength)
		c.Offset[i] = offset - uint32(s.EncapLength)
		c.Length[i] = length + uint32(s.EncapLength)
		c.Port[i] = s.Port
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Pass(n, 0, l)
}

const portClosed = 0

// portOutput hands frames to the ports they leave by.
func portOutput() graph.Spec {
	return graph.Spec{
		Name:    namePortOutput,
		Reasons: []string{"port-not-open"},
		Process: portOutputProcess,
	}
}

func portOutputProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c := &w.Packets
	for _, slot := range l.Slot[:l.N] {
		p := w.Ports[c.Port[slot&slotMask]]
		if p == nil {
			w.Drop(n, portClosed, slot)
			continue
		}
		w.Transmit(p, slot)
	}
}
