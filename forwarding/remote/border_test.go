package remote

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vbng/forwarding/entry"
)

var (
	accessPort = entry.Port{ID: 1, Driver: entry.DriverMemory, Device: "access0"}
	up         = entry.ForwarderState{Up: true}
	down       = entry.ForwarderState{Up: false}
)

func socketPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "forwarder.sock")
}

func TestApplyAnswersInOrder(t *testing.T) {
	path := socketPath(t)
	f := startForwarder(t, path)
	f.engine.refuse = func(op entry.Op) string {
		if s, ok := op.Entry.(entry.Session); ok && s.ID == 13 {
			return "unlucky"
		}
		return ""
	}
	c := startControl(t, path, nil)
	var mu sync.Mutex
	var order []int
	for i := range 100 {
		c.Apply(put(entry.VRF{ID: entry.VRFID(i)}), func(r entry.Result) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, i)
			if r.Err != nil {
				t.Errorf("batch %d: %v", i, r.Err)
			}
		})
	}
	r := c.apply(t, put(accessPort, session(13)))
	var refused *entry.Refused
	if !errors.As(r.Err, &refused) || refused.Op != 1 || refused.Reason != "unlucky" {
		t.Errorf("got %v, want the refusal", r.Err)
	}
	for i, got := range order {
		if got != i {
			t.Fatalf("answers came in order %v", order)
		}
	}
	if len(order) != 100 {
		t.Errorf("%d answers", len(order))
	}
	if c.mirror.size() != 100 {
		t.Errorf("mirror holds %d entries: a refused batch must not be in it", c.mirror.size())
	}
}

// While a message is under way, what comes meanwhile is merged.
func TestQueueMergesBatches(t *testing.T) {
	q := newQueue()
	for range 1000 {
		q.put(&request{kind: kindBatches, encoded: make([]byte, 100)})
	}
	q.put(&request{kind: kindEnd})
	q.put(&request{kind: kindBatches, encoded: make([]byte, 100)})
	for _, want := range []int{1000, 1, 1} {
		if m := q.take(); len(m) != want {
			t.Errorf("message of %d requests, want %d", len(m), want)
		}
	}
	if q.answered(kindDone) != nil {
		t.Error("an end is answered before the batches in front of it")
	}
	if m := q.answered(kindAnswers); len(m) != 1000 {
		t.Errorf("%d requests answered", len(m))
	}
}

func TestPuntsEventsAndInject(t *testing.T) {
	path := socketPath(t)
	f := startForwarder(t, path)
	c := startControl(t, path, nil)
	c.apply(t, put(accessPort))
	c.events.await(t, entry.PortState{Port: 1, Up: true, MTU: 1500}, 1)
	want := entry.Punt{Class: entry.ClassARP, Port: 1, OuterTPID: 0x8100, OuterVLAN: 5, Payload: 18, Data: bytes.Repeat([]byte{7}, 60)}
	for range 50 {
		ring(f).Push(&want)
		if got := <-c.punts; got.OuterVLAN != 5 || got.Payload != 18 || !bytes.Equal(got.Data, want.Data) {
			t.Fatalf("got %+v", got)
		}
	}
	ring(f).PushSilent(9)
	c.events.await(t, entry.PeerSilent{Session: 9}, 1)

	if !c.Inject(1, want.Data) {
		t.Error("inject refused")
	}
	var got entry.Punt
	if f.engine.shared.Inject[1].Pop(&got, nil); got.Port != 1 || !bytes.Equal(got.Data, want.Data) {
		t.Errorf("injected %+v", got)
	}
	for range 1000 {
		c.Inject(1, want.Data)
	}
	if lost, _ := c.Lost(); lost == 0 {
		t.Error("a full ring loses nothing")
	}
}

func TestTraceAndWords(t *testing.T) {
	path := socketPath(t)
	f := startForwarder(t, path)
	c := startControl(t, path, nil)
	text, err := c.Trace(t.Context(), "port 1 count 5")
	if err != nil || text != "trace of port 1 count 5" {
		t.Errorf("got %q, %v", text, err)
	}
	f.engine.counters.Worker(1).Add(1, 3)
	if w := c.Words(); len(w) != 2 || w[1] != (Word{"drop-b", 3}) {
		t.Errorf("words %v", w)
	}
}

