package sessions

import (
	"encoding/binary"
	"net/netip"
	"time"

	"vbng/forwarding/entry"
	"vbng/sessions/dhcp6"
)

// duid is our name to DHCPv6 clients on a port: DUID-LL (RFC 8415 11.4), the same as long as the port's
// address is.
func duid(m entry.MAC) []byte {
	const linkLayer, ethernet = 3, 1
	b := binary.BigEndian.AppendUint16(nil, linkLayer)
	b = binary.BigEndian.AppendUint16(b, ethernet)
	return append(b, m[:]...)
}

func (s *Session) config6() dhcp6.Config {
	return dhcp6.Config{ServerID: duid(s.ownMAC), RapidCommit: true, DNS: s.dns6()}
}

// grant6 is what the session holds, in the words of DHCPv6.
func (s *Session) grant6() dhcp6.Grant {
	g := dhcp6.Grant{Preferred: min(s.profile.preferred, s.profile.valid), Valid: s.profile.valid}
	if p, ok := s.reserved(slotAddress6); ok {
		g.Address = p.Addr()
	}
	if p, ok := s.reserved(slotDelegated); ok {
		g.Delegated = p
	}
	return g
}

// serve6 takes a DHCPv6 message of a session's client.
func (m *Manager) serve6(s *Session, r *dhcp6.Request) {
	if s.lease6 == nil {
		s.lease6 = dhcp6.NewLink(s.config6())
	}
	m.lease6(s, s.lease6.Receive(m.loop.Now(), r))
	m.advance(s)
}

// lease6 does what the DHCPv6 machine asks for, in its order. What goes back may be the last thing of the session, but the
// client gets its answer first.
func (m *Manager) lease6(s *Session, outputs []dhcp6.Output) {
	var gone Cause
	for _, output := range outputs {
		if s.ending() {
			return
		}
		switch o := output.(type) {
		case dhcp6.NeedLeases:
			m.lease6(s, s.lease6.Assign(m.loop.Now(), m.assign6(s, o)))
		case dhcp6.NeedBinding:
			s.enlivenIf(slotAddress6, o.Address.IsValid())
			s.enlivenIf(slotDelegated, o.Delegated.IsValid())
			s.waits.commit6 = true
		case dhcp6.Bound:
			m.bound6(s, o)
		case dhcp6.Released:
			s.drop6(o.Address, o.Delegated)
			gone = CauseReleased
		case dhcp6.Expired:
			s.drop6(o.Address, o.Delegated)
			gone = CauseLeaseExpired
			if o.Offered {
				gone = CauseOfferExpired
			}
		case dhcp6.Declined:
			m.declined(s, slotAddress6)
			gone = CauseDeclined
		case dhcp6.Send:
			m.send6(s, o)
		case dhcp6.Ignored:
			m.stats.ignored6[o.Reason].Add(1)
		}
	}
	if gone != "" {
		m.lost(s, gone)
	}
	m.scheduleLease(s, timerLease6, s.lease6.Deadline())
}

// assign6 fills what the client asks for and the session may have; what stays empty is refused to it.
func (m *Manager) assign6(s *Session, need dhcp6.NeedLeases) dhcp6.Grant {
	fill := func(x slot, wanted bool, wish netip.Prefix) {
		if !wanted || !s.offers(x) || s.bindings[x].leaving {
			return
		}
		if cause := m.allot(s, s.grant, x, wish); cause != "" {
			m.stats.withheld(x, cause)
		}
	}
	wish := netip.Prefix{}
	if need.Requested.IsValid() {
		wish = single(need.Requested)
	}
	fill(slotAddress6, need.Address, wish)
	fill(slotDelegated, need.Prefix, need.Hint)
	return s.grant6()
}

func (s *Session) enlivenIf(x slot, wanted bool) {
	if wanted {
		s.enliven(x)
	}
}

// bound6 notes what the client has now.
func (m *Manager) bound6(s *Session, o dhcp6.Bound) {
	if o.Address.IsValid() {
		s.bindings[slotAddress6].until = o.Until
	}
	if o.Delegated.IsValid() {
		s.bindings[slotDelegated].until = o.Until
	}
	if o.Renewed || s.link != nil && s.state != StateUp { // a PPP link is up by its network protocols only
		m.save(s)
		return
	}
	m.up(s)
}

// drop6 gives leases back.
func (s *Session) drop6(address netip.Addr, delegated netip.Prefix) {
	if address.IsValid() {
		s.let(slotAddress6)
	}
	if delegated.IsValid() {
		s.let(slotDelegated)
	}
}

func (m *Manager) send6(s *Session, o dhcp6.Send) {
	m.stats.sent6.Add(1)
	m.sendIPv6(s, dhcp6.AppendDatagram(nil, dhcp6.Datagram{
		Source: netip.AddrPortFrom(linkLocal(s.localID), dhcp6.ServerPort), Destination: o.To, Payload: o.Payload,
	}))
}

// scheduleLease lets a lease machine hear when its time has come.
func (m *Manager) scheduleLease(s *Session, slot timerSlot, deadline time.Time) {
	switch {
	case s.ending():
	case deadline.IsZero():
		m.stopTimer(s, slot)
	default:
		m.setTimer(s, slot, max(0, deadline.Sub(m.loop.Now())))
	}
}
