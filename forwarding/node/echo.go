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
	echoToOut = iota
	echoToPunt
)

const echoReply = 0 // a reason, although its way ends well

// lcpEcho answers LCP Echo-Requests and takes Echo-Replies as signs of life (RFC 1661 section 5.8). Other
// LCP packets, and all of a session without entry.Echo, go to control.
func lcpEcho() graph.Spec {
	return graph.Spec{
		Name:    nameEcho,
		Edges:   []string{arcPortOut, namePunt},
		Reasons: []string{"reply-consumed"},
		Process: echoProcess,
	}
}

const echoHeader = wire.ControlLength + wire.MagicLength

func echoProcess(w *graph.Worker, n *graph.Node, l *packet.List) {
	c := &w.Packets
	for _, slot := range l.Slot[:l.N] {
		i := slot & slotMask
		s := &w.Tables.Sessions[c.Session[i]]
		p := wire.Control(w.Head(i))
		switch {
		case !s.Echo.Active || !p.Valid() || p.Length() < echoHeader || looped(s, p):
			c.Class[i] = uint8(entry.ClassPPPControl)
			w.Send(n, echoToPunt, slot)
		case p.Code() == wire.CodeEchoRequest:
			s.Echo.Outstanding = 0
			answerEcho(w, s, p, i)
			w.Send(n, echoToOut, slot)
		case p.Code() == wire.CodeEchoReply:
			s.Echo.Outstanding = 0
			w.Drop(n, echoReply, slot)
		default:
			c.Class[i] = uint8(entry.ClassPPPControl)
			w.Send(n, echoToPunt, slot)
		}
	}
}

// looped reports a packet with our own magic number: the line may be looped back, and that is for
// control to judge (RFC 1661 section 6.4).
func looped(s *table.Session, p wire.Control) bool {
	own := s.Echo.LocalMagic
	return own != 0 && binary.BigEndian.Uint32(p[wire.ControlLength:]) == own
}

// answerEcho turns a request into the reply, in its own frame: addresses swapped, our magic number, and no
// longer than the peer's MRU.
func answerEcho(w *graph.Worker, s *table.Session, p wire.Control, i uint8) {
	c := &w.Packets
	length := p.Length()
	if s.Echo.PeerMRU >= echoHeader {
		length = min(length, s.Echo.PeerMRU)
	}
	p[0] = wire.CodeEchoReply
	binary.BigEndian.PutUint16(p[2:4], length)
	binary.BigEndian.PutUint32(p[wire.ControlLength:], s.Echo.LocalMagic)

	start := packet.Start(c.Index[i])
	frame := w.Arena.Memory[start:]
	var peer [6]byte
	copy(peer[:], frame[6:12])
	copy(frame[6:12], frame[0:6])
	copy(frame[0:6], peer[:])
	header := c.Offset[i] - start
	binary.BigEndian.PutUint16(frame[header-pppoeHeader+4:], wire.PPPProtocolLength+length)
	c.Offset[i], c.Length[i] = start, header+uint32(length)
	c.Port[i] = w.Port.Slot
}
