package forwarding

import (
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/graph"
	"vbng/forwarding/node"
	"vbng/forwarding/packet"
	"vbng/forwarding/port"
	"vbng/forwarding/punt"
	"vbng/forwarding/table"
)

// worker polls its ports and takes what they bring through the graph.
type worker struct {
	*graph.Worker
	ethernet, local *graph.Node
	origin          *graph.Node
	words           engineCounters
	inject          *punt.Ring
	injected        entry.Punt
	wheel           wheel
	nanos           func() int64
	log             *slog.Logger

	mailbox  mailbox
	stopping atomic.Bool
	asleep   atomic.Bool   // holds nothing of the tables
	rounds   atomic.Uint64 // passed
	bell     int           // event descriptor that ends a sleep
	carryOut func(*command)

	open             []*graph.Port // those of Ports that are not nil
	polled           []unix.PollFd
	blind            bool // a port has no descriptor to sleep on
	idleRounds       int
	nextHousekeeping int64
	panicTold        int64
}

// engineCounters are the words of the engine's own counters.
type engineCounters struct {
	inject, injectNoPort, injectNoBuffer       uint32
	echoSent, echoNoBuffer, echoNoPort, silent uint32
	panics, panicDrop, busyRounds, sleeps      uint32
}

func newEngineCounters(g *graph.Graph) engineCounters {
	return engineCounters{
		inject: g.Word(wordInject), injectNoPort: g.Word(wordInjectNoPort), injectNoBuffer: g.Word(wordInjectNoBuffer),
		echoSent: g.Word(wordEchoSent), echoNoBuffer: g.Word(wordEchoNoBuffer), echoNoPort: g.Word(wordEchoNoPort),
		silent: g.Word(wordPeerSilent), panics: g.Word(wordPanic), panicDrop: g.Word(wordPanicDrop),
		busyRounds: g.Word(wordRounds), sleeps: g.Word(wordSleeps),
	}
}

// run is the body of the worker's thread.
func (w *worker) run(cpu int, spin bool) {
	runtime.LockOSThread()
	if cpu >= 0 {
		var set unix.CPUSet
		set.Set(cpu)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			w.log.Error("worker not pinned", "cpu", cpu, "error", err)
		}
	}
	w.asleep.Store(false)
	for !w.stopping.Load() {
		if w.round() > 0 {
			w.idleRounds = 0
			continue
		}
		if w.idleRounds++; w.idleRounds > idleRoundsThenSleep && !spin {
			w.sleep()
		}
	}
	w.asleep.Store(true)
}

// round looks at everything once and returns how many packets there were.
func (w *worker) round() int {
	w.NowNanos = w.nanos()
	if !w.mailbox.empty() {
		w.mailbox.drain(w.carryOut)
	}
	w.wheel.advance(w)
	n := 0
	for _, p := range w.open {
		n += w.receive(p)
		if w.Made() {
			w.runMade()
		}
		w.FlushFull()
	}
	if !w.inject.Empty() {
		n += w.takeInjected()
	}
	w.Flush()
	if w.NowNanos >= w.nextHousekeeping {
		w.housekeep()
	}
	if n > 0 {
		w.Count.Add(w.words.busyRounds, 1)
	}
	w.rounds.Add(1)
	return n
}

// receive takes one vector of a port through the graph.
func (w *worker) receive(p *graph.Port) int {
	w.Packets.N = 0
	n := p.Driver.Receive(w.Pool, &w.Packets.Vector)
	if n == 0 {
		return 0
	}
	if p.Taps != nil {
		w.Tap(p, &w.Packets.Vector, false)
	}
	first := w.ethernet
	if p.L3 {
		first = w.local
	}
	w.Worker.Port = p
	w.runGraph(first)
	return n
}

// runMade takes what nodes have made through the graph; what these packets make in their turn waits for the next call.
func (w *worker) runMade() {
	for left := w.MadeWaiting(); left > 0; {
		n := w.TakeMade(left)
		left -= n
		w.runGraph(w.origin)
	}
}

// runGraph runs the nodes. A packet that makes one panic is dropped with its vector; the engine lives on.
func (w *worker) runGraph(first *graph.Node) {
	defer func() {
		if r := recover(); r != nil {
			w.survive(r)
		}
	}()
	w.Run(first)
}

