package remote

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"

	"vbng/control/clock"
	"vbng/forwarding/entry"
	"vbng/forwarding/punt"
)

// ClientConfig says what a client needs.
type ClientConfig struct {
	// Path is the forwarder's socket.
	Path string
	// Start starts a forwarder; it is called when nothing accepts on the socket. nil: one is waited for.
	Start func() error
	// Receivers get the punts of their classes, all on one goroutine.
	Receivers map[entry.Class]entry.Receiver
	// Events gets what the forwarder tells, on several goroutines; it must not block.
	Events func(entry.Event)
	Log    *slog.Logger
	Clock  clock.Clock

	dial func() (*net.UnixConn, error) // nil: Path
}

// Client is control's end of the border. It implements entry.Programmer and entry.Counters, over any number
// of forwarders, one after the other.
type Client struct {
	config   ClientConfig
	queue    *queue
	counters *counters
	mirror   *mirror // of the goroutine that runs Run
	missing  missing // of the goroutine that programs: Run's while it replays, then the writer's

	synced     atomic.Bool
	status     atomic.Pointer[Status]
	generation uint64 // of the goroutine that runs Run

	injectMu   sync.Mutex
	inject     []*punt.Ring // by worker; empty without forwarder
	injectLost atomic.Uint64
	puntLost   atomic.Uint64 // nobody registered for the class
}

// Status describes the forwarder of the moment, for show commands.
type Status struct {
	Attached   bool
	Programmed bool // completely
	Foreign    int  // entry format of a forwarder that cannot be programmed for speaking another one; 0: none
	PID        int
	Workers    int
	Generation uint64
	WordNames  []string
}

// NewClient returns a client that does nothing until Run.
func NewClient(config ClientConfig) *Client {
	if config.Clock == nil {
		config.Clock = clock.Real{}
	}
	if config.Events == nil {
		config.Events = func(entry.Event) {}
	}
	c := &Client{config: config, queue: newQueue(), counters: newCounters(), mirror: newMirror(), missing: missing{}}
	c.status.Store(&Status{})
	return c
}

// Apply implements entry.Programmer.
func (c *Client) Apply(b *entry.Batch, done func(entry.Result)) {
	if done == nil {
		done = func(entry.Result) {}
	}
	r := &request{kind: kindBatches, batch: b, encoded: entry.AppendBatch(nil, b), done: done}
	if len(r.encoded) > maxBatchBytes {
		r.refusal = &entry.Refused{Reason: fmt.Sprintf("batch of %d bytes, at most %d", len(r.encoded), maxBatchBytes)}
		r.encoded = nil
	} else {
		c.counters.freeze(b)
	}
	if !c.queue.put(r) {
		go done(entry.Result{Err: ErrStopped}) // not on the caller's goroutine, which may hold a lock
	}
}

// Synced tells that everything control restored at its start has been applied: what an earlier control left
// in the forwarder beyond that is swept. It is called once.
func (c *Client) Synced() {
	if !c.synced.Swap(true) {
		c.queue.put(&request{kind: kindEnd})
	}
}

// Trace asks the forwarder for a packet trace and returns its text.
func (c *Client) Trace(ctx context.Context, text string) (string, error) {
	type result struct {
		text string
		err  error
	}
	answer := make(chan result, 1)
	r := &request{kind: kindTrace, encoded: []byte(text), text: func(s string, err error) { answer <- result{s, err} }}
	if !c.queue.put(r) {
		return "", ErrStopped
	}
	select {
	case a := <-answer:
		return a.text, a.err
	case <-ctx.Done():
		return "", fmt.Errorf("wait for packet trace: %w", ctx.Err())
	}
}

// SessionCounters implements entry.Counters.
func (c *Client) SessionCounters(id entry.SessionID) (entry.SessionCounters, bool) {
	return c.counters.session(id)
}

// PortCounters implements entry.Counters.
func (c *Client) PortCounters(id entry.PortID) (entry.PortCounters, bool) { return c.counters.port(id) }

// Base returns what earlier forwarders counted for a session. It changes when a forwarder is lost, before
// ForwarderState tells that the next one is up.
func (c *Client) Base(id entry.SessionID) entry.SessionCounters { return c.counters.base(id) }

// SetBase gives back, after a restart of control, what Base returned before it.
func (c *Client) SetBase(id entry.SessionID, base entry.SessionCounters) {
	c.counters.setBase(id, base)
}

// Word is a named counter of the forwarder, over all its workers.
type Word struct {
	Name  string
	Value uint64
}

// Words returns the forwarder's counter words: nodes, drops and what else its engine counts. They begin
// anew with each forwarder.
func (c *Client) Words() []Word {
	names := c.status.Load().WordNames
	words := make([]Word, len(names))
	for i, name := range names {
		words[i] = Word{name, c.counters.word(i)}
	}
	return words
}

// Status returns what is known of the forwarder.
func (c *Client) Status() Status { return *c.status.Load() }

// Pending returns how many batches and requests are not answered.
func (c *Client) Pending() int { return c.queue.length() }

// Lost returns how many frames control lost: injected ones for which there was no room or no forwarder,
// and punts of a class that nobody receives.
func (c *Client) Lost() (injected, punted uint64) { return c.injectLost.Load(), c.puntLost.Load() }
