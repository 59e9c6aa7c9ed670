package remote

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"vbng/forwarding/counter"
	"vbng/forwarding/entry"
	"vbng/forwarding/port"
	"vbng/forwarding/punt"
)

var fakeLayout = counter.Layout{Workers: 2, Sessions: 64, Ports: 8, Words: 2}

// fakeEngine keeps entries in a map, with the generation that put them, and gives out counter slots.
type fakeEngine struct {
	shared   Shared
	counters *counter.Counters

	mu         sync.Mutex
	entries    map[entry.Key]fakeEntry
	generation uint64
	ended      uint64
	batches    int
	free       []uint32
	ports      map[entry.PortID]port.Port
	refuse     func(entry.Op) string
}

type fakeEntry struct {
	entry      entry.Entry
	generation uint64
	slot       uint32
}

func newFakeEngine(s Shared) (*fakeEngine, error) {
	counters, err := counter.Map(s.Counters, fakeLayout)
	e := &fakeEngine{shared: s, counters: counters, entries: map[entry.Key]fakeEntry{}, ports: map[entry.PortID]port.Port{}}
	for slot := range uint32(fakeLayout.Sessions) {
		e.free = append(e.free, slot)
	}
	return e, err
}

func (e *fakeEngine) Apply(encoded []byte) (answer Answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.batches++
	var ops []entry.Op
	r, a := entry.NewReader(encoded), &entry.Any{}
	for {
		more, err := r.Next(a)
		if err != nil {
			return Answer{Refused: &entry.Refused{Op: r.Op(), Reason: err.Error()}}
		}
		if !more {
			break
		}
		op := entry.Op{Verb: a.Verb, Entry: a.Entry()}
		if e.refuse != nil && e.refuse(op) != "" {
			return Answer{Refused: &entry.Refused{Op: len(ops), Reason: e.refuse(op)}}
		}
		ops = append(ops, op)
	}
	for _, op := range ops {
		e.apply(op, &answer)
	}
	return answer
}

func (e *fakeEngine) apply(op entry.Op, answer *Answer) {
	k := entry.KeyOf(op.Entry)
	old, known := e.entries[k]
	if op.Verb == entry.Delete {
		delete(e.entries, k)
		if s, ok := op.Entry.(entry.Session); ok && known {
			answer.Finals = append(answer.Finals, entry.Final{Session: s.ID, Counters: e.counters.Session(old.slot)})
			e.counters.ClearSession(old.slot)
			e.free = append([]uint32{old.slot}, e.free...) // reused at once
		}
		return
	}
	n := fakeEntry{entry: op.Entry, generation: e.generation, slot: old.slot}
	switch x := op.Entry.(type) {
	case entry.Session:
		if !known {
			n.slot, e.free = e.free[0], e.free[1:]
		}
		answer.Sessions = append(answer.Sessions, SessionSlot{x.ID, n.slot})
	case entry.Port:
		if !known {
			e.ports[x.ID], _ = e.shared.OpenPort(x)
		}
		answer.Ports = append(answer.Ports, PortSlot{x.ID, uint32(x.ID)})
	}
	e.entries[k] = n
}

func (e *fakeEngine) Begin(generation uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.generation = generation
}

func (e *fakeEngine) End(generation uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = generation
	for k, x := range e.entries {
		if x.generation != generation {
			delete(e.entries, k)
		}
	}
}

func (e *fakeEngine) Trace(request string) string           { return "trace of " + request }
func (e *fakeEngine) PortChanged(entry.PortState)           {}
func (e *fakeEngine) WordNames() []string                   { return []string{"drop-a", "drop-b"} }
func (e *fakeEngine) count(id entry.SessionID, packets int) { e.countTo(e.slotOf(id), packets) }

func (e *fakeEngine) countTo(slot uint32, packets int) {
	for range packets {
		e.counters.Worker(0).Input(slot, 100)
	}
}

func (e *fakeEngine) slotOf(id entry.SessionID) uint32 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.entries[entry.KeyOf(entry.Session{ID: id})].slot
}

// has returns how many entries there are, and whether these are among them.
func (e *fakeEngine) has(entries ...entry.Entry) (n int, all bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all = true
	for _, x := range entries {
		all = all && e.entries[entry.KeyOf(x)].entry == x
	}
	return len(e.entries), all
}

// stubPort is a port without a device.
type stubPort struct {
	port.Port
	id entry.PortID
}

