package forwarding

import (
	"sync/atomic"

	"vbng/forwarding/graph"
	"vbng/forwarding/table"
)

// command is a change of what a worker owns. The worker carries it out between two rounds, so its packets
// see all of it or nothing.
type command struct {
	what    commandKind
	slot    uint32
	session table.Session
	ports   []*graph.Port // by slot
	tracer  *graph.Tracer
}

type commandKind uint8

const (
	commandSession  commandKind = 1 + iota // reconfigure
	commandEcho                            // echo parameters of a session
	commandEchoStop                        // forget the echo of a session
	commandPorts                           // the ports that are open
	commandTrace                           // start or (nil) stop tracing
)

const mailboxDepth = 256 // a power of two

// mailbox carries commands from the engine's writer to one worker.
type mailbox struct {
	commands [mailboxDepth]command
	head     atomic.Uint64 // carried out
	tail     atomic.Uint64 // put
}

// next returns the place for a command, nil while the mailbox is full.
func (m *mailbox) next() *command {
	tail := m.tail.Load()
	if tail-m.head.Load() == mailboxDepth {
		return nil
	}
	c := &m.commands[tail&(mailboxDepth-1)]
	*c = command{}
	return c
}

func (m *mailbox) put() { m.tail.Add(1) }

func (m *mailbox) empty() bool { return m.head.Load() == m.tail.Load() }

// drain carries the waiting commands out, on the worker's side.
func (m *mailbox) drain(carryOut func(*command)) {
	for head := m.head.Load(); head != m.tail.Load(); {
		carryOut(&m.commands[head&(mailboxDepth-1)])
		head++
		m.head.Store(head)
	}
}
