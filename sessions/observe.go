package sessions

import (
	"fmt"
	"time"

	"vbng/aaa"
	"vbng/control/dissect"
	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
	"vbng/sessions/ppp"
)

// The hooks of "debug subscriber". All but tellDiscovery belong to the loop, and are called only while somebody follows.

// view is what is told of a session when it changes.
type view struct {
	state      State
	username   string
	because    Cause
	programmed program
	inFlight   bool
	lcpUp      bool
	bindings   [numSlots]binding
}

func (s *Session) view() view {
	return view{s.state, s.username, s.because, s.programmed, s.inFlight, s.lcpUp, s.bindings}
}

// concerns reports whether a follower is after a session.
func (m *Manager) concerns(f *follower, s *Session) bool {
	if f.only != 0 {
		return f.only == s.id
	}
	return m.fits(&f.sel, s)
}

// observe compares all followed sessions with what was told of them. It comes behind every message, so it tells what
// the message did.
func (m *Manager) observe() {
	for _, f := range m.followers {
		if f.only != 0 {
			m.compare(f, m.index.byID[f.only])
			continue
		}
		if n := m.index.crowd(&f.sel); n > maxFollowed {
			f.finish(fmt.Sprintf("%d sessions fit, which are too many to follow.", n))
			continue
		}
		for _, s := range m.matching(&f.sel) {
			m.compare(f, s)
		}
	}
}

// maxFollowed bounds what one follower costs the loop with every message: a user name may be everybody's.
const maxFollowed = 16

// crowd is how many sessions a user name or MAC address is of.
func (x *index) crowd(sel *selection) int {
	switch {
	case sel.mac != nil:
		return len(x.byMAC[*sel.mac])
	case sel.user != "":
		return len(x.byUser[sel.user])
	}
	return 0
}

// finish ends the following, by our own word.
func (f *follower) finish(why string) {
	select {
	case f.over <- why:
	default:
	}
}

func (m *Manager) compare(f *follower, s *Session) {
	if s == nil {
		return
	}
	now := s.view()
	before, known := f.seen[s.id]
	if known && before == now {
		return
	}
	f.seen[s.id] = now
	if !known {
		f.tell(s.id, "state", fmt.Sprintf("%s of %v on %s, VLAN %s: %v, user %q", s.access, s.client.mac, s.port, s.client.place.VLAN(), now.state, now.username))
		before = view{state: now.state, username: now.username}
	}
	f.differences(s, before, now)
}

func (f *follower) differences(s *Session, before, now view) {
	if before.username != now.username {
		f.tell(s.id, "state", fmt.Sprintf("user %q", now.username))
	}
	if before.lcpUp != now.lcpUp {
		f.tell(s.id, "state", map[bool]string{true: "LCP is open", false: "LCP is not open any more"}[now.lcpUp])
	}
	if before.because != now.because {
		f.tell(s.id, "end", fmt.Sprintf("ends: %s, %s", now.because, now.because.Text()))
	}
	for x := range numSlots {
		f.address(s, x, &before.bindings[x], &now.bindings[x])
	}
	if before.state != now.state {
		f.tell(s.id, "state", fmt.Sprintf("%v -> %v", before.state, now.state))
	}
	f.programming(s, before.programmed, now.programmed)
	if before.inFlight && !now.inFlight {
		f.tell(s.id, "program", "confirmed")
	}
}

// address tells the way of an address or prefix.
func (f *follower) address(s *Session, x slot, before, now *binding) {
	switch {
	case before.prefix != now.prefix && now.held():
		from := "fixed"
		if now.pool != "" {
			from = "of pool " + now.pool
		}
		f.tell(s.id, "address", fmt.Sprintf("%v %v %s", x, now.prefix, from))
	case before.prefix != now.prefix:
		f.tell(s.id, "address", fmt.Sprintf("%v %v given back", x, before.prefix))
	case before.leaving != now.leaving && now.leaving:
		f.tell(s.id, "address", fmt.Sprintf("%v %v is to be given back", x, now.prefix))
	}
	if before.routed != now.routed {
		prefix, what := now.prefix, "route to %v asked of the RIB"
		if !now.routed {
			prefix, what = before.prefix, "route to %v is gone"
		}
		f.tell(s.id, "route", fmt.Sprintf(what, prefix))
	}
	if !before.until.Equal(now.until) && !now.until.IsZero() {
		f.tell(s.id, "address", fmt.Sprintf("%v %v leased until %s", x, now.prefix, now.until.UTC().Format(timeFormat)))
	}
}

