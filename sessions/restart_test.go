package sessions

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/control/clock"
	"vbng/forwarding/entry"
)

// crash throws the Manager away, with everything under way to it, and starts another one on the same
// store and forwarder.
func (w *world) crash(text string) {
	w.t.Helper()
	if err := w.store.Flush(); err != nil {
		w.t.Fatal(err)
	}
	w.programming, w.others, w.frames = nil, nil, nil
	w.start(text)
}

func TestRestart(t *testing.T) {
	w := newWorld(t, sampleConfig)
	w.grant(aaa.Grant{SessionTimeout: time.Hour, InterimInterval: 10 * time.Minute, Class: [][]byte{{9}, {8}}, Source: "test"})
	peers := []*peer{w.peer(0), w.peer(1), w.peer(2)}
	for _, p := range peers {
		w.dialled(p)
	}
	before := maps.Clone(w.entries)
	routes := maps.Clone(w.routes)
	ids := keys(w.m.index.byID)
	half := w.peer(9) // in the middle of its set-up
	half.dial()
	w.drain()
	half.receive(w.frames[0])
	w.drain()
	w.counters[ids[0]] = entry.SessionCounters{InputBytes: 500}

	w.clock.Advance(20 * time.Minute)
	w.crash(sampleConfig)
	w.settle(append(peers, half)...)
	if len(w.frames) > 0 || len(w.m.index.byID) != 3 || w.kindsOf() != "1 1 1" {
		t.Fatalf("%d sessions, records %s", len(w.m.index.byID), w.kindsOf())
	}
	if !maps.Equal(before, w.entries) || !maps.Equal(routes, w.routes) {
		t.Fatalf("entries before %v, after %v", before, w.entries)
	}
	for _, p := range peers {
		s := w.m.index.byTuple[p.tuple()]
		if s == nil || s.state != StateUp || s.username != "alice" || s.ipv4() != p.address || len(s.grant.Class) != 2 {
			t.Fatalf("session %+v", s)
		}
	}
	// New sessions collide with nothing.
	fourth := w.peer(3)
	if s := w.dialled(fourth); slices.Contains(ids, s.id) || fourth.address.String() == peers[0].address.String() {
		t.Fatalf("session %d, address %s", s.id, fourth.address)
	}
	// The timers go on from where they were.
	for range 41 {
		w.clock.Advance(time.Minute)
		w.settle(append(peers, fourth)...)
	}
	stops := map[string]aaa.Record{}
	for _, r := range w.records {
		if r.Type == aaa.Stop {
			stops[r.AcctSessionID] = r
		}
	}
	if len(stops) != 3 {
		t.Fatalf("%d Stops", len(stops))
	}
	for _, r := range stops {
		if r.Cause != aaa.SessionTimeout || r.SessionTime != time.Hour {
			t.Errorf("record %+v", r)
		}
	}
	w.run("clear subscriber", map[string]string{"all": "true"})
	w.settle(append(peers, fourth)...)
	half.lcpRequest() // what is left of the set-up that never was
	w.clean()
}

// TestRestartOfBoth has a new forwarder, too: nothing of what was reported may be taken back.
func TestRestartOfBoth(t *testing.T) {
	w := newWorld(t, sampleConfig)
	w.grant(aaa.Grant{InterimInterval: 10 * time.Minute})
	c := w.peer(0)
	s := w.dialled(c)
	w.counters[s.id] = entry.SessionCounters{InputBytes: 1000, OutputBytes: 10}
	w.clock.Advance(11 * time.Minute)
	w.settle(c)
	if w.last().Usage.InputBytes != 1000 {
		t.Fatalf("record %+v", w.last())
	}
	w.newForwarder()
	w.counters[s.id] = entry.SessionCounters{InputBytes: 3}
	w.crash(sampleConfig)
	w.settle(c)
	w.counters[s.id] = entry.SessionCounters{InputBytes: 503, OutputBytes: 20}
	w.run("clear subscriber", map[string]string{"ip": s.ipv4().String()})
	w.settle(c)
	if u := w.last().Usage; u.InputBytes != 1500 || u.OutputBytes != 30 {
		t.Fatalf("usage %+v", u)
	}
	w.clean()
}

func TestRestartWithoutTheProfile(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(0)
	w.dialled(c)
	w.crash("interface access0\n")
	w.settle(c)
	if w.m.stats.ends[CauseProfileRemoved] != 1 || c.heard["Terminate-Request"] != 1 {
		t.Fatalf("ends %v, heard %v", w.m.stats.ends, c.heard)
	}
	w.clean()
}

func TestRestoreTellsWhenItIsDone(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(0)
	w.dialled(c)
	if err := w.store.Flush(); err != nil {
		t.Fatal(err)
	}
	m, err := New(w.m.needs)
	if err != nil {
		t.Fatal(err)
	}
	w.m = m
	w.configure(sampleConfig)
	done, revived := 0, 0
	if err := m.Restore(func(n int) { done, revived = done+1, n }); err != nil {
		t.Fatal(err)
	}
	w.drain()
	if done != 0 {
		t.Fatal("done before the forwarder answered")
	}
	w.answerProgrammer()
	w.drain()
	if done != 0 {
		t.Fatal("done before the RIB answered")
	}
	w.settle(c)
	if done != 1 || revived != 1 {
		t.Fatalf("done %d times, %d sessions", done, revived)
	}
}

