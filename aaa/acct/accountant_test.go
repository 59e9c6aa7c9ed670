package acct

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/control/clock"
)

// bench is an accountant on a fake clock; the test is its sink.
type bench struct {
	t          *testing.T
	clock      *clock.Fake
	accountant *Accountant
	sent       []delivery // not yet looked at by next
	log        bytes.Buffer
	stored     map[uint64]aaa.Record
	slowStore  bool // Puts wait in unwritten
	unwritten  []func()
}

type delivery struct {
	record aaa.Record
	done   func(Outcome)
}

func (d delivery) String() string { return typeName(d.record.Type) + " " + d.record.AcctSessionID }

func (b *bench) Deliver(record aaa.Record, done func(Outcome)) {
	b.sent = append(b.sent, delivery{record, done})
}

func (b *bench) Put(key uint64, r aaa.Record, written func()) {
	b.stored[key] = r
	if b.slowStore {
		b.unwritten = append(b.unwritten, written)
		return
	}
	written()
}
func (b *bench) Delete(key uint64) { delete(b.stored, key) }

func newBench(t *testing.T, change func(*Options)) *bench {
	b := &bench{t: t, clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), stored: map[uint64]aaa.Record{}}
	options := Options{Clock: b.clock, Log: slog.New(slog.NewTextHandler(&b.log, nil)), Store: b}
	if change != nil {
		change(&options)
	}
	b.accountant = New(b, options)
	return b
}

func (b *bench) drain() { b.accountant.loop.Drain(b.accountant.handle) }

func (b *bench) pass(d time.Duration) {
	for ; d > 0; d -= time.Second {
		b.clock.Advance(min(d, time.Second))
		b.drain()
	}
}

func (b *bench) account(kind aaa.RecordType, session string) {
	b.accountant.Account(aaa.Record{Type: kind, AcctSessionID: session, Time: b.clock.Now()}, nil)
	b.drain()
}

func (b *bench) next(want string) delivery {
	b.t.Helper()
	if len(b.sent) == 0 {
		b.t.Fatalf("nothing was sent, want %s", want)
	}
	d := b.sent[0]
	b.sent = b.sent[1:]
	if d.String() != want {
		b.t.Fatalf("sent %s, want %s", d, want)
	}
	return d
}

func (b *bench) quiet() {
	b.t.Helper()
	if len(b.sent) > 0 {
		b.t.Fatalf("sent too early: %v", b.sent)
	}
}

func (b *bench) end(d delivery, o Outcome) {
	d.done(o)
	b.drain()
}

func (b *bench) status() Status { return b.accountant.status() }

// A server that has a Start must get a Stop, also if we crash right after: so the Start is on disk before.
func TestNothingIsSentBeforeItIsStored(t *testing.T) {
	b := newBench(t, nil)
	b.slowStore = true
	b.account(aaa.Start, "1")
	b.quiet()
	for _, written := range b.unwritten {
		written()
	}
	b.drain()
	b.end(b.next("Start 1"), Taken)
}

func TestOrderWithinASession(t *testing.T) {
	b := newBench(t, nil)
	b.account(aaa.Start, "1")
	b.account(aaa.Interim, "1")
	b.account(aaa.Start, "2")
	start := b.next("Start 1")
	b.end(b.next("Start 2"), Taken)
	b.quiet()
	b.end(start, Taken)
	interim := b.next("Interim-Update 1")
	b.account(aaa.Interim, "1")
	b.account(aaa.Stop, "1")
	b.quiet()
	b.end(interim, Taken)
	b.end(b.next("Stop 1"), Taken)
	b.quiet()
	want := Counters{Accepted: 5, Taken: 4, Superseded: 1}
	if s := b.status(); s.Counters != want || s.Queued != 0 || s.InFlight != 0 {
		t.Errorf("status %+v", s)
	}
	if len(b.stored) != 0 || len(b.accountant.accounts) != 0 {
		t.Errorf("left over: %d stored, %d accounts", len(b.stored), len(b.accountant.accounts))
	}
}