func (w *worker) survive(cause any) {
	w.Count.Add(w.words.panics, 1)
	w.Count.Add(w.words.panicDrop, uint64(w.Abandon()))
	if w.NowNanos >= w.panicTold {
		w.panicTold = w.NowNanos + 1e9
		w.log.Error("node panicked, its packets are dropped", "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	}
}

// takeInjected sends frames of control's.
func (w *worker) takeInjected() int {
	for n := range injectPerRound {
		if w.inject.Pop(&w.injected, nil) != punt.Frame {
			return n
		}
		w.sendInjected(&w.injected)
	}
	return injectPerRound
}

func (w *worker) sendInjected(f *entry.Punt) {
	p := w.portOf(f.Port)
	if p == nil {
		w.Count.Add(w.words.injectNoPort, 1)
		return
	}
	index, ok := w.Pool.TakeChain(len(f.Data))
	if !ok {
		w.Count.Add(w.words.injectNoBuffer, 1)
		return
	}
	w.Arena.Fill(index, f.Data, nil)
	w.Queue(p, index, packet.Start(index), uint32(len(f.Data)))
	w.Count.Add(w.words.inject, 1)
}

func (w *worker) portOf(id entry.PortID) *graph.Port {
	for _, p := range w.open {
		if p.ID == id {
			return p
		}
	}
	return nil
}

// housekeep publishes what the ports' drivers counted.
func (w *worker) housekeep() {
	w.nextHousekeeping = w.NowNanos + housekeepingNanos
	for _, p := range w.open {
		w.Count.SetPort(p.Slot, p.Sum())
	}
}

// carry carries one command out. It also runs on the writer's goroutine while the worker does not run.
func (w *worker) carry(c *command) {
	switch c.what {
	case commandSession:
		w.Tables.Sessions[c.slot].Reconfigure(&c.session)
	case commandEcho:
		w.wheel.setEcho(w, c.slot, &c.session.Echo)
	case commandEchoStop:
		w.wheel.stopEcho(w.Tables.Sessions, c.slot)
	case commandPorts:
		w.setPorts(c.ports)
	case commandTrace:
		w.SetTracer(c.tracer)
	}
}

// setPorts takes over the ports that are open. One that goes publishes its last counters.
func (w *worker) setPorts(ports []*graph.Port) {
	w.housekeep()
	copy(w.Ports, ports)
	w.open, w.polled, w.blind = w.open[:0], w.polled[:0], false
	for _, p := range w.Ports {
		if p == nil {
			continue
		}
		w.open = append(w.open, p)
		w.watch(p.Driver)
	}
	w.watchDescriptor(w.bell)
	w.watchDescriptor(w.inject.Bell())
}

func (w *worker) watch(p port.Port) {
	if d := p.Descriptor(); d >= 0 {
		w.watchDescriptor(d)
	} else {
		w.blind = true
	}
}

func (w *worker) watchDescriptor(d int) {
	if d >= 0 {
		w.polled = append(w.polled, unix.PollFd{Fd: int32(d), Events: unix.POLLIN})
	}
}

const (
	blindSleepMillis   = 1
	longestSleepMillis = 1000
)

// sleep waits in poll until a port, control or a timer has work. The order keeps wake-ups from being
// lost: the worker announces its sleep, then looks at the mailbox and the ring; who fills those does so
// first and then looks at the announcement.
func (w *worker) sleep() {
	w.housekeep()
	w.asleep.Store(true)
	if w.mailbox.empty() && !w.stopping.Load() && w.inject.Sleep() {
		w.Count.Add(w.words.sleeps, 1)
		millis := w.wheel.sleepMillis(longestSleepMillis)
		if w.blind {
			millis = min(millis, blindSleepMillis)
		}
		_, _ = unix.Poll(w.polled, millis) // EINTR is an early end of the sleep
		w.inject.Awake()
		w.inject.ReadBell()
		w.readBell()
	}
	w.asleep.Store(false)
	w.idleRounds = 0
}

func (w *worker) readBell() {
	var count [8]byte
	_, _ = unix.Read(w.bell, count[:]) // EAGAIN: nobody rang
}

// wake ends the worker's sleep.
func (w *worker) wake() {
	if w.asleep.Load() {
		one := [8]byte{1}
		_, _ = unix.Write(w.bell, one[:]) // EAGAIN: the count is full, so it is readable
	}
}

// newWorker makes worker i of an engine.
func newWorker(i int, c *Config, t *table.Tables, arena *packet.Arena) (*worker, error) {
	g, err := node.Graph(engineWords())
	if err != nil {
		return nil, err
	}
	w := &worker{
		Worker: graph.NewWorker(g, c.Limits.Ports), nanos: c.Nanos, log: c.Log, inject: c.Inject[i],
		ethernet: g.Node(node.EthernetInput), local: g.Node(node.LocalOrigin), origin: g.Node(node.RouterOrigin), words: newEngineCounters(g),
		open:   make([]*graph.Port, 0, c.Limits.Ports),
		polled: make([]unix.PollFd, 0, c.Limits.Ports+2),
	}
	w.carryOut = w.carry
	w.Tables, w.Ring = t, c.Punt[i]
	w.Tapping = graph.Tapping{UnixNanos: c.UnixNanos, Sent: g.Word(wordCaptureSent), Policed: g.Word(wordCapturePoliced), RingFull: g.Word(wordCaptureFull)}
	w.Policers = punt.NewPolicers()
	w.Arena, w.Pool = arena, packet.NewPool(arena, i*c.Limits.Buffers, c.Limits.Buffers)
	if w.wheel, err = newWheel(c.Seed); err != nil {
		return nil, err
	}
	if w.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, fmt.Errorf("make event descriptor: %w", err)
	}
	w.asleep.Store(true)
	return w, nil
}
