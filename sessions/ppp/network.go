package ppp

import "bytes"

// network is one network control protocol of a link. Those that the grant asks for open side by side, and
// the link lives as long as one of them is open or may yet open.
type network struct {
	fsm  automaton
	up   bool    // NetworkUp was put out, NetworkDown not yet
	held *Packet // the peer's last Configure-Request from before OpenNetwork
}

// network returns the network control protocol of that number, nil if we speak none.
func (l *Link) network(proto uint16) *network {
	switch proto {
	case ProtoIPCP:
		return &l.networks[0]
	case ProtoIPV6CP:
		return &l.networks[1]
	}
	return nil
}

// wants reports whether the grant asks for the protocol.
func (l *Link) wants(n *network) bool {
	if n.fsm.proto == ProtoIPCP {
		return l.net.hasIPv4()
	}
	return l.net.hasIPv6()
}

// take keeps what the subscriber may have.
func (l *Link) take(grant NetConfig) {
	l.net = grant
	l.ipcp.net = grant
	l.ipv6cp.take(grant)
}

// OpenNetwork opens the network protocols the grant allows. The owner calls it when forwarding is
// ready; before AuthDone said yes it does nothing. A Configure-Request that came early is answered now.
// After Restore it asks anew for those that were not Opened, and does not touch the others.
func (l *Link) OpenNetwork() []Output {
	return l.run(func() {
		if l.phase != PhaseNetwork || l.open && !l.resumes() {
			return
		}
		l.open = true
		if !l.net.hasIPv4() && !l.net.hasIPv6() {
			l.close(CauseNoNetwork)
			return
		}
		for i := range l.networks {
			if n := &l.networks[i]; l.wants(n) {
				l.begin(n)
			}
		}
		for i := range l.networks {
			if held := l.networks[i].held; held != nil {
				l.networks[i].held = nil
				l.apply(l.networks[i].fsm.receive(*held))
			}
		}
	})
}

// begin opens a protocol that is not under way: a new one, or one that rests since Restore.
func (l *Link) begin(n *network) {
	if n.fsm.state == Stopped {
		l.apply(n.fsm.down())
	}
	if n.fsm.state < Closed {
		l.apply(n.fsm.start())
	}
}

// resumes reports whether OpenNetwork is called for the first time after Restore.
func (l *Link) resumes() bool {
	first := l.restored
	l.restored = false
	return first
}

// receiveNetwork drops what comes before authentication is done (RFC 1661 section 3.5), keeps the last
// Configure-Request that comes before OpenNetwork, and refuses a protocol that the grant does not want.
func (l *Link) receiveNetwork(n *network, info []byte) {
	if l.phase != PhaseNetwork {
		l.shared.counters.WrongPhase++
		return
	}
	if !l.wants(n) {
		l.rejectProtocol(n.fsm.proto, info)
		return
	}
	p, err := ParsePacket(info)
	if err != nil {
		l.shared.counters.Malformed++
		return
	}
	switch {
	case l.open:
		l.apply(n.fsm.receive(p))
	case p.Code == CodeConfigureRequest:
		n.held = &Packet{Code: p.Code, ID: p.ID, Data: bytes.Clone(p.Data)}
	default:
		l.shared.counters.WrongPhase++
	}
}

func (l *Link) networkUp(n *network) {
	n.up = true
	up := NetworkUp{Protocol: n.fsm.proto}
	if n.fsm.proto == ProtoIPCP {
		up.Local, up.Peer = l.net.Local, l.net.Peer
	} else {
		up.LocalInterfaceID, up.PeerInterfaceID = l.ipv6cp.own, l.ipv6cp.peer
	}
	l.out = append(l.out, up)
}

func (l *Link) networkDown(n *network) {
	if n.up {
		n.up = false
		l.out = append(l.out, NetworkDown{Protocol: n.fsm.proto})
	}
}

// layerFinished: LCP's end is the link's. The end of a network protocol closes the link only if no other
// is open or on its way.
func (l *Link) layerFinished(proto uint16, cause Cause) {
	n := l.network(proto)
	if n == nil {
		l.finish(cause)
		return
	}
	n.fsm.cause = "" // the peer may open it again, and end it for another reason
	for i := range l.networks {
		if l.networks[i].fsm.state >= Closing {
			l.out = append(l.out, NetworkFinished{Protocol: proto, Cause: cause})
			return
		}
	}
	l.close(cause)
}
