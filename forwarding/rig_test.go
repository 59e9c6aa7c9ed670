package forwarding

import (
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"vbng/forwarding/counter"
	"vbng/forwarding/entry"
	"vbng/forwarding/port"
	"vbng/forwarding/punt"
	"vbng/forwarding/wire"
)

// The rig is an engine on memory ports that the test turns by hand, with a clock that it sets.
//
//	access (1, PPPoE) --- engine --- core (2)
//	                        |
//	                     TUN (3)
type rig struct {
	t        testing.TB
	e        *Engine
	now      int64
	ports    map[entry.PortID]*port.Memory
	punts    *punt.Ring
	inject   *punt.Ring
	counters *counter.Counters
}

const (
	accessPort entry.PortID = 1 + iota
	corePort
	tunPort
)

const (
	coreInterface entry.InterfaceID = 20
	vlanInterface entry.InterfaceID = 21
	defaultVRF    entry.VRFID       = 0
)

var (
	accessMAC = entry.MAC{0x02, 0, 0, 0, 0, 0xa1}
	coreMAC   = entry.MAC{0x02, 0, 0, 0, 0, 0xc1}
	routerMAC = entry.MAC{0x02, 0, 0, 0, 0, 0xee}
	routerIP  = netip.MustParseAddr("198.51.100.2")
	ownIP     = netip.MustParseAddr("198.51.100.1")
	farIP     = netip.MustParseAddr("203.0.113.9")
)

func smallLimits() Limits {
	return Limits{Sessions: 64, Routes: 256, Routes6: 256, Neighbors: 16, Interfaces: 8, Ports: 8, VRFs: 4, Groups: 8, Buffers: 512}
}

func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, now: 1e9, ports: map[entry.PortID]*port.Memory{}}
	limits := smallLimits()
	layout, err := Layout(limits, 1)
	if err != nil {
		t.Fatal(err)
	}
	memory := make([]byte, counter.Size(layout))
	r.punts, r.inject = punt.NewRing(make([]byte, punt.RingSize(1<<16))), punt.NewRing(make([]byte, punt.RingSize(1<<16)))
	r.e, err = New(Config{
		Limits: limits, Workers: 1, CounterMemory: memory, Punt: []*punt.Ring{r.punts}, Inject: []*punt.Ring{r.inject},
		OpenPort: r.open, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Nanos: func() int64 { return r.now }, Seed: 7,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.counters, err = counter.Map(memory, layout); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.e.Close)
	return r
}

func (r *rig) open(e entry.Port) (port.Port, error) {
	if e.Device == "broken" {
		return nil, fmt.Errorf("open port %d: device is broken", e.ID)
	}
	mac := map[entry.PortID]entry.MAC{accessPort: accessMAC, corePort: coreMAC}[e.ID]
	p := port.NewMemory(entry.PortState{Port: e.ID, MAC: mac, MTU: 1500}, 256)
	r.ports[e.ID] = p
	return p, nil
}

func encode(b *entry.Batch) []byte { return entry.AppendBatch(nil, b) }

// put applies entries, which must be accepted.
func (r *rig) put(entries ...entry.Entry) {
	r.t.Helper()
	var b entry.Batch
	b.Put(entries...)
	if a := r.e.Apply(encode(&b)); a.Refused != nil {
		r.t.Fatalf("refused: %v", a.Refused)
	}
}

// base is two ports with a default route over the core, and a TUN.
func (r *rig) base() *rig {
	r.t.Helper()
	r.put(
		entry.Port{ID: accessPort, Driver: entry.DriverMemory, Device: "access", PPPoE: true},
		entry.Port{ID: corePort, Driver: entry.DriverMemory, Device: "core"},
		entry.Port{ID: tunPort, Driver: entry.DriverTUN, Device: "tun"},
		entry.VRF{ID: defaultVRF, TUN: tunPort},
		entry.Interface{ID: coreInterface, Port: corePort, VRF: defaultVRF},
		entry.Local{Interface: coreInterface, Addr: ownIP},
		entry.Neighbor{Interface: coreInterface, Addr: routerIP, MAC: routerMAC, Resolved: true},
		entry.Route{Prefix: netip.MustParsePrefix("198.51.100.0/24"), Target: entry.Target{Kind: entry.TargetConnected, Interface: coreInterface}},
		entry.Route{Prefix: netip.PrefixFrom(ownIP, 32), Target: entry.Target{Kind: entry.TargetLocal}},
		entry.Route{Prefix: netip.MustParsePrefix("0.0.0.0/0"), Target: entry.Target{Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: routerIP}},
	)
	return r
}

// subscriber is a session of the tests, number n.
func subscriber(n int, tpid, outer, inner uint16) entry.Session {
	return entry.Session{
		ID: entry.SessionID(1000 + n), Port: accessPort, OuterTPID: tpid, OuterVLAN: outer, InnerVLAN: inner,
		PeerMAC: entry.MAC{0x02, 1, 0, 0, byte(n >> 8), byte(n)}, OwnMAC: accessMAC, PPPoE: uint16(0x100 + n),
		IPv4: netip.AddrFrom4([4]byte{100, 64, byte(n >> 8), byte(n)}), MTU: 1492,
	}
}

