package sessions

import (
	"errors"
	"net/netip"

	"vbng/aaa"
	"vbng/sessions/pool"
	"vbng/sessions/ppp"
)

// authorized takes the authorizer's answer to the client and, if it is a grant, into effect.
func (m *Manager) authorized(msg authorized) {
	s := m.index.byID[msg.id]
	if s == nil || s.state != StateAuthenticating || s.authSerial != msg.serial {
		m.stats.late.Add(1)
		return
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
	cause := m.take(s, grant)
	if cause == "" {
		m.index.name(s, username)
		s.grant, s.state = grant, StateActivating
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
	return username == s.username && (!grant.Address.IsValid() || grant.Address == s.address)
}

// reject tells the client no. The link says goodbye and finishes; what it finishes with is our cause.
func (m *Manager) reject(s *Session, cause Cause, message string) {
	if message == "" {
		message = cause.Text()
	}
	s.because = cause
	m.perform(s, s.link.AuthDone(s.authSerial, false, message, ppp.NetConfig{}))
}

// take takes the session's address: the granted one, or one from the granted pool, or one from the
// profile's. It returns why there is none.
func (m *Manager) take(s *Session, grant *aaa.Grant) Cause {
	if s.address.IsValid() {
		return ""
	}
	owner := pool.Owner(s.id)
	if grant.Address.IsValid() {
		if !usable(grant.Address) {
			m.log.warn("unusable", "no address for subscriber", "user", s.username, "session", s.acctID, "address", grant.Address)
			return CauseAddressUnusable
		}
		if err := m.pools.Reserve(grant.Address, owner); err != nil {
			return m.noAddress(s, err)
		}
		m.index.locate(s, grant.Address)
		return ""
	}
	name := grant.Pool
	if name == "" {
		name = s.profile.pool
	}
	address, err := m.pools.Allocate(name, owner)
	if err != nil {
		return m.noAddress(s, err)
	}
	s.pool = name
	m.index.locate(s, address)
	return ""
}

// usable reports whether an address can be one subscriber's.
func usable(a netip.Addr) bool {
	return a.Is4() && a.IsGlobalUnicast() // not multicast, loopback, link-local, 0.0.0.0 or broadcast
}

func (m *Manager) noAddress(s *Session, err error) Cause {
	cause := CausePoolExhausted
	var inUse *pool.InUseError
	switch {
	case errors.Is(err, pool.ErrUnknown):
		cause = CausePoolUnknown
	case errors.Is(err, pool.ErrOwn):
		cause = CauseAddressOwn
	case errors.As(err, &inUse):
		cause = CauseAddressInUse
	}
	m.log.warn(string(cause), "no address for subscriber", "user", s.username, "session", s.acctID, "error", err)
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
	if !s.address.IsValid() {
		return ppp.NetConfig{}
	}
	dns := grant.DNS
	if !dns[0].IsValid() && !dns[1].IsValid() {
		dns = s.profile.dns
	}
	return ppp.NetConfig{Local: s.profile.local, Peer: s.address, PrimaryDNS: dns[0], SecondaryDNS: dns[1]}
}

// prefix is the subscriber's route.
func (s *Session) prefix() netip.Prefix { return netip.PrefixFrom(s.address, s.address.BitLen()) }
