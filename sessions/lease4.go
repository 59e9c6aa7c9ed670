package sessions

import (
	"net/netip"
	"time"
	"vbng/control/dissect"

	"vbng/sessions/dhcp4"
)

// offerTime is how long an offer stands.
const offerTime = time.Minute

func (s *Session) config4() dhcp4.Config {
	return dhcp4.Config{ServerID: s.profile.local, OfferHold: offerTime, Authoritative: true}
}

// grant4 is the session's address in the words of DHCP.
func (s *Session) grant4() dhcp4.Grant {
	p := s.profile
	g := dhcp4.Grant{Address: s.ipv4(), Mask: subnetBits(p.network, s.ipv4()), Lease: p.lease}
	add := func(code dhcp4.Code, value []byte) {
		if len(value) > 0 {
			g.Options = append(g.Options, dhcp4.Option{Code: code, Value: value})
		}
	}
	add(dhcp4.CodeRouter, p.local.AsSlice())
	dns := s.grant.DNS
	if !dns[0].IsValid() && !dns[1].IsValid() {
		dns = p.dns
	}
	var servers []byte
	for _, a := range dns {
		if a.Is4() {
			servers = append(servers, a.AsSlice()...)
		}
	}
	add(dhcp4.CodeDNS, servers)
	add(dhcp4.CodeDomain, []byte(p.domain))
	g.Options = append(g.Options, dhcp4.Number16(dhcp4.CodeMTU, p.mtu))
	return g
}

// serve4 takes a DHCP message of a session's client.
func (m *Manager) serve4(s *Session, r *dhcp4.Request) {
	if s.lease4 == nil {
		s.lease4 = dhcp4.NewLease(s.config4())
	}
	m.lease4(s, s.lease4.Receive(m.loop.Now(), r))
	m.advance(s)
}

// lease4 does what the DHCP machine asks for, in its order.
func (m *Manager) lease4(s *Session, outputs []dhcp4.Output) {
	for _, output := range outputs {
		if s.ending() {
			return
		}
		switch o := output.(type) {
		case dhcp4.NeedAddress:
			m.lease4(s, m.assign4(s, o))
		case dhcp4.NeedBinding:
			s.enliven(slotIPv4)
			s.waits.commit4 = true
		case dhcp4.Bound:
			m.bound4(s, o.Until, o.Renewed)
		case dhcp4.Released:
			cause := CauseReleased
			if o.Elsewhere {
				cause = CauseOtherServer
			}
			m.drop4(s, cause)
		case dhcp4.Declined:
			m.declined(s, slotIPv4)
			m.lost(s, CauseDeclined)
		case dhcp4.Expired:
			cause := CauseLeaseExpired
			if o.Offered {
				cause = CauseOfferExpired
			}
			m.drop4(s, cause)
		case dhcp4.Send:
			m.send4(s, o.Payload, o.To)
		case dhcp4.Ignored:
			m.stats.ignored4[o.Reason].Add(1)
		}
	}
	m.scheduleLease(s, timerLease4, s.lease4.Deadline())
}

// assign4 answers the machine's call for an address.
func (m *Manager) assign4(s *Session, need dhcp4.NeedAddress) []dhcp4.Output {
	now := m.loop.Now()
	if s.bindings[slotIPv4].leaving || !s.offers(slotIPv4) {
		return s.lease4.Refuse(now, "")
	}
	wish := netip.Prefix{}
	if need.Requested.Is4() {
		wish = single(need.Requested)
	}
	if cause := m.allot(s, s.grant, slotIPv4, wish); cause != "" {
		m.stats.withheld(slotIPv4, cause)
		outputs := s.lease4.Refuse(now, "")
		m.wither(s, cause)
		if s.ending() && !s.offers6() { // do not ask AAA about the same shortage with each DISCOVER
			m.refused.remember(s.client, now)
		}
		return outputs
	}
	return s.lease4.Assign(now, s.grant4())
}

// bound4 notes that the client has its address until then.
func (m *Manager) bound4(s *Session, until time.Time, renewed bool) {
	s.bindings[slotIPv4].until = until
	if renewed {
		m.save(s)
		return
	}
	m.up(s)
}

// leaseOver4: an offer or a lease has run out.
func (m *Manager) leaseOver4(s *Session) {
	if s.lease4 == nil { // another server's
		m.drop4(s, CauseLeaseExpired)
		return
	}
	m.lease4(s, s.lease4.Timeout(m.loop.Now()))
}

func (m *Manager) drop4(s *Session, cause Cause) {
	s.let(slotIPv4)
	m.lost(s, cause)
}

// send4 sends a DHCP reply to a session's client.
func (m *Manager) send4(s *Session, payload []byte, to dhcp4.Destination) {
	m.stats.sent4.Add(1)
	if m.followers != nil {
		m.tell(s, "out", dissect.DHCPv4(payload))
	}
	who := s.client
	if to.Broadcast {
		who.mac = broadcastMAC
	}
	packet := dhcp4.AppendDatagram(nil, dhcp4.Datagram{
		Source:      netip.AddrPortFrom(s.profile.local, dhcp4.ServerPort),
		Destination: netip.AddrPortFrom(to.IP, to.Port), Payload: payload,
	}, 0)
	m.sendEthernet(who, s.ownMAC, etherTypeIPv4, packet)
}
