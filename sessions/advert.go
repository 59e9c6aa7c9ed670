package sessions

import (
	"net/netip"
	"time"

	"vbng/forwarding/entry"
	"vbng/sessions/nd"
)

// advertsMissed is how many intervals a name server is good for without an advertisement (RFC 8106 5.1).
const advertsMissed = 3

// advertHops is the hop limit that clients are told to use (RFC 4861 6.3.4; IANA's default).
const advertHops = 64

// openIPv6 begins IPv6 on a line: its prefix, if it is to have one, and advertisements.
func (m *Manager) openIPv6(s *Session) {
	if s.advert != nil || s.grant == nil {
		return
	}
	now := m.loop.Now()
	if s.localID == 0 {
		s.localID = eui64(s.ownMAC)
	}
	s.advert = nd.NewPacer(s.pacing(), now)
	if s.offers(slotPrefix) {
		if cause := m.allot(s, s.grant, slotPrefix, netip.Prefix{}); cause != "" {
			m.stats.withheld(slotPrefix, cause)
		} else {
			s.enliven(slotPrefix)
			m.watchPrefix(s)
		}
	}
}

// pacing is how often the line hears advertisements (RFC 4861 6.2.1).
func (s *Session) pacing() nd.Pacing {
	return nd.Pacing{Min: max(minAdvertPause, s.profile.advertInterval/3), Max: s.profile.advertInterval}
}

// minAdvertPause is the least of RFC 4861 6.2.1's MinRtrAdvInterval.
const minAdvertPause = 3 * time.Second

// closeIPv6 ends advertisements: the line has no IPv6 any more. What the client holds stays its own, so
// that it finds the same when it comes back.
func (m *Manager) closeIPv6(s *Session) {
	s.advert = nil
	m.stopTimer(s, timerAdvert)
}

// solicited takes a router solicitation: the answer comes a little later (RFC 4861 6.2.6).
func (m *Manager) solicited(s *Session) {
	if s.advert == nil {
		return
	}
	s.advert.Solicited(m.loop.Now(), m.jitter.Float64())
	m.watchPrefix(s)
	m.scheduleAdvert(s)
}

func (m *Manager) scheduleAdvert(s *Session) {
	if s.advert != nil && !s.ending() {
		m.setTimer(s, timerAdvert, max(0, s.advert.Deadline().Sub(m.loop.Now())))
	}
}

// advertise sends what is due. It waits for the ladder when the prefix has no route yet: settled asks again.
func (m *Manager) advertise(s *Session) {
	now := m.loop.Now()
	if s.advert == nil || s.inFlight || now.Before(s.advert.Deadline()) {
		return
	}
	m.sendAdvert(s, true)
	s.advert.Sent(now, m.jitter.Float64())
}

// sendAdvert sends a router advertisement. On PPP, and on IPoE where each client has a prefix of its own, no
// address is on the link but the client's: the L flag stays clear (RFC 4861 6.3.4). The last one (stays is false)
// says that we are its router no more (6.2.5), and that its prefix, which will be another's, is over.
func (m *Manager) sendAdvert(s *Session, stays bool) {
	p := s.profile
	lifetime, valid, preferred, dnsLifetime := p.advertLife, p.valid, min(p.preferred, p.valid), advertsMissed*p.advertInterval
	if !stays {
		lifetime, valid, preferred, dnsLifetime = 0, 0, 0, 0
	}
	managed := s.offers(slotAddress6)
	servers := s.dns6()
	a := nd.RouterAdvert{
		Source: linkLocal(s.localID), Destination: nd.AllNodes(), HopLimit: advertHops, Lifetime: lifetime,
		Managed: managed, Other: managed || s.offers(slotDelegated) || len(servers) > 0,
		MTU: uint32(compile(s).session.MTU), DNS: servers, DNSLifetime: dnsLifetime,
	}
	if s.link == nil {
		own := [6]byte(s.ownMAC)
		a.LinkAddress = &own
	}
	if p := s.usable(slotPrefix); p.IsValid() {
		a.Prefixes = []nd.Prefix{{Prefix: p, Autonomous: true, Valid: valid, Preferred: preferred}}
	}
	m.stats.advertsSent.Add(1)
	m.sendIPv6(s, nd.AppendRouterAdvert(nil, a))
}

// dns6 are the session's IPv6 name servers: granted ones go before the profile's.
func (s *Session) dns6() []netip.Addr {
	var servers []netip.Addr
	for _, a := range s.grant.DNS6 {
		if a.IsValid() {
			servers = append(servers, a)
		}
	}
	if servers == nil {
		servers = s.profile.dns6
	}
	return servers
}

// watchPrefix keeps an IPoE client's advertised prefix for its lifetime from now on. It has no lease: what
// the client sends, or a solicitation, prolongs it.
func (m *Manager) watchPrefix(s *Session) {
	if s.link != nil || !s.bindings[slotPrefix].held() {
		return
	}
	s.prefixPackets = m.usage(s).InputPackets // what the world sends to the prefix of a client that is gone does not count
	m.setTimer(s, timerPrefix, s.profile.valid)
}

// prefixOver takes the prefix of a client that was silent for its lifetime, and has no lease either.
func (m *Manager) prefixOver(s *Session) {
	leased := s.usable(slotIPv4).IsValid() || s.usable(slotAddress6).IsValid() || s.usable(slotDelegated).IsValid()
	if leased || m.usage(s).InputPackets != s.prefixPackets {
		m.watchPrefix(s)
		return
	}
	s.let(slotPrefix)
	m.closeIPv6(s)
	m.lost(s, CauseLeaseExpired)
}

// sendIPv6 sends an IPv6 packet to a session's client. Multicast goes to the client alone: each has a prefix
// of its own (RFC 6085).
func (m *Manager) sendIPv6(s *Session, packet []byte) {
	if s.link != nil {
		m.sendPPP(s, protocolIPv6, packet)
		return
	}
	if m.followers != nil {
		m.tellPPP(s, "out", protocolIPv6, packet)
	}
	m.sendEthernet(s.client, s.ownMAC, etherTypeIPv6, packet)
}

const (
	protocolIPv6  = 0x0057 // RFC 5072 section 3
	etherTypeIPv6 = 0x86dd
	etherTypeIPv4 = 0x0800
)

var broadcastMAC = entry.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
