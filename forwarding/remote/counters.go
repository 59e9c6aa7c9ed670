package remote

import (
	"sync"

	"vbng/forwarding/counter"
	"vbng/forwarding/entry"
)

// counters adds what dead forwarders counted (base) to what the present one counts. A session's slot is
// known from the answer to its put until the answer to its delete; meanwhile, from the moment the delete
// is asked for, its value stands still, since its slot may already be another's.
type counters struct {
	mu       sync.RWMutex
	view     *counter.Counters
	memory   *sharedMemory // of view
	instance uint64        // of the forwarder that view belongs to
	sessions map[entry.SessionID]*sessionCount
	ports    map[entry.PortID]*portCount
}

type sessionCount struct {
	base   entry.SessionCounters
	slot   uint32
	placed bool // slot is known
	seen   bool // was placed once: the value means something
	frozen bool
	held   entry.SessionCounters // while frozen: the value
}

type portCount struct {
	base   entry.PortCounters
	slot   uint32
	placed bool
}

func newCounters() *counters {
	return &counters{sessions: map[entry.SessionID]*sessionCount{}, ports: map[entry.PortID]*portCount{}}
}

// switchTo turns to the counters of the forwarder attached now. Unless it is the one from before, what
// that one counted goes into base.
func (c *counters) switchTo(view *counter.Counters, memory *sharedMemory, instance uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memory != nil && instance != c.instance {
		c.fold()
	}
	if c.memory != nil {
		c.memory.close()
	}
	c.view, c.memory, c.instance = view, memory, instance
}

func (c *counters) fold() {
	for _, s := range c.sessions {
		s.base, s.placed = c.value(s), false
	}
	for _, p := range c.ports {
		p.base, p.placed = c.portValue(p), false
	}
}

func (c *counters) value(s *sessionCount) entry.SessionCounters {
	switch {
	case s.frozen:
		return s.held
	case s.placed:
		return s.base.Add(c.view.Session(s.slot))
	}
	return s.base
}

func (c *counters) portValue(p *portCount) entry.PortCounters {
	if p.placed {
		return p.base.Add(c.view.Port(p.slot))
	}
	return p.base
}

func (c *counters) session(id entry.SessionID) (entry.SessionCounters, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s := c.sessions[id]
	if s == nil || !s.seen {
		return entry.SessionCounters{}, false
	}
	return c.value(s), true
}

func (c *counters) port(id entry.PortID) (entry.PortCounters, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	p := c.ports[id]
	if p == nil {
		return entry.PortCounters{}, false
	}
	return c.portValue(p), true
}

func (c *counters) base(id entry.SessionID) entry.SessionCounters {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if s := c.sessions[id]; s != nil {
		return s.base
	}
	return entry.SessionCounters{}
}

func (c *counters) setBase(id entry.SessionID, base entry.SessionCounters) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.record(id).base = base
}

func (c *counters) record(id entry.SessionID) *sessionCount {
	s := c.sessions[id]
	if s == nil {
		s = &sessionCount{}
		c.sessions[id] = s
	}
	return s
}

// freeze is called before a batch that deletes sessions may reach the forwarder; thaw when it was
// refused.
func (c *counters) freeze(b *entry.Batch) {
	c.forDeleted(b, func(s *sessionCount) {
		if !s.frozen {
			s.held, s.frozen = c.value(s), true
		}
	})
}

func (c *counters) thaw(b *entry.Batch) {
	c.forDeleted(b, func(s *sessionCount) { s.frozen = false })
}

func (c *counters) forDeleted(b *entry.Batch, do func(*sessionCount)) {
	for _, op := range b.Ops {
		deleted, ok := op.Entry.(entry.Session)
		if !ok || op.Verb != entry.Delete {
			continue
		}
		c.mu.Lock()
		if s := c.sessions[deleted.ID]; s != nil {
			do(s)
		}
		c.mu.Unlock()
	}
}

// place notes where counters lie, from the answer to a replayed batch.
func (c *counters) place(a *Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, slot := range a.Sessions {
		c.record(slot.Session).place(slot.Slot)
	}
	for _, slot := range a.Ports {
		c.portRecord(slot.Port).place(slot.Slot)
	}
}

func (s *sessionCount) place(slot uint32) { s.slot, s.placed, s.seen = slot, true, true }

func (p *portCount) place(slot uint32) { p.slot, p.placed = slot, true }

func (c *counters) portRecord(id entry.PortID) *portCount {
	p := c.ports[id]
	if p == nil {
		p = &portCount{}
		c.ports[id] = p
	}
	return p
}

// accept follows an accepted batch op by op: it forgets what was deleted, notes where the rest lies, and
// returns the final values.
func (c *counters) accept(b *entry.Batch, a *Answer) (totals []entry.Final) {
	last := make(map[entry.SessionID]entry.SessionCounters, len(a.Finals))
	for _, f := range a.Finals {
		last[f.Session] = f.Counters
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range b.Ops {
		switch e := op.Entry.(type) {
		case entry.Session:
			s := c.record(e.ID)
			if op.Verb == entry.Delete {
				totals = append(totals, entry.Final{Session: e.ID, Counters: s.final(last[e.ID])})
				delete(c.sessions, e.ID)
			}
		case entry.Port:
			c.portRecord(e.ID)
			if op.Verb == entry.Delete {
				delete(c.ports, e.ID)
			}
		}
	}
	for _, slot := range a.Sessions {
		if s := c.sessions[slot.Session]; s != nil {
			s.place(slot.Slot)
		}
	}
	for _, slot := range a.Ports {
		if p := c.ports[slot.Port]; p != nil {
			p.place(slot.Slot)
		}
	}
	return totals
}

// final never is below what was read last: a forwarder that had deleted the session, but died before it
// could say so, took the rest with it.
func (s *sessionCount) final(last entry.SessionCounters) entry.SessionCounters {
	total := s.base.Add(last)
	if !s.frozen {
		return total
	}
	return entry.SessionCounters{
		InputPackets:  max(total.InputPackets, s.held.InputPackets),
		InputBytes:    max(total.InputBytes, s.held.InputBytes),
		OutputPackets: max(total.OutputPackets, s.held.OutputPackets),
		OutputBytes:   max(total.OutputBytes, s.held.OutputBytes),
	}
}

// word returns a counter word, 0 without forwarder.
func (c *counters) word(i int) uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.view == nil || i >= c.view.Layout().Words {
		return 0
	}
	return c.view.Word(i)
}

func (c *counters) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memory != nil {
		c.fold()
		c.memory.close()
		c.view, c.memory = nil, nil
	}
}
