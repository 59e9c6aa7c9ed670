package node

import (
	"vbng/forwarding/entry"
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
)

const (
	localOriginToIP4 = iota
	localOriginToIP6
)

const (
	originNoVRF = iota
	originNotIP
)

// localOrigin takes packets of our own host stack from a VRF's TUN: no subscriber, no TTL decrement.
func localOrigin() graph.Spec {
	return graph.Spec{
		Name:    LocalOrigin,
		Edges:   []string{nameIP4, nameIP6},
		Reasons: []string{"no-vrf", "not-ip"},
		Process: localOriginProcess,
	}
}

func localOriginProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	c.Session, c.Interface = noneColumn, noneColumn
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		version := memory[c.Offset[i]] >> 4
		switch {
		case w.Port.VRF == packet.None:
			w.Drop(n, originNoVRF, slot)
		case c.Length[i] == 0 || version != 4 && version != 6:
			w.Drop(n, originNotIP, slot)
		default:
			c.Flags[i] = packet.FlagLocalOrigin
			c.VRF[i], c.Access[i] = w.Port.VRF, 0
			w.Send(n, originEdge(version), slot)
		}
	}
}

func originEdge(version byte) graph.Edge {
	if version == 6 {
		return localOriginToIP6
	}
	return localOriginToIP4
}

const (
	localToOutput = iota
	localToPunt
)

const localNoVRF = 0

// ipLocal delivers packets for our own addresses to the VRF's TUN, or to control where there is none.
func ipLocal(name string) graph.Spec {
	return graph.Spec{
		Name:    name,
		Edges:   []string{namePortOutput, namePunt},
		Reasons: []string{"no-vrf"},
		Process: ipLocalProcess,
	}
}

func ipLocalProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c := &w.Packets
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		v := w.Tables.VRFs[c.VRF[i]].Load()
		switch {
		case v == nil:
			w.Drop(n, localNoVRF, slot)
		case v.TUN == packet.None:
			c.Class[i] = uint8(entry.ClassLocal)
			w.Send(n, localToPunt, slot)
		default:
			c.Port[i] = v.TUN
			w.Send(n, localToOutput, slot)
		}
	}
}
