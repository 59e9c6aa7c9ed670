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
	adjacencyToOut = iota
	adjacencyToPunt
	adjacencyToError  // IPv4
	adjacencyToError6 // must be next
)

const (
	adjacencyMissing = iota
	adjacencyUnresolved
	adjacencyMTU
)

// adjacency writes the Ethernet header of the next hop. For one that is not resolved it sends the packet
// up to control at most once per second.
func adjacency() graph.Spec {
	a := &adjacencyNode{}
	return graph.Spec{
		Name:    nameAdjacency,
		Edges:   []string{arcPortOut, namePunt, nameICMP, nameICMP6, nameFragment},
		Reasons: []string{"no-adjacency", "unresolved", "mtu-exceeded"},
		Process: a.process,
	}
}

type adjacencyNode struct{ gleans gleans }

func (a *adjacencyNode) process(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory, adjacencies := &w.Packets, w.Arena.Memory, w.Tables.Adjacencies
	kept := 0
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		target := table.Target(c.Target[i])
		if target.Kind() != table.KindNeighbor {
			a.glean(w, n, slot, target.Index(), gleanKey(c, i, target.Index()))
			continue
		}
		next := adjacencies[target.Index()].Load()
		if next == nil || !next.Resolved || c.Length[i] > next.MTU {
			a.unfit(w, n, slot, next)
			continue
		}
		offset := c.Offset[i]
		header := (*[table.AdjacencyBytes]byte)(memory[offset-table.AdjacencyBytes:])
		*header = next.Header
		if c.Flags[i]&packet.FlagIPv6 != 0 {
			binary.BigEndian.PutUint16(header[table.AdjacencyBytes-2:], wire.TypeIPv6)
		}
		c.Offset[i] = offset - next.HeaderLength
		c.Length[i] += next.HeaderLength
		c.Port[i] = next.Port
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Pass(n, adjacencyToOut, l)
}

// unfit ends or turns the way of a packet that cannot go to its next hop.
func (a *adjacencyNode) unfit(w *graph.Worker, n *graph.Node, slot uint8, next *table.Adjacency) {
	switch {
	case next == nil:
		w.Drop(n, adjacencyMissing, slot)
	case !next.Resolved:
		a.glean(w, n, slot, next.Interface, next.Glean)
	default:
		tooLong(w, n, adjacencyMTU, adjacencyToError, next.MTU, slot)
	}
}

// familyEdge is 0 for IPv4 and 1 for IPv6.
func familyEdge(w *graph.Worker, slot uint8) graph.Edge {
	if w.Packets.Flags[slot&slotMask]&packet.FlagIPv6 != 0 {
		return 1
	}
	return 0
}

// gleanKey is the key of the neighbour that a packet to a connected network is for.
func gleanKey(c *packet.Columns, i uint8, interfaceSlot uint32) uint64 {
	if c.Flags[i]&packet.FlagIPv6 != 0 {
		return table.GleanKey6(interfaceSlot, table.Address6{High: c.DestHigh[i], Low: c.DestLow[i]})
	}
	return table.GleanKey4(interfaceSlot, c.Dest[i])
}

// glean asks control to resolve a neighbour on an interface. Once that has been tried for a while in vain, senders are
// told (RFC 1812 section 5.2.7.1, RFC 4861 section 7.2.2).
func (a *adjacencyNode) glean(w *graph.Worker, n *graph.Node, slot uint8, interfaceSlot uint32, key uint64) {
	due, silent := a.gleans.ask(key, w.NowNanos)
	c, i := &w.Packets, slot&slotMask
	if due {
		c.Interface[i], interfaceSlot = interfaceSlot, c.Interface[i]
		c.Class[i] = uint8(entry.ClassGlean)
		if !silent {
			w.Send(n, adjacencyToPunt, slot)
			return
		}
		start := frameStart(w, i)
		if w.Policers.Admit(entry.ClassGlean, puntSource(w, start), w.NowNanos) {
			w.PuntCopy(slot, describe(w, i), start, c.Offset[i])
		}
		c.Interface[i] = interfaceSlot // where the packet came from
	}
	if silent {
		refuse(w, n, adjacencyUnresolved, adjacencyToError+familyEdge(w, slot), faultUnresolved, slot)
		return
	}
	w.Drop(n, adjacencyUnresolved, slot)
}

const (
	gleanIntervalNanos = 1e9
	// gleanSilentNanos is how long control may try before senders are told: it asks three times, once a second.
	gleanSilentNanos = 3e9
	// gleanForgetNanos without packets end a search.
	gleanForgetNanos = 10e9
	gleanSets        = 256 // a power of two
	gleanWays        = 4
)

// gleans remembers whom control was asked to resolve lately. When more neighbours than fit are looked for at once,
// some wait for the next second.
type gleans [gleanSets][gleanWays]struct {
	key        uint64
	firstNanos int64 // of this search
	lastNanos  int64 // when control was asked
}

// ask reports whether control is to be asked again, and whether it has been in vain for long.
func (g *gleans) ask(key uint64, nowNanos int64) (due, silent bool) {
	set := &g[key*0x9E3779B97F4A7C15>>56&(gleanSets-1)]
	oldest := 0
	for i := range set {
		if set[i].key == key {
			oldest = i
			break
		}
		if set[i].lastNanos < set[oldest].lastNanos {
			oldest = i
		}
	}
	e := &set[oldest]
	if e.key == 0 || nowNanos-e.lastNanos >= gleanIntervalNanos {
		if e.key != key || nowNanos-e.lastNanos >= gleanForgetNanos {
			e.key, e.firstNanos = key, nowNanos
		}
		e.lastNanos, due = nowNanos, true
	}
	return due, e.key == key && nowNanos-e.firstNanos >= gleanSilentNanos
}
