package forwarding

import (
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
	"vbng/forwarding/port"
	"vbng/forwarding/punt"
	"vbng/forwarding/wire"
)

// TestEchoRequests watches the requests of one session over a minute.
func TestEchoRequests(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0x88a8, 10, 20))
	r.put(entry.Echo{Session: s.ID, LocalMagic: 0x01020304, IntervalSeconds: 10, Misses: 3})
	sent := 0
	for r.now < 61e9 {
		r.now += 100e6
		r.round()
		for f := r.take(accessPort); f != nil; f = r.take(accessPort) {
			sent++
			request := pppoeFrame(s, wire.ProtocolLCP, echoPacket(wire.CodeEchoRequest, uint8(sent), 0x01020304, 0))
			copy(request[0:6], s.PeerMAC[:])
			copy(request[6:12], s.OwnMAC[:])
			same(t, "request", f, request)
			r.send(accessPort, pppoeFrame(s, wire.ProtocolLCP, echoPacket(wire.CodeEchoReply, uint8(sent), 0x0a0b0c0d, 0)))
		}
	}
	if sent < 5 || sent > 7 {
		t.Errorf("%d requests in a minute at an interval of 10 s", sent)
	}
	r.balanced()
}

func (r *rig) silent() (ids []entry.SessionID) {
	for {
		var p entry.Punt
		var e entry.Event
		switch r.punts.Pop(&p, &e) {
		case punt.Event:
			ids = append(ids, e.(entry.PeerSilent).Session)
		case punt.Nothing:
			return ids
		}
	}
}

// TestSilentPeerIsToldOnce also lets the ring be full when the peer falls silent.
func TestSilentPeerIsToldOnce(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0, 0, 0))
	r.put(entry.Echo{Session: s.ID, IntervalSeconds: 1, Misses: 3})
	var told []entry.SessionID
	advance := func(seconds int) {
		for range seconds * 10 {
			r.now += 100e6
			r.round()
			for r.take(accessPort) != nil {
			}
		}
	}
	for r.punts.PushSilent(1) {
	}
	advance(6)
	if r.word(wordEchoSent) != 3 || r.word(wordPeerSilent) != 0 {
		t.Errorf("%d requests, %d told", r.word(wordEchoSent), r.word(wordPeerSilent))
	}
	r.silent()
	advance(30)
	if told = r.silent(); len(told) != 1 || told[0] != s.ID {
		t.Errorf("told %v", told)
	}
	if r.word(wordEchoSent) != 3 {
		t.Error("a silent peer is still asked")
	}
	r.put(entry.Echo{Session: s.ID, IntervalSeconds: 1, Misses: 3})
	advance(6)
	if told = r.silent(); len(told) != 1 || told[0] != s.ID {
		t.Errorf("put again: told %v", told)
	}
	r.delete(entry.Echo{Session: s.ID})
	if r.e.workers[0].wheel.armed != 0 {
		t.Error("the wheel still turns")
	}
	r.balanced()
}

// TestManyEchoesAreSpread has all sessions come up at once; no round may send more than its share, and all
// are asked once per interval.
func TestManyEchoesAreSpread(t *testing.T) {
	r := newRig(t).base()
	for i := range 60 {
		s := subscriber(i, 0, 0, 0)
		r.put(s, entry.Echo{Session: s.ID, IntervalSeconds: 100, Misses: 250}) // more than a turn of the wheel
	}
	most := 0
	for r.now < 1001e9 {
		r.now += 50e6
		r.round()
		n := 0
		for r.take(accessPort) != nil {
			n++
		}
		most = max(most, n)
	}
	if sent := r.word(wordEchoSent); sent < 540 || sent > 660 {
		t.Errorf("%d requests, want about 600", sent)
	}
	if most > 6 {
		t.Errorf("%d requests in one round", most)
	}
}

