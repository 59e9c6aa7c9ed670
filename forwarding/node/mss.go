package node

import (
	"encoding/binary"

	"vbng/forwarding/graph"
	"vbng/forwarding/table"
	"vbng/forwarding/wire"
)

// The clamp of the MSS option of TCP (RFC 9293 section 3.7.1). The lookups know both ends of a packet's way through the
// router, and look at one byte of a TCP packet: only those that open a connection are looked at closer.

const (
	tcpFlags     = 13 // offset
	tcpSYN       = 0x02
	tcpOptionEnd = 0
	tcpOptionNop = 1
	tcpOptionMSS = 2
	mssLength    = 4
	// mssLess6 is how much less fits over IPv6, whose header is so much longer.
	mssLess6 = wire.IPv6Length - wire.IPv4Length
)

// perhapsSYN4 reports packets that clampMSS4 is to look at: TCP with SYN, or with IP options.
func perhapsSYN4(b *[wire.IPv4Length + wire.TCPLength]byte) bool {
	return b[9] == wire.IPProtocolTCP && (b[wire.IPv4Length+tcpFlags]&tcpSYN != 0 || b[0] != 0x45)
}

// perhapsSYN6 reports packets that clampMSS6 is to look at: TCP with SYN, or anything behind extension headers.
func perhapsSYN6(b *[wire.IPv6Length + wire.TCPLength]byte) bool {
	switch b[6] {
	case wire.IPProtocolTCP:
		return b[wire.IPv6Length+tcpFlags]&tcpSYN != 0
	case wire.NextHopByHop, wire.NextRouting, wire.NextFragment, wire.NextAuthentication, wire.NextOptions:
		return true
	}
	return false
}

// clampMSS4 lowers the MSS option of a first packet of a TCP connection.
func clampMSS4(w *graph.Worker, i uint8) {
	p := wire.IPv4(w.Head(i))
	if header := p.HeaderLength(); p.FragmentOffset() == 0 && header <= len(p) {
		clampTCP(p[header:], leastMSS(w, i))
	}
}

// clampMSS6 is clampMSS4 for IPv6.
func clampMSS6(w *graph.Worker, i uint8) {
	p := wire.IPv6(w.Head(i))
	protocol, offset, fragmentOffset, whole := p.Upper()
	if !whole || protocol != wire.IPProtocolTCP || fragmentOffset != 0 {
		return
	}
	if most := leastMSS(w, i); most > mssLess6 {
		clampTCP(p[offset:], most-mssLess6)
	}
}

// leastMSS is the lesser of what the receiving and the sending side let through, 0: anything.
func leastMSS(w *graph.Worker, i uint8) uint16 {
	c := &w.Packets
	from, to := uint16(0), uint16(0)
	if s := c.Session[i]; s < uint32(len(w.Tables.Sessions)) {
		from = w.Tables.Sessions[s].Up.MSS
	} else {
		from = interfaceMSS(w, c.Interface[i])
	}
	switch t := table.Target(c.Target[i]); t.Kind() {
	case table.KindSession:
		to = w.Tables.Sessions[t.Index()].Up.MSS
	case table.KindConnected:
		to = interfaceMSS(w, t.Index())
	case table.KindNeighbor:
		if next := w.Tables.Adjacencies[t.Index()].Load(); next != nil {
			to = interfaceMSS(w, next.Interface)
		}
	}
	if from == 0 || to != 0 && to < from {
		return to
	}
	return from
}

func interfaceMSS(w *graph.Worker, slot uint32) uint16 {
	if slot >= uint32(len(w.Tables.Interfaces)) {
		return 0
	}
	if on := w.Tables.Interfaces[slot].Load(); on != nil {
		return on.MSS
	}
	return 0
}

// clampTCP lowers the MSS options of a TCP header with SYN that are above most, and keeps the checksum right.
func clampTCP(t []byte, most uint16) {
	if most == 0 || len(t) < wire.TCPLength || t[tcpFlags]&tcpSYN == 0 {
		return
	}
	header := int(t[12]>>4) * 4
	if header > len(t) {
		return
	}
	for at := wire.TCPLength; at < header; {
		switch t[at] {
		case tcpOptionEnd:
			return
		case tcpOptionNop:
			at++
			continue
		}
		if at+2 > header || t[at+1] < 2 || at+int(t[at+1]) > header {
			return
		}
		if t[at] == tcpOptionMSS && t[at+1] == mssLength {
			lowerMSS(t, at+2, most)
		}
		at += int(t[at+1])
	}
}

// lowerMSS changes the value at an offset of the TCP header.
func lowerMSS(t []byte, at int, most uint16) {
	before := binary.BigEndian.Uint16(t[at:])
	if before <= most {
		return
	}
	binary.BigEndian.PutUint16(t[at:], most)
	if at%2 != 0 { // it lies across two words of the sum, its bytes the other way round
		before, most = before<<8|before>>8, most<<8|most>>8
	}
	checksum := binary.BigEndian.Uint16(t[16:18])
	binary.BigEndian.PutUint16(t[16:18], wire.UpdateChecksum(checksum, before, most))
}
