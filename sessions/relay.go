package sessions

import (
	"encoding/binary"
	"net/netip"
	"slices"

	"vbng/forwarding/entry"
	"vbng/sessions/dhcp4"
)

// relayed is what a session knows of its lease at another server.
type relayed struct {
	xid   uint32 // of the client's newest message
	bound bool   // a server leased the address
}

// relayOf is the relay agent on a session's line.
func (s *Session) relayOf() dhcp4.Relay {
	line := s.line()
	circuit, remote := line.CircuitID, line.RemoteID
	if circuit == nil {
		circuit = []byte(cut(s.profile.relayCircuit.expand(line), maxSuboptionBytes))
	}
	if remote == nil {
		remote = []byte(cut(s.profile.relayRemote.expand(line), maxSuboptionBytes))
	}
	return dhcp4.Relay{Address: s.profile.local, CircuitID: circuit, RemoteID: remote, Policy: dhcp4.AgentReplace}
}

// maxSuboptionBytes leaves room for both suboptions in one option (RFC 3046 2.0).
const maxSuboptionBytes = 120

// relayUp passes a client's message on to every server. Servers know a lease by what the message says, so who
// gives an address back must be who has it.
func (m *Manager) relayUp(s *Session, say *said4) {
	if given := givenBack(say.request); given.IsValid() && given != s.usable(slotIPv4).Addr() {
		m.stats.relayRefused.Add(1)
		m.log.warn("relay", "DHCP message is not relayed: it gives back another's address", "session", s.acctID,
			"mac", s.client.mac, "type", say.request.Type.String(), "address", given)
		return
	}
	payload, err := s.relayOf().Forward(say.payload)
	if err != nil {
		m.stats.relayRefused.Add(1)
		m.log.warn("relay", "DHCP message is not relayed", "session", s.acctID, "mac", s.client.mac, "error", err)
		return
	}
	s.relay.xid = say.request.XID
	from := netip.AddrPortFrom(s.profile.local, dhcp4.ServerPort)
	for _, server := range s.profile.relays {
		m.stats.relayedUp.Add(1)
		if m.needs.Relay == nil {
			continue
		}
		if err := m.needs.Relay.Send(s.profile.vrf, from, netip.AddrPortFrom(server, dhcp4.ServerPort), payload); err != nil {
			m.stats.relayLost.Add(1)
			m.log.warn("relay-send", "DHCP message to server lost", "server", server, "error", err)
		}
	}
	switch say.request.Type {
	case dhcp4.Release:
		m.drop4(s, CauseReleased)
	case dhcp4.Decline:
		m.drop4(s, CauseDeclined)
	}
}

// givenBack is the address that a RELEASE or DECLINE speaks of.
func givenBack(r *dhcp4.Request) netip.Addr {
	switch r.Type {
	case dhcp4.Release:
		return r.ClientIP
	case dhcp4.Decline:
		return r.Requested
	}
	return netip.Addr{}
}

// Relayed takes what a DHCP server sent to a relay socket of a VRF. The payload is kept.
func (m *Manager) Relayed(vrf entry.VRFID, from netip.AddrPort, payload []byte) {
	m.offer(answered{vrf: vrf, from: from.Addr().Unmap(), payload: slices.Clone(payload)})
}

// Where a BOOTP message has what a session is found by (RFC 951 section 3).
const (
	bootpXID     = 4
	bootpRelay   = 24
	bootpMAC     = 28
	bootpMinimum = 240
)

// answered takes a server's message to the session that it is for.
func (m *Manager) answered(msg answered) {
	if len(msg.payload) < bootpMinimum {
		m.stats.malformed.Add(1)
		return
	}
	xid, mac := binary.BigEndian.Uint32(msg.payload[bootpXID:]), entry.MAC(msg.payload[bootpMAC:])
	giaddr := netip.AddrFrom4([4]byte(msg.payload[bootpRelay:]))
	for _, s := range m.index.byMAC[mac] {
		ours := s.link == nil && s.ready() && s.relay.xid == xid && s.profile.vrf == msg.vrf && s.profile.local == giaddr
		if ours && slices.Contains(s.profile.relays, msg.from) {
			m.relayDown(s, msg.payload)
			return
		}
	}
	m.stats.relayStray.Add(1)
}

// relayDown passes a server's answer on. A lease makes the session's address: the client hears of it when
// packets will find the session.
func (m *Manager) relayDown(s *Session, payload []byte) {
	reply, err := s.relayOf().Return(payload)
	if err != nil {
		m.stats.relayRefused.Add(1)
		m.log.warn("relay", "answer of a DHCP server is not passed on", "session", s.acctID, "error", err)
		return
	}
	m.stats.relayedDown.Add(1)
	if reply.Type == dhcp4.Ack && reply.Lease > 0 && reply.Address.Is4() {
		m.relayLease(s, reply)
		return
	}
	m.send4(s, reply.Payload, reply.To)
	if reply.Type == dhcp4.Nak {
		m.drop4(s, CauseServerNak)
	}
}

// relayLease takes the address that a server leased.
func (m *Manager) relayLease(s *Session, reply *dhcp4.Relayed) {
	b := &s.bindings[slotIPv4]
	prefix := single(reply.Address)
	switch {
	case b.held() && b.prefix != prefix:
		s.let(slotIPv4) // the client has another one now, and asks again when this one does not answer
		m.advance(s)
		return
	case b.leaving:
		m.stats.late.Add(1)
		return
	case !b.held():
		if cause := m.takeLeased(s, prefix); cause != "" {
			m.stats.withheld(slotIPv4, cause)
			m.wither(s, cause)
			return
		}
	}
	s.enliven(slotIPv4)
	s.waits.relayed = reply
	m.advance(s)
}

// takeLeased reserves what a server leased, which may be taken from nobody.
func (m *Manager) takeLeased(s *Session, prefix netip.Prefix) Cause {
	if !m.possible(s, slotIPv4, prefix) {
		m.log.warn("unusable", "leased address cannot be a subscriber's", "session", s.acctID, "address", prefix.Addr())
		return CauseAddressUnusable
	}
	if err := m.spaceOf(s).reserve(prefix, s.owner()); err != nil {
		return m.nothing(s, slotIPv4, err)
	}
	m.hold(s, slotIPv4, prefix, "")
	return ""
}

// relayBound tells the client of its lease, now that it works.
func (m *Manager) relayBound(s *Session, reply *dhcp4.Relayed) {
	b := &s.bindings[slotIPv4]
	if !b.bound() {
		return
	}
	renewed := s.relay.bound && !b.until.IsZero()
	s.relay.bound = true
	until := m.loop.Now().Add(reply.Lease)
	m.send4(s, reply.Payload, reply.To)
	m.setTimer(s, timerLease4, reply.Lease)
	m.bound4(s, until, renewed)
}