func TestTrace(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0x8100, 7, 0))
	if got := r.e.Trace("start 2 port 1"); got != "tracing 2 packets" {
		t.Fatal(got)
	}
	r.send(corePort, etherFrame(coreMAC, routerMAC, 0x1234, nil))
	r.send(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 1)))
	r.send(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 1, 1)))
	r.send(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 1)))
	r.round()
	got := r.e.Trace("show")
	var steps []string
	for _, line := range strings.Split(got, "\n") {
		fields := strings.SplitN(line, ": ", 3)
		steps = append(steps, fields[0]+" "+fields[1])
	}
	want := []string{}
	for _, node := range []string{"ethernet-input", "pppoe-input", "ip4-input", "source-check", "subscriber-count", "ip4-lookup", "adjacency", "port-output"} {
		want = append(want, "packet 1 "+node)
	}
	for _, node := range []string{"ethernet-input", "pppoe-input", "ip4-input", "source-check", "subscriber-count", "ip4-lookup", "ip4-lookup", "icmp-error", "icmp-error"} {
		want = append(want, "packet 2 "+node)
	}
	if strings.Join(steps, "\n") != strings.Join(want, "\n") || !strings.Contains(got, "dropped: ttl-expired") {
		t.Errorf("trace:\n%s", got)
	}
	for _, bad := range []string{"begin", "start 0", "start x", "start 5 port 99"} {
		if got := r.e.Trace(bad); strings.HasPrefix(got, "tracing") {
			t.Errorf("%q accepted: %s", bad, got)
		}
	}
	r.balanced()
}

// TestPanicInANodeIsSurvived breaks a table behind the engine's back.
func TestPanicInANodeIsSurvived(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0, 0, 0))
	sessions := r.e.tables.Sessions
	r.e.tables.Sessions = nil
	frame := pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 1))
	for range 3 {
		r.send(accessPort, frame)
	}
	r.round()
	r.e.tables.Sessions = sessions
	if r.word(wordPanic) != 1 || r.word(wordPanicDrop) != 3 {
		t.Errorf("%d panics, %d drops", r.word(wordPanic), r.word(wordPanicDrop))
	}
	if r.through(accessPort, frame, corePort) == nil {
		t.Error("nothing passes after the panic")
	}
	r.balanced()
}

func TestPortChangesKeepSessions(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0, 0, 0))
	up := pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 1))
	r.through(accessPort, up, corePort)

	newMAC := entry.MAC{2, 7, 7, 7, 7, 7}
	r.e.PortChanged(entry.PortState{Port: corePort, Up: true, MAC: newMAC, MTU: 1500})
	if got := r.through(accessPort, up, corePort); got == nil || entry.MAC(got[6:12]) != newMAC {
		t.Errorf("the device's new address is not used: %x", got)
	}
	before := r.ports[corePort]
	r.put(entry.Port{ID: corePort, Driver: entry.DriverMemory, Device: "core", MTU: 1400})
	if r.ports[corePort] != before {
		t.Fatal("opened again for another MTU")
	}
	if long := pppoeFrame(s, wire.ProtocolIPv4, dontFragment(ipPacket(s.IPv4, farIP, 64, 1401-28))); r.through(accessPort, long, corePort) != nil {
		t.Error("a packet longer than the new MTU passed")
	}
	r.put(entry.Port{ID: corePort, Driver: entry.DriverMemory, Device: "other"})
	if r.ports[corePort] == before {
		t.Fatal("not opened again")
	}
	if got := r.through(accessPort, up, corePort); got == nil || entry.MAC(got[6:12]) != coreMAC {
		t.Errorf("out of the new device: %x", got)
	}
	w := r.e.workers[0]
	w.housekeep()
	if c := r.counters.Port(w.portOf(corePort).Slot); c.OutputPackets != 3 {
		t.Errorf("port counters %+v", c)
	}
	r.put(entry.Port{ID: accessPort, Driver: entry.DriverMemory, Device: "access"}) // PPPoE off
	r.dropped(accessPort, up, "pppoe-input/pppoe-not-enabled")
}

