// Package loop gives a piece of control state one owner: one goroutine with one inbox.
//
// Packets, timers, answers and configuration reach the owner as messages of its own type M; the
// handler runs them one at a time, so the state needs no lock. Posting never blocks: the inbox grows
// (bounded by limit), because a producer that waited for a loop could be the loop's own callee.
package loop

import (
	"context"
	"sync"
	"time"

	"vbng/control/clock"
)

// Loop is an inbox of messages of type M and the goroutine that empties it (whoever calls Run).
type Loop[M any] struct {
	clock clock.Clock
	limit int

	mu      sync.Mutex
	inbox   []M
	refused uint64
	wake    chan struct{}
}

// New returns a loop whose inbox holds at most limit messages that Offer may refuse; Post is never refused.
func New[M any](c clock.Clock, limit int) *Loop[M] {
	return &Loop[M]{clock: c, limit: limit, wake: make(chan struct{}, 1)}
}

// Post puts a message into the inbox: answers, timers and configuration, which must not be lost.
func (l *Loop[M]) Post(m M) {
	l.mu.Lock()
	l.inbox = append(l.inbox, m)
	l.mu.Unlock()
	l.signal()
}

// Offer puts a message into the inbox unless it is full, and reports whether it did. It is for input
// whose rate outsiders choose (packets); a refusal is counted.
func (l *Loop[M]) Offer(m M) bool {
	l.mu.Lock()
	if len(l.inbox) >= l.limit {
		l.refused++
		l.mu.Unlock()
		return false
	}
	l.inbox = append(l.inbox, m)
	l.mu.Unlock()
	l.signal()
	return true
}

// Refused returns how many offers were refused.
func (l *Loop[M]) Refused() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// After posts m when d has passed, unless the timer is stopped first. A message already in the inbox
// cannot be recalled: the handler must recognise a stale one by a generation in m.
func (l *Loop[M]) After(d time.Duration, m M) clock.Timer {
	return l.clock.AfterFunc(d, func() { l.Post(m) })
}

// Now returns the loop's clock's time.
func (l *Loop[M]) Now() time.Time { return l.clock.Now() }

// Run hands every message to handle until ctx ends, also while messages keep coming in.
func (l *Loop[M]) Run(ctx context.Context, handle func(M)) {
	for {
		for _, m := range l.take() {
			handle(m)
		}
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
	}
}

// Drain hands over what lies in the inbox and what arrives meanwhile, then returns. Tests with a fake
// clock use it in place of Run.
func (l *Loop[M]) Drain(handle func(M)) {
	for {
		batch := l.take()
		if len(batch) == 0 {
			return
		}
		for _, m := range batch {
			handle(m)
		}
	}
}

func (l *Loop[M]) take() []M {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch := l.inbox
	l.inbox = nil
	return batch
}

func (l *Loop[M]) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
