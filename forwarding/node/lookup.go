package node

import (
	"encoding/binary"

	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

const (
	lookupToLocal = iota
	lookupToAdjacency
	lookupToSubscriber
	lookupToError
)

const (
	lookupNoRoute = iota
	lookupDiscard
	lookupTTL
	lookupUnknown
)

// ip4Lookup finds the longest prefix in the packet's VRF and sends the packet on by its target.
func ip4Lookup() graph.Spec {
	return graph.Spec{
		Name:    nameLookup,
		Edges:   []string{nameLocal, nameAdjacency, nameSubscriber, nameICMP},
		Reasons: []string{"no-route", "discard-route", "ttl-expired", "unknown-target"},
		Process: ip4LookupProcess,
	}
}

// kindEdges says where the targets that a packet is forwarded to lead.
var kindEdges = [table.NumKinds]graph.Edge{
	table.KindConnected: lookupToAdjacency,
	table.KindNeighbor:  lookupToAdjacency,
	table.KindSession:   lookupToSubscriber,
}

// usualLookupEdge returns where packets with a target go for the most part; those of a group go to one of its neighbours.
func usualLookupEdge(t table.Target) graph.Edge {
	if t.Kind() == table.KindGroup {
		return lookupToAdjacency
	}
	return kindEdges[t.Kind()]
}

func ip4LookupProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	w.Tables.Lookup(c, l)
	if l.N == 0 {
		return
	}
	// Most packets of a vector go where its first one goes; those are passed on as one list.
	usual, kept := usualLookupEdge(table.Target(c.Target[l.Slot[0]&slotMask])), 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		kind := table.Target(c.Target[i]).Kind()
		edge := kindEdges[kind]
		if edge == lookupToLocal {
			if kind != table.KindGroup || !balance4(w, i) {
				lookupElse(w, n, kind, slot)
				continue
			}
			edge = lookupToAdjacency
		}
		b := (*[wire.IPv4Length + wire.TCPLength]byte)(memory[c.Offset[i]:])
		if c.Flags[i]&packet.FlagLocalOrigin == 0 && !decrementTTL((*[wire.IPv4Length]byte)(b[:])) {
			refuse(w, n, lookupTTL, lookupToError, faultTTL, slot)
			continue
		}
		if perhapsSYN4(b) {
			clampMSS4(w, i)
		}
		if edge != usual {
			w.Send(n, edge, slot)
			continue
		}
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Pass(n, usual, l)
}

// balance4 replaces a group by the next hop of the packet's flow; false: the group is gone.
func balance4(w *graph.Worker, i uint8) bool {
	c := &w.Packets
	g := w.Tables.HopGroups[table.Target(c.Target[i]).Index()].Load()
	if g == nil {
		return false
	}
	p := wire.IPv4(w.Head(i))
	c.Target[i] = uint32(g.Choose(table.Flow4(p, w.Tables.FlowSeed)))
	return true
}

// lookupElse ends or turns the way of packets that are not forwarded.
func lookupElse(w *graph.Worker, n *graph.Node, kind uint32, slot uint8) {
	switch kind {
	case table.KindLocal:
		w.Send(n, lookupToLocal, slot)
	case table.KindNone:
		refuse(w, n, lookupNoRoute, lookupToError, faultNoRoute, slot)
	case table.KindDrop:
		refuse(w, n, lookupDiscard, lookupToError, faultDiscard, slot)
	default:
		w.Drop(n, lookupUnknown, slot)
	}
}

// decrementTTL lowers the TTL and keeps the checksum right; false: it is used up. TTL, protocol and checksum
// are one little-endian word. RFC 1624 equation 3 is HC' = ~(~HC + ~m + m'); here ~m + m' is -256, in the
// swapped byte order -1, which is 0xFFFE in one's complement.
func decrementTTL(b *[wire.IPv4Length]byte) bool {
	word := binary.LittleEndian.Uint32(b[8:12])
	if word&0xFF <= 1 {
		return false
	}
	sum := ^word>>16 + 0xFFFE
	sum = ^(sum>>16 + sum)
	binary.LittleEndian.PutUint32(b[8:12], sum<<16|(word-1)&0xFFFF)
	return true
}
