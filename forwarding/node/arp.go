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
	arpToOut = iota
	arpToPunt
)

const (
	arpMalformed = iota
	arpNotOurs
	arpOperation
)

// arpInput answers requests for our own addresses (RFC 826) and sends replies and announcements up to
// control. Control also gets a copy of a request whose sender it does not know yet: whoever asks for us is
// about to talk to us, and the answer must not wait for a request of our own.
func arpInput() graph.Spec {
	return graph.Spec{
		Name:    nameARP,
		Edges:   []string{arcPortOut, namePunt},
		Reasons: []string{"malformed", "not-our-address", "unknown-operation"},
		Process: arpProcess,
	}
}

func arpProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c := &w.Packets
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		a := wire.ARP(w.Head(i))
		switch {
		case !a.Valid():
			w.Drop(n, arpMalformed, slot)
		case a.Operation() == wire.ARPReply || a.Operation() == wire.ARPRequest && a.SenderIP() == a.TargetIP():
			// An announcement (RFC 5227 section 3) is news like a reply.
			c.Class[i] = uint8(entry.ClassARP)
			w.Send(n, arpToPunt, slot)
		case a.Operation() != wire.ARPRequest:
			w.Drop(n, arpOperation, slot)
		default:
			own := ownAddress(w, a, i)
			if own == nil {
				w.Drop(n, arpNotOurs, slot)
				continue
			}
			introduce(w, own, a, slot)
			answerARP(w, own.MAC, a, i)
			w.Send(n, arpToOut, slot)
		}
	}
}

// ownAddress returns the interface on which the address asked for is ours, or nil.
func ownAddress(w *graph.Worker, a wire.ARP, i uint8) *table.Interface {
	c, wanted := &w.Packets, a.TargetIP()
	if _, ours := w.Tables.Local.Find(table.LocalKey(c.Interface[i], binary.BigEndian.Uint32(wanted[:]))); !ours {
		return nil
	}
	return w.Tables.Interfaces[c.Interface[i]].Load()
}

// introduce tells control of a sender that packets to it would have to be gleaned for. That it may lose
// the copy to a policer or a full ring costs no more than the glean.
func introduce(w *graph.Worker, own *table.Interface, a wire.ARP, slot uint8) {
	vrf, sender := w.Tables.VRFs[own.VRF].Load(), a.SenderIP()
	if vrf == nil {
		return
	}
	switch vrf.FIB.Lookup(binary.BigEndian.Uint32(sender[:])).Kind() {
	case table.KindConnected, table.KindNone: // none: control is about to give the interface's route
	default:
		return
	}
	if !w.Policers.Admit(entry.ClassARP, a.SenderMAC(), w.NowNanos) {
		return
	}
	c, i := &w.Packets, slot&slotMask
	c.Class[i] = uint8(entry.ClassARP)
	w.PuntCopy(slot, describe(w, i), packet.Start(c.Index[i]), c.Offset[i])
}

// answerARP turns a request into the reply by which own has the address, in its own frame and with its tags.
func answerARP(w *graph.Worker, own entry.MAC, a wire.ARP, i uint8) {
	c := &w.Packets
	wanted, asker := a.TargetIP(), a.SenderMAC()
	wire.PutARP(a, wire.ARPReply, own, wanted, asker, a.SenderIP())
	start := packet.Start(c.Index[i])
	frame := w.Arena.Memory[start:]
	copy(frame[0:6], frame[6:12]) // to whoever sent the frame
	copy(frame[6:12], own[:])
	c.Length[i] = c.Offset[i] - start + wire.ARPLength
	c.Offset[i] = start
	c.Port[i] = w.Port.Slot
}