// TestRoundDoesNotAllocate counts over all sorts of packets.
func TestRoundDoesNotAllocate(t *testing.T) {
	r := newRig(t).base6()
	s := dualStack(subscriber(1, 0x88a8, 10, 20))
	s.MSS = 1000
	r.subscribe6(s)
	r.put(entry.Echo{Session: s.ID, IntervalSeconds: 1, Misses: 3})
	frames := [][]byte{
		pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 1, 1)),
		pppoeFrame(s, wire.ProtocolIPv6, ip6Packet(host6(s), farIP6, 1, 1)),
		pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 9, 4000)),
		pppoeFrame(s, wire.ProtocolIPv4, dontFragment(ipPacket(s.IPv4, farIP, 9, 4000))),
		pppoeFrame(s, wire.ProtocolIPv6, ip6Packet(host6(s), farIP6, 9, 4000)),
		pppoeFrame(s, wire.ProtocolIPv4, tcpPacket(ipPacket(s.IPv4, farIP, 9, 0), 2, mssOption(1460))),
		pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 1)),
		pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, addr("198.51.100.9"), 64, 1)),
		pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, ownIP, 64, 1)),
		pppoeFrame(s, wire.ProtocolLCP, echoPacket(wire.CodeEchoRequest, 1, 1, 0)),
		pppoeFrame(s, wire.ProtocolIPCP, make([]byte, 20)),
		pppoeFrame(subscriber(9, 0, 0, 0), wire.ProtocolIPv4, make([]byte, 30)),
	}
	buffer := make([]byte, 0, packet.MaxFrame)
	allocations := testing.AllocsPerRun(200, func() {
		for _, f := range frames {
			r.ports[accessPort].Send(f)
		}
		r.inject.Push(&entry.Punt{Port: corePort, Data: frames[0]})
		r.now += 50e6
		r.round()
		for _, p := range r.ports {
			for ok := true; ok; {
				_, ok = p.Take(buffer)
			}
		}
		var p entry.Punt
		var e entry.Event
		for r.punts.Pop(&p, &e) == punt.Frame {
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations per round", allocations)
	}
}

// TestRunningEngine lets a worker of its own forward while sessions come, change and go; the race detector
// watches the tables.
func TestRunningEngine(t *testing.T) {
	r := newRig(t)
	var now atomic.Int64
	r.e.workers[0].nanos = func() int64 { return now.Add(1000) }
	r.e.Start()
	defer r.e.Stop()
	r.base()
	steady := r.subscribe(subscriber(0, 0x8100, 3, 0))
	stop, done := make(chan struct{}), make(chan int)
	go feed(r.ports[accessPort], r.ports[corePort], steady, stop, done)
	for i := range 150 {
		s := r.subscribe(subscriber(1+i%20, 0x88a8, 5, uint16(1+i)))
		r.put(entry.Echo{Session: s.ID, IntervalSeconds: 1, Misses: 3})
		s.MTU = uint16(1000 + i)
		r.put(s, entry.Route{Prefix: netip.PrefixFrom(addr("10.3.0.0"), 17+i%10), Target: entry.Target{Kind: entry.TargetSession, Session: s.ID}})
		r.put(entry.Neighbor{Interface: coreInterface, Addr: routerIP, MAC: entry.MAC{2, 0, 0, 0, 1, byte(i)}, Resolved: true})
		a := r.delete(entry.Route{Prefix: netip.PrefixFrom(addr("10.3.0.0"), 17+i%10)}, sessionRoute(s), entry.Echo{Session: s.ID}, s)
		if len(a.Finals) != 1 {
			t.Fatalf("finals %v", a.Finals)
		}
	}
	close(stop)
	if passed := <-done; passed == 0 {
		t.Error("nothing was forwarded meanwhile")
	}
	a := r.delete(sessionRoute(steady), steady)
	if a.Finals[0].Counters.InputPackets == 0 {
		t.Error("final counters are empty")
	}
}

// feed sends packets of one session and counts what comes out.
func feed(in, out *port.Memory, s entry.Session, stop chan struct{}, done chan int) {
	frame := pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, addr("10.3.0.1"), 64, 1))
	toFar := pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 1))
	buffer := make([]byte, 0, packet.MaxFrame)
	passed := 0
	for stopped := false; !stopped || passed == 0; {
		select {
		case <-stop:
			stopped = true
		default:
		}
		in.Send(frame)
		in.Send(toFar)
		in.Take(buffer)
		if _, ok := out.Take(buffer); ok {
			passed++
		}
		runtime.Gosched()
	}
	done <- passed
}

// TestSleepingWorkerWakes programs and injects while the worker sleeps.
func TestSleepingWorkerWakes(t *testing.T) {
	r := newRig(t)
	r.e.Start()
	for !r.e.workers[0].asleep.Load() {
		runtime.Gosched()
	}
	r.base()
	for !r.e.workers[0].asleep.Load() {
		runtime.Gosched()
	}
	r.inject.Push(&entry.Punt{Port: corePort, Data: make([]byte, 60)})
	for r.take(corePort) == nil {
		runtime.Gosched()
	}
	r.e.Stop()
	if r.word(wordSleeps) == 0 {
		t.Error("it never slept")
	}
}
