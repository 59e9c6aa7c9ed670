// Package clock makes time an input: every package that acts on time takes a Clock, so that tests
// run hours of protocol in microseconds and a recorded inbox can be replayed.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time and wakes callers later.
type Clock interface {
	// Now returns the wall clock with a monotonic reading; differences of two such values are
	// safe against clock steps.
	Now() time.Time
	// AfterFunc calls f once after d, on a goroutine of the clock. f must not block.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a pending AfterFunc call.
type Timer interface {
	// Stop prevents the call and reports whether it did.
	Stop() bool
}

// Real is the machine's clock.
type Real struct{}

// Now implements Clock.
func (Real) Now() time.Time { return time.Now() }

// AfterFunc implements Clock.
func (Real) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Fake is a clock that only Advance moves. Its calls run on the goroutine that advances it, in the
// order of their due times.
type Fake struct {
	mu     sync.Mutex
	now    time.Time
	timers []*fakeTimer
}

// NewFake returns a fake clock that stands at start.
func NewFake(start time.Time) *Fake { return &Fake{now: start} }

// Now implements Clock.
func (c *Fake) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements Clock.
func (c *Fake) AfterFunc(d time.Duration, f func()) Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &fakeTimer{clock: c, due: c.now.Add(max(d, 0)), call: f}
	c.timers = append(c.timers, t)
	return t
}

// Advance moves the clock by d and runs every call that falls due on the way, each at its own time.
func (c *Fake) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		t := c.earliest(end)
		if t == nil {
			break
		}
		c.now = t.due
		c.remove(t)
		c.mu.Unlock()
		t.call()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

// earliest returns the first timer due at or before end; equal times keep their order of creation.
func (c *Fake) earliest(end time.Time) *fakeTimer {
	var first *fakeTimer
	for _, t := range c.timers {
		if !t.due.After(end) && (first == nil || t.due.Before(first.due)) {
			first = t
		}
	}
	return first
}

func (c *Fake) remove(t *fakeTimer) bool {
	for i, x := range c.timers {
		if x == t {
			c.timers = append(c.timers[:i], c.timers[i+1:]...)
			return true
		}
	}
	return false
}

type fakeTimer struct {
	clock *Fake
	due   time.Time
	call  func()
}

// Stop implements Timer.
func (t *fakeTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	return t.clock.remove(t)
}
