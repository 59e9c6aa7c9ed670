package iface

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"vbng/control/oper"
	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

func addr(s string) netip.Addr     { return netip.MustParseAddr(s) }
func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// newLAN returns interface 1, core0, up with 10.0.0.1/24, and its announcements over.
func newLAN(t *testing.T) *bench {
	b := newBench(t, "", "core0", "core0.5")
	b.configure(t, "interface core0\n ip address 10.0.0.1/24\n")
	b.up(1, 1)
	b.advance(5 * time.Second)
	b.programmed()
	b.sent()
	return b
}

const (
	question = "port 1 02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff: 10.0.0.1 asks for 10.0.0.7"
	probing  = "port 1 02:00:00:00:00:01 > 06:00:00:00:00:07: 10.0.0.1 asks for 10.0.0.7"
)

func TestNeighborTable(t *testing.T) {
	// Every state and event, as the drawing in fsm.go has it.
	want := map[string]string{
		"idle need": "incomplete [ask]", "idle answer": "reachable [learn]", "idle hint": "stale [suppose probe]",
		"incomplete answer": "reachable [learn]", "incomplete hint": "stale [suppose probe]", "incomplete retry": "incomplete [ask]", "incomplete lapse": "failed [hold]",
		"reachable answer": "reachable [learn]", "reachable hint": "stale [suppose probe]", "reachable lapse": "stale [probe]",
		"stale answer": "reachable [learn]", "stale retry": "stale [probe]", "stale lapse": "incomplete [forget ask]",
		"failed answer": "reachable [learn]", "failed hint": "stale [suppose probe]", "failed lapse": "idle [remove]",
	}
	events := []string{"need", "answer", "hint", "retry", "lapse"}
	actions := []string{"ask", "probe", "learn", "suppose", "forget", "hold", "remove"}
	for s := idle; s < numNeighborStates; s++ {
		for e := need; e < numNeighborEvents; e++ {
			next, todo := step(s, e)
			var names []string
			for _, a := range todo {
				names = append(names, actions[a])
			}
			pair := s.String() + " " + events[e]
			expected, ok := want[pair]
			if !ok {
				expected = s.String() + " []"
			}
			if got := fmt.Sprint(next, " ", names); got != expected {
				t.Errorf("%s: %s, want %s", pair, got, expected)
			}
		}
	}
}

func TestGleanedNeighborLives(t *testing.T) {
	b := newLAN(t)
	b.gleans(1, "10.0.0.7")
	b.gleans(1, "10.0.0.7")
	b.expect(t, "asked once", b.sent(), question)
	b.expect(t, "nothing programmed", b.programmed(), "")
	b.hears(1, wire.ARPReply, 7, "10.0.0.7", "10.0.0.1")
	b.expect(t, "resolved", b.programmed(), `put neighbor 10.0.0.7 interface 1 mac 06:00:00:00:00:07
--
put route 10.0.0.7/32 vrf 0 to neighbor 10.0.0.7 interface 1
`)
	// Verified by unicast within its life of 20 minutes less up to a tenth; the answer keeps it.
	b.advance(18*time.Minute - time.Second)
	b.expect(t, "not yet", b.sent(), "")
	for n := 0; b.sent() == "" && n < 130; n++ {
		b.advance(time.Second)
	}
	if got := b.links[1].neighbors[addr("10.0.0.7")].state; got != stale {
		t.Fatalf("state %v, want stale", got)
	}
	b.hears(1, wire.ARPReply, 7, "10.0.0.7", "10.0.0.1")
	b.advance(10 * time.Minute)
	b.expect(t, "kept", b.programmed()+b.sent(), "")
}

func TestNeighborDies(t *testing.T) {
	b := newLAN(t)
	b.gleans(1, "10.0.0.7")
	b.hears(1, wire.ARPReply, 7, "10.0.0.7", "10.0.0.1")
	b.sent()
	b.programmed()
	n := b.links[1].neighbors[addr("10.0.0.7")]
	b.advance(n.life())
	b.advance(2500 * time.Millisecond)
	b.expect(t, "probes", b.sent(), strings.Join([]string{probing, probing, probing}, "\n"))
	b.expect(t, "used meanwhile", b.programmed(), "")
	b.advance(time.Second)
	b.expect(t, "everybody is asked", b.sent(), question)
	b.expect(t, "unresolved", b.programmed(), `put neighbor 10.0.0.7 interface 1 unresolved
--
delete route 10.0.0.7/32 vrf 0 cover 10.0.0.0/24 to connected interface 1
--
delete neighbor 10.0.0.7 interface 1
`)
	b.advance(3 * time.Second)
	b.sent()
	b.gleans(1, "10.0.0.7")
	b.expect(t, "negative cache", b.sent(), "")
	b.advance(failedHold)
	b.gleans(1, "10.0.0.7")
	b.expect(t, "asked again", b.sent(), question)
}