func TestStopSupersedesWaitingInterims(t *testing.T) {
	b := newBench(t, nil)
	b.account(aaa.Start, "1")
	told := map[string]bool{}
	b.accountant.Account(aaa.Record{Type: aaa.Interim, AcctSessionID: "1"}, func(taken bool) { told["interim"] = taken })
	b.accountant.Account(aaa.Record{Type: aaa.Stop, AcctSessionID: "1"}, func(taken bool) { told["stop"] = taken })
	b.drain()
	b.end(b.next("Start 1"), Taken)
	b.end(b.next("Stop 1"), Taken)
	if taken, ok := told["interim"]; !ok || taken {
		t.Error("the superseded interim's owner was not told so")
	}
	if !told["stop"] {
		t.Error("the stop's owner was not told")
	}
}

func TestOutage(t *testing.T) {
	b := newBench(t, nil)
	for i := range 50 {
		b.account(aaa.Start, fmt.Sprint(i))
	}
	if len(b.sent) != 50 {
		t.Fatalf("%d in delivery", len(b.sent))
	}
	for _, d := range slices.Clone(b.sent) {
		b.end(d, Unanswered)
	}
	b.sent = nil
	if s := b.status(); !s.SinkDown || s.Queued != 50 {
		t.Fatalf("status %+v", s)
	}
	for range 10 { // one at a time, with a pause after each
		b.pass(6 * time.Second)
		if len(b.sent) != 1 {
			t.Fatalf("%d probes", len(b.sent))
		}
		b.end(b.sent[0], Unanswered)
		b.sent = nil
		b.quiet()
	}
	b.pass(6 * time.Second)
	b.end(b.sent[0], Taken)
	if len(b.sent) != 50 {
		t.Fatalf("after the outage %d records flow", len(b.sent)-1)
	}
	for _, d := range b.sent[1:] {
		b.end(d, Taken)
	}
	if s := b.status(); s.Taken != 50 || s.GivenUp != 0 || s.SinkDown || s.Failed != 60 {
		t.Errorf("status %+v", s)
	}
}

func TestOneBadRecordStopsNobodyElse(t *testing.T) {
	b := newBench(t, nil)
	b.account(aaa.Stop, "bad")
	bad := b.next("Stop bad")
	b.pass(time.Second)
	b.account(aaa.Start, "good")
	b.end(b.next("Start good"), Taken)
	b.end(bad, Unanswered)
	if b.status().SinkDown {
		t.Fatal("one record took everything down")
	}
	b.pass(29 * time.Second)
	b.quiet()
	b.pass(2 * time.Second)
	bad = b.next("Stop bad")
	b.pass(time.Second)
	b.account(aaa.Stop, "good")
	b.end(b.next("Stop good"), Taken)
	b.end(bad, Unanswered)
	b.pass(58 * time.Second) // the pause has doubled
	b.quiet()
	b.pass(3 * time.Second)
	b.end(b.next("Stop bad"), Taken)
}

func TestPatienceEndsInTheLog(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Patience = time.Hour })
	b.accountant.Account(aaa.Record{Type: aaa.Stop, AcctSessionID: "1", Username: "alice", Class: [][]byte{{1, 2}},
		Usage: aaa.Usage{InputBytes: 1 << 40, OutputBytes: 77}, Cause: aaa.LostCarrier, SessionTime: time.Minute}, nil)
	b.drain()
	for i := 0; i < 10000 && b.status().GivenUp == 0; i++ {
		if len(b.sent) > 0 {
			d := b.sent[0]
			b.sent = nil
			b.end(d, Unanswered)
		}
		b.pass(time.Second)
	}
	for _, want := range []string{"accounting record given up", "type=Stop", "session=1", "user=alice",
		"input_bytes=1099511627776", "output_bytes=77", "terminate_cause=2", "session_seconds=60"} {
		if !strings.Contains(b.log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if s := b.status(); s.GivenUp != 1 || s.Queued != 0 || len(b.stored) != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestGivingUpAStartLetsTheStopGo(t *testing.T) {
	b := newBench(t, nil)
	b.account(aaa.Start, "1")
	b.account(aaa.Stop, "1")
	b.end(b.next("Start 1"), Impossible)
	b.end(b.next("Stop 1"), Taken)
	if s := b.status(); s.GivenUp != 1 || s.Taken != 1 {
		t.Errorf("status %+v", s)
	}
}

func TestTooManyRecords(t *testing.T) {
	b := newBench(t, func(o *Options) { o.MaxRecords = 2; o.Window = 1 })
	for i := range 3 {
		b.account(aaa.Start, fmt.Sprint(i))
	}
	if s := b.status(); s.GivenUp != 1 || s.InFlight != 1 || s.Queued != 1 {
		t.Errorf("status %+v", s)
	}
	if !strings.Contains(b.log.String(), "too many records wait") {
		t.Error("not in the log")
	}
}

func TestWindow(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Window = 2 })
	for i := range 5 {
		b.account(aaa.Start, fmt.Sprint(i))
	}
	first := b.next("Start 0")
	b.next("Start 1")
	b.quiet()
	b.end(first, Taken)
	b.next("Start 2")
	b.quiet()
}

