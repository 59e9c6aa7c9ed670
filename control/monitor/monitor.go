package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"vbng/control/clock"
	"vbng/control/oper"
	"vbng/forwarding/entry"
)

const (
	maxRunning = 8
	// queueLimit bounds the copies that wait for the operator's terminal or the disk: 2 MB at most.
	queueLimit = 1024
)

// Places knows what interfaces' names mean. It is safe for concurrent use.
type Places interface {
	// CapturePoint returns the port that has the name, or the tagged interface; the other one is 0.
	CapturePoint(name string) (entry.PortID, entry.InterfaceID, error)
	// InterfaceNames lists what can be asked for.
	InterfaceNames() []string
	// Port names a port.
	Port(id entry.PortID) (name string, mac entry.MAC, up bool, ok bool)
}

// Subscribers knows sessions.
type Subscribers interface {
	// Selectors are the arguments by which one session is named.
	Selectors() []oper.Arg
	// SelectOne returns the one session that the call's arguments name, and its name for people. ended is called once,
	// and must not block, when the session is over; stop ends the waiting for that.
	SelectOne(ctx context.Context, call oper.Call, ended func(cause string)) (id entry.SessionID, name string, stop func(), err error)
}

// Options is what a Monitor works with.
type Options struct {
	Programmer  entry.Programmer
	Places      Places
	Subscribers Subscribers
	Folder      string // for files; made when needed
	Clock       clock.Clock
	Log         *slog.Logger // nil: slog.Default
	// FirstID is where the forwarder's numbers of captures begin. It should differ from one start of control to the next:
	// a forwarder takes a capture that is equal to one it has for the same.
	FirstID uint32
}

// Monitor owns the captures. It is the entry.Receiver of entry.ClassCapture.
type Monitor struct {
	options Options

	mu      sync.Mutex
	running map[entry.CaptureID]*capture
	next    uint32
}

// New returns a Monitor without captures.
func New(o Options) *Monitor {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Monitor{options: o, running: map[entry.CaptureID]*capture{}}
}

// capture is one that runs.
type capture struct {
	number int // for people: the lowest that is free
	entry  entry.Capture
	what   string
	file   string // empty: lines
	began  time.Time
	queue  chan entry.Punt
	over   chan string // why it ends by itself

	packets, bytes atomic.Uint64
	overflow       atomic.Uint64 // copies that the queue had no room for
	lost           atomic.Uint64 // copies that did not come up
	lastLost       uint32        // the forwarder's count
	restarts       atomic.Uint32 // of the forwarder
}

// begin starts a capture of what the entry says.
func (m *Monitor) begin(e entry.Capture, what, file string) (*capture, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.running) == maxRunning {
		return nil, fmt.Errorf("%d captures run already, see \"show captures\"", maxRunning)
	}
	for m.next++; m.next+m.options.FirstID == 0; m.next++ { // 0 is no number
	}
	e.ID = entry.CaptureID(m.next + m.options.FirstID)
	c := &capture{
		number: m.freeNumber(), entry: e, what: what, file: file, began: m.options.Clock.Now(),
		queue: make(chan entry.Punt, queueLimit), over: make(chan string, 1),
	}
	m.running[e.ID] = c
	var b entry.Batch
	b.Put(e)
	m.options.Programmer.Apply(&b, func(r entry.Result) {
		if r.Err != nil {
			c.end(fmt.Sprintf("the forwarder refused it: %v", r.Err))
		}
	})
	m.options.Log.Info("capture begins", "capture", c.number, "of", what, "file", file)
	return c, nil
}

func (m *Monitor) freeNumber() int {
	taken := map[int]bool{}
	for _, c := range m.running {
		taken[c.number] = true
	}
	n := 1
	for taken[n] {
		n++
	}
	return n
}

// end says why a capture is over; the first word counts.
func (c *capture) end(why string) {
	select {
	case c.over <- why:
	default:
	}
}

// finish takes a capture away, also from the forwarder.
func (m *Monitor) finish(c *capture) {
	m.mu.Lock()
	delete(m.running, c.entry.ID)
	m.mu.Unlock()
	var b entry.Batch
	b.Delete(entry.Capture{ID: c.entry.ID})
	m.options.Programmer.Apply(&b, func(r entry.Result) {
		var refused *entry.Refused
		if errors.As(r.Err, &refused) { // as it is when the put was refused
			m.options.Log.Debug("capture was not there", "capture", c.number, "error", r.Err)
		}
	})
	m.options.Log.Info("capture ended", "capture", c.number, "of", c.what, "packets", c.packets.Load(), "lost", c.missing())
}

// missing is how many copies did not reach the operator.
func (c *capture) missing() uint64 { return c.lost.Load() + c.overflow.Load() }

// Punt implements entry.Receiver.
func (m *Monitor) Punt(p entry.Punt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.running[p.Capture]
	if c == nil {
		return // it is just over
	}
	if p.Lost < c.lastLost { // another forwarder counts anew
		c.lastLost = 0
	}
	c.lost.Add(uint64(p.Lost - c.lastLost))
	c.lastLost = p.Lost
	p.Data = bytes.Clone(p.Data)
	select {
	case c.queue <- p:
	default:
		c.overflow.Add(1)
	}
}

// Event takes the forwarder's news.
func (m *Monitor) Event(e entry.ForwarderState) {
	if !e.Up {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.running {
		c.restarts.Add(1)
	}
}
