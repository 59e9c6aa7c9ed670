package ppp

import (
	"encoding/binary"
)

// Receive takes one packet from the peer: the protocol number and what follows it. Nothing is kept of
// the slice.
func (l *Link) Receive(proto uint16, info []byte) []Output {
	return l.run(func() { l.receive(proto, info) })
}

func (l *Link) receive(proto uint16, info []byte) {
	switch proto {
	case ProtoLCP:
		l.receiveLCP(info)
	case ProtoPAP, ProtoCHAP:
		l.receiveAuth(proto, info)
	case ProtoIPCP, ProtoIPV6CP:
		l.receiveNetwork(l.network(proto), info)
	case ProtoIPv4, ProtoIPv6:
		l.shared.counters.DataDiscarded++ // RFC 1661 section 3.6: no network protocol open for it
	default:
		l.rejectProtocol(proto, info)
	}
}

func (l *Link) receiveLCP(info []byte) {
	p, err := ParsePacket(info)
	if err != nil {
		l.shared.counters.Malformed++
		return
	}
	switch p.Code {
	case CodeProtocolReject:
		l.receiveProtocolReject(p)
	case CodeEchoRequest, CodeEchoReply, CodeDiscardRequest:
		l.receiveEcho(p)
	case CodeIdentification, CodeTimeRemaining:
		l.shared.counters.Ignored++ // RFC 1570 sections 2.1 and 2.2: news that need no answer
	default:
		l.apply(l.lcpFSM.receive(p))
	}
}

// receiveEcho answers Echo-Request in Opened only; the rest is discarded (RFC 1661 section 5.8). The
// forwarder answers most of them before they get here.
func (l *Link) receiveEcho(p Packet) {
	if len(p.Data) < 4 {
		l.shared.counters.Malformed++
		return
	}
	if p.Code != CodeEchoRequest {
		l.shared.counters.Ignored++
		l.apply(l.lcpFSM.step(EvRXR, input{packet: p}))
		return
	}
	if l.echoLooped(p) {
		return
	}
	data := binary.BigEndian.AppendUint32(nil, l.lcp.localMagic())
	data = append(data, cut(p.Data[4:], int(l.shared.peerMRU)-headerBytes-4)...) // never beyond the peer's MRU
	reply := Packet{Code: CodeEchoReply, ID: p.ID, Data: data}
	l.apply(l.lcpFSM.step(EvRXR, input{packet: p, reply: reply}))
}

// echoLooped recognises our own magic number in an Echo-Request. Several in a row are a loop
// (RFC 1661 section 6.4); replies are not looked at, since some peers return our number in them.
func (l *Link) echoLooped(p Packet) bool {
	magic := binary.BigEndian.Uint32(p.Data)
	if magic == 0 || magic != l.lcp.localMagic() || l.lcpFSM.state != Opened {
		l.looped = 0
		return false
	}
	l.shared.counters.Looped++
	if l.looped++; l.looped >= maxLoops {
		l.close(CauseLoopDetected)
	}
	return true
}

// receiveProtocolReject: the peer does not know a protocol of ours (RFC 1661 section 5.7). It counts in
// Opened only.
func (l *Link) receiveProtocolReject(p Packet) {
	if l.lcpFSM.state != Opened {
		l.shared.counters.WrongPhase++
		return
	}
	if len(p.Data) < 2 {
		l.shared.counters.Malformed++
		return
	}
	proto := binary.BigEndian.Uint16(p.Data)
	n := l.network(proto)
	switch {
	case proto == ProtoLCP:
		l.apply(l.lcpFSM.rejectedByPeer(p)) // RXJ-: nothing is left
	case n != nil && l.open && l.wants(n):
		l.apply(n.fsm.rejectedByPeer(p)) // ends this family; the other may go on
	case l.phase == PhaseAuthenticate && proto == l.auth.method.proto():
		l.close(CauseNoAuthProtocol)
	default:
		l.apply(l.lcpFSM.step(EvRXJPlus, input{packet: p}))
	}
}

// rejectProtocol answers a protocol we do not speak. Before the Network phase it is dropped without
// an answer (RFC 1661 sections 3.4 and 3.5).
func (l *Link) rejectProtocol(proto uint16, info []byte) {
	if l.phase != PhaseNetwork {
		l.shared.counters.WrongPhase++
		return
	}
	l.shared.counters.ProtocolReject++
	data := binary.BigEndian.AppendUint16(nil, proto)
	data = append(data, cut(info, int(l.shared.peerMRU)-headerBytes-2)...) // RFC 1661 section 5.7
	p := Packet{Code: CodeProtocolReject, ID: l.lcpFSM.takeID(), Data: data}
	l.out = append(l.out, Send{Proto: ProtoLCP, Info: p.bytes()})
}
