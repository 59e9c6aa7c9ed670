package node

import (
	"vbng/forwarding/entry"
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
)

const localOriginToIP4 = 0

const (
	originNoVRF = iota
	originIPv6
	originNotIP
)

// localOrigin takes packets of our own host stack from a VRF's TUN: no subscriber, no TTL decrement.
func localOrigin() graph.Spec {
	return graph.Spec{
		Name:    LocalOrigin,
		Edges:   []string{nameIP4},
		Reasons: []string{"no-vrf", "ipv6-not-supported", "not-ip"},
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
		case c.Length[i] > 0 && version == 6:
			w.Drop(n, originIPv6, slot)
		case c.Length[i] == 0 || version != 4:
			w.Drop(n, originNotIP, slot)
		default:
			c.Flags[i] = packet.FlagLocalOrigin
			c.VRF[i], c.Access[i] = w.Port.VRF, 0
			w.Send(n, localOriginToIP4, slot)
		}
	}
}

const (
	localToOutput = iota
	localToPunt
)

const localNoVRF = 0

// ip4Local delivers packets for our own addresses to the VRF's TUN, or to control where there is none.
func ip4Local() graph.Spec {
	return graph.Spec{
		Name:    nameLocal,
		Edges:   []string{namePortOutput, namePunt},
		Reasons: []string{"no-vrf"},
		Process: ip4LocalProcess,
	}
}

func ip4LocalProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
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