func TestAccountingOnComesFirstAndOffLast(t *testing.T) {
	b := newBench(t, nil)
	b.account(aaa.AccountingOn, "on")
	b.account(aaa.Start, "1")
	on := b.next("Accounting-On on")
	b.quiet()
	b.end(on, Unanswered)
	b.pass(6 * time.Second)
	b.end(b.next("Accounting-On on"), Taken)
	start := b.next("Start 1")
	b.account(aaa.Stop, "1")
	b.account(aaa.AccountingOff, "off")
	b.quiet()
	b.end(start, Taken)
	stop := b.next("Stop 1")
	b.quiet()
	b.end(stop, Taken)
	b.end(b.next("Accounting-Off off"), Taken)
	if s := b.status(); s.Taken != 4 || s.Queued != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestAccountingOnDoesNotHoldForEver(t *testing.T) {
	b := newBench(t, nil)
	b.account(aaa.AccountingOn, "on")
	b.account(aaa.Start, "1")
	for i := 0; i < 3600 && b.status().GivenUp == 0; i++ {
		if len(b.sent) > 0 {
			d := b.next("Accounting-On on")
			b.end(d, Unanswered)
		}
		b.pass(time.Second)
	}
	b.end(b.next("Start 1"), Taken)
}

// Nor does it while one record before it, which the server will not take, keeps it from being sent at all.
func TestAccountingOnBehindARecordThatNobodyTakes(t *testing.T) {
	b := newBench(t, nil)
	b.account(aaa.Stop, "bad")
	b.account(aaa.Stop, "good")
	bad := b.next("Stop bad")
	b.pass(time.Second)
	b.end(b.next("Stop good"), Taken)
	b.account(aaa.AccountingOn, "on")
	b.account(aaa.Start, "1")
	b.end(bad, Unanswered)
	for range 2 * int(fencePatience/time.Second) {
		for _, d := range b.sent {
			if d.String() == "Start 1" {
				return
			}
			b.end(d, Unanswered)
		}
		b.sent = nil
		b.pass(time.Second)
	}
	t.Errorf("the Start was never sent, status %+v", b.status())
}

// What is not delivered lies in the store from the moment that Account returns, also when nobody runs the
// accountant any more; the next one delivers it, in order and with its age.
func TestRestart(t *testing.T) {
	b := newBench(t, nil)
	b.account(aaa.Start, "1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b.accountant.Run(ctx)
	b.accountant.Account(aaa.Record{Type: aaa.Stop, AcctSessionID: "1", Time: b.clock.Now()}, nil)
	if len(b.stored) != 2 || b.status().GivenUp != 0 || strings.Contains(b.log.String(), "given up") {
		t.Fatalf("%d records stored, %s", len(b.stored), b.log.String())
	}
	b.clock.Advance(time.Minute)
	var kept []Kept
	for _, key := range slices.Sorted(maps.Keys(b.stored)) {
		kept = append(kept, Kept{key, b.stored[key]})
	}
	next := newBench(t, func(o *Options) { o.Clock, o.Kept = b.clock, kept })
	next.stored, next.clock = b.stored, b.clock
	next.drain()
	if age := next.status().OldestAge; age != time.Minute {
		t.Errorf("oldest record is %v old", age)
	}
	next.account(aaa.Start, "2")
	start := next.next("Start 1")
	next.end(next.next("Start 2"), Taken)
	next.quiet()
	next.end(start, Taken)
	next.end(next.next("Stop 1"), Taken)
	if s := next.status(); len(next.stored) != 0 || s.Taken != 3 || s.Queued != 0 {
		t.Errorf("stored %v, status %+v", next.stored, s)
	}
}

func TestShutdownWithoutStoreWritesToTheLog(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Store = nil })
	b.account(aaa.AccountingOn, "on")
	b.account(aaa.Start, "1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b.accountant.Run(ctx)
	if b.status().GivenUp != 2 || strings.Count(b.log.String(), "shutting down") != 2 {
		t.Errorf("given up %d", b.status().GivenUp)
	}
}
