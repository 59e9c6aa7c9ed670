package sessions

import (
	"net/netip"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
)

// jitterPart is the part of an interim interval, one tenth, by which each one varies, so that sessions
// that came up together do not report together for ever.
const jitterPart = 10

// up: the client can use an address, of one family or the other. The first time it is news to all
// observers; after a renegotiation, or with a further address, the session just goes on.
func (m *Manager) up(s *Session) {
	s.state = StateUp
	m.stopTimer(s, timerSetup)
	first := !s.accounted()
	if first {
		s.upAt = m.loop.Now()
	}
	m.save(s) // before the Start: whoever hears of the session can count on its Stop
	if first {
		m.announce(s)
		s.announced = s.shape()
	} else {
		m.changed(s)
	}
}

// shape is what accounting says a session holds.
func (s *Session) shape() (all [numSlots]netip.Prefix) {
	for x := range numSlots {
		all[x] = s.usable(x)
	}
	return all
}

// changed tells accounting at once that a session that is up holds something else than it was told.
func (m *Manager) changed(s *Session) {
	if now := s.shape(); s.accounted() && !s.ending() && now != s.announced {
		s.announced = now
		m.account(s, recordOf(s, aaa.Interim, m.loop.Now(), m.usage(s)))
		m.save(s)
	}
}

// announce tells that a session is up.
func (m *Manager) announce(s *Session) {
	m.stats.established.Add(1)
	m.account(s, recordOf(s, aaa.Start, s.upAt, aaa.Usage{}))
	if s.grant.SessionTimeout > 0 {
		m.setTimer(s, timerSession, s.grant.SessionTimeout)
	}
	m.scheduleInterim(s)
	m.watchIdle(s)
	m.log.info("up", "subscriber session up", "session", s.acctID, "user", s.username,
		"mac", s.client.mac, "port", s.port, "address", s.ipv4(), "pool", s.bindings[slotIPv4].pool)
}

func (m *Manager) scheduleInterim(s *Session) {
	interval := s.grant.InterimInterval
	if interval <= 0 {
		return
	}
	m.setTimer(s, timerInterim, interval+m.spread(interval/jitterPart)-interval/jitterPart/2)
}

// spread returns a random duration under limit.
func (m *Manager) spread(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return time.Duration(m.jitter.Int64N(int64(limit)))
}

// interim reports what was used so far.
func (m *Manager) interim(s *Session) {
	m.account(s, recordOf(s, aaa.Interim, m.loop.Now(), m.usage(s)))
	m.save(s)
	m.scheduleInterim(s)
}

func (m *Manager) account(s *Session, rec aaa.Record) {
	s.reported = rec.Usage
	if m.followers != nil {
		rec.Trace = m.trace(s)
	}
	m.needs.Accountant.Account(rec)
}

// usage returns what the session used until now. It never falls.
func (m *Manager) usage(s *Session) aaa.Usage {
	counters, ok := m.needs.Counters.SessionCounters(s.id)
	if !ok {
		return s.reported
	}
	return atLeast(s.reported, plus(s.offset, counters))
}

// finalUsage returns what the session used in all: the forwarder's last word when it deleted it.
func (m *Manager) finalUsage(s *Session) aaa.Usage {
	if s.final == nil {
		return m.usage(s)
	}
	return atLeast(s.reported, plus(s.offset, *s.final))
}

// raiseOffset makes up for counters that begin anew, below what was reported: the forwarder is not
// the one that counted it.
func (m *Manager) raiseOffset(s *Session) {
	counters, ok := m.needs.Counters.SessionCounters(s.id)
	if !ok {
		return
	}
	if now := plus(s.offset, counters); atLeast(s.reported, now) != now {
		s.offset = minus(s.reported, counters)
	}
}

func minus(u aaa.Usage, c entry.SessionCounters) aaa.Usage {
	return aaa.Usage{
		InputBytes: saturated(u.InputBytes, c.InputBytes), OutputBytes: saturated(u.OutputBytes, c.OutputBytes),
		InputPackets: saturated(u.InputPackets, c.InputPackets), OutputPackets: saturated(u.OutputPackets, c.OutputPackets),
	}
}

func saturated(a, b uint64) uint64 { return a - min(a, b) }

func plus(offset aaa.Usage, c entry.SessionCounters) aaa.Usage {
	return aaa.Usage{
		InputBytes: offset.InputBytes + c.InputBytes, OutputBytes: offset.OutputBytes + c.OutputBytes,
		InputPackets: offset.InputPackets + c.InputPackets, OutputPackets: offset.OutputPackets + c.OutputPackets,
	}
}

func atLeast(a, b aaa.Usage) aaa.Usage {
	return aaa.Usage{
		InputBytes: max(a.InputBytes, b.InputBytes), OutputBytes: max(a.OutputBytes, b.OutputBytes),
		InputPackets: max(a.InputPackets, b.InputPackets), OutputPackets: max(a.OutputPackets, b.OutputPackets),
	}
}

// recordOf makes an accounting record.
func recordOf(s *Session, kind aaa.RecordType, now time.Time, usage aaa.Usage) aaa.Record {
	return aaa.Record{
		Type: kind, AcctSessionID: s.acctID, Username: s.username, Class: s.grant.Class, Line: s.line(),
		PPPoESession: s.pppoe, Address: s.used(slotIPv4).Addr(), Authentic: s.grant.Authentic, Time: now, Group: s.profile.group,
		Address6: s.used(slotAddress6).Addr(), Prefix: s.used(slotPrefix),
		Delegated: s.used(slotDelegated), InterfaceID: s.peerID,
		SessionTime: s.uptime(now), Usage: usage,
	}
}

func recordStop(s *Session, usage aaa.Usage) aaa.Record {
	rec := recordOf(s, aaa.Stop, s.ended, usage)
	rec.Cause = s.because.Terminate()
	return rec
}