func TestNextHopIsNeverGivenUp(t *testing.T) {
	b := newLAN(t)
	ready := 0
	b.Want(1, addr("10.0.0.7"), func() { ready++ })
	b.settle()
	b.expect(t, "entry", b.programmed(), "put neighbor 10.0.0.7 interface 1 unresolved\n")
	if ready != 1 {
		t.Errorf("ready %d times", ready)
	}
	b.advance(20 * time.Second)
	if got := strings.Count(b.sent(), question); got < 8 || got > 10 {
		t.Errorf("%d requests in 20 s", got)
	}
	b.hears(1, wire.ARPReply, 7, "10.0.0.7", "10.0.0.1")
	b.programmed()
	b.Unwant(1, addr("10.0.0.7"))
	b.settle()
	b.expect(t, "still resolved", b.programmed(), "")
}

func TestWhatIsLearnt(t *testing.T) {
	b := newLAN(t)
	none := func(what string) {
		t.Helper()
		b.expect(t, what, b.programmed(), "")
	}
	b.hears(1, wire.ARPReply, 7, "10.0.0.7", "10.0.0.7")
	none("gratuitous reply of a stranger")
	b.hears(1, wire.ARPRequest, 7, "10.0.0.7", "10.0.0.8")
	none("a stranger's request for another")
	b.hears(1, wire.ARPRequest, 7, "192.0.2.7", "10.0.0.1")
	none("off link")
	b.hears(1, wire.ARPRequest, 7, "10.0.0.255", "10.0.0.1")
	none("the broadcast address")
	b.hears(1, wire.ARPRequest, 7, "0.0.0.0", "10.0.0.1")
	none("a probe")
	b.hears(9, wire.ARPRequest, 7, "10.0.0.7", "10.0.0.1")
	none("an unknown interface")
	b.hears(1, wire.ARPRequest, 7, "10.0.0.7", "10.0.0.1")
	b.expect(t, "a request to us", b.programmed(), `put neighbor 10.0.0.7 interface 1 mac 06:00:00:00:00:07
--
put route 10.0.0.7/32 vrf 0 to neighbor 10.0.0.7 interface 1
`)
	b.hears(1, wire.ARPRequest, 8, "10.0.0.7", "10.0.0.7")
	b.expect(t, "gratuitous ARP of a known one", b.programmed(), "put neighbor 10.0.0.7 interface 1 mac 06:00:00:00:00:08\n")
	b.sent()
	b.hears(1, wire.ARPRequest, 9, "10.0.0.1", "10.0.0.1")
	none("conflict")
	b.expect(t, "defence", b.sent(), "port 1 02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff: 10.0.0.1 asks for 10.0.0.1")
	b.hears(1, wire.ARPRequest, 9, "10.0.0.1", "10.0.0.1")
	b.expect(t, "defended not more often", b.sent(), "")
	c := b.arp
	if c.conflicts != 2 || c.moved != 1 || c.unsolicited != 2 || c.offLink != 2 {
		t.Errorf("counters %+v", c)
	}
}

func TestScanCannotExhaust(t *testing.T) {
	b := newLAN(t)
	for i := 2; i < 15; i++ {
		b.gleans(1, fmt.Sprintf("10.0.0.%d", i))
		b.hears(1, wire.ARPReply, byte(i), fmt.Sprintf("10.0.0.%d", i), "10.0.0.1")
	}
	for i := 100; i < 250; i++ {
		b.gleans(1, fmt.Sprintf("10.0.0.%d", i))
	}
	if l := b.links[1]; len(l.unresolved) > 8 || len(l.neighbors) > 20 {
		t.Errorf("%d unresolved, %d neighbours", len(l.unresolved), len(l.neighbors))
	}
	if b.arp.evicted == 0 {
		t.Error("nothing was evicted")
	}
	b.Want(1, addr("10.0.0.50"), func() {})
	b.settle()
	if b.links[1].neighbors[addr("10.0.0.50")] == nil {
		t.Error("a next hop was not admitted")
	}
	b.configure(t, "")
	b.Unwant(1, addr("10.0.0.50"))
	b.settle()
	if len(b.links) != 0 || b.neighbors != 0 {
		t.Errorf("%d links, %d neighbours left", len(b.links), b.neighbors)
	}
}

