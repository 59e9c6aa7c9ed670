package sessions

import (
	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// headersBytes is the longest header of a session frame: Ethernet, two tags, PPPoE, PPP protocol.
const headersBytes = wire.EthernetLength + 2*wire.TagLength + wire.PPPoELength + wire.PPPProtocolLength

// sendPPP sends a PPP packet to a session's client.
func (m *Manager) sendPPP(s *Session, protocol uint16, information []byte) {
	frame := make([]byte, headersBytes+len(information))
	n := m.putTagged(frame, s.client, s.ownMAC, wire.TypePPPoESession)
	n += wire.PutPPPoE(frame[n:], wire.CodeSession, s.pppoe, wire.PPPProtocolLength+len(information))
	n += wire.PutPPP(frame[n:], protocol)
	n += copy(frame[n:], information)
	if m.followers != nil {
		m.tellPPP(s, "out", protocol, information)
	}
	m.inject(s.client.place.Port, frame[:n])
}

// sendDiscovery sends a discovery packet (PPPoE header and tags) to a client.
func (m *Manager) sendDiscovery(to client, own entry.MAC, packet []byte) {
	frame := make([]byte, headersBytes+len(packet))
	n := m.putTagged(frame, to, own, wire.TypePPPoEDiscovery)
	n += copy(frame[n:], packet)
	if all := m.listeners(); all != nil {
		tellDiscovery(all, to.mac, "out", packet)
	}
	m.inject(to.place.Port, frame[:n])
}

// sendEthernet sends an IP packet without PPP.
func (m *Manager) sendEthernet(to client, own entry.MAC, etherType uint16, packet []byte) {
	frame := make([]byte, headersBytes+len(packet))
	n := m.putTagged(frame, to, own, etherType)
	n += copy(frame[n:], packet)
	m.inject(to.place.Port, frame[:n])
}

func (m *Manager) putTagged(frame []byte, to client, own entry.MAC, etherType uint16) int {
	return wire.PutTagged(frame, to.mac, own, to.place.OuterTPID, to.place.OuterVLAN, to.place.InnerVLAN, etherType)
}

// inject sends a frame. One that the ring has no room for is lost as on a wire: every protocol spoken
// here repeats what gets no answer.
func (m *Manager) inject(port entry.PortID, frame []byte) {
	if !m.needs.Programmer.Inject(port, frame) {
		m.stats.injectLost.Add(1)
	}
}
