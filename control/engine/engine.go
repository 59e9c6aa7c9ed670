// Package engine is the subsystem "engine": what the forwarder process is started with, and what it
// tells of itself.
//
// The forwarder outlives control, so what it was started with holds until it is started anew; a
// difference between that and the configuration is shown.
//
// Reading order: engine.go, show.go.
package engine

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"vbng/control/config"
	"vbng/control/schema"
)

// Settings is what a forwarder is started with. Limits size its tables, which never grow.
type Settings struct {
	Workers   int
	CPUs      []int // of the workers in order; empty: the highest ones
	Spin      bool  // never sleep
	Sessions  int
	Routes    int // IPv4
	Routes6   int // IPv6
	Groups    int // of next hops
	Neighbors int
	Buffers   int // packet buffers
}

// Engine implements commit.Subsystem.
type Engine struct {
	settings atomic.Pointer[Settings]
	source   Source
	keep     func(Settings)
}

// New returns the subsystem; source is asked by the show commands, and keep, which may be nil, is told the
// settings whenever a configuration is applied.
func New(source Source, keep func(Settings)) *Engine {
	e := &Engine{source: source, keep: keep}
	e.settings.Store(&Settings{})
	return e
}

// DefaultSettings returns what holds without configuration.
func DefaultSettings() Settings { return settingsOf(config.New((*Engine)(nil).Schema()[0])) }

// Settings returns what the next forwarder is to be started with.
func (e *Engine) Settings() Settings { return *e.settings.Load() }

// Name implements commit.Subsystem.
func (*Engine) Name() string { return "engine" }

// maxWorkers is what the forwarder takes: with more it would refuse to start.
const maxWorkers = 1

const restartEffect = "when the forwarder is started anew"

// Schema implements commit.Subsystem.
func (*Engine) Schema() []*schema.Node {
	number := func(name, help, unit string, least, most uint64, standard string) *schema.Node {
		return &schema.Node{Name: name, Kind: schema.Leaf, Help: help, Type: schema.Uint(least, most, unit), Default: standard, Effect: restartEffect}
	}
	return []*schema.Node{{
		Name: "engine", Kind: schema.Container, Mode: "config-engine", Help: "The forwarder process",
		Children: []*schema.Node{
			number("workers", "Threads that move packets", "threads", 1, 64, "1"),
			{Name: "cpu", Kind: schema.Leaf, Help: "CPUs of the workers, in order; without it the highest ones",
				Type: schema.Words(schema.Uint(0, 1023, ""), 1, 64), Effect: restartEffect},
			{Name: "mode", Kind: schema.Leaf, Help: "What an idle worker does: sleep until there is work, or poll without end",
				Type: schema.Enum("adaptive", "poll"), Default: "adaptive", Effect: restartEffect},
			number("limit sessions", "Most subscribers at once", "sessions", 16, 1<<20, "65536"),
			number("limit routes", "Most IPv4 routes in all VRFs", "routes", 1024, 4<<20, "1048576"),
			number("limit routes6", "Most IPv6 routes in all VRFs; each takes 6 KB of memory at most", "routes", 1024, 2<<20, "262144"),
			number("limit groups", "Most groups of next hops of equal cost", "groups", 16, 1<<16, "4096"),
			number("limit neighbors", "Most neighbours", "neighbors", 16, 1<<18, "16384"),
			number("limit buffers", "Packet buffers of each worker, 2112 bytes each", "buffers", 1024, 1<<20, "32768"),
		},
	}}
}

// Check implements commit.Subsystem.
func (*Engine) Check(_, new *config.Tree) []error {
	s := read(new)
	fault := func(format string, args ...any) []error {
		return []error{&config.Error{Path: "engine / cpu", Line: new.Container("engine").Line(), Text: fmt.Sprintf(format, args...)}}
	}
	if s.Workers > maxWorkers {
		return []error{&config.Error{Path: "engine / workers", Line: new.Container("engine").LineOf("workers"),
			Text: fmt.Sprintf("%d workers asked for: this version's forwarder runs %d", s.Workers, maxWorkers)}}
	}
	// A default above the forwarder's limit is no fault: the forwarder refuses what is too much.
	if n := new.Uint("subscriber limit"); new.Configured("subscriber limit") && n > uint64(s.Sessions) {
		return []error{&config.Error{Path: "subscriber limit", Line: new.LineOf("subscriber limit"),
			Text: fmt.Sprintf("%d subscribers, but the forwarder has room for %d sessions (engine / limit sessions)", n, s.Sessions)}}
	}
	if len(s.CPUs) > 0 && len(s.CPUs) != s.Workers {
		return fault("%d CPUs for %d workers: give one each, or none", len(s.CPUs), s.Workers)
	}
	seen := map[int]bool{}
	for _, cpu := range s.CPUs {
		if seen[cpu] {
			return fault("CPU %d is given to two workers", cpu)
		}
		seen[cpu] = true
	}
	return nil
}

// Reserve implements commit.Subsystem. Whether a CPU exists is a matter of this machine, so it is not
// for Check, which also judges files for others.
func (*Engine) Reserve(_, new *config.Tree) error {
	for _, cpu := range read(new).CPUs {
		if cpu >= runtime.NumCPU() {
			return &config.Error{Path: "engine / cpu", Line: new.Container("engine").Line(),
				Text: fmt.Sprintf("there is no CPU %d, this machine has %d", cpu, runtime.NumCPU())}
		}
	}
	return nil
}

// Release implements commit.Subsystem.
func (*Engine) Release() {}

// Apply implements commit.Subsystem.
func (e *Engine) Apply(_, new *config.Tree) {
	s := read(new)
	e.settings.Store(&s)
	if e.keep != nil {
		e.keep(s)
	}
}

// Run implements commit.Subsystem.
func (*Engine) Run(context.Context) error { return nil }

func read(root *config.Tree) Settings {
	t := root.Container("engine")
	if t == nil {
		return DefaultSettings()
	}
	return settingsOf(t)
}

func settingsOf(t *config.Tree) Settings {
	s := Settings{
		Workers: int(t.Uint("workers")), Spin: t.Text("mode") == "poll",
		Sessions: int(t.Uint("limit sessions")), Routes: int(t.Uint("limit routes")),
		Routes6: int(t.Uint("limit routes6")), Groups: int(t.Uint("limit groups")),
		Neighbors: int(t.Uint("limit neighbors")), Buffers: int(t.Uint("limit buffers")),
	}
	for _, word := range strings.Fields(t.Text("cpu")) {
		n, _ := strconv.Atoi(word) // the type has checked it
		s.CPUs = append(s.CPUs, n)
	}
	return s
}
