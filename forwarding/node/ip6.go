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
	ip6ToSubscriber = iota
	ip6ToLookup
	ip6ToVerify
	ip6ToND
	ip6ToLocal
	ip6ToPunt
)

const (
	ip6Short = iota
	ip6Version
	ip6PayloadLength
	ip6MartianSource
	ip6MartianDestination
	ip6Multicast
	ip6LinkLocal
	ip6Group
	ip6Stranger
)

// ip6Input checks the IPv6 header (RFC 8200 section 3), reads the destination, and takes out what is not forwarded:
// neighbour discovery, DHCPv6 of subscribers, and what is not valid beyond its link.
func ip6Input() graph.Spec {
	return graph.Spec{
		Name:  nameIP6,
		Edges: []string{arcSubscriberIn6, nameLookup6, nameVerify6, nameND, nameLocal6, namePunt},
		Reasons: []string{
			"packet-too-short", "bad-version", "bad-payload-length", "martian-source", "martian-destination",
			"multicast-destination", "link-local-destination", "group-frame", "unknown-subscriber",
		},
		Process: ip6InputProcess,
	}
}

func ip6InputProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	kept, subscribers, flags := 0, 0, uint8(0)
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		offset, length := c.Offset[i], c.Length[i]
		b := (*[wire.IPv6Length]byte)(memory[offset:])
		first := binary.BigEndian.Uint64(b[0:8]) // version, class, label, payload length, next header, hop limit
		total := wire.IPv6Length + uint32(first>>16)&0xFFFF
		if first>>60 != 6 || total > length {
			w.Drop(n, badIP6(first, length), slot)
			continue
		}
		c.Length[i] = total // what follows is padding
		c.Flags[i] |= packet.FlagIPv6
		c.DestHigh[i], c.DestLow[i] = binary.BigEndian.Uint64(b[24:32]), binary.BigEndian.Uint64(b[32:40])
		// Of 2000::/3 at both ends, and of no protocol that may be for control: nearly all packets.
		plain := binary.BigEndian.Uint64(b[8:16])>>61 == 1 && c.DestHigh[i]>>61 == 1 && !perhapsControl(first)
		if (!plain || c.Session[i]&c.Interface[i] == packet.None || c.Flags[i]&packet.FlagGroup != 0) && !ip6Special(w, n, slot) {
			continue
		}
		flags |= c.Flags[i]
		if c.Session[i] != packet.None {
			subscribers++
		}
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Tables.Prefetch6(c, l)
	ip6Origin(w, n, l, subscribers, flags)
}

func badIP6(first uint64, length uint32) graph.Reason {
	switch {
	case length < wire.IPv6Length:
		return ip6Short
	case first>>60 != 6:
		return ip6Version
	}
	return ip6PayloadLength
}

// perhapsControl judges by the next header, in the first eight bytes of a packet.
func perhapsControl(first uint64) bool {
	next := uint8(first >> 8)
	return next == wire.NextICMPv6 || next == wire.IPProtocolUDP
}

// ip6Origin tells subscribers' packets from others, as ip4Origin.
func ip6Origin(w *graph.Worker, n *graph.Node, l *packet.List, subscribers int, flags uint8) {
	switch {
	case subscribers == l.N:
		w.Pass(n, ip6ToSubscriber, l)
		return
	case subscribers == 0 && flags&packet.FlagVerify == 0:
		w.Pass(n, ip6ToLookup, l)
		return
	}
	for _, slot := range l.Slot[:l.N] {
		w.Send(n, originOf(&w.Packets, slot&slotMask), slot)
	}
}

// ip6Special looks closer at a packet, and ends or turns its way if it is not to be forwarded; true: it is.
func ip6Special(w *graph.Worker, n *graph.Node, slot uint8) (forward bool) {
	c, i := &w.Packets, slot&slotMask
	p := wire.IPv6(w.Head(i))
	source, destination := table.ReadAddress6((*[16]byte)(p[8:24])), table.Address6{High: c.DestHigh[i], Low: c.DestLow[i]}
	own := c.Flags[i]&packet.FlagLocalOrigin != 0
	stranger := !own && c.Session[i]&c.Interface[i] == packet.None
	switch {
	case source.Multicast() || martian6(source) && !source.Unspecified():
		w.Drop(n, ip6MartianSource, slot)
	case martian6(destination):
		w.Drop(n, ip6MartianDestination, slot)
	case !own && isND(p):
		w.Send(n, ip6ToND, slot)
	case !own && c.Interface[i] == packet.None && toDHCPv6Server(p):
		c.Class[i] = uint8(entry.ClassDHCPv6)
		w.Send(n, ip6ToPunt, slot)
	case stranger:
		w.Drop(n, ip6Stranger, slot)
	case destination.Multicast():
		w.Drop(n, ip6Multicast, slot)
	case c.Flags[i]&packet.FlagGroup != 0:
		w.Drop(n, ip6Group, slot)
	case destination.LinkLocal():
		ip6ToUs(w, n, slot, destination)
	case source.Unspecified():
		w.Drop(n, ip6MartianSource, slot)
	default:
		if source.LinkLocal() {
			c.Flags[i] |= packet.FlagLinkScope // RFC 4291 section 2.5.6: it may reach us, and nobody else
		}
		return true
	}
	return false
}

// martian6 reports ::/80: unspecified, loopback, and IPv4-mapped and -compatible addresses, none of which travel
// (RFC 4291 sections 2.5.2, 2.5.3 and 2.5.5).
func martian6(a table.Address6) bool { return a.High == 0 && a.Low>>48 == 0 }

// isND reports neighbour discovery (RFC 4861 section 4), which no router forwards.
func isND(p wire.IPv6) bool {
	if p.NextHeader() != wire.NextICMPv6 || len(p) == wire.IPv6Length {
		return false
	}
	icmpType := p[wire.IPv6Length]
	return icmpType >= wire.ICMPv6RouterSolicitation && icmpType <= wire.ICMPv6Redirect
}

const portDHCPv6Server = 547 // RFC 8415 section 7.2

func toDHCPv6Server(p wire.IPv6) bool {
	return p.NextHeader() == wire.IPProtocolUDP && len(p) >= wire.IPv6Length+wire.UDPLength &&
		binary.BigEndian.Uint16(p[wire.IPv6Length+2:]) == portDHCPv6Server
}

// ip6ToUs delivers a packet to our link-local address on the interface that received it; no other leaves its link
// (RFC 4291 section 2.5.6).
func ip6ToUs(w *graph.Worker, n *graph.Node, slot uint8, destination table.Address6) {
	c, i := &w.Packets, slot&slotMask
	if c.Interface[i] != packet.None {
		if on := w.Tables.Interfaces[c.Interface[i]].Load(); on != nil && on.Owns(destination) {
			w.Send(n, ip6ToLocal, slot)
			return
		}
	}
	w.Drop(n, ip6LinkLocal, slot)
}
