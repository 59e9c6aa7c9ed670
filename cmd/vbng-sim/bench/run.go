package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"vbng/forwarding"
	"vbng/forwarding/entry"
	drivers "vbng/forwarding/port"
	"vbng/forwarding/remote"
)

const (
	// warmUpShare of a run's packets pass before a run is measured.
	warmUpShare  = 20
	runTimeout   = 5 * time.Minute
	programLimit = 5 * time.Minute
)

// options is what is to be measured.
type options struct {
	upstream  bool
	sizeBytes int
	sessions  int
	routes    int
	templates int
	limits    forwarding.Limits
	packets   int // per run
	runs      int
	cpu       int
	seed      uint64
	profile   string // file for a CPU profile, empty: none
}

// outcome is one scenario's medians.
type outcome struct {
	nanosPerPacket float64
	allocations    uint64
	drops          uint64
	verified       uint64
	rxtxNanos      float64
	cpuNanos       float64 // of the worker's thread per packet
	fastestNanos   float64 // of all runs, by the worker's thread
}

// scenario is a programmed engine with its traffic.
type scenario struct {
	o       options
	traffic *traffic
	local   *remote.Local
	// allocated is how many allocations the whole process made during the last run.
	allocated uint64
}

// prepare makes a world and programs an engine with it.
func prepare(o options) (*scenario, error) {
	r := rand.New(rand.NewPCG(o.seed, 1))
	w := newWorld(o.sessions, o.routes, r)
	t, err := newTemplates(w, o, r)
	if err != nil {
		return nil, fmt.Errorf("make templates: %w", err)
	}
	s := &scenario{o: o, traffic: newTraffic(t, o.upstream)}
	if s.local, err = s.engine(w); err != nil {
		return nil, err
	}
	if err := s.program(w.batches()); err != nil {
		s.local.Close()
		return nil, err
	}
	return s, nil
}

func newTraffic(t *templates, upstream bool) *traffic {
	x := &traffic{t: t, outputHeader: upstreamHeader, over: make(chan struct{}, 1)}
	if upstream {
		x.outputHeader = downstreamHeader
	}
	return x
}

// engine starts an engine behind a border in this process, as the forwarder process builds it.
func (s *scenario) engine(w *world) (*remote.Local, error) {
	limits := s.o.limits
	layout, err := forwarding.Layout(limits, 1)
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	ports := func(e entry.Port) (drivers.Port, error) { return newPort(s.traffic, e.ID, e.MAC), nil }
	build := func(shared remote.Shared) (remote.Engine, error) {
		e, err := forwarding.New(forwarding.Config{
			Limits: limits, Workers: 1, CPUs: []int{s.o.cpu}, Spin: true, CounterMemory: shared.Counters,
			Punt: shared.Punt, Inject: shared.Inject, OpenPort: shared.OpenPort, Log: log, Seed: s.o.seed,
		})
		if err != nil {
			return nil, err
		}
		e.Start()
		return e, nil
	}
	stop := func(e remote.Engine) { e.(*forwarding.Engine).Close() }
	return remote.NewLocal(
		remote.ServeConfig{Layout: layout, OpenPort: ports, Build: build, Close: stop, Log: log},
		remote.ClientConfig{Log: log},
	), nil
}

// program applies batches and waits until the last one is in force.
func (s *scenario) program(batches []*entry.Batch) error {
	results := make(chan error, len(batches))
	for _, b := range batches {
		s.local.Apply(b, func(r entry.Result) { results <- r.Err })
	}
	ctx, cancel := context.WithTimeout(context.Background(), programLimit)
	defer cancel()
	for range batches {
		select {
		case err := <-results:
			if err != nil {
				return fmt.Errorf("program the engine: %w", err)
			}
		case <-ctx.Done():
			return errors.New("program the engine: no answer")
		}
	}
	return nil
}

