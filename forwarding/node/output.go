package node

import (
	"encoding/binary"

	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

const (
	subscriberToOut   = iota
	subscriberToError // as tooLong wants them
)

const subscriberMTU = 0

// subscriberOutput writes the header of the subscriber's session, PPPoE (RFC 2516 section 6) or plain Ethernet, and
// counts what the subscriber gets: inner IP packets and bytes.
func subscriberOutput() graph.Spec {
	return graph.Spec{
		Name:    nameSubscriber,
		Edges:   []string{arcPortOut, nameICMP, nameICMP6, nameFragment},
		Reasons: []string{"mtu-exceeded"},
		Process: subscriberOutputProcess,
	}
}

func subscriberOutputProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory, sessions, count := &w.Packets, w.Arena.Memory, w.Tables.Sessions, counters(w)
	table.PrefetchDown(sessions, &c.Target, l)
	count.Prefetch(&c.Target, l, table.MaxIndex)
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		session := table.Target(c.Target[i]).Index()
		s := &sessions[session].Down
		length := c.Length[i]
		if length > uint32(s.MTU) {
			tooLong(w, n, subscriberMTU, subscriberToError, uint32(s.MTU), slot)
			continue
		}
		count.Output(session, length)
		offset := c.Offset[i]
		header := (*[table.EncapBytes]byte)(memory[offset-table.EncapBytes:])
		*header = s.Encap
		if !s.IPoE {
			binary.BigEndian.PutUint16(header[table.EncapBytes-4:], uint16(length)+wire.PPPProtocolLength)
		}
		if c.Flags[i]&packet.FlagIPv6 != 0 {
			binary.BigEndian.PutUint16(header[table.EncapBytes-2:], s.Protocol6())
		}
		c.Offset[i] = offset - uint32(s.EncapLength)
		c.Length[i] = length + uint32(s.EncapLength)
		c.Port[i] = s.Port
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Pass(n, subscriberToOut, l)
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
	w.Transmit(n, portClosed, l)
}
