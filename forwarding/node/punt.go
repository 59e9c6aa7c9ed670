package node

import (
	"vbng/forwarding/entry"
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

// puntReasons are the policers' refusals, in the order of the classes, which begin with 1; then a full
// ring.
var puntReasons = []string{
	"policed-pppoe-discovery", "policed-ppp-control", "policed-pppoe-unknown", "policed-arp",
	"policed-glean", "policed-local", "policed-nd", "policed-subscriber-nd", "policed-dhcpv4", "policed-dhcpv6",
	"policed-capture", "ring-full",
}

const puntRingFull = graph.Reason(entry.NumClasses - 1)

// puntNode copies frames into the ring to control, as far as the policers let it.
func puntNode() graph.Spec {
	return graph.Spec{Name: namePunt, Reasons: puntReasons, Process: puntProcess}
}

func puntProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c := &w.Packets
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		class := entry.Class(c.Class[i])
		start := frameStart(w, i)
		if !w.Policers.Admit(class, puntSource(w, start), w.NowNanos) {
			w.Drop(n, graph.Reason(class-1), slot)
			continue
		}
		if !w.Punt(slot, describe(w, i), start, puntPayload(w, class, i, start)) {
			w.Drop(n, puntRingFull, slot)
		}
	}
}

// frameStart is where a frame begins: where it was received, but for what has no Ethernet header, and may have been
// made in front of that place.
func frameStart(w *graph.Worker, i uint8) uint32 {
	if w.Port.L3 {
		return w.Packets.Offset[i]
	}
	return packet.Start(w.Packets.Index[i])
}

// puntSource is the sender's address; our own host stack has none.
func puntSource(w *graph.Worker, start uint32) (source entry.MAC) {
	if !w.Port.L3 {
		copy(source[:], w.Arena.Memory[start+6:])
	}
	return source
}

// describe says what is known of a packet, but for the port and the bytes.
func describe(w *graph.Worker, i uint8) entry.Punt {
	c := &w.Packets
	access := table.Access(c.Access[i])
	p := entry.Punt{
		Class:     entry.Class(c.Class[i]),
		OuterTPID: access.OuterTPID(), OuterVLAN: access.OuterVLAN(), InnerVLAN: access.InnerVLAN(),
	}
	if c.Session[i] != packet.None {
		p.Session = entry.SessionID(w.Tables.Sessions[c.Session[i]].Up.ID)
	}
	if c.Interface[i] != packet.None {
		if known := w.Tables.Interfaces[c.Interface[i]].Load(); known != nil {
			p.Interface = known.ID
		}
	}
	return p
}

// puntPayload is where the receiver begins to read: at the IP header if it is the packet that matters,
// else behind the tags.
func puntPayload(w *graph.Worker, class entry.Class, i uint8, start uint32) uint32 {
	c := &w.Packets
	if class == entry.ClassGlean || class == entry.ClassLocal {
		return c.Offset[i]
	}
	// Not from Access: a priority tag belongs to no VLAN, but it is there.
	t, _ := wire.ReadTags(w.Arena.Head(c.Index[i], start, c.Offset[i]+c.Length[i]-start))
	return start + uint32(t.Offset)
}
