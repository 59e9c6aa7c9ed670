package node

import (
	"encoding/binary"
	"math/bits"

	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/wire"
)

const (
	ip4ToSubscriber = iota
	ip4ToLookup
	ip4ToVerify
)

const (
	ip4Short = iota
	ip4Version
	ip4HeaderLength
	ip4TotalLength
	ip4Checksum
	ip4MartianSource
	ip4MartianDestination
)

// ip4Input checks the IPv4 header (RFC 1812 section 5.2.2) and reads the addresses.
func ip4Input() graph.Spec {
	return graph.Spec{
		Name:  nameIP4,
		Edges: []string{arcSubscriberIn, nameLookup, nameVerify},
		Reasons: []string{
			"packet-too-short", "bad-version", "bad-header-length", "bad-total-length", "bad-checksum",
			"martian-source", "martian-destination",
		},
		Process: ip4InputProcess,
	}
}

func ip4InputProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c, memory := &w.Packets, w.Arena.Memory
	kept, subscribers, flags := 0, 0, uint8(0)
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		offset, length := c.Offset[i], c.Length[i]
		b := (*[wire.IPv4Length]byte)(memory[offset:])
		total := uint32(binary.BigEndian.Uint16(b[2:4]))
		if b[0] != 0x45 || length < wire.IPv4Length || total < wire.IPv4Length || total > length || !checksumOK(b) {
			if reason, bad := badIP4(wire.IPv4(w.Head(i)), length); bad {
				w.Drop(n, reason, slot)
				continue
			}
		}
		source, destination := binary.BigEndian.Uint32(b[12:16]), binary.BigEndian.Uint32(b[16:20])
		if martian(source) || martian(destination) {
			w.Drop(n, whichMartian(source), slot)
			continue
		}
		c.Length[i] = total // what follows is padding
		c.Source[i], c.Dest[i] = source, destination
		flags |= c.Flags[i]
		if c.Session[i] != packet.None {
			subscribers++
		}
		l.Slot[kept&slotMask] = slot
		kept++
	}
	l.N = kept
	w.Tables.Prefetch(c, l)
	ip4Origin(w, n, l, subscribers, flags)
}

// ip4Origin tells subscribers' packets from others, of which flags are all that are set.
func ip4Origin(w *graph.Worker, n *graph.Node, l *packet.List, subscribers int, flags uint8) {
	switch {
	case subscribers == l.N:
		w.Pass(n, ip4ToSubscriber, l)
		return
	case subscribers == 0 && flags&packet.FlagVerify == 0:
		w.Pass(n, ip4ToLookup, l)
		return
	}
	for _, slot := range l.Slot[:l.N] {
		w.Send(n, originOf(&w.Packets, slot&slotMask), slot)
	}
}

// originOf returns the edge of one packet. Both families name these edges in one order.
func originOf(c *packet.Columns, i uint8) graph.Edge {
	switch {
	case c.Session[i] != packet.None:
		return ip4ToSubscriber
	case c.Flags[i]&packet.FlagVerify != 0:
		return ip4ToVerify
	}
	return ip4ToLookup
}

// checksumOK verifies a header without options. The one's complement sum of its 16-bit words must be all ones
// (RFC 1071), which means that the plain sum is a multiple of 65535; and so it does not matter that the words
// are added four at a time, nor in which byte order.
func checksumOK(b *[wire.IPv4Length]byte) bool {
	sum, carry := bits.Add64(binary.LittleEndian.Uint64(b[0:8]), binary.LittleEndian.Uint64(b[8:16]), 0)
	sum, carry = bits.Add64(sum, uint64(binary.LittleEndian.Uint32(b[16:20])), carry)
	return (sum+carry)%0xFFFF == 0 // a carry is 2^64, which is 1 modulo 65535
}

// badIP4 judges what is not a plain header of 20 bytes; options are allowed. Of a long packet p is its beginning.
func badIP4(p wire.IPv4, length uint32) (graph.Reason, bool) {
	switch {
	case len(p) < wire.IPv4Length:
		return ip4Short, true
	case p[0]>>4 != 4:
		return ip4Version, true
	case p.HeaderLength() < wire.IPv4Length || p.HeaderLength() > len(p):
		return ip4HeaderLength, true
	case int(p.TotalLength()) < p.HeaderLength() || uint32(p.TotalLength()) > length:
		return ip4TotalLength, true
	case !p.ChecksumOK():
		return ip4Checksum, true
	}
	return 0, false
}

// martians are the first bytes of addresses that no router forwards (RFC 1812 sections 5.3.7 and 4.2.2.11):
// network 0, loopback, multicast and class E. Multicast forwarding will need an exception here.
var martians = func() (t [256]bool) {
	for top := range t {
		t[top] = top == 0 || top == 127 || top >= 224
	}
	return t
}()

func martian(address uint32) bool { return martians[address>>24] }

func whichMartian(source uint32) graph.Reason {
	if martian(source) {
		return ip4MartianSource
	}
	return ip4MartianDestination
}
