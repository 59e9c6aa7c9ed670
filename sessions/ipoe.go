package sessions

import (
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
	"vbng/sessions/dhcp4"
	"vbng/sessions/dhcp6"
)

const (
	// maxPending bounds the IPoE clients that are known but not authorized yet: beyond it nothing is kept of
	// a newcomer.
	maxPending = 4096
	// refusalTime is how long a client that was refused is not asked about again.
	refusalTime = 10 * time.Second
	// maxRefused bounds the clients remembered for it.
	maxRefused = 4096
)

// held is what a client said before its session could answer: the newest of each kind.
type held struct {
	line    dialled // of a client whose last session is still being taken down
	dhcp4   *said4
	dhcp6   *dhcp6.Request
	solicit bool
}

// said4 is a DHCP message, read and as it came.
type said4 struct {
	request *dhcp4.Request
	payload []byte
}

// waits is what is due when forwarder and RIB have caught up with a session.
type waits struct {
	commit4, commit6 bool
	relayed          *dhcp4.Relayed
}

// came is where and from whom a message of the line came.
type came struct {
	ppp     bool
	session entry.SessionID // with ppp
	client  client
}

// heard finds the session of a message. A stranger on a line of IPoE gets one, if it may and the message opens
// something: who says goodbye needs nobody to be asked about him. A client whose session is being taken down gets
// its next one when that is done (comeBack).
func (m *Manager) heard(from came, line dialled, opens bool) *Session {
	if from.ppp {
		s := m.index.byID[from.session]
		if s == nil || s.link == nil || s.client != from.client {
			m.stats.late.Add(1)
			return nil
		}
		return s
	}
	s := m.index.byTuple[tuple{client: from.client}]
	switch {
	case s == nil && opens:
		return m.welcome(from.client, line)
	case s != nil && s.ending() && opens:
		if s.held.dhcp4 == nil { // DHCPv4 tells more of the line than the others do
			s.held.line = line
		}
	case s == nil || s.ending():
		m.stats.late.Add(1)
		return nil
	}
	return s
}

// welcome admits a client of IPoE and asks who it is. Nothing is programmed before that is known.
func (m *Manager) welcome(who client, said dialled) *Session {
	name, own, _, ok := m.needs.Ports.Port(who.place.Port)
	profile := m.current.at(name, who.place).ipoe
	switch {
	case !m.restore.begun:
		m.stats.late.Add(1)
		return nil
	case !ok || profile == nil || own == (entry.MAC{}):
		m.stats.noProfile.Add(1)
		return nil
	case profile.username.namesLine() && !said.whole && said.CircuitID == nil && said.RemoteID == nil:
		m.stats.lineUntold.Add(1) // a router solicitation may come first: who it is, the DHCP that follows tells
		return nil
	case m.refused.remembers(who, m.loop.Now()):
		m.stats.refusedAgain.Add(1)
		return nil
	case m.pending >= maxPending:
		m.stats.pendingFull.Add(1)
		return nil
	}
	if cause := m.limitIPoE(who, profile); cause != "" {
		m.stats.ended(cause, false)
		m.refused.remember(who, m.loop.Now())
		m.log.warn(string(cause), "IPoE client refused", "cause", string(cause), "reason", cause.Text(),
			"port", name, "vlan", who.place.VLAN(), "mac", who.mac)
		return nil
	}
	id := entry.SessionID(m.ids.Next())
	s := &Session{
		id: id, access: aaa.IPoE, acctID: m.acctSessionID(id), client: who, ownMAC: own, port: name,
		profile: profile, created: m.loop.Now(), dialled: said, state: StateAuthenticating,
	}
	m.enter(s)
	m.pending++
	m.setTimer(s, timerSetup, setupTime)
	m.authorizeLine(s)
	return s
}

// comeBack begins the next session of a client that spoke while its last one was taken down: nobody would hear its
// next word for seconds else.
func (m *Manager) comeBack(s *Session) {
	said := s.held
	s.held = held{}
	if said.dhcp4 == nil && said.dhcp6 == nil && !said.solicit {
		return
	}
	if next := m.welcome(s.client, said.line); next != nil {
		next.held = said
	}
}

// limitIPoE is limit for clients without PPPoE: the MAC address counts on all VLANs together.
func (m *Manager) limitIPoE(who client, p *profile) Cause {
	if cause := m.limitPlace(who, p); cause != "" {
		return cause
	}
	mine := 0
	for _, s := range m.index.byMAC[who.mac] {
		if s.link == nil && !s.ending() {
			mine++
		}
	}
	if p.perClient != 0 && mine >= p.perClient {
		return CauseLimitMAC
	}
	return ""
}

// authorizeLine asks the authorizer about the line (aaa.ByLine).
func (m *Manager) authorizeLine(s *Session) {
	line := s.line()
	username := s.profile.username.expand(line)
	m.index.name(s, username)
	id := s.id
	request := aaa.Request{
		AcctSessionID: s.acctID, Group: s.profile.group, Username: username, Method: aaa.ByLine,
		Password: []byte(s.profile.password), Line: line,
	}
	if m.followers != nil {
		request.Trace = m.trace(s)
	}
	m.needs.Authorizer.Authorize(request, func(a aaa.Answer) { m.loop.Post(authorized{id: id, username: username, answer: a}) })
}