// What an earlier control left behind is swept when the new one has told everything it knows; what both
// know keeps its counters.
func TestNewControlReconciles(t *testing.T) {
	path := socketPath(t)
	f := startForwarder(t, path)
	first := startControl(t, path, nil)
	first.apply(t, put(accessPort, session(1), session(2)))
	first.Synced()
	first.events.await(t, up, 1)
	f.engine.count(1, 5)
	first.stop()

	second := startControl(t, path, nil)
	second.SetBase(1, entry.SessionCounters{InputPackets: 100})
	second.apply(t, put(accessPort, session(1)))
	if n, _ := f.engine.has(); n != 3 {
		t.Errorf("%d entries before the end of the generation, want 3", n)
	}
	second.Synced()
	second.events.await(t, up, 1)
	if n, all := f.engine.has(accessPort, session(1)); n != 2 || !all {
		t.Errorf("%d entries after the end of the generation", n)
	}
	if v, ok := second.SessionCounters(1); !ok || v.InputPackets != 105 {
		t.Errorf("counters %+v %v, want 105 packets", v, ok)
	}
}

// A lost forwarder's successor is programmed from the mirror, and counters do not go backwards.
func TestNewForwarderIsProgrammed(t *testing.T) {
	path := socketPath(t)
	f := startForwarder(t, path)
	c := startControl(t, path, nil)
	c.apply(t, put(accessPort, session(1), session(2), session(3)))
	c.apply(t, remove(session(2)))
	c.Synced()
	c.events.await(t, up, 1)
	f.engine.count(1, 7)
	f.stop()
	c.events.await(t, down, 1)
	if v, _ := c.SessionCounters(1); v.InputPackets != 7 {
		t.Errorf("without forwarder: %+v", v)
	}
	applied := make(chan entry.Result, 1)
	c.Apply(put(session(4)), func(r entry.Result) { applied <- r }) // while it is away
	if c.Inject(1, make([]byte, 60)) {
		t.Error("inject without forwarder reports success")
	}

	f = startForwarder(t, path)
	if r := <-applied; r.Err != nil {
		t.Error(r.Err)
	}
	c.events.await(t, up, 2)
	if n, all := f.engine.has(accessPort, session(1), session(3), session(4)); n != 4 || !all {
		t.Errorf("the new forwarder has %d entries", n)
	}
	f.engine.count(1, 2)
	if v, _ := c.SessionCounters(1); v.InputPackets != 9 || c.Base(1).InputPackets != 7 {
		t.Errorf("counters %+v, base %+v", v, c.Base(1))
	}
	r := c.apply(t, remove(session(1)))
	if len(r.Finals) != 1 || r.Finals[0].Counters.InputPackets != 9 || r.Finals[0].Counters.InputBytes != 900 {
		t.Errorf("finals %+v", r.Finals)
	}
	if _, ok := c.SessionCounters(1); ok {
		t.Error("a deleted session has counters")
	}
}

// A forwarder that is alive again after a broken connection is not counted twice.
func TestBrokenConnection(t *testing.T) {
	path := socketPath(t)
	f := startForwarder(t, path)
	c := startControl(t, path, nil)
	c.apply(t, put(accessPort, session(1)))
	c.Synced()
	c.events.await(t, up, 1)
	f.engine.count(1, 7)
	stray := &request{kind: kindEvent} // the forwarder does not take those: it closes the connection
	c.queue.put(stray)
	c.events.await(t, up, 2)
	if v, _ := c.SessionCounters(1); v.InputPackets != 7 {
		t.Errorf("counters %+v, want 7 packets", v)
	}
}

// A deleted session's counters stand still until they are gone, though its slot already counts for
// another.
func TestSlotReuse(t *testing.T) {
	path := socketPath(t)
	f := startForwarder(t, path)
	c := startControl(t, path, nil)
	c.apply(t, put(accessPort, session(1)))
	f.engine.count(1, 5)
	b := remove(session(1))
	b.Put(session(2)) // takes the slot
	c.counters.freeze(b)
	f.engine.Apply(entry.AppendBatch(nil, b))
	f.engine.count(2, 50)
	if v, ok := c.SessionCounters(1); !ok || v.InputPackets != 5 {
		t.Errorf("session 1 has %+v", v)
	}
	if _, ok := c.SessionCounters(2); ok {
		t.Error("session 2 has counters before its slot is known")
	}
	c.counters.thaw(b)
	if v, _ := c.SessionCounters(1); v.InputPackets != 50 {
		t.Errorf("thawed session has %+v", v)
	}
}