func TestRequestsAreTagged(t *testing.T) {
	b := newBench(t, "", "core0", "core0.5")
	b.configure(t, "interface core0\n!\ninterface core0.5\n encapsulation dot1q 5 second-dot1q 6 outer-tpid 0x9100\n ip address 10.0.0.1/24\n")
	b.up(1, 1)
	b.sent()
	// The interface is found by port and tags when the forwarder does not name it.
	data := make([]byte, 42)
	wire.PutIPv4(data[22:], [4]byte{192, 0, 2, 1}, [4]byte{10, 0, 0, 7}, 1, 64, 0, 0)
	b.Punt(entry.Punt{Class: entry.ClassGlean, Port: 1, OuterTPID: 0x9100, OuterVLAN: 5, InnerVLAN: 6, Payload: 22, Data: data})
	b.settle()
	b.expect(t, "tagged", b.sent(), "port 1 vlan 0x9100:5.6 02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff: 10.0.0.1 asks for 10.0.0.7")
}

func TestShowAndClear(t *testing.T) {
	b := newLAN(t)
	b.gleans(1, "10.0.0.7")
	b.hears(1, wire.ARPReply, 7, "10.0.0.7", "10.0.0.1")
	b.gleans(1, "10.0.0.8")
	b.Want(1, addr("10.0.0.9"), func() {})
	b.advance(500 * time.Millisecond)
	table := b.ask(t, "show arp", nil).(oper.Table[NeighborRow])
	b.expect(t, "show arp", fmt.Sprint(table.Rows), "[{10.0.0.7 06:00:00:00:00:07 core0 reachable 0 false} {10.0.0.8  core0 incomplete 0 false} {10.0.0.9  core0 incomplete 0 true}]")
	if err, ok := b.ask(t, "clear arp", map[string]string{"address": "10.0.0.77"}).(error); !ok || !strings.Contains(err.Error(), "no neighbour that could be forgotten") {
		t.Errorf("clear of an unknown neighbour: %v", err)
	}
	b.sent()
	b.ask(t, "clear arp", nil)
	table = b.ask(t, "show arp", nil).(oper.Table[NeighborRow])
	b.expect(t, "after clear", fmt.Sprint(table.Rows), "[{10.0.0.9  core0 incomplete 0 true}]")
	b.expect(t, "asked at once", b.sent(), "port 1 02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff: 10.0.0.1 asks for 10.0.0.9")

	rows := b.ask(t, "show interfaces", nil).(oper.Table[InterfaceRow]).Rows
	if len(rows) != 1 || rows[0].State != "up" || rows[0].MAC != "02:00:00:00:00:01" || rows[0].MTUBytes != 1500 {
		t.Errorf("show interfaces: %+v", rows)
	}
	if _, ok := b.ask(t, "show interfaces", map[string]string{"name": "core0"}).(oper.Document); !ok {
		t.Error("show interfaces core0: no document")
	}
	if _, ok := b.ask(t, "show interfaces", map[string]string{"name": "core9"}).(error); !ok {
		t.Error("show interfaces core9: no error")
	}
}

// ask runs a command while the loops are emptied by hand.
func (b *bench) ask(t *testing.T, words string, args map[string]string) any {
	t.Helper()
	answers := make(chan any, 1)
	for _, c := range b.Commands() {
		if c.Words != words {
			continue
		}
		go func() {
			answer, err := c.Run(context.Background(), oper.Call{Args: args})
			if err != nil {
				answer = err
			}
			answers <- answer
		}()
	}
	for {
		select {
		case answer := <-answers:
			b.settle()
			return answer
		default:
			b.loop.Drain(b.handle)
		}
	}
}

