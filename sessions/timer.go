package sessions

import (
	"time"

	"vbng/sessions/ppp"
)

// setTimer starts a timer, in place of one of the same slot.
func (m *Manager) setTimer(s *Session, slot timerSlot, after time.Duration) {
	t := &s.timers[slot]
	m.stopTimer(s, slot)
	t.running = m.loop.After(after, fired{id: s.id, slot: slot, generation: t.generation})
	if m.followers != nil {
		m.tellTimer(s, slot, after)
	}
}

// stopTimer stops a timer; if its message lies in the inbox already, that is stale from now on.
func (m *Manager) stopTimer(s *Session, slot timerSlot) {
	t := &s.timers[slot]
	t.generation++
	if t.running != nil {
		t.running.Stop()
		t.running = nil
	}
}

func (m *Manager) stopTimers(s *Session) {
	for slot := range numTimers {
		m.stopTimer(s, slot)
	}
}

func (m *Manager) fired(msg fired) {
	s := m.index.byID[msg.id]
	if s == nil || s.timers[msg.slot].generation != msg.generation {
		return
	}
	s.timers[msg.slot].running = nil
	if m.followers != nil {
		m.tell(s, "timer", timerName(msg.slot)+" has run out")
	}
	switch msg.slot {
	case timerSetup:
		m.end(s, CauseSetupTimeout)
	case timerSession:
		m.close(s, CauseSessionTimeout)
	case timerInterim:
		m.interim(s)
	case timerIdle:
		m.checkIdle(s)
	case timerLease4:
		m.leaseOver4(s)
	case timerLease6:
		m.lease6(s, s.lease6.Timeout(m.loop.Now()))
	case timerAdvert:
		if !s.inFlight { // else settled does it
			m.advertise(s)
			m.scheduleAdvert(s)
		}
	case timerPrefix:
		m.prefixOver(s)
	default:
		m.perform(s, s.link.Timeout(ppp.TimerID(msg.slot), s.timers[msg.slot].link))
	}
}
