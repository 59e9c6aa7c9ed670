package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vbng/control/oper"
)

// Source knows the running forwarder. Its methods do not wait, but Trace.
type Source interface {
	Status() Status
	// Words returns the forwarder's counters, "node/what", in packet order.
	Words() []Word
	// Trace records packets and tells their way, as text.
	Trace(ctx context.Context, request string) (string, error)
	// Restart ends the forwarder, and returns how long it took until the next one was programmed.
	Restart(ctx context.Context) (time.Duration, error)
}

// Status is the state of the forwarder process.
type Status struct {
	Attached   bool
	Programmed bool // everything that control knows is in its tables
	Foreign    int  // entry format of an older or newer forwarder that runs on but cannot be programmed; 0: none
	PID        int
	Workers    int
	Generation uint64
	Pending    int    // batches on their way
	LostPunts  uint64 // frames for control that nobody took
	LostInject uint64 // frames of control that the forwarder could not take
}

// Word is a counter of the forwarder.
type Word struct {
	Name  string
	Value uint64
}

// Commands returns the operational commands of the engine.
func (e *Engine) Commands() []*oper.Command {
	return []*oper.Command{
		{Words: "show engine", Help: "Forwarder process, its nodes and its drops by reason", Run: e.show,
			Args: []oper.Arg{{Name: "all", Help: "counters that stand at zero, too", Flag: true, Optional: true}}},
		{Words: "restart forwarder", Help: "End the forwarder and start another as configured; packets wait meanwhile, sessions stay", Run: e.restart},
		{Words: "show engine trace", Help: "Record the next packets and tell their way through the nodes", Run: e.trace,
			Args: []oper.Arg{
				{Name: "packets", Help: "how many at most, 1 to 1000; 10 if not given", Optional: true, Check: checkPackets},
				{Name: "seconds", Help: "how long to record, 1 to 30; 3 if not given", Keyword: true, Optional: true, Check: checkSeconds},
			}},
	}
}

// shown is the typed value of "show engine".
type shown struct {
	Process  Status
	Started  Settings // what the configuration says; a running forwarder may be older
	Counters []Word
}

func (e *Engine) show(_ context.Context, call oper.Call) (any, error) {
	s := shown{Process: e.source.Status(), Started: e.Settings()}
	for _, w := range e.source.Words() {
		if w.Value > 0 || call.Has("all") {
			s.Counters = append(s.Counters, w)
		}
	}
	return oper.Document{Sections: sections(s), Data: s}, nil
}

func sections(s shown) []oper.Section {
	p := s.Process
	process := oper.Section{Title: "Forwarder", Lines: []oper.Field{
		{Name: "State", Value: state(p)},
		{Name: "Process id", Value: strconv.Itoa(p.PID)},
		{Name: "Workers", Value: strconv.Itoa(p.Workers)},
		{Name: "Generation", Value: strconv.FormatUint(p.Generation, 10)},
		{Name: "Batches pending", Value: strconv.Itoa(p.Pending)},
		{Name: "Frames lost", Value: fmt.Sprintf("%d to control, %d from control", p.LostPunts, p.LostInject)},
	}}
	if p.Attached && p.Workers != s.Started.Workers {
		process.Lines = append(process.Lines, oper.Field{Name: "Note",
			Value: fmt.Sprintf("%d workers are configured; they come when the forwarder is started anew", s.Started.Workers)})
	}
	all := []oper.Section{process}
	for _, w := range s.Counters {
		node, what, found := strings.Cut(w.Name, "/")
		if !found {
			node, what = "engine", w.Name
		}
		if last := &all[len(all)-1]; last.Title == node {
			last.Lines = append(last.Lines, oper.Field{Name: what, Value: strconv.FormatUint(w.Value, 10)})
			continue
		}
		all = append(all, oper.Section{Title: node, Lines: []oper.Field{{Name: what, Value: strconv.FormatUint(w.Value, 10)}}})
	}
	return all
}

func state(p Status) string {
	switch {
	case p.Foreign != 0:
		return fmt.Sprintf("up, of another version (entry format %d): it moves packets but cannot be programmed until \"restart forwarder\"", p.Foreign)
	case !p.Attached:
		return "down"
	case !p.Programmed:
		return "up, being programmed"
	}
	return "up"
}

const (
	defaultTracePackets = "10"
	defaultTraceSeconds = "3"
)

func checkPackets(text string) error { return checkNumber(text, "packets", 1000) }

func checkSeconds(text string) error { return checkNumber(text, "seconds", 30) }

func checkNumber(text, what string, most int) error {
	if n, err := strconv.Atoi(text); err != nil || n < 1 || n > most {
		return fmt.Errorf("expected a number of %s from 1 to %d, found %q", what, most, text)
	}
	return nil
}

// trace starts a trace, gives packets time to come, and reads it.
func (e *Engine) trace(ctx context.Context, call oper.Call) (any, error) {
	argument := func(name, fallback string) string {
		if text := call.Args[name]; text != "" {
			return text
		}
		return fallback
	}
	if _, err := e.source.Trace(ctx, "start "+argument("packets", defaultTracePackets)); err != nil {
		return nil, err
	}
	seconds, _ := strconv.Atoi(argument("seconds", defaultTraceSeconds)) // checked
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
	case <-ctx.Done(): // what was recorded until now is of use, but nobody is there to read it
		return nil, ctx.Err()
	}
	text, err := e.source.Trace(ctx, "show")
	if err != nil {
		return nil, err
	}
	if text == "" {
		text = "no packet came in that time"
	}
	return oper.Document{Sections: []oper.Section{{Text: text}}, Data: text}, nil
}

// restarted is the typed value of "restart forwarder".
type restarted struct {
	AwayMilliseconds int64
}

func (e *Engine) restart(ctx context.Context, _ oper.Call) (any, error) {
	away, err := e.source.Restart(ctx)
	if err != nil {
		return nil, fmt.Errorf("restart forwarder: %w", err)
	}
	text := fmt.Sprintf("a new forwarder is programmed; packets were not moved for %v", away.Round(time.Millisecond))
	return oper.Document{Sections: []oper.Section{{Text: text}}, Data: restarted{away.Milliseconds()}}, nil
}
