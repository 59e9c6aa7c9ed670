package sessions

import "time"

// moment is a time that survives a restart of control and steps of the wall clock: what the wall clock said, and how
// long the machine had been up. Two moments of one boot are as far apart as the machine's uptime says; of two boots
// only the wall clock knows.
type moment struct {
	Wall  time.Time     `json:"wall"`
	Boot  string        `json:"boot_id,omitempty"`
	Since time.Duration `json:"since_boot_ns,omitempty"`
}

func (m *Manager) moment() moment {
	now := moment{Wall: m.loop.Now()}
	if m.needs.Boot != nil {
		now.Boot, now.Since = m.needs.Boot()
	}
	return now
}

// steppedSince is by how much the wall clock was stepped since an earlier moment, as far as that can be known.
func (now moment) steppedSince(before moment) time.Duration {
	if now.Boot == "" || now.Boot != before.Boot {
		return 0
	}
	return now.Wall.Sub(before.Wall) - (now.Since - before.Since)
}

// anew says a time by the present wall clock. The distance between the two does not change; a step of the wall clock
// in between is made good, and the result has now's monotonic reading.
func anew(t, now time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return now.Add(t.Sub(now))
}

// settle takes a stored session's times into this process, so that from here on they are compared with its clock by
// the monotonic reading.
func (r *record) settle(now moment) {
	step := now.steppedSince(r.Saved)
	move := func(t *time.Time) {
		if !t.IsZero() {
			*t = anew(t.Add(step), now.Wall)
		}
	}
	move(&r.UpAt)
	move(&r.Until)
	for i := range r.Held {
		move(&r.Held[i].Until)
	}
	if r.DHCPv6 != nil {
		move(&r.DHCPv6.AddressUntil)
		move(&r.DHCPv6.PrefixUntil)
	}
}