// An entry that a new forwarder refuses keeps nothing else from being programmed.
func TestReplayLeavesRefusedOut(t *testing.T) {
	path := socketPath(t)
	f := startForwarder(t, path)
	c := startControl(t, path, nil)
	c.apply(t, put(accessPort, session(1), session(2), session(3)))
	c.Synced()
	c.events.await(t, up, 1)
	f.engine.mu.Lock()
	f.engine.refuse = func(op entry.Op) string {
		if s, ok := op.Entry.(entry.Session); ok && s.ID != 2 {
			return "table is full"
		}
		return ""
	}
	f.engine.entries = map[entry.Key]fakeEntry{}
	f.engine.mu.Unlock()
	c.queue.put(&request{kind: kindEvent}) // breaks the connection
	c.events.await(t, up, 2)
	if n, all := f.engine.has(accessPort, session(2)); n != 2 || !all {
		t.Errorf("%d entries", n)
	}
}

func TestOtherFormatVersionIsRefused(t *testing.T) {
	path := socketPath(t)
	startForwarder(t, path)
	c := NewClient(ClientConfig{Path: path, Log: quiet()})
	socket, err := c.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	conn := newConn(socket)
	if err := conn.send(appendJSON(conn.begin(kindHello), hello{Magic: magic, Version: 99})); err != nil {
		t.Fatal(err)
	}
	k, body, err := conn.receive()
	if err != nil || k != kindGoodbye {
		t.Fatalf("got message %d, %v", k, err)
	}
	if err := parseGoodbye(body); !errors.As(err, new(*VersionError)) || !strings.Contains(err.Error(), "99") {
		t.Errorf("got %v", err)
	}
}

func TestNewerControlReplacesOlder(t *testing.T) {
	path := socketPath(t)
	startForwarder(t, path)
	first := startControl(t, path, nil)
	first.apply(t, put(accessPort))
	second := startControl(t, path, nil)
	second.apply(t, put(accessPort))
	if err := <-first.result; !errors.Is(err, ErrReplaced) {
		t.Errorf("first control ends with %v", err)
	}
}

func TestSecondForwarderIsRefused(t *testing.T) {
	path := socketPath(t)
	startForwarder(t, path)
	err := Serve(t.Context(), ServeConfig{Path: path, Log: quiet()})
	if err == nil || !strings.Contains(err.Error(), "another forwarder serves") {
		t.Errorf("got %v", err)
	}
}

func TestStopAnswersEverything(t *testing.T) {
	c := startControl(t, socketPath(t), nil) // no forwarder
	answers := make(chan entry.Result, 1)
	c.Apply(put(accessPort), func(r entry.Result) { answers <- r })
	c.stop()
	if r := <-answers; !errors.Is(r.Err, ErrStopped) {
		t.Errorf("got %v", r.Err)
	}
	c.Apply(put(accessPort), func(r entry.Result) { answers <- r })
	if r := <-answers; !errors.Is(r.Err, ErrStopped) {
		t.Errorf("got %v", r.Err)
	}
	if _, err := c.Trace(context.Background(), ""); !errors.Is(err, ErrStopped) {
		t.Errorf("got %v", err)
	}
}

func TestTooLongBatchIsRefused(t *testing.T) {
	path := socketPath(t)
	startForwarder(t, path)
	c := startControl(t, path, nil)
	b := &entry.Batch{}
	for i := range maxBatchBytes/10 + 1 {
		b.Put(entry.VRF{ID: entry.VRFID(i)})
	}
	if r := c.apply(t, b); r.Err == nil || !strings.Contains(r.Err.Error(), "at most") {
		t.Errorf("got %v", r.Err)
	}
	if r := c.apply(t, put(accessPort)); r.Err != nil {
		t.Error(r.Err)
	}
}

func TestLocal(t *testing.T) {
	var engine *fakeEngine
	l := NewLocal(
		ServeConfig{Layout: fakeLayout, OpenPort: openStub, Log: quiet(), Build: func(s Shared) (_ Engine, err error) {
			engine, err = newFakeEngine(s)
			return engine, err
		}},
		ClientConfig{Log: quiet()})
	defer l.Close()
	done := make(chan entry.Result, 1)
	l.Apply(put(accessPort, session(1)), func(r entry.Result) { done <- r })
	select {
	case r := <-done:
		if r.Err != nil {
			t.Error(r.Err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no answer")
	}
	engine.count(1, 3)
	if v, ok := l.SessionCounters(1); !ok || v.InputPackets != 3 {
		t.Errorf("counters %+v", v)
	}
}
