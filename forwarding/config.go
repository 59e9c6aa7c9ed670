package forwarding

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"vbng/forwarding/counter"
	"vbng/forwarding/entry"
	"vbng/forwarding/node"
	"vbng/forwarding/packet"
	"vbng/forwarding/port"
	"vbng/forwarding/punt"
	"vbng/forwarding/table"
)

// Limits bounds what can be programmed. Memory is reserved for all of it and used as it fills: an IPv4 route takes 1 KB
// for the part of a /24 that it is alone in, an IPv6 route of 48 bits that lies alone 4 KB and one of 64 bits 6 KB (so
// 262,144 of them take 1.5 GB at the very worst, and some 100 MB where they lie close together, as those of
// subscribers do), a /128 or /127 16 bytes more than its /64.
type Limits struct {
	Sessions   int
	Routes     int // IPv4
	Routes6    int // IPv6
	Neighbors  int
	Interfaces int
	Ports      int
	VRFs       int
	Groups     int // of next hops
	Buffers    int // packets per worker
}

// DefaultLimits suits a small router.
func DefaultLimits() Limits {
	return Limits{Sessions: 65536, Routes: 1 << 20, Routes6: 1 << 18, Neighbors: 16384, Interfaces: 8192, Ports: 64, VRFs: 256, Groups: 4096, Buffers: 16384}
}

// Config says what an engine is made of.
type Config struct {
	Limits  Limits
	Workers int
	CPUs    []int // one per worker, to pin it to; empty: not pinned
	Spin    bool  // workers never sleep

	CounterMemory []byte // zeroed, of at least counter.Size(Layout(...)) bytes
	Punt, Inject  []*punt.Ring
	OpenPort      func(entry.Port) (port.Port, error)
	Log           *slog.Logger // nil: slog's default

	// Nanos is a clock that does not go backwards; nil: the machine's.
	Nanos func() int64
	// UnixNanos is the wall clock that captured frames are stamped by; nil: the machine's.
	UnixNanos func() int64
	// Seed makes hash tables and echo jitter unpredictable.
	Seed uint64
}

// Layout returns the layout of the counters that an engine needs.
func Layout(l Limits, workers int) (counter.Layout, error) {
	g, err := node.Graph(engineWords())
	if err != nil {
		return counter.Layout{}, err
	}
	return counter.Layout{Workers: workers, Sessions: l.Sessions, Ports: l.Ports, Words: len(g.Words())}, nil
}

// The counters of the engine itself.
const (
	wordInject          = "inject/frames"
	wordInjectNoPort    = "inject/unknown-port"
	wordInjectNoBuffer  = "inject/no-buffer"
	wordEchoSent        = "echo/sent"
	wordEchoNoBuffer    = "echo/no-buffer"
	wordEchoNoPort      = "echo/port-not-open"
	wordPeerSilent      = "echo/peer-silent"
	wordPanic           = "engine/panics"
	wordPanicDrop       = "engine/panic-drop"
	wordRounds          = "engine/rounds-with-packets"
	wordSleeps          = "engine/sleeps"
	wordCaptureSent     = "capture/frames"
	wordCapturePoliced  = "capture/policed"
	wordCaptureFull     = "capture/ring-full"
	housekeepingNanos   = int64(100 * time.Millisecond)
	injectPerRound      = packet.VectorSize
	idleRoundsThenSleep = 256
)

func engineWords() []string {
	return []string{
		wordInject, wordInjectNoPort, wordInjectNoBuffer, wordEchoSent, wordEchoNoBuffer, wordEchoNoPort,
		wordPeerSilent, wordPanic, wordPanicDrop, wordRounds, wordSleeps,
		wordCaptureSent, wordCapturePoliced, wordCaptureFull,
	}
}

func (c *Config) check() error {
	switch l := c.Limits; {
	case c.Workers != 1:
		return fmt.Errorf("%d workers asked for: this engine runs one", c.Workers)
	case len(c.Punt) != c.Workers || len(c.Inject) != c.Workers:
		return fmt.Errorf("%d punt and %d inject rings given for %d workers", len(c.Punt), len(c.Inject), c.Workers)
	case len(c.CPUs) != 0 && len(c.CPUs) != c.Workers:
		return fmt.Errorf("%d CPUs given for %d workers", len(c.CPUs), c.Workers)
	case c.OpenPort == nil:
		return errors.New("no way to open ports given")
	case l.Sessions < 1 || l.Routes < 1 || l.Neighbors < 1 || l.Interfaces < 1 || l.Ports < 1 || l.VRFs < 1 || l.Routes6 < 1 || l.Groups < 1:
		return fmt.Errorf("a limit is below 1: %+v", l)
	case l.Ports > table.MaxPort:
		return fmt.Errorf("%d ports asked for, at most %d fit", l.Ports, table.MaxPort)
	case l.Buffers < 4*packet.VectorSize || l.Buffers > maxBuffers:
		return fmt.Errorf("%d buffers per worker asked for, %d to %d are possible", l.Buffers, 4*packet.VectorSize, maxBuffers)
	}
	return nil
}

// maxBuffers keeps every byte of the arena within 32 bits.
const maxBuffers = 1 << 20

// monotonic returns the machine's clock.
func monotonic() func() int64 {
	start := time.Now()
	return func() int64 { return int64(time.Since(start)) }
}