func sessionRoute(s entry.Session) entry.Route {
	return entry.Route{
		VRF: s.VRF, Prefix: netip.PrefixFrom(s.IPv4, 32), Target: entry.Target{Kind: entry.TargetSession, Session: s.ID},
	}
}

// subscribe adds a session with its host route.
func (r *rig) subscribe(s entry.Session) entry.Session {
	r.t.Helper()
	r.put(s, sessionRoute(s))
	return s
}

func (r *rig) round() { r.e.workers[0].round() }

func (r *rig) send(id entry.PortID, frame []byte) {
	r.t.Helper()
	if !r.ports[id].Send(frame) {
		r.t.Fatal("memory port is full")
	}
}

// take returns the next frame out of a port, nil if there is none.
func (r *rig) take(id entry.PortID) []byte {
	frame, ok := r.ports[id].Take(nil)
	if !ok {
		return nil
	}
	return frame
}

// through sends one frame in and returns what comes out of the other port.
func (r *rig) through(in entry.PortID, frame []byte, out entry.PortID) []byte {
	r.t.Helper()
	r.send(in, frame)
	r.round()
	return r.take(out)
}

func (r *rig) punted() (p entry.Punt, ok bool) {
	return p, r.punts.Pop(&p, nil) == punt.Frame
}

func (r *rig) word(name string) uint64 {
	r.t.Helper()
	for i, n := range r.e.WordNames() {
		if n == name {
			return r.counters.Word(i)
		}
	}
	r.t.Fatalf("no counter %s", name)
	return 0
}

// dropped expects one more drop of a name.
func (r *rig) dropped(in entry.PortID, frame []byte, name string) {
	r.t.Helper()
	before := r.word(name)
	r.send(in, frame)
	r.round()
	if got := r.word(name) - before; got != 1 {
		r.t.Errorf("%s counted %d", name, got)
		for i, n := range r.e.WordNames() {
			if v := r.counters.Word(i); v != 0 {
				r.t.Logf("  %s = %d", n, v)
			}
		}
	}
	for id := range r.ports {
		if f := r.take(id); f != nil {
			r.t.Errorf("port %d sent %x", id, f)
		}
	}
}

// balanced checks that every packet and buffer is accounted for.
func (r *rig) balanced() {
	r.t.Helper()
	w := r.e.workers[0]
	w.housekeep()
	var rx, tx, drops, punts uint64
	for _, p := range w.open {
		c := p.Sum()
		rx += c.InputPackets
		tx += c.OutputPackets + c.OutputDrops
	}
	for i, name := range r.e.WordNames() {
		v := r.counters.Word(i)
		switch name {
		case wordInject, wordEchoSent:
			rx += v
		case "punt/packets":
			punts += v
		case "ip4-fragment/fragments":
			rx += v
		default:
			if node, reason, _ := strings.Cut(name, "/"); node == "icmp-error" || node == "icmp6-error" {
				// The loss was counted where the fault was found; the error is a packet more.
				if strings.HasPrefix(reason, "sent-") {
					rx += v
				}
			} else if isDrop(name) {
				drops += v
			}
		}
		if name == "punt/ring-full" || len(name) > 12 && name[:12] == "punt/policed" {
			punts -= v
		}
	}
	if rx != tx+punts+drops {
		r.t.Errorf("%d in, but %d out + %d punted + %d dropped", rx, tx, punts, drops)
	}
	if free := w.Pool.Free(); free != r.e.config.Limits.Buffers {
		r.t.Errorf("%d of %d buffers are free", free, r.e.config.Limits.Buffers)
	}
}

// isDrop tells drop reasons from the other counters of nodes.
func isDrop(name string) bool {
	for _, w := range engineWords() {
		if name == w {
			return name == wordPanicDrop
		}
	}
	n := len(name)
	return !(n > 8 && (name[n-8:] == "/packets" || name[n-8:] == "/vectors"))
}

// ipPacket is a UDP packet.
func ipPacket(source, destination netip.Addr, ttl uint8, payload int) []byte {
	b := make([]byte, wire.IPv4Length+wire.UDPLength+payload)
	for i := range payload {
		b[wire.IPv4Length+wire.UDPLength+i] = byte(i)
	}
	wire.PutIPv4(b, source.As4(), destination.As4(), wire.IPProtocolUDP, ttl, 77, wire.UDPLength+payload)
	wire.PutUDP(b[wire.IPv4Length:], source.As4(), destination.As4(), 1000, 2000, payload)
	return b
}

// pppoeFrame wraps a PPP payload as the subscriber sends it.
func pppoeFrame(s entry.Session, protocol uint16, payload []byte) []byte {
	b := make([]byte, 64)
	n := wire.PutTagged(b, s.OwnMAC, s.PeerMAC, s.OuterTPID, s.OuterVLAN, s.InnerVLAN, wire.TypePPPoESession)
	n += wire.PutPPPoE(b[n:], wire.CodeSession, s.PPPoE, wire.PPPProtocolLength+len(payload))
	n += wire.PutPPP(b[n:], protocol)
	return append(b[:n], payload...)
}

func etherFrame(destination, source entry.MAC, etherType uint16, payload []byte) []byte {
	b := make([]byte, wire.EthernetLength)
	wire.PutEthernet(b, destination, source, etherType)
	return append(b, payload...)
}