func (f *follower) programming(s *Session, before, now program) {
	if before == now {
		return
	}
	for _, op := range subtract(before, now).Ops {
		f.tell(s.id, "program", op.String())
	}
}

// tell tells something to those who follow a session.
func (m *Manager) tell(s *Session, kind, text string) {
	for _, f := range m.followers {
		if m.concerns(f, s) {
			f.tell(s.id, kind, text)
		}
	}
}

// tellPPP tells a PPP packet of a session.
func (m *Manager) tellPPP(s *Session, direction string, protocol uint16, information []byte) {
	m.tell(s, direction, dissect.PPP(protocol, information))
}

// tellLine tells what a client said in IP; without a session those hear it who are after its address.
func (m *Manager) tellLine(s *Session, who client, text string) {
	if s != nil {
		m.tell(s, "in", text)
		return
	}
	for _, f := range m.followers {
		if f.sel.mac != nil && *f.sel.mac == who.mac {
			f.tell(0, "in", text+" (no session: nothing is answered)")
		}
	}
}

// tellDiscovery tells a discovery packet, PPPoE header and tags, to those who are after the client's address. It comes
// from the punt path and the loop.
func tellDiscovery(all []*follower, mac entry.MAC, direction string, packet []byte) {
	text := ""
	for _, f := range all {
		if f.sel.mac == nil || *f.sel.mac != mac {
			continue
		}
		if text == "" {
			text = dissect.PPPoEDiscovery(packet)
		}
		f.tell(0, direction, text)
	}
}

// timerName names a timer.
func timerName(slot timerSlot) string {
	names := [numTimers]string{
		timerSlot(ppp.TimerLCP): "LCP", timerSlot(ppp.TimerAuth): "authentication", timerSlot(ppp.TimerIPCP): "IPCP",
		timerSlot(ppp.TimerIPV6CP): "IPV6CP", timerSetup: "setup", timerSession: "session-timeout", timerInterim: "interim",
		timerIdle: "idle", timerLease4: "lease", timerLease6: "lease-ipv6", timerAdvert: "advertisement", timerPrefix: "prefix",
	}
	if slot >= numTimers || names[slot] == "" {
		return fmt.Sprint(uint8(slot))
	}
	return names[slot]
}

func (m *Manager) tellTimer(s *Session, slot timerSlot, after time.Duration) {
	m.tell(s, "timer", fmt.Sprintf("%s in %v", timerName(slot), after.Round(time.Millisecond)))
}

// trace returns where AAA tells what it exchanges about a session, nil when nobody follows it.
func (m *Manager) trace(s *Session) aaa.Trace {
	var those []*follower
	for _, f := range m.followers {
		if m.concerns(f, s) {
			those = append(those, f)
		}
	}
	if those == nil {
		return nil
	}
	id := s.id
	return func(text string) {
		for _, f := range those {
			f.tell(id, "aaa", text)
		}
	}
}

// tellAnswer tells the authorizer's answer.
func (m *Manager) tellAnswer(s *Session, a aaa.Answer) {
	switch {
	case a.Grant != nil:
		m.tell(s, "aaa", fmt.Sprintf("granted by %s", a.Grant.Source))
	case a.Reject != nil:
		m.tell(s, "aaa", fmt.Sprintf("refused: %v %q", a.Reject.Cause, a.Reject.Message))
	}
}

// tellBurial tells the very end, and ends those who follow this session alone.
func (m *Manager) tellBurial(s *Session) {
	m.tell(s, "end", fmt.Sprintf("ended: %s, %s", s.because, s.because.Text()))
	for _, f := range m.followers {
		delete(f.seen, s.id)
		if f.only == s.id {
			f.finish(fmt.Sprintf("Session %d has ended: %s.", s.id, s.because))
		}
	}
}

// listeners are the followers, on the punt path; nil while there are none.
func (m *Manager) listeners() []*follower {
	if all := m.listening.Load(); all != nil {
		return *all
	}
	return nil
}

// tellArrival tells a discovery frame as it came.
func (m *Manager) tellArrival(p entry.Punt) {
	if all := m.listeners(); all != nil {
		tellDiscovery(all, wire.Ethernet(p.Data).Source(), "in", p.Data[p.Payload:])
	}
}
