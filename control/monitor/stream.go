package monitor

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// lingering is how long what a session said last may be under way, after it is over: it comes by another road.
const lingering = 300 * time.Millisecond

// sink takes the packets of one capture.
type sink interface {
	// take reports whether there may be more, and why not.
	take(p *entry.Punt) (more bool, err error)
	// close returns what there is to say at the end, empty: nothing.
	close() (string, error)
}

// stream returns the body of a command.
func (m *Monitor) stream(command *oper.Command, at func(context.Context, oper.Call, func(string)) (aim, error)) func(context.Context, oper.Call, func(any) bool) error {
	return func(ctx context.Context, call oper.Call, emit func(any) bool) error {
		ended := make(chan string, 1)
		a, err := at(ctx, call, func(cause string) { ended <- "the session ended, " + cause })
		if err != nil {
			return err
		}
		defer a.stop()
		bound := command.End(call)
		a.entry.Packets, a.entry.SnapBytes = uint32(bound.Pieces), snap(call)
		name := fileName(call.Args[fileArg])
		var to *file
		if name != "" { // before the capture begins: it may be refused
			if to, err = m.folder().create(name, bound.Pieces); err != nil {
				return err
			}
		}
		c, err := m.begin(a.entry, a.what, name)
		if err != nil {
			to.abandon()
			return err
		}
		defer m.finish(c)
		if to != nil {
			to.capture = c
			return m.follow(ctx, c, to, ended)
		}
		return m.follow(ctx, c, &lines{monitor: m, capture: c, emit: emit}, ended)
	}
}

func snap(call oper.Call) uint16 {
	if n, err := strconv.Atoi(call.Args[snapArg]); err == nil {
		return uint16(n)
	}
	if call.Has(fileArg) {
		return maxSnap
	}
	return lineSnap
}

// follow hands packets on until the capture is over.
func (m *Monitor) follow(ctx context.Context, c *capture, to sink, ended <-chan string) error {
	why := ""
	late := make(chan struct{}, 1)
	for {
		select {
		case p := <-c.queue:
			c.packets.Add(1)
			if more, err := to.take(&p); err != nil || !more {
				return m.conclude(c, to, why, err)
			}
		case why = <-ended:
			m.options.Clock.AfterFunc(lingering, func() { late <- struct{}{} })
		case <-late:
			return m.conclude(c, to, why, nil)
		case why = <-c.over:
			return m.conclude(c, to, why, nil)
		case <-ctx.Done():
			return m.conclude(c, to, why, nil)
		}
	}
}

// conclude says what there is to say at a capture's end.
func (m *Monitor) conclude(c *capture, to sink, why string, err error) error {
	text, closing := to.close()
	if err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	var said []string
	if why != "" {
		said = append(said, fmt.Sprintf("Capture %d is over: %s.", c.number, why))
	}
	if text != "" {
		said = append(said, text)
	}
	if n := c.missing(); n > 0 {
		said = append(said, fmt.Sprintf("%d packets are missing: they came faster than they could be shown (see capture/policed and capture/ring-full in \"show counters\").", n))
	}
	if len(said) == 0 {
		return nil
	}
	return &oper.Farewell{Text: strings.Join(said, "\n")}
}