// measure runs the traffic several times and returns medians.
func (s *scenario) measure() (outcome, error) {
	var o outcome
	if _, err := s.once(s.o.packets/warmUpShare + 1); err != nil {
		return o, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // as in the forwarder process
	fillPools()
	stop, err := startProfile(s.o.profile)
	if err != nil {
		return o, err
	}
	defer stop()
	dropsBefore := s.drops()
	s.traffic.verified = 0
	nanos, cpu := make([]float64, 0, s.o.runs), make([]float64, 0, s.o.runs)
	for range s.o.runs {
		n, err := s.once(s.o.packets)
		if err != nil {
			return o, err
		}
		o.allocations += s.allocated
		nanos = append(nanos, n)
		cpu = append(cpu, float64(s.traffic.tookCPU.Nanoseconds())/float64(s.o.packets))
	}
	o.drops = s.drops() - dropsBefore
	o.nanosPerPacket = median(nanos)
	o.verified, o.cpuNanos, o.fastestNanos = s.traffic.verified, median(cpu), slices.Min(cpu)
	return o, nil
}

// fillPools has the runtime make, once, what goroutines wait by. It keeps these and gives them out again, but
// makes them when it has none at hand: the forwarder's control thread, which waits every now and then, would
// count as an allocation in some run.
func fillPools() {
	const waiters = 1024
	release := make(chan struct{})
	never := make(chan struct{})
	var wg sync.WaitGroup
	for range waiters {
		wg.Go(func() {
			select {
			case <-release:
			case <-never:
			}
		})
	}
	time.Sleep(pollTime)
	close(release)
	wg.Wait()
}

// pollTime is how often the end of a run is looked for; the run itself takes its own time.
const pollTime = 5 * time.Millisecond

// once lets n packets through and returns the time per packet.
func (s *scenario) once(n int) (float64, error) {
	t := s.traffic
	// Sleeping and looking, because a goroutine that blocks on channels may allocate what it waits by, and
	// the first sleep a timer.
	time.Sleep(pollTime)
	deadline := time.Now().Add(runTimeout)
	before := allocations()
	t.arm(n)
	for len(t.over) == 0 {
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("packets are missing after %v; drops: %s", runTimeout, s.dropNames())
		}
		time.Sleep(pollTime)
	}
	s.allocated = allocations() - before
	<-t.over
	switch {
	case t.wrongPort > 0:
		return 0, fmt.Errorf("%d packets left by the wrong port", t.wrongPort)
	case t.wrongBytes > 0:
		return 0, fmt.Errorf("%d of %d samples differ from the model", t.wrongBytes, t.verified)
	}
	return float64(t.took.Nanoseconds()) / float64(n), nil
}

// drops sums everything that is a drop by name, of nodes and ports.
func (s *scenario) drops() (sum uint64) {
	for _, w := range s.local.Words() {
		if isDrop(w.Name) {
			sum += w.Value
		}
	}
	for i := range accessPorts + corePorts {
		c, _ := s.local.PortCounters(entry.PortID(firstAccess + i))
		sum += c.InputDrops + c.OutputDrops
	}
	return sum
}

func (s *scenario) dropNames() string {
	var b strings.Builder
	for _, w := range s.local.Words() {
		if w.Value > 0 {
			fmt.Fprintf(&b, "%s %d; ", w.Name, w.Value)
		}
	}
	return b.String()
}

// isDrop tells a node's reasons from its other counters.
func isDrop(name string) bool {
	node, counter, _ := strings.Cut(name, "/")
	switch node {
	case "inject", "echo", "icmp-error", "icmp6-error": // of errors the loss is counted where the fault was found
		return false
	case "ip4-fragment":
		return counter != "packets" && counter != "vectors" && counter != "fragmented" && counter != "fragments"
	case "engine":
		return counter == "panic-drop"
	}
	return counter != "packets" && counter != "vectors"
}

func allocations() uint64 {
	var m runtime.MemStats // on the stack
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