func FuzzPunt(f *testing.F) {
	good := arpRequest(entry.MAC{2}, broadcastMAC, tags{}, addr("10.0.0.7"), addr("10.0.0.1"))
	f.Add(uint8(entry.ClassARP), 14, good)
	f.Add(uint8(entry.ClassARP), 22, arpRequest(entry.MAC{2}, broadcastMAC, tags{0x88a8, 100, 7}, addr("10.0.0.7"), addr("10.0.0.1")))
	f.Add(uint8(entry.ClassARP), 14, good[:40])
	f.Add(uint8(entry.ClassGlean), 0, []byte{0x45, 0, 0, 20, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 9})
	f.Add(uint8(entry.ClassLocal), -1, []byte{})
	f.Fuzz(func(t *testing.T, class uint8, payload int, data []byte) {
		m, ok := decode(entry.Punt{Class: entry.Class(class), Payload: payload, Data: data})
		if !ok {
			return
		}
		h, isARP := m(1).(heard)
		if !isARP {
			return
		}
		if h.mac[0]&1 != 0 || h.mac == (entry.MAC{}) || h.sender.IsMulticast() {
			t.Errorf("learnable: %+v", h)
		}
		if h.operation != wire.ARPRequest && h.operation != wire.ARPReply {
			t.Errorf("operation %d", h.operation)
		}
	})
}

// keeper is a Memory.
type keeper map[string]string

func (k keeper) Put(key, value []byte) { k[string(key)] = string(value) }
func (k keeper) Delete(key []byte)     { delete(k, string(key)) }
func (k keeper) ForEach(f func(key, value []byte) error) error {
	for key, value := range k {
		if err := f([]byte(key), []byte(value)); err != nil {
			return err
		}
	}
	return nil
}

// TestRestart: a new control programs the neighbours of the last one as they were, and verifies them.
func TestRestart(t *testing.T) {
	memory := keeper{}
	config := "interface core0\n ip address 10.0.0.1/24\n"
	start := func() *bench {
		b := newBench(t, "", "core0")
		b.options.Memory = memory
		b.remembered, _ = load(memory)
		b.configure(t, config)
		return b
	}
	b := start()
	b.up(1, 1)
	for i := byte(7); i < 9; i++ {
		b.gleans(1, fmt.Sprintf("10.0.0.%d", i))
		b.hears(1, wire.ARPReply, i, fmt.Sprintf("10.0.0.%d", i), "10.0.0.1")
	}
	if len(memory) != 2 {
		t.Fatalf("%d remembered", len(memory))
	}

	b = start()
	settled := 0
	b.Settled(func() { b.rib.Settled(func() { settled++ }) })
	b.settle()
	if settled != 0 {
		t.Error("settled before the port told its state")
	}
	b.programmed()
	b.up(1, 1)
	b.expect(t, "restart", b.programmed(), `put neighbor 10.0.0.7 interface 1 mac 06:00:00:00:00:07
--
put neighbor 10.0.0.8 interface 1 mac 06:00:00:00:00:08
--
put route 10.0.0.7/32 vrf 0 to neighbor 10.0.0.7 interface 1
put route 10.0.0.8/32 vrf 0 to neighbor 10.0.0.8 interface 1
put route 10.0.0.0/24 vrf 0 to connected interface 1
put route 10.0.0.1/32 vrf 0 to local
`)
	if settled != 1 {
		t.Errorf("settled %d times", settled)
	}
	if got := b.sent(); !strings.HasPrefix(got, probing) {
		t.Errorf("not verified: %s", got)
	}
	b.hears(1, wire.ARPReply, 7, "10.0.0.7", "10.0.0.1")
	b.advance(time.Minute)
	if len(memory) != 1 {
		t.Errorf("%d remembered, want the one that answered", len(memory))
	}
}

// TestUnwantOfRefusedWant: the next hop was asked for before its interface stood, and given back after.
func TestUnwantOfRefusedWant(t *testing.T) {
	b := newBench(t, "", "core0")
	b.Want(1, addr("10.0.0.2"), func() { t.Error("a next hop without interface is ready") })
	b.settle()
	b.configure(t, "interface core0\n ip address 10.0.0.1/24\n")
	b.up(1, 1)
	b.hears(1, 1, 9, "10.0.0.2", "10.0.0.1")
	b.Unwant(1, addr("10.0.0.2"))
	b.configure(t, "")
	if len(b.links) != 0 {
		t.Errorf("the link stays: %v", b.links)
	}
}
