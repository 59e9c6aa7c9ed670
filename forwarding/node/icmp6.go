package node

import (
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

// icmp6Errors are type and code by fault (RFC 4443 section 3).
var icmp6Errors = [numFaults][2]uint8{
	faultTTL:        {wire.ICMPv6TimeExceeded, 0},
	faultNoRoute:    {wire.ICMPv6Unreachable, wire.ICMPv6NoRoute},
	faultDiscard:    {wire.ICMPv6Unreachable, wire.ICMPv6RejectRoute},
	faultUnresolved: {wire.ICMPv6Unreachable, wire.ICMPv6AddressUnreachable},
	faultTooBig:     {wire.ICMPv6PacketTooBig, 0},
}

const (
	// icmp6ErrorBytes is the longest ICMPv6 error: the least MTU of a link (RFC 4443 section 2.4 c).
	icmp6ErrorBytes = 1280
	icmp6Headers    = wire.IPv6Length + wire.ICMPv6Length
)

// icmp6Error is icmpError for IPv6 (RFC 4443).
func icmp6Error(limit *errorLimit) graph.Spec {
	e := &icmp6ErrorNode{limit: limit}
	return graph.Spec{Name: nameICMP6, Reasons: errorReasons, Process: e.process}
}

type icmp6ErrorNode struct{ limit *errorLimit }

func (e *icmp6ErrorNode) process(w *graph.Worker, n *graph.Node, l *packet.List) {
	c := &w.Packets
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		p := wire.IPv6(w.Head(i))
		if reason, ok := answerable6(c, i, p); !ok {
			w.Drop(n, reason, slot)
			continue
		}
		source := errorSource6(w, i)
		if source.Unspecified() {
			w.Drop(n, errorNoSource, slot)
			continue
		}
		if w.MadeRoom() == 0 {
			w.Drop(n, errorQueueFull, slot)
			continue
		}
		sender := table.ReadAddress6((*[16]byte)(p[8:24]))
		if reason, ok := e.limit.admit(c.Session[i], sender.High, w.NowNanos); !ok {
			w.Drop(n, reason, slot)
			continue
		}
		f := fault(c.Class[i]) % numFaults
		w.Tally(n, sentReasons[f])
		w.Remake(slot, c.Offset[i]-icmp6Headers, writeICMP6(w, i, f, p, source))
	}
}

func writeICMP6(w *graph.Worker, i uint8, f fault, p wire.IPv6, source table.Address6) uint32 {
	c := &w.Packets
	quote := min(len(p), icmp6ErrorBytes-icmp6Headers)
	start := c.Offset[i] - icmp6Headers
	b := w.Arena.Memory[start : start+icmp6Headers+uint32(quote)]
	mtu := uint32(0)
	if f == faultTooBig {
		mtu = uint32(c.Protocol[i])
	}
	from, to := source.Bytes(), p.Source()
	wire.PutICMPv6Error(b[wire.IPv6Length:], from, to, icmp6Errors[f][0], icmp6Errors[f][1], mtu, quote)
	wire.PutIPv6(b, from, to, wire.NextICMPv6, errorTTL, wire.ICMPv6Length+quote)
	wire.IPv6(b).SetTrafficClass(precedenceControl)
	return uint32(len(b))
}