// admitted takes the grant of a line into effect: the forwarder learns of the session, then what the client
// said meanwhile is answered.
func (m *Manager) admitted(s *Session, grant *aaa.Grant) {
	m.pending--
	s.grant, s.state = grant, StateActivating
	if s.offers6() {
		s.localID = eui64(s.ownMAC)
	}
	if cause := m.reserveFixed(s, grant); cause != "" {
		m.refused.remember(s.client, m.loop.Now())
		m.end(s, cause)
		return
	}
	if !s.offers(slotIPv4) && !s.offers6() && len(s.profile.relays) == 0 {
		m.refused.remember(s.client, m.loop.Now())
		m.end(s, CausePoolUnknown)
		return
	}
	m.advance(s)
}

// reserveFixed takes what a grant names word for word, so that a conflict is found before anything is
// offered.
func (m *Manager) reserveFixed(s *Session, grant *aaa.Grant) Cause {
	for x := range numSlots {
		if !fixed(grant, x).IsValid() {
			continue
		}
		if cause := m.allot(s, grant, x, fixed(grant, x)); cause != "" {
			return cause
		}
	}
	return ""
}

// opened: the forwarder knows an IPoE session; what its client said is answered now.
func (m *Manager) opened(s *Session) {
	s.state = StateNetwork
	h := s.held
	s.held = held{}
	if h.dhcp4 != nil {
		m.said4(s, h.dhcp4)
	}
	if h.dhcp6 != nil && !s.ending() {
		m.said6(s, h.dhcp6)
	}
	if h.solicit && !s.ending() {
		m.saidSolicit(s)
	}
	m.advance(s)
}

// ready reports whether a session can answer its client.
func (s *Session) ready() bool { return s.state == StateNetwork || s.state == StateUp }

// said4 answers a DHCP message, or keeps it until the session can.
func (m *Manager) said4(s *Session, say *said4) {
	switch {
	case !s.ready():
		s.held.dhcp4 = say
	case len(s.profile.relays) > 0:
		m.relayUp(s, say)
	default:
		m.serve4(s, say.request)
	}
}

// said6 answers a DHCPv6 message, or keeps it until the session can.
func (m *Manager) said6(s *Session, r *dhcp6.Request) {
	switch {
	case !s.ready():
		if s.link == nil {
			s.held.dhcp6 = r
		} else {
			m.stats.late.Add(1)
		}
	case !s.offers6() || s.link != nil && s.advert == nil: // RFC 5072 3: nothing before IPV6CP is Opened
		m.stats.no6.Add(1)
	default:
		m.speaks6(s)
		m.serve6(s, r)
	}
}

// saidSolicit answers a router solicitation, or remembers it until the session can.
func (m *Manager) saidSolicit(s *Session) {
	switch {
	case !s.ready():
		s.held.solicit = s.link == nil
	case !s.offers6():
		m.stats.no6.Add(1)
	default:
		m.speaks6(s)
		m.solicited(s)
		m.advance(s)
	}
}

// speaks6: a client of IPoE uses IPv6. On PPPoE it is IPV6CP that tells.
func (m *Manager) speaks6(s *Session) {
	if s.link == nil && s.advert == nil {
		m.openIPv6(s)
		m.scheduleAdvert(s)
	}
}

// settled: forwarder and RIB have all that the session holds; now the client may be told.
func (m *Manager) settled(s *Session) {
	w := s.waits
	s.waits = waits{}
	if w.commit4 && s.lease4 != nil {
		m.lease4(s, s.lease4.Commit(m.loop.Now()))
	}
	if w.commit6 && s.lease6 != nil && !s.ending() {
		m.lease6(s, s.lease6.Commit(m.loop.Now()))
	}
	if w.relayed != nil && !s.ending() {
		m.relayBound(s, w.relayed)
	}
	if s.ending() {
		return
	}
	if s.link == nil && s.state == StateNetwork && s.usable(slotPrefix).IsValid() {
		m.up(s)
	}
	m.changed(s)
	m.advertise(s)
	m.scheduleAdvert(s)
}

// lost: something that the client held goes back. An IPoE session with nothing left ends by it; a PPPoE
// session goes on. A client that releases its last lease says goodbye: the advertised prefix, which nobody can give
// back by a word of its own, does not keep its session.
func (m *Manager) lost(s *Session, cause Cause) {
	if cause == CauseReleased && s.link == nil && s.ready() && !s.leases() {
		m.end(s, cause)
		return
	}
	m.wither(s, cause)
	m.advance(s)
}

// leases reports whether a client has a lease, or an offer of one.
func (s *Session) leases() bool {
	for _, x := range [...]slot{slotIPv4, slotAddress6, slotDelegated} {
		if _, ok := s.reserved(x); ok {
			return true
		}
	}
	return false
}

// wither ends an IPoE session that neither holds anything nor waits for an answer of ours.
func (m *Manager) wither(s *Session, cause Cause) {
	if s.link != nil || s.ending() || !s.ready() {
		return
	}
	for x := range numSlots {
		if _, ok := s.reserved(x); ok {
			return
		}
	}
	m.end(s, cause)
}

// holdoff remembers clients that were refused.
type holdoff struct {
	until map[client]time.Time
	swept time.Time
}

func (h *holdoff) remember(who client, now time.Time) {
	if h.until == nil {
		h.until = map[client]time.Time{}
	}
	if len(h.until) >= maxRefused && now.Sub(h.swept) >= time.Second { // else a flood would keep us sweeping
		h.swept = now
		for each, at := range h.until {
			if !now.Before(at) {
				delete(h.until, each)
			}
		}
	}
	if len(h.until) < maxRefused {
		h.until[who] = now.Add(refusalTime)
	}
}

func (h *holdoff) remembers(who client, now time.Time) bool {
	at, there := h.until[who]
	if there && !now.Before(at) {
		delete(h.until, who)
		return false
	}
	return there
}
