package forwarding

import (
	"fmt"
	"strconv"
	"strings"

	"vbng/forwarding/entry"
	"vbng/forwarding/graph"
)

// tracing is the trace that runs or was taken last.
type tracing struct {
	tracer  *graph.Tracer
	running bool
}

const (
	traceDefault = 10
	traceLimit   = 1000
)

// Trace carries out a request in words and answers with text:
//
//	start [COUNT] [port ID]  follow the next COUNT packets (of a port) through the nodes
//	show                     stop, and print the trace
//	stop                     stop, and forget the trace
func (e *Engine) Trace(request string) string {
	words := strings.Fields(request)
	verb := "show"
	if len(words) > 0 {
		verb, words = words[0], words[1:]
	}
	switch verb {
	case "start":
		return e.startTrace(words)
	case "show":
		e.stopTrace()
		if e.tracing.tracer == nil {
			return "no trace was started"
		}
		return strings.Join(e.tracing.tracer.Lines(), "\n")
	case "stop":
		e.stopTrace()
		e.tracing.tracer = nil
		return "stopped"
	}
	return fmt.Sprintf("trace %q is not understood: start [COUNT] [port ID], show, stop", verb)
}

func (e *Engine) startTrace(words []string) string {
	count, slot := traceDefault, int64(-1)
	if len(words) > 0 && words[0] != "port" {
		n, err := strconv.Atoi(words[0])
		if err != nil || n < 1 || n > traceLimit {
			return fmt.Sprintf("trace count %q is not within 1 and %d", words[0], traceLimit)
		}
		count, words = n, words[1:]
	}
	if len(words) > 0 {
		p := e.tracedPort(words)
		if p == nil {
			return fmt.Sprintf("trace %q: no such port", strings.Join(words, " "))
		}
		slot = int64(p.slot)
	}
	e.stopTrace()
	e.tracing = tracing{tracer: graph.NewTracer(count, slot), running: true}
	e.command(commandTrace, func(c *command) { c.tracer = e.tracing.tracer })
	return fmt.Sprintf("tracing %d packets", count)
}

func (e *Engine) tracedPort(words []string) *portInfo {
	if len(words) != 2 || words[0] != "port" {
		return nil
	}
	id, err := strconv.ParseUint(words[1], 10, 32)
	if err != nil {
		return nil
	}
	return e.directory.ports[entry.PortID(id)]
}

// stopTrace takes the tracer away from the workers, so that it can be read.
func (e *Engine) stopTrace() {
	if e.tracing.running {
		e.command(commandTrace, func(*command) {})
		e.settle()
		e.tracing.running = false
	}
}
