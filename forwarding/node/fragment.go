package node

import (
	"encoding/binary"

	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
	"vbng/forwarding/wire"
)

const (
	fragmentDone = iota
	fragmentSent
	fragmentMTU
	fragmentNoBuffer
	fragmentQueueFull
)

// fragmentUnit is what fragment offsets count in, in bytes (RFC 791 section 3.1).
const fragmentUnit = 8

// ip4Fragment cuts IPv4 packets that are too long for their next hop into fragments (RFC 791 section 3.2), which go
// there by a lookup of their own. The MTU stands in the Protocol column.
func ip4Fragment() graph.Spec {
	f := &fragmentNode{whole: make([]byte, 0, packet.MaxChained)}
	return graph.Spec{
		Name:    nameFragment,
		Reasons: []string{"fragmented", "fragments", "mtu-too-small", "no-buffer", "queue-full"},
		Process: f.process,
	}
}

type fragmentNode struct {
	whole         []byte // the packet in one piece
	first, others [60]byte
}

func (f *fragmentNode) process(w *graph.Worker, n *graph.Node, l *packet.List) {
	for _, slot := range l.Slot[:l.N] {
		w.Drop(n, f.fragment(w, n, slot&slotMask), slot) // the packet itself is not sent, whatever came of it
	}
}

// fragment makes the fragments of a packet: all of them, or none.
func (f *fragmentNode) fragment(w *graph.Worker, n *graph.Node, i uint8) graph.Reason {
	c := &w.Packets
	f.whole = w.Arena.Append(f.whole[:0], c.Index[i], c.Offset[i], c.Length[i])
	p, mtu := wire.IPv4(f.whole), int(c.Protocol[i])
	firstLength := p.HeaderLength()
	room := (mtu - firstLength) &^ (fragmentUnit - 1)
	if room <= 0 {
		return fragmentMTU
	}
	rest := p[firstLength:]
	count := (len(rest) + room - 1) / room // at most: later headers are no longer than the first
	switch {
	case count > w.MadeRoom():
		return fragmentQueueFull
	case count*((mtu+packet.MaxFrame-1)/packet.MaxFrame) > w.Pool.Free():
		return fragmentNoBuffer
	}
	header := f.first[:copy(f.first[:], p[:firstLength])]
	place, more := p.FragmentOffset(), p.MoreFragments()
	for len(rest) > 0 {
		take := mtu - len(header)
		last := take >= len(rest)
		if last {
			take = len(rest)
		} else {
			take &^= fragmentUnit - 1
		}
		putFragment(header, len(header)+take, place, more || !last)
		index, ok := w.Pool.TakeChain(len(header) + take)
		if !ok {
			return fragmentNoBuffer // cannot be: there were enough
		}
		w.Arena.Fill(index, header, rest[:take])
		w.MakePacket(index, packet.Start(index), uint32(len(header)+take), c.VRF[i])
		w.Tally(n, fragmentSent)
		if place == p.FragmentOffset() {
			header = f.others[:copyHeader(&f.others, p[:firstLength])]
		}
		place, rest = place+uint16(take/fragmentUnit), rest[take:]
	}
	return fragmentDone
}

// putFragment completes a fragment's header: length, place, flags, checksum.
func putFragment(header wire.IPv4, length int, place uint16, more bool) {
	binary.BigEndian.PutUint16(header[2:4], uint16(length))
	if more {
		place |= 0x2000
	}
	binary.BigEndian.PutUint16(header[6:8], place)
	binary.BigEndian.PutUint16(header[10:12], 0)
	binary.BigEndian.PutUint16(header[10:12], wire.Checksum(header))
}

// Options (RFC 791 section 3.1).
const (
	optionEnd    = 0
	optionNop    = 1
	optionCopied = 0x80 // into all fragments
)

// copyHeader writes the header of the fragments after the first, with those options that are to be copied, and returns
// its length. Behind an option that is broken nothing is copied.
func copyHeader(to *[60]byte, header wire.IPv4) int {
	n := copy(to[:], header[:wire.IPv4Length])
	for options := header[wire.IPv4Length:]; len(options) > 0 && options[0] != optionEnd; {
		length := 1
		if options[0] != optionNop {
			if len(options) < 2 || options[1] < 2 || int(options[1]) > len(options) {
				break
			}
			if length = int(options[1]); options[0]&optionCopied != 0 {
				n += copy(to[n:], options[:length])
			}
		}
		options = options[length:]
	}
	for ; n%4 != 0; n++ {
		to[n] = optionEnd
	}
	to[0] = 0x40 | uint8(n/4)
	return n
}
