package sessions

import (
	"fmt"
	"maps"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
	"vbng/sessions/dhcp4"
	"vbng/sessions/dhcp6"
	"vbng/sessions/nd"
	"vbng/sessions/ppp"
	"vbng/sessions/pppoe"
)

// restoration is the way back to the sessions of an earlier control.
type restoration struct {
	pending  int // restored sessions whose entries or routes are not confirmed yet
	revived  int // sessions taken up
	done     func(revived int)
	begun    bool
	finished bool
	silent   []entry.SessionID // whose peer was found silent meanwhile
}

// Restore takes up the sessions of an earlier control: reads them from the store, and lets the loop
// reserve what they hold, program them and go on with their timers and accounting. No client hears of
// it. Call it once, after the first Apply of the configuration; done is called on the loop when all
// entries and routes are in the forwarder, so that what it has besides may be swept. It is told how many
// sessions were taken up; with none, it runs before the first client is admitted. Until then nobody is
// told that he has no session. It waits for the ports that the sessions are on.
func (m *Manager) Restore(done func(revived int)) error {
	var records []record
	now := m.moment()
	err := m.records.ForEach(func(key, value []byte) error {
		r, err := parseRecord(value)
		if err != nil { // one bad record is one session lost, not all
			m.needs.Log.Error("stored session dropped", "key", fmt.Sprintf("%x", key), "error", err)
			m.records.Delete(append([]byte(nil), key...))
			return nil
		}
		r.settle(now)
		records = append(records, r)
		return nil
	})
	m.awaitPorts(records)
	m.loop.Post(restoring{records: records, done: done})
	if err != nil {
		return fmt.Errorf("restore sessions: %w", err)
	}
	return nil
}

const (
	portPatience = 5 * time.Second
	portPause    = 5 * time.Millisecond
)

// awaitPorts waits until the configured ports of the records are known, which means that their entries
// are on the way to the forwarder: a session cannot be programmed before its port.
func (m *Manager) awaitPorts(records []record) {
	missing := map[entry.PortID]bool{}
	for _, r := range records {
		if m.settings.Load().interfaces[r.Port] {
			missing[r.Place.Port] = true
		}
	}
	for range portPatience / portPause {
		maps.DeleteFunc(missing, func(id entry.PortID, _ bool) bool {
			_, _, _, known := m.needs.Ports.Port(id)
			return known
		})
		if len(missing) == 0 {
			return
		}
		pause := make(chan struct{})
		m.needs.Clock.AfterFunc(portPause, func() { close(pause) })
		<-pause
	}
	m.needs.Log.Warn("ports of stored sessions are not there, going on without them", "ports", len(missing))
}

func (m *Manager) restoring(msg restoring) {
	m.restore.begun, m.restore.done, m.restore.pending = true, msg.done, 1 // 1: this function
	for _, r := range msg.records {
		if err := m.revive(r); err != nil {
			m.bereave(r, err)
		}
	}
	m.restore.revived = len(m.index.byID)
	if n := len(msg.records); n > 0 {
		m.needs.Log.Info("subscriber sessions restored", "sessions", m.restore.revived, "stored", n)
	}
	m.oneRestored()
}

// revive makes a session of a record. On error nothing is taken.
func (m *Manager) revive(r record) error {
	profile := m.current.named(r.access(), r.Profile)
	if profile == nil { // removed while control was away; the session is closed in good order below
		profile = m.current.orphan(r)
	}
	s := &Session{
		id: r.ID, access: r.access(), acctID: r.AcctID, client: client{place: r.Place, mac: r.MAC}, ownMAC: r.OwnMAC,
		port: r.Port, pppoe: r.PPPoE, profile: profile, created: r.Created, dialled: r.Dialled, state: StateRestoring,
		grant: &r.Grant, upAt: r.UpAt, offset: r.Offset, reported: r.Reported, base: r.Base,
		localID: r.LocalID, peerID: r.PeerID,
	}
	if err := m.relink(s, r); err != nil {
		return err
	}
	if err := m.rehold(s, r); err != nil {
		return err
	}
	if s.link != nil {
		if err := m.pppoeIDs.Reserve(line(r.Place), r.PPPoE); err != nil {
			m.unhold(s)
			return fmt.Errorf("restore PPPoE session id %d: %w", r.PPPoE, err)
		}
	}
	if base, ok := m.needs.Counters.(Base); ok {
		base.SetBase(s.id, s.base)
	}
	m.enter(s)
	m.index.name(s, r.Username)
	for x := range numSlots {
		if s.bindings[x].held() {
			m.index.locate(s, s.bindings[x].prefix)
		}
	}
	s.announced = s.shape()
	m.resumeLeases(s, r)
	m.restore.pending++
	m.advance(s)
	return nil
}

// relink restores a session's PPP.
func (m *Manager) relink(s *Session, r record) error {
	if s.access == aaa.IPoE {
		return nil
	}
	asked := pppoe.Request{MaxPayload: r.Link.LocalMRU} // its PADR is not kept; more than this was not agreed
	link, err := ppp.Restore(s.profile.linkFor(asked), m.needs.Random, r.Link)
	if err != nil {
		return fmt.Errorf("restore link: %w", err)
	}
	s.link, s.lcpUp = link, true
	s.localMagic, s.peerMagic, s.peerMRU = r.Link.LocalMagic, r.Link.PeerMagic, r.Link.PeerMRU
	return nil
}