// TestPeerSilentWhileControlWasAway: the forwarder's word comes before the session is restored, and only once.
func TestPeerSilentWhileControlWasAway(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(0)
	s := w.dialled(c)
	if err := w.store.Flush(); err != nil {
		t.Fatal(err)
	}
	m, err := New(w.m.needs)
	if err != nil {
		t.Fatal(err)
	}
	w.m = m
	w.configure(sampleConfig)
	m.Event(entry.PeerSilent{Session: s.id})
	w.drain()
	if err := m.Restore(nil); err != nil {
		t.Fatal(err)
	}
	w.settle(c)
	if m.stats.ends[CausePeerSilent] != 1 || w.last().Cause != aaa.LostCarrier {
		t.Fatalf("ends %v", m.stats.ends)
	}
	w.clean()
}

// TestRestoreOfNothing: with no session to take up, done runs before the first client is admitted, so that
// an Accounting-On goes before the first Start.
func TestRestoreOfNothing(t *testing.T) {
	w := newWorld(t, sampleConfig)
	m, err := New(w.m.needs)
	if err != nil {
		t.Fatal(err)
	}
	w.m = m
	w.configure(sampleConfig)
	admitted := -1
	if err := m.Restore(func(revived int) { admitted = revived + len(m.index.byID) }); err != nil {
		t.Fatal(err)
	}
	c := w.peer(0)
	c.dial()
	w.settle(c)
	if admitted != 0 || len(m.index.byID) != 1 {
		t.Fatalf("%d sessions when done, %d now", admitted, len(m.index.byID))
	}
}

func TestRestoreConflicts(t *testing.T) {
	w := newWorld(t, sampleConfig)
	a, b := w.peer(0), w.peer(1)
	first, second := w.dialled(a), w.dialled(b)
	second.bindings[slotIPv4].prefix = first.bindings[slotIPv4].prefix // as a damaged store would have it
	w.m.save(second)
	w.m.records.Put([]byte("broken"), []byte("{"))
	w.newForwarder()
	w.crash(sampleConfig)
	w.settle(a, b)
	if len(w.m.index.byID) != 1 || w.m.stats.ends[CauseRestoreFailed] != 1 || w.last().Type != aaa.Stop {
		t.Fatalf("%d sessions, ends %v", len(w.m.index.byID), w.m.stats.ends)
	}
	b.lcpRequest()
	w.settle(a, b)
	if b.heard["PADT"] != 1 {
		t.Fatalf("heard %v", b.heard)
	}
	w.run("clear subscriber", map[string]string{"all": "true"})
	w.settle(a, b)
	w.clean()
}

func TestForwarderRestartKeepsItsBase(t *testing.T) {
	w := newWorld(t, sampleConfig)
	based := &basedCounters{world: w, bases: map[entry.SessionID]entry.SessionCounters{}}
	w.m.needs.Counters = based
	c := w.peer(0)
	s := w.dialled(c)
	based.bases[s.id] = entry.SessionCounters{InputBytes: 77}
	w.m.Event(entry.ForwarderState{Up: false})
	w.m.Event(entry.ForwarderState{Up: true})
	w.settle(c)
	if err := w.store.Flush(); err != nil {
		t.Fatal(err)
	}
	clear(based.bases)
	needs := w.m.needs
	m, err := New(needs)
	if err != nil {
		t.Fatal(err)
	}
	w.m = m
	w.configure(sampleConfig)
	if err := m.Restore(nil); err != nil {
		t.Fatal(err)
	}
	w.settle(c)
	if fmt.Sprint(based.bases) != fmt.Sprintf("map[%d:{0 77 0 0}]", s.id) {
		t.Fatalf("bases %v", based.bases)
	}
}

type basedCounters struct {
	*world
	bases map[entry.SessionID]entry.SessionCounters
}

func (b *basedCounters) Base(id entry.SessionID) entry.SessionCounters { return b.bases[id] }

func (b *basedCounters) SetBase(id entry.SessionID, base entry.SessionCounters) { b.bases[id] = base }

// TestRestoreWaitsForPorts: a new forwarder would refuse sessions before their port.
func TestRestoreWaitsForPorts(t *testing.T) {
	w := newWorld(t, sampleConfig)
	w.dialled(w.peer(0))
	delete(w.portNames, 1)
	advanced := make(chan struct{})
	w.ticker = tickingClock{Fake: w.clock, tick: func(f func()) {
		w.portNames[1] = "access0" // the first pause is enough
		close(advanced)
		f()
	}}
	w.crash(sampleConfig)
	<-advanced
	w.settle()
	if len(w.m.index.byID) != 1 {
		t.Fatalf("%d sessions", len(w.m.index.byID))
	}
}

// tickingClock lets pauses pass at once.
type tickingClock struct {
	*clock.Fake
	tick func(f func())
}

func (c tickingClock) AfterFunc(d time.Duration, f func()) clock.Timer {
	if d == portPause {
		c.tick(f)
		return c.Fake.AfterFunc(d, func() {})
	}
	return c.Fake.AfterFunc(d, f)
}

// Whoever hears of a session by its Start can count on its Stop: the session is stored before, so that a
// crash right behind the Start does not lose it.
func TestStartFollowsTheStoredSession(t *testing.T) {
	w := newWorld(t, sampleConfig)
	stored := 0
	w.onRecord = func(r aaa.Record) {
		if r.Type != aaa.Start {
			return
		}
		err := w.m.records.ForEach(func(_, value []byte) error {
			if record, err := parseRecord(value); err != nil || record.AcctID != r.AcctSessionID {
				t.Errorf("stored %+v, error %v", record, err)
			}
			stored++
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	w.dialled(w.peer(0))
	if stored != 1 {
		t.Errorf("%d sessions stored at the time of the Start", stored)
	}
}
