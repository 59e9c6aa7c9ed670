package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// Those who look at one session from outside: a capture, or a debug.

// farewell is somebody who waits for a session's end.
type farewell struct{ ended func(cause string) }

// Selectors are the arguments by which one session is named.
func (m *Manager) Selectors() []oper.Arg { return narrow() }

// narrow are the selectors that name a subscriber rather than many.
func narrow() []oper.Arg {
	names := []string{"session-id", "acct-session-id", "user", "mac", "ip", "ipv6"}
	return slices.DeleteFunc(selectors(), func(a oper.Arg) bool { return !slices.Contains(names, a.Name) })
}

// chosen reads the arguments of narrow; others are the command's own.
func chosen(call oper.Call) (selection, error) {
	args := map[string]string{}
	for _, a := range narrow() {
		if value, ok := call.Args[a.Name]; ok {
			args[a.Name] = value
		}
	}
	sel, said, err := parseSelection(oper.Call{Args: args})
	if err == nil && !said {
		err = errors.New("say whom: session-id, acct-session-id, user, mac, ip or ipv6")
	}
	return sel, err
}

// SelectOne returns the one session that the arguments name, and its name for people. ended is called once, on the
// Manager's loop, when the session is over; stop ends the waiting for that.
func (m *Manager) SelectOne(ctx context.Context, call oper.Call, ended func(cause string)) (entry.SessionID, string, func(), error) {
	sel, err := chosen(call)
	if err != nil {
		return 0, "", nil, err
	}
	var found []*Session
	var id entry.SessionID
	var name string
	waiting := &farewell{ended}
	err = m.ask(ctx, func() {
		if found = m.matching(&sel); len(found) != 1 {
			return
		}
		id, name = found[0].id, found[0].label()
		if m.farewells == nil {
			m.farewells = map[entry.SessionID][]*farewell{}
		}
		m.farewells[id] = append(m.farewells[id], waiting)
	})
	if err != nil { // the question may be answered yet
		m.loop.Post(question{ask: func() { m.forgetFarewell(id, waiting) }})
		return 0, "", nil, err
	}
	switch len(found) {
	case 0:
		return 0, "", nil, errors.New("there is no such subscriber")
	case 1:
	default:
		return 0, "", nil, fmt.Errorf("%d sessions fit: name one by session-id (see \"show subscribers\")", len(found))
	}
	return id, name, func() { m.loop.Post(question{ask: func() { m.forgetFarewell(id, waiting) }}) }, nil
}

// matching returns the sessions that fit, in the order of their numbers. Loop only; for selections that name few.
func (m *Manager) matching(sel *selection) []*Session {
	var found []*Session
	ids := m.index.candidates(*sel)
	slices.Sort(ids)
	for _, id := range ids {
		if s := m.index.byID[id]; s != nil && m.fits(sel, s) {
			found = append(found, s)
		}
	}
	return found
}

// label names a session for people.
func (s *Session) label() string {
	if s.username == "" {
		return fmt.Sprintf("%v (session %d)", s.client.mac, s.id)
	}
	return fmt.Sprintf("%s (session %d)", printed(s.username), s.id)
}

func (m *Manager) forgetFarewell(id entry.SessionID, w *farewell) {
	rest := slices.DeleteFunc(m.farewells[id], func(o *farewell) bool { return o == w })
	if len(rest) == 0 {
		delete(m.farewells, id)
		return
	}
	m.farewells[id] = rest
}

// sayFarewell tells those who wait that a session is over.
func (m *Manager) sayFarewell(s *Session) {
	for _, w := range m.farewells[s.id] {
		w.ended(string(s.because))
	}
	delete(m.farewells, s.id)
}
