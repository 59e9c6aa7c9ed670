package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// "debug subscriber": what happens to one subscriber, as it happens.
//
//	the loop, the punt path, AAA --tell--> a follower's bounded queue --> the operator's goroutine
//
// Nobody who tells waits: what the queue has no room for is counted. While nobody follows, each hook is one comparison
// with nil.

const (
	maxFollowers = 8
	// eventQueue bounds the events that wait for an operator's terminal.
	eventQueue = 1024
)

// Happened is something that happened to a subscriber.
type Happened struct {
	Time    string `json:"time"` // UTC
	Session uint64 `json:"session_id,omitempty"`
	Kind    string `json:"kind"` // "state", "in", "out", "aaa", "timer", "program", "route", "address", "end"
	Text    string `json:"text"`
}

// follower is one operator who follows a subscriber.
type follower struct {
	sel    selection
	only   entry.SessionID // follow this session and no later one; 0: whoever fits
	clock  func() time.Time
	events chan Happened
	lost   atomic.Uint64
	over   chan string

	seen map[entry.SessionID]view // the loop's: what was told last
}

// tell puts an event into the queue. It may be called on any goroutine.
func (f *follower) tell(id entry.SessionID, kind, text string) {
	e := Happened{Time: f.clock().UTC().Format("2006-01-02T15:04:05.000000Z"), Session: uint64(id), Kind: kind, Text: text}
	select {
	case f.events <- e:
	default:
		f.lost.Add(1)
	}
}

func (m *Manager) debugCommand() *oper.Command {
	return &oper.Command{
		Words: "debug subscriber", Help: "What happens to one subscriber, as it happens; by mac or user also one that is not there yet",
		Args: narrow(), Stream: m.debugSubscriber,
	}
}

func (m *Manager) debugSubscriber(ctx context.Context, call oper.Call, emit func(any) bool) error {
	sel, err := chosen(call)
	if err != nil {
		return err
	}
	f := &follower{
		sel: sel, clock: m.needs.Clock.Now, events: make(chan Happened, eventQueue), over: make(chan string, 1), seen: map[entry.SessionID]view{},
	}
	defer m.loop.Post(question{ask: func() { m.unfollow(f) }}) // behind follow, also when that was not waited for
	var refusal error
	if err := m.ask(ctx, func() { refusal = m.follow(f) }); err != nil {
		return err
	}
	if refusal != nil {
		return refusal
	}
	return f.show(ctx, emit)
}

// follow begins to follow. What the subscriber is now is told first.
func (m *Manager) follow(f *follower) error {
	if len(m.followers) == maxFollowers {
		return fmt.Errorf("%d subscribers are followed already", maxFollowers)
	}
	if n := m.index.crowd(&f.sel); n > maxFollowed {
		return fmt.Errorf("%d sessions fit, which are too many to follow", n)
	}
	found := m.matching(&f.sel)
	comes := f.sel.mac != nil || f.sel.user != ""
	switch {
	case len(found) == 0 && !comes:
		return errors.New("there is no such subscriber; one that is still to come can be named by mac or user")
	case len(found) > 1 && !comes:
		return fmt.Errorf("%d sessions fit: name one by session-id (see \"show subscribers\")", len(found))
	case !comes:
		f.only = found[0].id
	case len(found) == 0:
		f.tell(0, "state", "nobody yet")
	}
	m.followers = append(m.followers, f)
	m.publishFollowers()
	m.observe()
	return nil
}

func (m *Manager) unfollow(f *follower) {
	var rest []*follower // nil when it was the last one
	for _, o := range m.followers {
		if o != f {
			rest = append(rest, o)
		}
	}
	m.followers = rest
	m.publishFollowers()
}

// publishFollowers tells the punt path whom to look for.
func (m *Manager) publishFollowers() {
	if m.followers == nil {
		m.listening.Store(nil)
		return
	}
	all := append([]*follower(nil), m.followers...)
	m.listening.Store(&all)
}

// show hands events to the operator until the end.
func (f *follower) show(ctx context.Context, emit func(any) bool) error {
	var told uint64
	for {
		select {
		case e := <-f.events:
			if !emit(f.piece(e, &told)) {
				return nil
			}
		case why := <-f.over:
			for {
				select {
				case e := <-f.events:
					if !emit(f.piece(e, &told)) {
						return nil
					}
					continue
				default:
				}
				return &oper.Farewell{Text: why}
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (f *follower) piece(e Happened, told *uint64) oper.Document {
	var b strings.Builder
	if n := f.lost.Load(); n > *told {
		fmt.Fprintf(&b, "-- %d events are missing here or before\n", n-*told)
		*told = n
	}
	who := "-"
	if e.Session != 0 {
		who = fmt.Sprint(e.Session)
	}
	fmt.Fprintf(&b, "%s %s %-7s %s", strings.TrimSuffix(e.Time[len("2006-01-02T"):], "Z"), who, e.Kind, e.Text)
	return oper.Document{Sections: []oper.Section{{Text: b.String()}}, Data: e}
}
