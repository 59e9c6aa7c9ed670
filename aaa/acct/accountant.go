package acct

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"vbng/aaa"
	"vbng/control/clock"
	"vbng/control/loop"
)

// Outcome is how a delivery ended.
type Outcome uint8

// The outcomes.
const (
	Taken      Outcome = 1 + iota // a server has the record
	Unanswered                    // nobody answered: try again later
	Impossible                    // the record cannot be expressed: trying again is no use
)

// Sink delivers a record, with retransmissions and failover, and calls done exactly once on any
// goroutine.
type Sink interface {
	Deliver(record aaa.Record, done func(Outcome))
}

// Store keeps undelivered records across a restart. Its methods may be called from any goroutine and must
// not wait for a disk. Keys are unique and grow in order of arrival. Put calls written, in the order of the Puts,
// when the record is safe, or cannot be made so now.
type Store interface {
	Put(key uint64, record aaa.Record, written func())
	Delete(key uint64)
}

// Forgetful is the Store that keeps nothing.
type Forgetful struct{}

// Put implements Store.
func (Forgetful) Put(_ uint64, _ aaa.Record, written func()) { written() }

// Delete implements Store.
func (Forgetful) Delete(uint64) {}

// Kept is a record that an earlier accountant had accepted and no server taken.
type Kept struct {
	Key    uint64
	Record aaa.Record
}

// Options is what the accountant stands on. Zero fields get the real thing.
type Options struct {
	Clock      clock.Clock
	Log        *slog.Logger
	Store      Store         // nil: records end with the process, the undelivered ones in its log
	Kept       []Kept        // what Store holds, in order of keys
	Window     int           // records of a group in delivery at a time
	MaxRecords int           // records kept; what comes beyond is given up
	Patience   time.Duration // how long a record is kept
}

// The accountant's pace.
const (
	defaultWindow     = 512
	defaultMaxRecords = 262144
	defaultPatience   = 24 * time.Hour
	probePause        = 5 * time.Second  // between deliveries while the sink is down
	firstPause        = 30 * time.Second // before a record that failed by itself is tried again
	longestPause      = 10 * time.Minute
	fencePatience     = 10 * time.Minute // what an Accounting-On or -Off may hold up others
)

// Counters of the accountant. Every record accepted ends in Taken, Superseded or GivenUp.
type Counters struct {
	Accepted   uint64
	Taken      uint64
	Failed     uint64 // rounds without an answer
	Superseded uint64 // interims that a newer record made void before they were sent
	GivenUp    uint64 // written to the log in place of a server
}

// Status is the state of the accountant.
type Status struct {
	Counters
	Queued    int           // records that wait
	InFlight  int           // records in delivery
	SinkDown  bool          // deliveries of some group fail
	OldestAge time.Duration // of the oldest record not yet taken, since its event
}

// Accountant takes records from any goroutine.
type Accountant struct {
	options Options
	sink    Sink
	loop    *loop.Loop[message]

	accounts map[string]*account
	lanes    map[string]*lane
	order    []*lane // of lanes, as they came up
	kept     int     // records in all accounts
	lastKey  atomic.Uint64
	fence    *item   // an Accounting-On or -Off that is not taken yet
	held     []*item // what came after it

	counters Counters
}

// lane is the way to the servers of one group: what fails there must not hold up the others.
type lane struct {
	group     string
	ready     []*account // accounts whose next record may be sent
	inFlight  int
	down      bool
	lastTaken time.Time
	resting   bool // down, and the pause after the last failure is not over
}

// message is what the loop's inbox holds.
type message interface{}

type (
	submitted struct{ item *item }
	delivered struct {
		item    *item
		outcome Outcome
	}
	rested  struct{ account *account } // the pause of a single account is over
	probe   struct{ lane *lane }       // the pause of the lane is over
	overdue struct{ fence *item }      // it has held up others for long enough
	inspect struct{ read func() }
)

// New returns an accountant that delivers to sink.
func New(sink Sink, options Options) *Accountant {
	options = options.withDefaults()
	a := &Accountant{
		options:  options,
		sink:     sink,
		loop:     loop.New[message](options.Clock, 0),
		accounts: map[string]*account{},
		lanes:    map[string]*lane{},
	}
	for _, k := range options.Kept {
		a.lastKey.Store(max(a.lastKey.Load(), k.Key))
		a.loop.Post(submitted{&item{record: k.Record, key: k.Key, accepted: a.loop.Now()}})
	}
	return a
}

// Account accepts a record. done, if not nil, is called once on the accountant's goroutine: true
// when a server has the record, false when it was superseded or given up. When Account returns, the record
// is in the Store: what the caller removes from the same store afterwards cannot be gone without it. A server
// hears of it only when it is safe there, with all that the caller has stored before: else a crash could leave
// the server with a session that nobody will ever stop.
func (a *Accountant) Account(record aaa.Record, done func(taken bool)) {
	i := &item{record: record, done: done, key: a.lastKey.Add(1), accepted: a.loop.Now()}
	a.options.Store.Put(i.key, record, func() { a.loop.Post(submitted{i}) })
}

// Status asks for the accountant's state.
func (a *Accountant) Status(ctx context.Context) (Status, error) {
	answer := make(chan Status, 1)
	a.loop.Post(inspect{func() { answer <- a.status() }})
	select {
	case s := <-answer:
		return s, nil
	case <-ctx.Done():
		return Status{}, ctx.Err()
	}
}

// Run works until ctx ends. Records that are then left stay in the Store, or are written to the log when
// there is none.
func (a *Accountant) Run(ctx context.Context) error {
	a.loop.Run(ctx, a.handle)
	if _, none := a.options.Store.(Forgetful); none {
		a.abandon()
	} else if a.kept > 0 {
		a.options.Log.Info("accounting records are kept for the next start", "records", a.kept)
	}
	return nil
}

func (a *Accountant) handle(m message) {
	switch m := m.(type) {
	case submitted:
		a.accept(m.item)
	case delivered:
		a.conclude(m.item, m.outcome)
	case rested:
		m.account.resting = false
		a.enqueue(m.account)
	case probe:
		m.lane.resting = false
	case overdue:
		a.liftFence(m.fence)
	case inspect:
		m.read()
	}
	a.dispatch()
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Store == nil {
		o.Store = Forgetful{}
	}
	if o.Window == 0 {
		o.Window = defaultWindow
	}
	if o.MaxRecords == 0 {
		o.MaxRecords = defaultMaxRecords
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	return o
}
