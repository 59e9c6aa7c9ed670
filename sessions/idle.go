package sessions

import "time"

// idleLooks is how often a session's counters are looked at in one Idle-Timeout: it ends between one
// and one and a quarter timeouts after its last packet.
const idleLooks = 4

// activity is when a session last moved a packet, as far as was looked.
type activity struct {
	packets uint64
	at      time.Time
}

// watchIdle begins to watch a session that may not be idle for ever (RFC 2865 section 5.28). Only IP
// packets count, in either direction: LCP echoes are not in the counters.
func (m *Manager) watchIdle(s *Session) {
	if limit := s.grant.IdleTimeout; limit > 0 {
		s.activity = activity{packets: m.packets(s), at: m.loop.Now()}
		m.setTimer(s, timerIdle, limit/idleLooks)
	}
}

func (m *Manager) checkIdle(s *Session) {
	limit, now, packets := s.grant.IdleTimeout, m.loop.Now(), m.packets(s)
	if packets != s.activity.packets {
		s.activity = activity{packets: packets, at: now}
	}
	if now.Sub(s.activity.at) >= limit {
		m.close(s, CauseIdleTimeout)
		return
	}
	m.setTimer(s, timerIdle, limit/idleLooks)
}

func (m *Manager) packets(s *Session) uint64 {
	usage := m.usage(s)
	return usage.InputPackets + usage.OutputPackets
}