func (p stubPort) State() entry.PortState { return entry.PortState{Port: p.id, Up: true, MTU: 1500} }
func (p stubPort) Close() error           { return nil }

func openStub(e entry.Port) (port.Port, error) { return stubPort{id: e.ID}, nil }

// forwarder is a served fake engine that tests start and stop.
type forwarder struct {
	engine *fakeEngine
	stop   func()
}

// startForwarder serves path in this process.
func startForwarder(t *testing.T, path string) *forwarder {
	t.Helper()
	return startForwarderWith(t, path, func(*fakeEngine) {})
}

// startForwarderWith is startForwarder of an engine that prepare has changed.
func startForwarderWith(t *testing.T, path string, prepare func(*fakeEngine)) *forwarder {
	t.Helper()
	built, served := make(chan *fakeEngine, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		served <- Serve(ctx, ServeConfig{
			Path: path, Layout: fakeLayout, RingDataBytes: 8192, OpenPort: openStub, Log: quiet(),
			Build: func(s Shared) (Engine, error) {
				e, err := newFakeEngine(s)
				prepare(e)
				built <- e
				return e, err
			},
		})
	}()
	select {
	case e := <-built:
		f := &forwarder{engine: e}
		f.stop = sync.OnceFunc(func() {
			cancel()
			<-served
		})
		t.Cleanup(f.stop)
		return f
	case err := <-served:
		cancel()
		t.Fatal(err)
		return nil
	}
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// events collects what a client tells.
type events struct {
	mu  sync.Mutex
	all []entry.Event
	new chan struct{}
}

func newEvents() *events { return &events{new: make(chan struct{}, 1000)} }

func (e *events) add(x entry.Event) {
	e.mu.Lock()
	e.all = append(e.all, x)
	e.mu.Unlock()
	e.new <- struct{}{}
}

// await waits until want was told n times.
func (e *events) await(t *testing.T, want entry.Event, n int) {
	t.Helper()
	timeout := time.After(10 * time.Second)
	for {
		e.mu.Lock()
		seen := 0
		for _, x := range e.all {
			if x == want {
				seen++
			}
		}
		all := fmt.Sprintf("%+v", e.all)
		e.mu.Unlock()
		if seen >= n {
			return
		}
		select {
		case <-e.new:
		case <-timeout:
			t.Fatalf("%+v was told %d times, want %d; told: %s", want, seen, n, all)
		}
	}
}

// control is a running client.
type control struct {
	*Client
	events *events
	punts  chan entry.Punt
	result chan error
	stop   func()
}

func startControl(t *testing.T, path string, start func() error) *control {
	t.Helper()
	c := &control{events: newEvents(), punts: make(chan entry.Punt, 100), result: make(chan error, 1)}
	c.Client = NewClient(ClientConfig{
		Path: path, Start: start, Events: c.events.add, Log: quiet(),
		Receivers: map[entry.Class]entry.Receiver{entry.ClassARP: c},
	})
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		c.result <- c.Run(ctx)
		close(over)
	}()
	c.stop = func() {
		cancel()
		<-over
	}
	t.Cleanup(c.stop)
	return c
}

// Punt implements entry.Receiver.
func (c *control) Punt(p entry.Punt) {
	p.Data = append([]byte(nil), p.Data...)
	c.punts <- p
}

// apply applies a batch and waits for its result.
func (c *control) apply(t *testing.T, b *entry.Batch) entry.Result {
	t.Helper()
	answer := make(chan entry.Result, 1)
	c.Apply(b, func(r entry.Result) { answer <- r })
	select {
	case r := <-answer:
		return r
	case <-time.After(10 * time.Second):
		t.Fatalf("no answer to %v", b)
		return entry.Result{}
	}
}

func put(entries ...entry.Entry) *entry.Batch {
	b := &entry.Batch{}
	b.Put(entries...)
	return b
}

func remove(entries ...entry.Entry) *entry.Batch {
	b := &entry.Batch{}
	b.Delete(entries...)
	return b
}

func session(id entry.SessionID) entry.Session {
	return entry.Session{ID: id, Port: 1, PeerMAC: entry.MAC{2, 0, 0, 0, 0, byte(id)}, PPPoE: uint16(id), MTU: 1492}
}

// ring is the punt ring of the second worker.
func ring(f *forwarder) *punt.Ring { return f.engine.shared.Punt[1] }
