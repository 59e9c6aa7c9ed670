package forwarding

import (
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"vbng/forwarding/counter"
	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/remote"
	"vbng/forwarding/table"
)

// Engine is workers with what they look up in. Its methods belong to one goroutine, the writer.
type Engine struct {
	config    Config
	tables    *table.Tables
	arena     *packet.Arena
	counters  *counter.Counters
	directory *directory
	workers   []*worker
	running   bool
	done      sync.WaitGroup

	op    entry.Any
	steps []step
	// What this batch has taken from the workers' sight and must be kept until they have left it.
	unlinked bool
	leaving  []leaver
	closing  []*portInfo
	freeing  []interface{ Free() }
	// local6 holds the IPv6 addresses that are published, by interface slot: they are part of its record.
	local6  map[uint32][]table.Address6
	tracing tracing
}

// leaver is a session that was deleted.
type leaver struct {
	id   entry.SessionID
	slot uint32
}

var _ remote.Engine = (*Engine)(nil)

// New makes an engine that does not run yet. It can be programmed at once.
func New(c Config) (*Engine, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("make engine: %w", err)
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Nanos == nil {
		c.Nanos = monotonic()
	}
	if c.UnixNanos == nil {
		c.UnixNanos = func() int64 { return time.Now().UnixNano() }
	}
	e := &Engine{config: c, local6: map[uint32][]table.Address6{}}
	if err := e.reserve(); err != nil {
		return nil, fmt.Errorf("make engine: %w", err)
	}
	return e, nil
}

// reserve takes all memory that the engine will use.
func (e *Engine) reserve() error {
	c, l := &e.config, e.config.Limits
	layout, err := Layout(l, c.Workers)
	if err != nil {
		return err
	}
	if e.counters, err = counter.Map(c.CounterMemory, layout); err != nil {
		return err
	}
	limits := table.Limits{Sessions: l.Sessions, Routes: l.Routes, Routes6: l.Routes6, Neighbors: l.Neighbors, Interfaces: l.Interfaces,
		VRFs: l.VRFs, Groups: l.Groups}
	if e.tables, err = table.New(limits, c.Seed, e.grace); err != nil {
		return err
	}
	if e.directory, err = newDirectory(l, c.Seed); err != nil {
		return err
	}
	buffers := c.Workers * l.Buffers
	memory, err := packet.NewSlab[byte](buffers * packet.Stride)
	if err != nil {
		return err
	}
	arena := packet.NewArena(memory, buffers)
	e.arena = arena
	for i := range c.Workers {
		w, err := newWorker(i, c, e.tables, arena)
		if err != nil {
			return err
		}
		w.Count = e.counters.Worker(i)
		w.NowNanos = c.Nanos()
		w.setPorts(nil)
		e.workers = append(e.workers, w)
	}
	return nil
}

// Start lets the workers run.
func (e *Engine) Start() {
	if e.running {
		return
	}
	e.running = true
	for i, w := range e.workers {
		w.stopping.Store(false)
		cpu := -1
		if len(e.config.CPUs) > 0 {
			cpu = e.config.CPUs[i]
		}
		e.done.Go(func() { w.run(cpu, e.config.Spin) })
	}
}

// Stop ends the workers; Start lets them run again.
func (e *Engine) Stop() {
	for _, w := range e.workers {
		w.stopping.Store(true)
		w.wake()
	}
	e.done.Wait()
	e.running = false
	for _, w := range e.workers {
		w.mailbox.drain(w.carryOut)
		w.housekeep()
	}
}

// Arena returns the memory of all packet buffers, which some drivers share with the kernel.
func (e *Engine) Arena() *packet.Arena { return e.arena }

// Close stops the workers and closes the ports. The engine cannot be used afterwards.
func (e *Engine) Close() {
	e.Stop()
	for _, p := range e.directory.ports {
		if p.opened != nil {
			e.close(p.entry.ID, p.opened)
			p.opened = nil
		}
	}
	for _, w := range e.workers {
		_ = unix.Close(w.bell)
	}
}

// Apply validates an encoded batch whole and carries it out.
func (e *Engine) Apply(encoded []byte) (a remote.Answer) {
	if a.Refused = e.plan(encoded); a.Refused != nil {
		return a
	}
	e.publish(encoded, &a)
	e.settleBatch(&a)
	clear(e.steps) // they hold pointers
	e.steps = e.steps[:0]
	return a
}

// settleBatch waits until workers have left what was deleted, and frees it.
func (e *Engine) settleBatch(a *remote.Answer) {
	if !e.unlinked {
		return
	}
	e.settle()
	for _, l := range e.leaving {
		a.Finals = append(a.Finals, entry.Final{Session: l.id, Counters: e.counters.Session(l.slot)})
		e.counters.ClearSession(l.slot)
		e.tables.Sessions[l.slot] = table.Session{}
	}
	for _, p := range e.closing {
		if p.opened != nil {
			e.close(p.entry.ID, p.opened)
		}
		e.counters.ClearPort(p.slot)
	}
	for _, f := range e.freeing {
		f.Free()
	}
	clear(e.closing)
	clear(e.freeing)
	e.leaving, e.closing, e.freeing, e.unlinked = e.leaving[:0], e.closing[:0], e.freeing[:0], false
	e.tables.Reclaim()
	e.directory.reclaim()
}

// command sends a command to every worker, or carries it out itself while they do not run.
func (e *Engine) command(what commandKind, fill func(*command)) {
	for _, w := range e.workers {
		c := w.mailbox.next()
		for c == nil {
			e.wait(w)
			c = w.mailbox.next()
		}
		c.what = what
		fill(c)
		w.mailbox.put()
		if !e.running {
			w.mailbox.drain(w.carryOut)
		} else {
			w.wake()
		}
	}
}

// settled reports whether all commands were carried out.
func (e *Engine) settled() bool {
	for _, w := range e.workers {
		if !w.mailbox.empty() {
			return false
		}
	}
	return true
}

// settle waits until all commands were carried out and every worker has passed a round since.
func (e *Engine) settle() {
	if !e.running {
		return
	}
	for _, w := range e.workers {
		for !w.mailbox.empty() {
			e.wait(w)
		}
	}
	e.grace()
}

// grace waits until every worker has passed a round, or sleeps: then nobody looks at what was unlinked
// before.
func (e *Engine) grace() {
	if !e.running {
		return
	}
	for _, w := range e.workers {
		for round := w.rounds.Load(); !w.asleep.Load() && w.rounds.Load() == round; {
			e.wait(w)
		}
	}
}

// graceWait is short against a batch and long against a round. It is slept in the kernel: the runtime rounds a
// sleep up to a millisecond when nothing else goes on, and every session's end would take that long.
const graceWait = 20 * time.Microsecond

func (e *Engine) wait(w *worker) {
	w.wake()
	runtime.Gosched()
	if !w.asleep.Load() {
		pause := unix.NsecToTimespec(graceWait.Nanoseconds())
		_ = unix.Nanosleep(&pause, nil) // EINTR is an early end
	}
}

// WordNames names the words of the counters.
func (e *Engine) WordNames() []string { return e.workers[0].WordNames() }

// Counters returns the engine's own view of its counters.
func (e *Engine) Counters() *counter.Counters { return e.counters }

// PortChanged takes over the state of a port's device: address and MTU may come from it.
func (e *Engine) PortChanged(state entry.PortState) {
	p := e.directory.ports[state.Port]
	if p == nil || p.state == state {
		return
	}
	p.state = state
	e.publishPorts()
	e.refreshInterfaces(state.Port)
}
