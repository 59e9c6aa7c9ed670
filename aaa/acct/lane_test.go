package acct

import (
	"testing"
	"time"

	"vbng/aaa"
)

func (b *bench) accountIn(group string, kind aaa.RecordType, session string) {
	b.accountant.Account(aaa.Record{Type: kind, AcctSessionID: session, Group: group, Time: b.clock.Now()}, nil)
	b.drain()
}

// The servers of one group are silent: the records of the others do not wait for them.
func TestGroupsDoNotWaitForOneAnother(t *testing.T) {
	b := newBench(t, func(o *Options) { o.Window = 2 })
	for _, id := range []string{"a1", "a2", "a3"} {
		b.accountIn("a", aaa.Start, id)
	}
	b.accountIn("b", aaa.Start, "b1") // the window of a is full
	first, second := b.next("Start a1"), b.next("Start a2")
	b.end(b.next("Start b1"), Taken)
	b.end(first, Unanswered)
	b.end(second, Unanswered)
	b.quiet() // a is down, and rests
	if s := b.status(); !s.SinkDown || s.Queued != 3 || s.InFlight != 0 {
		t.Errorf("%+v", s)
	}
	b.accountIn("b", aaa.Stop, "b1")
	b.end(b.next("Stop b1"), Taken)
	b.pass(5 * time.Second)
	probe := b.next("Start a3")
	b.quiet() // one at a time
	b.end(probe, Taken)
	b.end(b.next("Start a1"), Taken)
	b.end(b.next("Start a2"), Taken)
	if s := b.status(); s.SinkDown || s.Taken != 5 {
		t.Errorf("%+v", s)
	}
}

// A session's records stay in order although a later one names another group.
func TestOneSessionOneLane(t *testing.T) {
	b := newBench(t, nil)
	b.accountIn("a", aaa.Start, "1")
	b.accountIn("b", aaa.Stop, "1")
	start := b.next("Start 1")
	b.quiet()
	b.end(start, Taken)
	b.end(b.next("Stop 1"), Taken)
}

// An Accounting-On of a group whose servers are silent comes before the records of all, for they may be the
// servers of others too.
func TestAccountingOnOfGroups(t *testing.T) {
	b := newBench(t, nil)
	b.accountIn("", aaa.AccountingOn, "nas")
	b.accountIn("a", aaa.AccountingOn, "nas-a")
	b.accountIn("b", aaa.Start, "1")
	b.end(b.next("Accounting-On nas"), Taken)
	on := b.next("Accounting-On nas-a")
	b.quiet()
	b.end(on, Taken)
	b.next("Start 1")
}

// The patience with a record of an earlier process begins anew: what the wall clock says of its age may be wrong.
func TestPatienceDoesNotHeedTheWallClock(t *testing.T) {
	b := newBench(t, func(o *Options) {
		// A record of before the machine's clock was set: fifty years old by the wall clock.
		o.Kept = []Kept{{Key: 1, Record: aaa.Record{Type: aaa.Stop, AcctSessionID: "old", Time: time.Unix(0, 0)}}}
	})
	b.drain()
	b.end(b.next("Stop old"), Unanswered)
	if s := b.status(); s.GivenUp != 0 {
		t.Fatalf("%+v", s)
	}
	b.pass(5 * time.Second)
	b.end(b.next("Stop old"), Taken)
}
