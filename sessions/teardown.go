package sessions

import (
	"vbng/forwarding/entry"
	"vbng/sessions/ppp"
	"vbng/sessions/pppoe"
)

// close ends a session in good order: LCP says goodbye first, then end follows from the link's
// Finished. It does nothing to a session that is closing or ending.
func (m *Manager) close(s *Session, cause Cause) {
	if s.ending() || s.because != "" {
		return
	}
	s.because = cause
	if s.state == StateDiscovered || s.link == nil {
		m.end(s, cause)
		return
	}
	m.perform(s, s.link.Close(ppp.Cause(cause)))
}

// end ends a session at once. It is idempotent, and the only way into StateEnding: from there on
// advance leads down, whatever is in flight now.
func (m *Manager) end(s *Session, cause Cause) {
	if s.ending() {
		return
	}
	if s.because == "" {
		s.because = cause // else: the first cause known is the true one
	}
	discovered := s.state == StateDiscovered
	if s.state == StateRestoring {
		m.oneRestored()
	}
	if s.link == nil && s.state == StateAuthenticating {
		m.pending--
	}
	if s.link == nil && s.advert != nil && !s.inFlight {
		m.sendAdvert(s, false)
	}
	s.state, s.ended = StateEnding, m.loop.Now()
	s.held = held{} // what could not be answered is not asked again
	m.stopTimers(s)
	if s.link != nil {
		s.link.LowerDown()
	}
	switch {
	case s.link == nil: // DHCP has no word for it
	case discovered: // the client has no PADS yet, but waits for one
		m.refusePending(s, cause)
	case cause != CausePADT:
		m.sendPADT(s)
	}
	m.advance(s)
}

func (m *Manager) sendPADT(s *Session) {
	packet, err := pppoe.BuildPADT(s.pppoe, s.because.Text())
	if err != nil {
		m.log.warn("padt", "PADT cannot be built", "session", s.acctID, "error", err)
		return
	}
	m.sendDiscovery(s.client, s.ownMAC, packet)
}

// refusePending answers the PADR of a session that failed before its PADS, unless its client went
// away itself.
func (m *Manager) refusePending(s *Session, cause Cause) {
	if cause == CausePADT || cause == CauseReplaced {
		return
	}
	packet, err := pppoe.BuildPADSError(s.request, pppoe.TagACSystemError, cause.Text())
	if err == nil {
		m.sendDiscovery(s.client, s.ownMAC, packet)
	}
}

// bury gives back what is left when forwarder and RIB have forgotten the session.
func (m *Manager) bury(s *Session) {
	usage := m.finalUsage(s)
	if s.accounted() {
		m.account(s, recordStop(s, usage))
		m.records.Delete(recordKey(s.id))
	}
	m.history.add(endedRow(s, usage))
	address := s.ipv4()
	for x := range numSlots {
		if s.bindings[x].held() {
			m.giveBack(s, x)
		}
	}
	if s.pppoe != 0 {
		m.pppoeIDs.Release(line(s.client.place), s.pppoe, m.loop.Now())
	}
	m.stats.ended(s.because, s.accounted())
	m.log.info(string(s.because), "subscriber session ended", "session", s.acctID, "user", s.username,
		"mac", s.client.mac, "address", address, "cause", string(s.because), "uptime", s.uptime(s.ended))
	m.sayFarewell(s)
	if m.followers != nil {
		m.tellBurial(s)
	}
	m.index.remove(s)
	m.full.Store(len(m.index.byID) >= m.current.boxLimit)
	m.comeBack(s)
}

// closeChunk is how many sessions one message closes, so that clearing all of them does not keep
// others waiting.
const closeChunk = 128

func (m *Manager) closing(msg closing) {
	now := msg.ids[:min(closeChunk, len(msg.ids))]
	for _, id := range now {
		if s := m.index.byID[id]; s != nil {
			m.close(s, msg.cause)
		}
	}
	if rest := msg.ids[len(now):]; len(rest) > 0 {
		m.loop.Post(closing{ids: rest, cause: msg.cause})
	}
}

// peerSilent ends a session whose peer misses its echoes. There is nobody to say goodbye to. The forwarder
// tells it once, also of a peer that went silent while control was away, so it must not find the session
// not restored yet.
func (m *Manager) peerSilent(msg peerSilent) {
	if !m.restore.finished {
		m.restore.silent = append(m.restore.silent, msg.id)
		return
	}
	if s := m.index.byID[msg.id]; s != nil && s.programmed.echo != (entry.Echo{}) {
		m.end(s, CausePeerSilent)
	}
}
