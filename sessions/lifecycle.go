package sessions

import (
	"vbng/aaa"
	"vbng/forwarding/entry"
	"vbng/sessions/ppp"
)

// advance takes the session's next step, up or down, unless one is in flight: its answer comes back
// here. It is the only place where things are taken and given back outside of the session, so that
// every failure, at any step, is undone by the same ladder.
//
//	up:    entry without IPv4 -> PADS, LCP, authentication -> entry with IPv4, echo -> route -> IPCP
//	down:  route -> echo, entry (final counters) -> accounting, address, PPPoE id, store
func (m *Manager) advance(s *Session) {
	switch {
	case s.inFlight || m.index.byID[s.id] != s: // buried, while a caller further up still had it
	case s.ending() && s.routed:
		m.withdraw(s)
	case s.programmed != compile(s):
		m.program(s)
	case s.ending():
		m.bury(s)
	case s.state == StateDiscovered:
		m.confirm(s)
	case s.grant != nil && !s.routed:
		m.route(s)
	case s.state == StateActivating:
		s.state = StateNetwork
		m.perform(s, s.link.OpenNetwork())
	case s.state == StateRestoring:
		m.restored(s)
	}
}

// program brings the forwarder to what the session is now.
func (m *Manager) program(s *Session) {
	target := compile(s)
	batch := subtract(s.programmed, target)
	before := s.programmed
	s.programmed, s.inFlight = target, true
	id := s.id
	m.needs.Programmer.Apply(batch, func(r entry.Result) { m.loop.Post(applied{id: id, result: r, before: before}) })
}

func (m *Manager) applied(msg applied) {
	s := m.index.byID[msg.id]
	if s == nil {
		return
	}
	s.inFlight = false
	for _, final := range msg.result.Finals {
		if final.Session == s.id {
			s.final = &final.Counters
		}
	}
	if err := msg.result.Err; err != nil {
		m.log.warn("refused", "forwarder refused a session", "session", s.acctID, "error", err)
		if s.programmed != (program{}) { // else: what cannot be deleted is not there
			s.programmed = msg.before // nothing of the batch was applied
			m.end(s, CauseProgramRefused)
		}
	}
	m.advance(s)
}

// route leads the subscriber's address to the session.
func (m *Manager) route(s *Session) {
	s.routed, s.inFlight = true, true
	id := s.id
	m.needs.Routes.AddSubscriber(s.profile.vrf, s.prefix(), id, func(err error) { m.loop.Post(routed{id: id, err: err}) })
}

func (m *Manager) routed(msg routed) {
	s := m.index.byID[msg.id]
	if s == nil {
		return
	}
	s.inFlight = false
	if msg.err != nil {
		s.routed = false
		m.log.warn("route", "subscriber's route was refused", "session", s.acctID, "prefix", s.prefix(), "error", msg.err)
		m.end(s, CauseRouteRefused)
	}
	m.advance(s)
}

func (m *Manager) withdraw(s *Session) {
	s.inFlight = true
	id := s.id
	m.needs.Routes.DeleteSubscriber(s.profile.vrf, s.prefix(), id, func() { m.loop.Post(withdrawn{id: id}) })
}

func (m *Manager) withdrawn(msg withdrawn) {
	s := m.index.byID[msg.id]
	if s == nil {
		return
	}
	s.inFlight, s.routed = false, false
	m.advance(s)
}

// received hands a PPP packet to the session's link.
func (m *Manager) received(msg received) {
	defer frameBuffers.Put(msg.buffer)
	s := m.index.byID[msg.id]
	if s == nil || s.ending() || s.state == StateDiscovered {
		m.stats.late.Add(1)
		return
	}
	m.perform(s, s.link.Receive(msg.protocol, msg.buffer.data[:msg.buffer.n]))
}

// perform does what a link asks for, in its order.
func (m *Manager) perform(s *Session, outputs []ppp.Output) {
	for _, output := range outputs {
		if s.ending() {
			return // an output before ended the session; the link is dead
		}
		switch o := output.(type) {
		case ppp.Send:
			m.sendPPP(s, o.Proto, o.Info)
		case ppp.SetTimer:
			m.setTimer(s, timerSlot(o.ID), o.After)
			s.timers[o.ID].link = o.Generation
		case ppp.StopTimer:
			m.stopTimer(s, timerSlot(o.ID))
		case ppp.LCPUp:
			s.lcpUp, s.localMagic, s.peerMagic, s.peerMRU = true, o.LocalMagic, o.PeerMagic, o.PeerMRU
		case ppp.LCPDown:
			m.lcpDown(s)
		case ppp.AuthRequest:
			m.authenticate(s, o)
		case ppp.NetworkUp:
			m.up(s)
		case ppp.NetworkDown: // the link negotiates anew, or is about to finish
		case ppp.Finished:
			m.end(s, Cause(o.Cause))
		}
	}
}

// lcpDown: the link negotiates anew or closes. The session keeps its address and route, but echoes
// with the old magic numbers must stop.
func (m *Manager) lcpDown(s *Session) {
	if s.state == StateRestoring {
		m.oneRestored()
	}
	s.lcpUp, s.state = false, StateLink
	m.setTimer(s, timerSetup, setupTime)
	m.advance(s)
}

// authenticate asks the authorizer.
func (m *Manager) authenticate(s *Session, r ppp.AuthRequest) {
	s.state, s.authSerial = StateAuthenticating, r.Serial
	if s.grant == nil {
		m.index.name(s, r.Username)
	}
	request := aaa.Request{
		AcctSessionID: s.acctID, Username: r.Username, Line: s.line(), PPPoESession: s.pppoe,
	}
	switch r.Method {
	case ppp.AuthPAP:
		request.Method, request.Password = aaa.PAP, []byte(r.Password)
	case ppp.AuthCHAPMD5:
		request.Method = aaa.CHAPMD5
		request.CHAPID, request.CHAPChallenge, request.CHAPResponse = r.CHAPID, r.Challenge, r.Response
	}
	id := s.id
	m.needs.Authorizer.Authorize(request, func(a aaa.Answer) {
		m.loop.Post(authorized{id: id, serial: r.Serial, username: r.Username, answer: a})
	})
}
