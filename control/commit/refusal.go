package commit

import "time"

// Refusal is a commit that failed.
type Refusal struct {
	Time time.Time
	Diff string // the edits, secrets hidden
	Err  error
}

// keptRefusals bounds the operators whose failed commits are remembered.
const keptRefusals = 64

// note remembers the failed commit of an operator until the next one.
func (m *Manager) note(user, diff string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.refusals[user]; !known && len(m.refusals) >= keptRefusals {
		oldest := ""
		for name, r := range m.refusals {
			if oldest == "" || r.Time.Before(m.refusals[oldest].Time) {
				oldest = name
			}
		}
		delete(m.refusals, oldest)
	}
	m.refusals[user] = Refusal{Time: m.options.Clock.Now(), Diff: diff, Err: err}
}

// Refused returns the last failed commit of an operator.
func (m *Manager) Refused(user string) (r Refusal, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	r, ok = m.refusals[user]
	return r, ok
}