// rehold takes what a session held from the pools again, all of it or nothing.
func (m *Manager) rehold(s *Session, r record) error {
	all := r.Held
	if r.Address.IsValid() {
		all = append([]heldRecord{{Slot: slotIPv4, Prefix: single(r.Address), Pool: r.Pool, Until: r.Until}}, all...)
	}
	for _, h := range all {
		if err := m.spaceOf(s).reserve(h.Prefix, s.owner()); err != nil {
			m.unhold(s)
			return fmt.Errorf("restore address: %w", err)
		}
		s.bindings[h.Slot] = binding{prefix: h.Prefix, pool: h.Pool, live: true, until: h.Until}
	}
	return nil
}

func (m *Manager) unhold(s *Session) {
	for x := range numSlots {
		if b := &s.bindings[x]; b.held() {
			m.spaceOf(s).release(b.prefix, s.owner())
			*b = binding{}
		}
	}
}

// resumeLeases restores what is spoken on the line besides PPP. Its timers wait for the way back to end
// (resumeTimers): what the forwarder has of an earlier control must be ours before it can be taken away.
func (m *Manager) resumeLeases(s *Session, r record) {
	switch four := &s.bindings[slotIPv4]; {
	case s.link != nil || !four.held():
	case r.Relayed:
		s.relay.bound = true
	default:
		if four.until.IsZero() { // stored before its client was told
			four.until = m.loop.Now()
		}
		s.lease4 = dhcp4.Restore(s.config4(), s.grant4(), four.until)
	}
	if r.DHCPv6 != nil {
		s.lease6 = dhcp6.Restore(s.config6(), s.grant6(), *r.DHCPv6)
	}
	if r.IPv6 {
		s.advert = nd.ResumePacer(s.pacing(), m.loop.Now(), m.jitter.Float64())
	}
}

// resumeTimers lets session time and leases end when they would have ended; interim reports begin anywhere in
// their interval, and advertisements go on at their pace, so that they do not all come at once.
func (m *Manager) resumeTimers(s *Session) {
	if limit := s.grant.SessionTimeout; limit > 0 {
		m.setTimer(s, timerSession, max(0, limit-s.uptime(m.loop.Now())))
	}
	if interval := s.grant.InterimInterval; interval > 0 {
		m.setTimer(s, timerInterim, m.spread(interval)+time.Second)
	}
	m.watchIdle(s)
	if four := &s.bindings[slotIPv4]; s.link == nil && four.held() {
		m.setTimer(s, timerLease4, max(0, four.until.Sub(m.loop.Now())))
	}
	for _, x := range [...]slot{slotAddress6, slotDelegated} { // nor was the client told of these
		if b := &s.bindings[x]; b.held() && b.until.IsZero() {
			s.let(x)
		}
	}
	if s.lease6 != nil {
		m.scheduleLease(s, timerLease6, s.lease6.Deadline())
	}
	m.scheduleAdvert(s)
	m.watchPrefix(s)
}

// bereave ends what could not be revived: accounting must hear of it, and the client gets its PADT
// when its next frame finds no session.
func (m *Manager) bereave(r record, err error) {
	m.needs.Log.Error("stored session cannot be restored", "session", r.AcctID, "user", r.Username, "error", err)
	now := m.loop.Now()
	s := &Session{
		id: r.ID, acctID: r.AcctID, client: client{place: r.Place, mac: r.MAC}, ownMAC: r.OwnMAC, port: r.Port,
		access: r.access(), pppoe: r.PPPoE, username: r.Username, dialled: r.Dialled, grant: &r.Grant,
		upAt: r.UpAt, ended: now, reported: r.Reported, because: CauseRestoreFailed, peerID: r.PeerID,
		profile: m.current.orphan(r),
	}
	if r.Address.IsValid() {
		s.bindings[slotIPv4] = binding{prefix: single(r.Address), live: true}
	}
	for _, h := range r.Held {
		s.bindings[h.Slot] = binding{prefix: h.Prefix, live: true}
	}
	m.account(s, recordStop(s, m.usage(s)))
	m.records.Delete(recordKey(s.id))
	m.history.add(endedRow(s, s.reported))
	m.stats.ended(s.because, true)
}

// restored is the end of the way back for one session: it is up, as before.
func (m *Manager) restored(s *Session) {
	s.state = StateUp
	m.raiseOffset(s)
	m.oneRestored()
	if cause := m.current.homeless(s); cause != "" {
		m.close(s, cause)
		return
	}
	m.resumeTimers(s)
	if s.link != nil { // a network protocol that was in negotiation is asked for anew
		m.perform(s, s.link.OpenNetwork())
	}
}

// oneRestored counts down; the last one opens the gate.
func (m *Manager) oneRestored() {
	if m.restore.pending--; m.restore.pending > 0 {
		return
	}
	m.restore.finished = true
	if m.restore.done != nil {
		m.restore.done(m.restore.revived)
	}
	for _, id := range m.restore.silent {
		m.loop.Post(peerSilent{id}) // not here: the caller is in the middle of a session's step
	}
	m.restore.silent = nil
}
