package sessions

import (
	"net/netip"

	"vbng/aaa"
	"vbng/sessions/ppp"
)

// authorized takes the authorizer's answer to the client and, if it is a grant, into effect.
func (m *Manager) authorized(msg authorized) {
	s := m.index.byID[msg.id]
	if s == nil || s.state != StateAuthenticating || s.authSerial != msg.serial {
		m.stats.late.Add(1)
		return
	}
	if m.followers != nil {
		m.tellAnswer(s, msg.answer)
	}
	grant, reject := msg.answer.Grant, msg.answer.Reject
	if grant == nil {
		if reject == nil {
			reject = &aaa.Reject{Cause: aaa.NoSuchMethod}
		}
		m.reject(s, Cause(reject.Cause.String()), reject.Message)
		return
	}
	username := grant.Username
	if username == "" {
		username = msg.username
	}
	if s.grant != nil && !m.sameIdentity(s, username, grant) {
		m.reject(s, CauseIdentityChanged, CauseIdentityChanged.Text())
		return
	}
	if s.link == nil {
		m.index.name(s, username)
		m.admitted(s, grant)
		return
	}
	cause := m.take(s, grant)
	if cause == "" {
		m.index.name(s, username)
		s.grant, s.state = grant, StateActivating
		if s.localID == 0 && s.offers6() {
			s.localID = eui64(s.ownMAC)
		}
	}
	m.perform(s, s.link.AuthDone(msg.serial, true, grantMessage(grant, cause), m.network(s, grant)))
	if cause != "" { // authenticated, but there is nothing to give: not the client's fault
		m.close(s, cause)
		return
	}
	m.advance(s)
}

// sameIdentity compares the grant of a link that negotiated anew with what the session is known as,
// also to accounting. Only the same subscriber at the same address goes on.
func (m *Manager) sameIdentity(s *Session, username string, grant *aaa.Grant) bool {
	for x := range numSlots {
		if f, b := fixed(grant, x), &s.bindings[x]; f.IsValid() && b.held() && f != b.prefix {
			return false
		}
	}
	return username == s.username
}

// reject tells the client no. The link says goodbye and finishes; what it finishes with is our cause.
func (m *Manager) reject(s *Session, cause Cause, message string) {
	if message == "" {
		message = cause.Text()
	}
	if s.link == nil {
		m.refused.remember(s.client, m.loop.Now())
		m.end(s, cause)
		return
	}
	s.because = cause
	m.perform(s, s.link.AuthDone(s.authSerial, false, message, ppp.NetConfig{}))
}

// take takes what a grant names word for word, and the session's IPv4 address: the granted one, or one from
// the granted pool, or one from the profile's. It returns why there is none. A session that may have IPv6
// does without IPv4 where there is no pool for it, or none is free.
func (m *Manager) take(s *Session, grant *aaa.Grant) Cause {
	if cause := m.reserveFixed(s, grant); cause != "" {
		return cause
	}
	if s.ipv4().IsValid() {
		s.enliven(slotIPv4)
		return ""
	}
	six := offers6(grant, s.profile)
	if six && poolOf(grant, s.profile, slotIPv4) == "" {
		return ""
	}
	cause := m.allot(s, grant, slotIPv4, netip.Prefix{})
	if cause == "" {
		s.enliven(slotIPv4)
		return ""
	}
	if six {
		m.stats.withheld(slotIPv4, cause)
		return ""
	}
	return cause
}

func grantMessage(grant *aaa.Grant, cause Cause) string {
	if cause != "" {
		return cause.Text()
	}
	return grant.Message
}

// network says what IPCP may agree to. Granted name servers go before the profile's.
func (m *Manager) network(s *Session, grant *aaa.Grant) ppp.NetConfig {
	var c ppp.NetConfig
	if offers6(grant, s.profile) && s.localID != 0 {
		c.LocalInterfaceID, c.PeerInterfaceID = s.localID, grant.InterfaceID
	}
	if !s.ipv4().IsValid() {
		return c
	}
	dns := grant.DNS
	if !dns[0].IsValid() && !dns[1].IsValid() {
		dns = s.profile.dns
	}
	c.Local, c.Peer, c.PrimaryDNS, c.SecondaryDNS = s.profile.local, s.ipv4(), dns[0], dns[1]
	return c
}
