package sessions

import (
	"net/netip"
	"time"
)

const (
	// declineTime is how long an address that a client found in use is kept from others.
	declineTime = 10 * time.Minute
	// maxDeclines is how many addresses one client can have kept back in that time: who finds every address in use
	// is broken, or wants the pool to be empty. The pools bound what all clients together can.
	maxDeclines = 3
	// maxDecliners bounds the clients remembered for it; what others decline is not kept back.
	maxDecliners = 4096
)

// declined takes back an address that a client found in use, and keeps it from everybody for a while.
func (m *Manager) declined(s *Session, x slot) {
	b := &s.bindings[x]
	if !b.held() {
		return
	}
	now := m.loop.Now()
	if b.declined = m.decliners.believe(s.client, now); !b.declined {
		m.refused.remember(s.client, now)
	}
	m.log.warn("declined", "client found its address in use by another station", "user", s.username, "session", s.acctID,
		"mac", s.client.mac, "address", b.prefix.Addr(), "kept_back", b.declined)
	s.let(x)
}

// quarantine takes back what was declined.
func (m *Manager) quarantine(s *Session, p netip.Prefix) {
	until := m.loop.Now().Add(declineTime)
	kept := false
	if p.Addr().Is4() {
		kept = m.spaceOf(s).pools.Quarantine(p.Addr(), s.owner(), until)
	} else {
		kept = m.spaceOf(s).prefixes.Quarantine(p, s.owner(), until)
	}
	if !kept {
		m.log.warn("not-kept-back", "declined address is not kept back: it is no pool's, or too many are already", "address", p.Addr())
	}
	m.tend()
}

// tend lets quarantines end in their time.
func (m *Manager) tend() {
	now := m.loop.Now()
	var next time.Time
	for _, sp := range m.spaces {
		for _, at := range []time.Time{sp.pools.Tend(now), sp.prefixes.Tend(now)} {
			if !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	if !next.IsZero() && (m.tending.IsZero() || next.Before(m.tending)) {
		m.tending = next
		m.loop.After(next.Sub(now), tendPools{})
	}
}

// decliners counts what clients declined lately.
type decliners map[client]declines

type declines struct {
	n     int
	until time.Time // when the count begins anew
}

// believe counts a decline and reports whether the address is to be kept back.
func (d decliners) believe(who client, now time.Time) bool {
	of, known := d[who]
	switch {
	case known && now.Before(of.until):
	case !known && len(d) >= maxDecliners && !d.sweep(now):
		return false
	default:
		of = declines{until: now.Add(declineTime)}
	}
	of.n++
	d[who] = of
	return of.n <= maxDeclines
}

// sweep forgets who declined long ago, and reports whether there is room now. At most maxDecliners addresses
// are being kept back when it runs, so it does not run often.
func (d decliners) sweep(now time.Time) bool {
	for who, of := range d {
		if !now.Before(of.until) {
			delete(d, who)
		}
	}
	return len(d) < maxDecliners
}
