package node

import (
	"encoding/binary"

	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/wire"
)

// icmpErrors are type and code by fault. That a discard route is answered with host unreachable follows RFC 1812
// section 5.2.7.1: there is a route to the network, but not to this host.
var icmpErrors = [numFaults][2]uint8{
	faultTTL:        {wire.ICMPTimeExceeded, 0},
	faultNoRoute:    {wire.ICMPUnreachable, wire.ICMPNetUnreachable},
	faultDiscard:    {wire.ICMPUnreachable, wire.ICMPHostUnreachable},
	faultUnresolved: {wire.ICMPUnreachable, wire.ICMPHostUnreachable},
	faultTooBig:     {wire.ICMPUnreachable, wire.ICMPFragmentationNeeded},
}

const (
	errorTTL = 64
	// icmpErrorBytes is the longest ICMP error, its IP header included (RFC 1812 section 4.3.2.3).
	icmpErrorBytes = 576
	icmpHeaders    = wire.IPv4Length + wire.ICMPLength
	// precedenceControl and tosMask make its TOS byte (RFC 1812 section 4.3.2.5): precedence 6, and the packet's own
	// TOS bits but for those that are ECN's now (RFC 3168).
	precedenceControl = 0xC0
	tosMask           = 0x1C
)

// icmpError turns packets that cannot be forwarded into the ICMP errors about them (RFC 792, RFC 1812 section 4.3.2),
// which go back by a lookup in the packet's VRF. The loss itself was counted where it was found.
func icmpError(limit *errorLimit) graph.Spec {
	e := &icmpErrorNode{limit: limit}
	return graph.Spec{Name: nameICMP, Reasons: errorReasons, Process: e.process}
}

type icmpErrorNode struct {
	limit          *errorLimit
	identification uint16
}

func (e *icmpErrorNode) process(w *graph.Worker, n *graph.Node, l *packet.List) {
	c := &w.Packets
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		p := wire.IPv4(w.Head(i))
		if reason, ok := answerable4(c, i, p); !ok {
			w.Drop(n, reason, slot)
			continue
		}
		source := errorSource4(w, i)
		if source == 0 {
			w.Drop(n, errorNoSource, slot)
			continue
		}
		if w.MadeRoom() == 0 {
			w.Drop(n, errorQueueFull, slot)
			continue
		}
		if reason, ok := e.limit.admit(c.Session[i], uint64(c.Source[i]>>8), w.NowNanos); !ok {
			w.Drop(n, reason, slot)
			continue
		}
		f := fault(c.Class[i]) % numFaults
		w.Tally(n, sentReasons[f])
		w.Remake(slot, c.Offset[i]-icmpHeaders, e.write(w, i, f, p, source))
	}
}

// write writes the error in front of the packet, as much of which is quoted as may be, and returns its length.
func (e *icmpErrorNode) write(w *graph.Worker, i uint8, f fault, p wire.IPv4, source uint32) uint32 {
	c := &w.Packets
	quote := min(len(p), icmpErrorBytes-icmpHeaders)
	start := c.Offset[i] - icmpHeaders
	b := w.Arena.Memory[start : start+icmpHeaders+uint32(quote)]
	mtu := uint16(0)
	if f == faultTooBig {
		mtu = c.Protocol[i]
	}
	wire.PutICMPError(b[wire.IPv4Length:], icmpErrors[f][0], icmpErrors[f][1], mtu, quote)
	var from [4]byte
	binary.BigEndian.PutUint32(from[:], source)
	e.identification++
	wire.PutIPv4(b, from, p.Source(), wire.IPProtocolICMP, errorTTL, e.identification, wire.ICMPLength+quote)
	wire.IPv4(b).SetTOS(precedenceControl | p.TOS()&tosMask)
	return uint32(len(b))
}
