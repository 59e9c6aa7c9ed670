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
//	up:    entry without IPv4 -> PADS, LCP, authentication -> entry with IPv4, echo -> route -> IPCP, IPV6CP
//	IPoE:  authorization -> entry without addresses -> offers -> entry with address -> route -> the client is told
//	down:  routes -> echo, entry (final counters) -> accounting, addresses, PPPoE id, store
//
// What comes and goes while the session is up takes the same steps: entry, then route, then the client is
// told (settled); route, then entry, then the pool.
func (m *Manager) advance(s *Session) {
	for !s.inFlight && m.index.byID[s.id] == s { // else buried, while a caller further up still had it
		if !m.step(s) {
			return
		}
	}
}

// step takes one step; again tells that the next one may follow at once.
func (m *Manager) step(s *Session) (again bool) {
	unwanted, withdraw := s.unwanted()
	spent, back := s.spent()
	missing, route := s.missing()
	switch {
	case withdraw:
		m.withdraw(s, unwanted)
	case s.programmed != compile(s):
		m.program(s)
	case s.ending():
		m.bury(s)
	case back:
		m.giveBack(s, spent)
		return true
	case s.state == StateDiscovered:
		m.confirm(s)
	case route:
		m.route(s, missing)
	case s.state == StateActivating && s.link == nil:
		m.opened(s)
	case s.state == StateActivating:
		s.state = StateNetwork
		m.perform(s, s.link.OpenNetwork())
	case s.state == StateRestoring:
		m.restored(s)
	case s.ready():
		m.settled(s)
	}
	return false
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

// route leads one of the subscriber's prefixes to the session.
func (m *Manager) route(s *Session, x slot) {
	b := &s.bindings[x]
	b.routed, s.inFlight = true, true
	id := s.id
	m.needs.Routes.AddSubscriber(s.profile.vrf, b.prefix, id, func(err error) {
		m.loop.Post(routed{id: id, slot: x, err: err})
	})
}

func (m *Manager) routed(msg routed) {
	s := m.index.byID[msg.id]
	if s == nil {
		return
	}
	s.inFlight = false
	if msg.err != nil {
		b := &s.bindings[msg.slot]
		b.routed = false
		m.log.warn("route", "subscriber's route was refused", "session", s.acctID, "prefix", b.prefix, "error", msg.err)
		m.end(s, CauseRouteRefused)
	}
	m.advance(s)
}

func (m *Manager) withdraw(s *Session, x slot) {
	s.inFlight = true
	id := s.id
	m.needs.Routes.DeleteSubscriber(s.profile.vrf, s.bindings[x].prefix, id, func() {
		m.loop.Post(withdrawn{id: id, slot: x})
	})
}

func (m *Manager) withdrawn(msg withdrawn) {
	s := m.index.byID[msg.id]
	if s == nil {
		return
	}
	s.inFlight, s.bindings[msg.slot].routed = false, false
	m.advance(s)
}

// received hands a PPP packet to the session's link.
func (m *Manager) received(msg received) {
	defer frameBuffers.Put(msg.buffer)
	s := m.index.byID[msg.id]
	if m.followers != nil && s != nil {
		m.tellPPP(s, "in", msg.protocol, msg.buffer.data[:msg.buffer.n])
	}
	if s == nil || s.ending() || s.state == StateDiscovered || s.link == nil {
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
			m.networkUp(s, o)
		case ppp.NetworkDown: // it negotiates anew, or is about to finish
			if o.Protocol == ppp.ProtoIPV6CP {
				m.closeIPv6(s)
			}
		case ppp.NetworkFinished:
			m.log.info(string(o.Cause), "a network protocol of a session ended, the other goes on", "session", s.acctID,
				"user", s.username, "protocol", o.Protocol, "cause", string(o.Cause))
		case ppp.Finished:
			m.end(s, Cause(o.Cause))
		}
	}
}

// networkUp: one family of a PPP link is up.
func (m *Manager) networkUp(s *Session, o ppp.NetworkUp) {
	if o.Protocol == ppp.ProtoIPV6CP {
		s.localID, s.peerID = o.LocalInterfaceID, o.PeerInterfaceID
		m.openIPv6(s)
	}
	m.up(s)
	m.advance(s)
}

// lcpDown: the link negotiates anew or closes. The session keeps its address and route, but echoes
// with the old magic numbers must stop.
func (m *Manager) lcpDown(s *Session) {
	if s.state == StateRestoring {
		m.oneRestored()
		m.resumeTimers(s)
	}
	s.lcpUp, s.state = false, StateLink
	m.closeIPv6(s)
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
		AcctSessionID: s.acctID, Group: s.profile.group, Username: r.Username, Line: s.line(), PPPoESession: s.pppoe,
	}
	switch r.Method {
	case ppp.AuthPAP:
		request.Method, request.Password = aaa.PAP, []byte(r.Password)
	case ppp.AuthCHAPMD5:
		request.Method = aaa.CHAPMD5
		request.CHAPID, request.CHAPChallenge, request.CHAPResponse = r.CHAPID, r.Challenge, r.Response
	}
	if m.followers != nil {
		request.Trace = m.trace(s)
	}
	id := s.id
	m.needs.Authorizer.Authorize(request, func(a aaa.Answer) {
		m.loop.Post(authorized{id: id, serial: r.Serial, username: r.Username, answer: a})
	})
}
