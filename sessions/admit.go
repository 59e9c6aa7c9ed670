package sessions

import (
	"bytes"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
	"vbng/sessions/ppp"
	"vbng/sessions/pppoe"
)

// requested admits a client that asked for a session with a good cookie, or says why not.
func (m *Manager) requested(msg requested) {
	if !m.restore.begun { // what restored sessions hold is not reserved yet; the client asks again
		m.stats.late.Add(1)
		return
	}
	name, own, _, ok := m.needs.Ports.Port(msg.place.Port)
	profile := m.current.at(name, msg.place).pppoe
	if !ok || profile == nil {
		m.stats.noProfile.Add(1)
		return
	}
	who := client{place: msg.place, mac: entry.MAC(msg.request.Client)}
	if m.repeated(who, msg.request, profile) {
		return
	}
	if cause := m.limit(who, profile); cause != "" {
		m.refuse(who, own, msg.request, cause)
		return
	}
	now := m.loop.Now()
	pppoeID, err := m.pppoeIDs.Allocate(line(who.place), now)
	if err != nil {
		m.refuse(who, own, msg.request, CauseNoPPPoEID)
		return
	}
	id := entry.SessionID(m.ids.Next())
	s := &Session{
		id: id, access: aaa.PPPoE, acctID: m.acctSessionID(id), client: who, ownMAC: own, port: name, pppoe: pppoeID,
		profile: profile, created: now, request: msg.request,
		dialled: dialled{
			Service: msg.request.Service, HostUniq: msg.request.HostUniq,
			CircuitID: msg.request.Access.CircuitID, RemoteID: msg.request.Access.RemoteID,
		},
	}
	s.link = ppp.NewLink(profile.linkFor(msg.request), m.needs.Random)
	m.enter(s)
	m.setTimer(s, timerSetup, setupTime)
	m.advance(s)
}

// padsGrace is how long a PADR with a known Host-Uniq counts as a repetition.
const padsGrace = 10 * time.Second

// repeated deals with a PADR of a client that has a session already. One that lost our PADS, or whose
// repetition crossed it, gets it again; one that was up, or asks with another Host-Uniq, has forgotten
// its session, and a new one takes its place. With more than one session per client, a new Host-Uniq
// is a new session.
func (m *Manager) repeated(who client, request pppoe.Request, profile *profile) bool {
	for _, s := range m.index.byClient[who] {
		same := bytes.Equal(s.dialled.HostUniq, request.HostUniq)
		switch {
		case s.ending() || s.link == nil:
		case same && s.state == StateDiscovered:
			return true // its PADS is on the way
		case same && !s.accounted() && m.loop.Now().Sub(s.created) < padsGrace:
			m.stats.padsRepeated.Add(1)
			m.sendPADS(s)
			return true
		case same || profile.perClient == 1:
			m.end(s, CauseReplaced)
		}
	}
	return false
}

// limit returns the limit that another session of the client would break, if any. Sessions that are
// ending do not count for their client: it cannot know that they are still there.
func (m *Manager) limit(who client, p *profile) Cause {
	mine := 0
	for _, s := range m.index.byClient[who] {
		if !s.ending() && s.link != nil {
			mine++
		}
	}
	if cause := m.limitPlace(who, p); cause != "" {
		return cause
	}
	if p.perClient != 0 && mine >= p.perClient {
		return CauseLimitMAC
	}
	return ""
}

// limitPlace looks at the limits of the router, a port and a VLAN.
func (m *Manager) limitPlace(who client, p *profile) Cause {
	switch {
	case len(m.index.byID) >= m.current.boxLimit:
		return CauseLimitBox
	case p.perPort != 0 && m.index.perPort[who.place.Port] >= p.perPort:
		return CauseLimitPort
	case p.perPlace != 0 && m.index.perPlace[who.place] >= p.perPlace:
		return CauseLimitVLAN
	}
	return ""
}

// refuse answers a PADR with an error (RFC 2516 section 5.4).
func (m *Manager) refuse(who client, own entry.MAC, request pppoe.Request, cause Cause) {
	m.stats.ended(cause, false)
	m.log.warn(string(cause), "PPPoE request refused", "cause", string(cause), "reason", cause.Text(),
		"port", who.place.Port, "outer_vlan", who.place.OuterVLAN, "inner_vlan", who.place.InnerVLAN, "mac", who.mac)
	packet, err := pppoe.BuildPADSError(request, pppoe.TagACSystemError, cause.Text())
	if err != nil { // the client's own tags leave no room for the answer
		m.stats.malformed.Add(1)
		return
	}
	m.sendDiscovery(who, own, packet)
}

// enter makes the session known.
func (m *Manager) enter(s *Session) {
	m.index.add(s)
	m.full.Store(len(m.index.byID) >= m.current.boxLimit)
}

// confirm sends the PADS and begins PPP: frames will find the session now.
func (m *Manager) confirm(s *Session) {
	s.state = StateLink
	m.sendPADS(s)
	m.perform(s, s.link.Start())
}

func (m *Manager) sendPADS(s *Session) {
	packet, err := pppoe.BuildPADS(s.request, s.pppoe)
	if err != nil { // the client's own tags leave no room for the answer
		m.stats.malformed.Add(1)
		return
	}
	m.sendDiscovery(s.client, s.ownMAC, packet)
}

// terminated ends a session at its client's word, if the word is the client's.
func (m *Manager) terminated(msg terminated) {
	s := m.index.byTuple[tuple{client: msg.client, pppoe: msg.pppoe}]
	if s == nil || s.ending() {
		m.stats.padtsStray.Add(1)
		return
	}
	m.end(s, CausePADT)
}

// uptime returns how long the session is, or was, up.
func (s *Session) uptime(now time.Time) time.Duration {
	switch {
	case s.upAt.IsZero():
		return 0
	case !s.ended.IsZero():
		now = s.ended
	}
	return max(0, now.Sub(s.upAt))
}
