package sessions

import (
	"bytes"
	"fmt"

	"vbng/control/dissect"
	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
	"vbng/sessions/dhcp4"
	"vbng/sessions/dhcp6"
	"vbng/sessions/nd"
)

// What subscribers say in IP to the router: DHCP, DHCPv6 and router solicitations. It is paced and read on
// the punt path; the loop gets messages that are good.

// paced reports whether a station may say something more.
func (m *Manager) paced(p entry.Punt) bool {
	source := entry.MAC(wire.Ethernet(p.Data).Source())
	if source[0]&1 != 0 || source == (entry.MAC{}) {
		m.stats.malformed.Add(1)
		return false
	}
	if !m.pace.allow(client{place: placeOf(p), mac: source}, m.needs.Clock.Now()) {
		m.stats.paced.Add(1)
		return false
	}
	return true
}

// packetOf returns the IP packet of a punted frame: behind the tags, or behind PPPoE and PPP there.
func packetOf(p entry.Punt, etherType, protocol uint16) (packet []byte, ppp, ok bool) {
	payload := p.Data[p.Payload:]
	if p.Payload < 2 {
		return nil, false, false
	}
	switch word(p.Data[p.Payload-2:]) {
	case etherType:
		return payload, false, true
	case wire.TypePPPoESession:
		outer := wire.PPPoE(payload)
		if !outer.Valid() {
			return nil, true, false
		}
		inner := wire.PPP(outer.Payload())
		if !inner.Valid() || inner.Protocol() != protocol {
			return nil, true, false
		}
		return inner.Information(), true, true
	}
	return nil, false, false
}

func word(b []byte) uint16 { return uint16(b[0])<<8 | uint16(b[1]) }

func cameFrom(p entry.Punt, ppp bool) came {
	return came{
		ppp: ppp, session: p.Session,
		client: client{place: placeOf(p), mac: entry.MAC(wire.Ethernet(p.Data).Source())},
	}
}

// dhcp reads a DHCP message. PPPoE has no place for it: IPCP gives addresses there.
func (m *Manager) dhcp(p entry.Punt) {
	packet, ppp, ok := packetOf(p, wire.TypeIPv4, wire.ProtocolIPv4)
	if !ok || ppp {
		m.stats.malformed.Add(1)
		return
	}
	datagram, err := dhcp4.ParseDatagram(packet)
	if err != nil {
		m.stats.malformed4.Add(1)
		return
	}
	request, err := dhcp4.Decode(datagram.Payload)
	from := cameFrom(p, false)
	if err != nil || entry.MAC(request.ClientMAC) != from.client.mac { // else one station could speak for another
		m.stats.malformed4.Add(1)
		return
	}
	m.stats.heard4.Add(1)
	m.offer(asked4{from: from, say: &said4{request: request, payload: bytes.Clone(datagram.Payload)}})
}

// dhcp6 reads a DHCPv6 message.
func (m *Manager) dhcp6(p entry.Punt) {
	packet, ppp, ok := packetOf(p, etherTypeIPv6, protocolIPv6)
	if !ok {
		m.stats.malformed.Add(1)
		return
	}
	datagram, err := dhcp6.ParseDatagram(packet)
	if err != nil {
		m.stats.malformed6.Add(1)
		return
	}
	request, err := dhcp6.Decode(datagram.Payload)
	if err != nil || !datagram.Source.Addr().IsLinkLocalUnicast() && len(request.Relays) == 0 && !datagram.Source.Addr().IsGlobalUnicast() {
		m.stats.malformed6.Add(1)
		return
	}
	for _, relay := range request.Relays {
		if !relay.Link.IsUnspecified() { // RFC 6221 5.1: not one on the client's own line; its clients would be one session
			m.stats.malformed6.Add(1)
			return
		}
	}
	request.From, request.Unicast = datagram.Source, !datagram.Destination.Addr().IsMulticast()
	m.stats.heard6.Add(1)
	m.offer(asked6{from: cameFrom(p, ppp), request: request})
}

// discoverNeighbor reads neighbour discovery. The forwarder answers solicitations for our addresses; of the
// rest, router solicitations concern us.
func (m *Manager) discoverNeighbor(p entry.Punt) {
	packet, ppp, ok := packetOf(p, etherTypeIPv6, protocolIPv6)
	if !ok {
		m.stats.malformed.Add(1)
		return
	}
	message, err := nd.Parse(packet)
	switch {
	case err != nil:
		m.stats.malformedND.Add(1)
	case message.Type != nd.RouterSolicit:
		m.stats.ignoredND.Add(1)
	default:
		m.stats.solicits.Add(1)
		m.offer(askedRouter{from: cameFrom(p, ppp)})
	}
}

// asked4 serves a DHCP message.
func (m *Manager) asked4(msg asked4) {
	r := msg.say.request
	said := dialled{Hostname: cut(r.Hostname, maxNameBytes), Vendor: r.Vendor, whole: true}
	if r.Agent != nil {
		said.CircuitID, said.RemoteID = r.Agent.CircuitID, r.Agent.RemoteID
	}
	s := m.heardOn(msg.from, said, family4, r.Type == dhcp4.Discover || r.Type == dhcp4.RequestLease)
	if m.followers != nil {
		m.tellLine(s, msg.from.client, dissect.DHCPv4(msg.say.payload))
	}
	if s != nil && s.link == nil {
		m.said4(s, msg.say)
	}
}

// asked6 serves a DHCPv6 message.
func (m *Manager) asked6(msg asked6) {
	circuit, remote := msg.request.Line()
	opens := msg.request.Type != dhcp6.Release && msg.request.Type != dhcp6.Decline
	s := m.heardOn(msg.from, dialled{CircuitID: circuit, RemoteID: remote}, family6, opens)
	if m.followers != nil {
		m.tellLine(s, msg.from.client, fmt.Sprintf("DHCPv6 %v xid %#06x", msg.request.Type, msg.request.XID))
	}
	if s != nil {
		m.said6(s, msg.request)
	}
}

// askedRouter serves a router solicitation.
func (m *Manager) askedRouter(msg askedRouter) {
	s := m.heard(msg.from, dialled{}, true)
	if m.followers != nil {
		m.tellLine(s, msg.from.client, "router solicitation")
	}
	if s != nil {
		m.saidSolicit(s)
	}
}
