// Package process is the body of the forwarder process: it joins the engine (package forwarding) with its
// end of the border to control (package remote), and prepares the Go runtime for a process in which some
// threads must never wait.
package process

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"runtime/debug"

	"vbng/forwarding"
	"vbng/forwarding/entry"
	"vbng/forwarding/port"
	"vbng/forwarding/remote"
)

// Config says what a forwarder is made of.
type Config struct {
	// Path is the socket that control attaches to.
	Path    string
	Limits  forwarding.Limits
	Workers int
	CPUs    []int  // one per worker, to pin it to; empty: not pinned
	Spin    bool   // workers never sleep
	Seed    uint64 // of hash tables and echo jitter; 0: random
	Log     *slog.Logger

	// OpenPort opens ports; nil: a port.Opener's Open. Tests and benchmarks bring their own.
	OpenPort func(entry.Port) (port.Port, error)
}

// heapLimitBytes is a fuse: up to here the collector does not run at all. Tables and packets lie outside of
// the heap.
const heapLimitBytes = 2 << 30

// Serve runs a forwarder until ctx ends.
func Serve(ctx context.Context, c Config) error {
	// A worker that spins occupies one of the scheduler's processors for good; control's thread and the
	// runtime need others.
	runtime.GOMAXPROCS(max(runtime.NumCPU(), c.Workers+2))
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapLimitBytes)
	server, err := c.server()
	if err != nil {
		return err
	}
	if err := confine(c.CPUs); err != nil {
		server.Log.Warn("the workers share their CPUs with the rest of the process", "error", err)
	}
	return remote.Serve(ctx, server)
}

// NewLocal runs a forwarder in this process, behind the same border, with a client for it.
func NewLocal(c Config, client remote.ClientConfig) (*remote.Local, error) {
	server, err := c.server()
	if err != nil {
		return nil, err
	}
	return remote.NewLocal(server, client), nil
}

func (c Config) server() (remote.ServeConfig, error) {
	layout, err := forwarding.Layout(c.Limits, c.Workers)
	if err != nil {
		return remote.ServeConfig{}, fmt.Errorf("lay out counters: %w", err)
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	opener := port.NewOpener(c.Log)
	if c.OpenPort == nil {
		c.OpenPort = opener.Open
	}
	return remote.ServeConfig{
		Path: c.Path, Layout: layout, OpenPort: c.OpenPort, Log: c.Log,
		Build: func(shared remote.Shared) (remote.Engine, error) { return c.build(shared, opener) },
		Close: func(e remote.Engine) { e.(*forwarding.Engine).Close() },
	}, nil
}

func (c Config) build(shared remote.Shared, opener *port.Opener) (remote.Engine, error) {
	engine, err := forwarding.New(forwarding.Config{
		Limits: c.Limits, Workers: c.Workers, CPUs: c.CPUs, Spin: c.Spin, Log: c.Log, Seed: c.Seed,
		CounterMemory: shared.Counters, Punt: shared.Punt, Inject: shared.Inject, OpenPort: shared.OpenPort,
	})
	if err != nil {
		return nil, err
	}
	opener.Use(engine.Arena())
	engine.Start()
	return engine, nil
}
