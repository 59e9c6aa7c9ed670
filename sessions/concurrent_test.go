package sessions

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"vbng/aaa"
	"vbng/control/clock"
	"vbng/control/oper"
	"vbng/control/store"
	"vbng/forwarding/entry"
)

// instant is a world that answers at once, from any goroutine, and forgets.
type instant struct{}

func (instant) Apply(_ *entry.Batch, done func(entry.Result)) { done(entry.Result{}) }
func (instant) Inject(entry.PortID, []byte) bool              { return true }
func (instant) SessionCounters(entry.SessionID) (entry.SessionCounters, bool) {
	return entry.SessionCounters{}, true
}
func (instant) PortCounters(entry.PortID) (entry.PortCounters, bool) {
	return entry.PortCounters{}, true
}
func (instant) Port(entry.PortID) (string, entry.MAC, bool, bool) {
	return "access0", routerMAC, true, true
}
func (instant) Authorize(_ aaa.Request, done func(aaa.Answer)) {
	done(aaa.Answer{Reject: &aaa.Reject{Cause: aaa.BadCredentials}})
}
func (instant) Account(aaa.Record) {}
func (instant) AddSubscriber(_ entry.VRFID, _ netip.Prefix, _ entry.SessionID, done func(error)) {
	done(nil)
}
func (instant) DeleteSubscriber(_ entry.VRFID, _ netip.Prefix, _ entry.SessionID, done func()) {
	done()
}
func (instant) SetAggregates(entry.VRFID, string, []netip.Prefix) {}

// TestConcurrentUse runs the real loop on the real clock while frames, commands and commits come from
// other goroutines; the race detector is the judge.
func TestConcurrentUse(t *testing.T) {
	st, err := store.Open(filepath.Join(t.TempDir(), "store"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var i instant
	m, err := New(Needs{
		Clock: clock.Real{}, Log: slog.New(slog.DiscardHandler), Store: st, Programmer: i, Counters: i, Ports: i,
		Authorizer: i, Accountant: i, Routes: i,
	})
	if err != nil {
		t.Fatal(err)
	}
	tree, faults := parseConfig(t, sampleConfig)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	m.Apply(nil, tree)
	if err := m.Restore(nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running, callers sync.WaitGroup
	running.Go(func() { _ = m.Run(ctx) })
	world := &world{t: t, clock: clock.NewFake(clock.Real{}.Now()), m: m}
	for n := range 4 {
		callers.Go(func() { floods(world, m, n) })
	}
	callers.Go(func() { asks(t, m) })
	callers.Go(func() {
		for range 20 {
			m.Apply(tree, tree)
			m.Event(entry.ForwarderState{Up: true})
		}
	})
	callers.Wait()
	cancel()
	running.Wait()
	if n := m.stats.requests.Load(); n != 4*50 {
		t.Errorf("%d requests were good, want 200", n)
	}
}

// floods sends good PADRs, and frames of no session.
func floods(w *world, m *Manager, n int) {
	for i := range 50 {
		c := newPeer(w, Place{Port: 1}, entry.MAC{2, 0, 0, 1, byte(n), byte(i)}, "u")
		c.cookie = m.settings.Load().profiles["residential"].cookieFor(c, clock.Real{}.Now())
		tags := append(tag(0x0104, c.cookie), tag(0x0101, nil)...)
		header := []byte{0x11, 0x19, 0, 0, 0, byte(len(tags))}
		frame := append(append(append(routerMAC[:], c.mac[:]...), 0x88, 0x63), append(header, tags...)...)
		m.Punt(entry.Punt{Class: entry.ClassPPPoEDiscovery, Port: 1, Payload: 14, Data: frame})
		frame[13], frame[15] = 0x64, 0
		m.Punt(entry.Punt{Class: entry.ClassPPPoEUnknown, Port: 1, Payload: 14, Data: frame})
	}
}

func asks(t *testing.T, m *Manager) {
	for range 20 {
		for _, c := range m.Commands() {
			if c.Run == nil {
				continue // it goes on until somebody stops it
			}
			args := map[string]string{}
			if strings.HasPrefix(c.Words, "clear") {
				args["all"] = "true"
			}
			if _, err := c.Run(t.Context(), oper.Call{Args: args}); err != nil {
				t.Error(fmt.Errorf("%s: %w", c.Words, err))
			}
		}
	}
}

// TestAskGivesUp: a loop that does not answer holds nobody for ever.
func TestAskGivesUp(t *testing.T) {
	w := newWorld(t, sampleConfig)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.m.showHistory(ctx, oper.Call{}); err == nil {
		t.Fatal("no error")
	}
}
