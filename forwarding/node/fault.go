package node

import (
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

// fault is what is wrong with a packet whose sender is to be told. It travels in the Class column to the node that
// makes the error.
type fault uint8

const (
	faultTTL        fault = iota // TTL or hop limit used up
	faultNoRoute                 // not even a default route
	faultDiscard                 // a route that discards
	faultUnresolved              // a neighbour that does not answer
	faultTooBig                  // longer than what fits towards the next hop, which stands in the Protocol column
	numFaults
)

// Reasons of the nodes that make errors: first what was sent, then why nothing was.
const (
	errorSentTime = iota
	errorSentUnreachable
	errorSentTooBig
	errorAboutError
	errorNotAnswerable
	errorNoSource
	errorLimited
	errorSourceLimited
	errorQueueFull
)

var errorReasons = []string{
	"sent-time-exceeded", "sent-unreachable", "sent-too-big",
	"about-error", "not-answerable", "no-source", "rate-limited", "source-rate-limited", "queue-full",
}

// sentReasons says how an error is counted.
var sentReasons = [numFaults]graph.Reason{errorSentTime, errorSentUnreachable, errorSentUnreachable, errorSentUnreachable, errorSentTooBig}

// refuse counts why a packet is dropped and has its sender told of the fault; the edge leads to the node of the
// packet's family.
func refuse(w *graph.Worker, n *graph.Node, r graph.Reason, e graph.Edge, f fault, slot uint8) {
	w.Packets.Class[slot&slotMask] = uint8(f)
	w.Refuse(n, r, e, slot)
}

// tooLong turns the way of a packet longer than what fits, in bytes of IP packet: IPv4 is cut into fragments unless it
// says not to (RFC 791 section 3.2, RFC 1191 section 4), all else is refused. The edges lead to icmp-error,
// icmp6-error and ip4-fragment, in this order.
func tooLong(w *graph.Worker, n *graph.Node, r graph.Reason, e graph.Edge, mtu uint32, slot uint8) {
	switch {
	case w.Packets.Flags[slot&slotMask]&packet.FlagIPv6 != 0:
		tooBig(w, n, r, e+1, mtu, slot)
	case wire.IPv4(w.Head(slot)).DontFragment():
		tooBig(w, n, r, e, mtu, slot)
	default:
		w.Packets.Protocol[slot&slotMask] = uint16(min(mtu, 1<<16-1))
		w.Send(n, e+2, slot)
	}
}

// tooBig has the sender told that a packet is longer than what fits, in bytes of IP packet.
func tooBig(w *graph.Worker, n *graph.Node, r graph.Reason, e graph.Edge, mtu uint32, slot uint8) {
	w.Packets.Protocol[slot&slotMask] = uint16(min(mtu, 1<<16-1))
	refuse(w, n, r, e, faultTooBig, slot)
}

// errorSource4 is who speaks to the sender of a packet: our address on the interface, or on the subscriber's line, that
// received it (RFC 1812 section 4.3.2.4), 0 if we have none. Our own host stack is told as if by the destination: an
// address of its own as source it would not believe.
func errorSource4(w *graph.Worker, i uint8) uint32 {
	c := &w.Packets
	switch {
	case c.Session[i] != packet.None:
		return w.Tables.Sessions[c.Session[i]].Up.Gateway4
	case c.Interface[i] != packet.None && c.Flags[i]&packet.FlagLocalOrigin == 0:
		if on := w.Tables.Interfaces[c.Interface[i]].Load(); on != nil {
			return on.Source4
		}
	case c.Flags[i]&packet.FlagMade == 0:
		return c.Dest[i]
	}
	return 0
}

// errorSource6 is errorSource4 for IPv6 (RFC 4443 section 2.2).
func errorSource6(w *graph.Worker, i uint8) table.Address6 {
	c := &w.Packets
	switch {
	case c.Session[i] != packet.None:
		return w.Tables.Sessions[c.Session[i]].Down.Gateway6
	case c.Interface[i] != packet.None && c.Flags[i]&packet.FlagLocalOrigin == 0:
		if on := w.Tables.Interfaces[c.Interface[i]].Load(); on != nil {
			return on.Source6
		}
	case c.Flags[i]&packet.FlagMade == 0:
		return table.Address6{High: c.DestHigh[i], Low: c.DestLow[i]}
	}
	return table.Address6{}
}

// answerable4 judges whether an error may be sent about an IPv4 packet at all (RFC 1812 section 4.3.2.7). Martian
// sources and destinations did not come here.
func answerable4(c *packet.Columns, i uint8, p wire.IPv4) (graph.Reason, bool) {
	switch header := p.HeaderLength(); {
	case c.Flags[i]&packet.FlagGroup != 0, p.FragmentOffset() != 0:
		return errorNotAnswerable, false
	case p.Protocol() == wire.IPProtocolICMP && (header >= len(p) || wire.ICMPIsError(p[header])):
		return errorAboutError, false
	}
	return 0, true
}

// answerable6 is answerable4 for IPv6 (RFC 4443 section 2.4 e). A link-local sender is on a link that the error's way
// back, by a lookup, does not know.
func answerable6(c *packet.Columns, i uint8, p wire.IPv6) (graph.Reason, bool) {
	protocol, offset, fragmentOffset, whole := p.Upper()
	switch {
	case c.Flags[i]&(packet.FlagGroup|packet.FlagLinkScope) != 0, fragmentOffset != 0, !whole:
		return errorNotAnswerable, false
	case protocol == wire.NextICMPv6 && (offset >= len(p) || wire.ICMPv6IsError(p[offset])):
		return errorAboutError, false
	}
	return 0, true
}
