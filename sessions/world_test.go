package sessions

import (
	"crypto/md5"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/control/clock"
	"vbng/control/config"
	"vbng/control/oper"
	"vbng/control/schema"
	"vbng/control/store"
	"vbng/forwarding/entry"
	"vbng/sessions/pppoe"
)

// sampleConfig is what most tests run with.
const sampleConfig = `
hostname bng1
interface access0
 pppoe profile residential
interface core0
 ip address 198.51.100.1/24
interface loopback0
 ip address 100.64.0.1/32
ip pool residential
 range 100.64.0.0 100.64.63.254
pppoe profile residential
 ac-name bng1
 authentication chap pap
 ip unnumbered loopback0
 ip pool residential
 dns 9.9.9.9 149.112.112.112
 echo-interval 10
 echo-misses 3
`

var (
	routerMAC = entry.MAC{2, 0, 0, 0, 0, 1}
	errRIB    = errors.New("route refused")
)

// world is everything around the Manager, and slow: answers wait in queues until a test lets them go.
type world struct {
	t      testing.TB
	clock  *clock.Fake
	ticker clock.Clock // what the Manager gets
	random *rand.Rand
	store  *store.Store
	m      *Manager

	entries  map[string]entry.Entry // what the forwarder holds, by key
	tuples   map[tuple]entry.SessionID
	routes   map[netip.Prefix]entry.SessionID
	counters map[entry.SessionID]entry.SessionCounters
	batches  []string

	programming []func() // answers in order
	others      []func() // answers of RIB and authorizer, in any order

	refuseProgram, refuseRoute float64 // probabilities
	authorize                  func(aaa.Request) aaa.Answer

	frames     [][]byte // injected, on their way to clients
	aggregates map[string][]netip.Prefix
	records    []aaa.Record
	onRecord   func(aaa.Record) // may be nil
	requests   []aaa.Request
	portNames  map[entry.PortID]string
	fuzz       func(entry.Punt) // takes what stations say in place of the Manager; may be nil
}

func newWorld(t testing.TB, text string) *world {
	t.Helper()
	w := &world{
		t: t, clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), random: rand.New(rand.NewPCG(7, 7)),
		counters: map[entry.SessionID]entry.SessionCounters{}, portNames: map[entry.PortID]string{1: "access0", 2: "access1"},
		aggregates: map[string][]netip.Prefix{},
	}
	w.ticker = w.clock
	w.newForwarder()
	w.authorize = func(r aaa.Request) aaa.Answer {
		return aaa.Answer{Grant: &aaa.Grant{Source: "test", Authentic: aaa.ByLocal, Class: [][]byte{{1, 0, 2}}}}
	}
	var err error
	w.store, err = store.Open(filepath.Join(t.TempDir(), "store"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	w.start(text)
	return w
}

func (w *world) newForwarder() {
	w.entries, w.tuples, w.routes = map[string]entry.Entry{}, map[tuple]entry.SessionID{}, map[netip.Prefix]entry.SessionID{}
}

// start starts a Manager on what the store holds: the first one, or the next after a crash.
func (w *world) start(text string) {
	w.t.Helper()
	m, err := New(Needs{
		Clock: w.ticker, Log: slog.New(slog.DiscardHandler), Store: w.store, Programmer: w, Counters: w, Ports: w,
		Authorizer: w, Accountant: w, Routes: w, Random: w.fill,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.m = m
	w.configure(text)
	if err := m.Restore(nil); err != nil {
		w.t.Fatal(err)
	}
	w.drain()
}

func (w *world) fill(b []byte) {
	for i := range b {
		b[i] = byte(w.random.Uint32())
	}
}

// configure commits a configuration.
func (w *world) configure(text string) {
	w.t.Helper()
	tree, faults := parseConfig(w.t, text)
	if len(faults) > 0 {
		w.t.Fatal(faults)
	}
	if faults := w.m.Check(nil, tree); len(faults) > 0 {
		w.t.Fatal(faults)
	}
	w.m.Apply(nil, tree)
	w.drain()
}

// parseConfig parses with this package's schema and what it reads of others'.
func parseConfig(t testing.TB, text string) (*config.Tree, []error) {
	t.Helper()
	m := &Manager{}
	root, err := schema.Merge(m.Schema(), []*schema.Node{
		{
			Name: "aaa group", Kind: schema.List, Mode: "config-aaa-group", Help: "group", Keys: []*schema.Node{nameKey("name")},
			Children: []*schema.Node{{Name: "accounting", Kind: schema.Flag, Help: "accounting"}},
		},
		{Name: "hostname", Kind: schema.Leaf, Help: "host name", Type: schema.Name(), Default: "vbng"},
		{
			Name: "interface", Kind: schema.List, Mode: "config-if", Help: "interface", Keys: []*schema.Node{nameKey("name")},
			Children: []*schema.Node{
				{Name: "ip address", Kind: schema.Leaf, Help: "address", Type: schema.InterfacePrefix4()},
				{Name: "ipv6 address", Kind: schema.List, Help: "address", Keys: []*schema.Node{{Name: "address", Kind: schema.Leaf, Help: "address", Type: schema.String(64, "", "ADDRESS")}}},
				{Name: "vrf", Kind: schema.Leaf, Help: "VRF", Type: schema.Name()},
				{Name: "shutdown", Kind: schema.Flag, Help: "out of service"},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if faults := schema.Validate(root); len(faults) > 0 {
		t.Fatal(faults)
	}
	tree, faults := config.Parse(root, text)
	return tree, append(faults, config.Check(tree)...)
}

func (w *world) drain() { w.m.loop.Drain(w.m.handle) }

// settle lets everything answer until nothing is left to say. It does not move the clock.
func (w *world) settle(clients ...*peer) {
	w.t.Helper()
	for range 10000 {
		w.drain()
		switch {
		case len(w.programming) > 0:
			w.answerProgrammer()
		case len(w.others) > 0:
			w.answerOther(0)
		case len(w.frames) > 0:
			frame := w.frames[0]
			w.frames = w.frames[1:]
			for _, c := range clients {
				c.receive(frame)
			}
		default:
			return
		}
	}
	w.t.Fatal("the world does not settle")
}

func (w *world) answerProgrammer() {
	f := w.programming[0]
	w.programming = w.programming[1:]
	f()
}

func (w *world) answerOther(i int) {
	f := w.others[i]
	w.others = slices.Delete(w.others, i, i+1)
	f()
}

// Apply implements entry.Programmer. The batch takes effect with its answer, which is late.
func (w *world) Apply(b *entry.Batch, done func(entry.Result)) {
	w.batches = append(w.batches, b.String())
	w.programming = append(w.programming, func() {
		adds := slices.ContainsFunc(b.Ops, func(op entry.Op) bool { return op.Verb == entry.Put })
		if adds && w.random.Float64() < w.refuseProgram {
			done(entry.Result{Err: &entry.Refused{Reason: "by chance"}})
			return
		}
		var r entry.Result
		for i, op := range b.Ops {
			if reason := w.apply(op, &r); reason != "" {
				w.t.Errorf("batch refused at %d: %s\n%s", i, reason, b)
			}
		}
		done(r)
	})
}

func (w *world) apply(op entry.Op, r *entry.Result) (reason string) {
	switch e := op.Entry.(type) {
	case entry.Session:
		key := fmt.Sprint("session ", e.ID)
		old, there := w.entries[key].(entry.Session)
		if op.Verb == entry.Put {
			if holder, taken := w.tuples[entryTuple(e)]; taken && holder != e.ID {
				return "tuple is taken"
			}
			w.entries[key], w.tuples[entryTuple(e)] = e, e.ID
			return ""
		}
		if !there {
			return "delete of no session"
		}
		if w.entries[fmt.Sprint("echo ", e.ID)] != nil {
			return "echo would dangle"
		}
		for _, id := range w.routes {
			if id == e.ID {
				return "route would dangle"
			}
		}
		delete(w.entries, key)
		delete(w.tuples, entryTuple(old))
		r.Finals = append(r.Finals, entry.Final{Session: e.ID, Counters: w.counters[e.ID]})
		delete(w.counters, e.ID)
	case entry.Echo:
		key := fmt.Sprint("echo ", e.Session)
		if op.Verb == entry.Delete {
			if w.entries[key] == nil {
				return "delete of no echo"
			}
			delete(w.entries, key)
			return ""
		}
		if w.entries[fmt.Sprint("session ", e.Session)] == nil {
			return "echo of no session"
		}
		w.entries[key] = e
	}
	return ""
}

func entryTuple(e entry.Session) tuple {
	return tuple{
		client: client{
			place: Place{Port: e.Port, OuterTPID: e.OuterTPID, OuterVLAN: e.OuterVLAN, InnerVLAN: e.InnerVLAN}, mac: e.PeerMAC,
		},
		pppoe: e.PPPoE,
	}
}

// Inject implements entry.Programmer.
func (w *world) Inject(_ entry.PortID, frame []byte) bool {
	w.frames = append(w.frames, slices.Clone(frame))
	return true
}

// SessionCounters implements entry.Counters.
func (w *world) SessionCounters(id entry.SessionID) (entry.SessionCounters, bool) {
	_, there := w.entries[fmt.Sprint("session ", id)]
	return w.counters[id], there
}

// PortCounters implements entry.Counters.
func (w *world) PortCounters(entry.PortID) (entry.PortCounters, bool) {
	return entry.PortCounters{}, false
}

// Port implements Ports.
func (w *world) Port(id entry.PortID) (string, entry.MAC, bool, bool) {
	name, ok := w.portNames[id]
	return name, routerMAC, true, ok
}

// Authorize implements Authorizer.
func (w *world) Authorize(r aaa.Request, done func(aaa.Answer)) {
	w.requests = append(w.requests, r)
	answer := w.authorize(r)
	w.others = append(w.others, func() { done(answer) })
}

// Account implements Accountant.
func (w *world) Account(r aaa.Record) {
	w.records = append(w.records, r)
	if w.onRecord != nil {
		w.onRecord(r)
	}
}

// AddSubscriber implements Routes.
func (w *world) AddSubscriber(_ entry.VRFID, p netip.Prefix, id entry.SessionID, done func(error)) {
	w.others = append(w.others, func() {
		if w.random.Float64() < w.refuseRoute {
			done(errRIB)
			return
		}
		e, there := w.entries[fmt.Sprint("session ", id)].(entry.Session)
		if !there || p.Addr().Is4() && e.IPv4 != p.Addr() || p.Addr().Is6() && !e.IPv6.IsValid() {
			w.t.Errorf("route %s to session %d, which forwards no such address", p, id)
		}
		if holder, taken := w.routes[p]; taken && holder != id {
			w.t.Errorf("route %s of session %d is taken by %d", p, holder, id)
		}
		w.routes[p] = id
		done(nil)
	})
}

// DeleteSubscriber implements Routes.
func (w *world) DeleteSubscriber(_ entry.VRFID, p netip.Prefix, id entry.SessionID, done func()) {
	w.others = append(w.others, func() {
		if w.routes[p] != id {
			w.t.Errorf("route %s to session %d is not there", p, id)
		}
		delete(w.routes, p)
		done()
	})
}

// SetAggregates implements Routes.
func (w *world) SetAggregates(_ entry.VRFID, owner string, prefixes []netip.Prefix) {
	if w.aggregates[owner] = prefixes; len(prefixes) == 0 {
		delete(w.aggregates, owner)
	}
}

// chapHash is the answer to a challenge (RFC 1994 section 4.1).
func chapHash(id byte, secret string, challenge []byte) []byte {
	h := md5.Sum(slices.Concat([]byte{id}, []byte(secret), challenge))
	return h[:]
}

func addr(text string) netip.Addr { return netip.MustParseAddr(text) }

func dnsOf(text string) [2]netip.Addr { return [2]netip.Addr{addr(text)} }

// cookieFor returns a good cookie without a PADI having been answered.
func (p *profile) cookieFor(c *peer, now time.Time) []byte {
	packet := []byte{0x11, 0x09, 0, 0, 0, 4, 1, 1, 0, 0}
	reply, _ := p.responder.Handle(pppoe.Frame{
		Line: line(c.place), Own: pppoe.MAC(routerMAC), Dst: pppoe.MAC(routerMAC), Src: pppoe.MAC(c.mac), Payload: packet,
	}, now)
	for b := reply[6:]; len(b) >= 4; b = b[4+int(word(b[2:])):] {
		if word(b) == 0x0104 {
			return slices.Clone(b[4 : 4+int(word(b[2:]))])
		}
	}
	return nil
}

// run runs a command while the loop answers.
func (w *world) run(words string, args map[string]string) any {
	w.t.Helper()
	for _, c := range w.m.Commands() {
		if c.Words != words {
			continue
		}
		type outcome struct {
			value any
			err   error
		}
		done := make(chan outcome, 1)
		go func() {
			value, err := c.Run(w.t.Context(), oper.Call{Args: args})
			done <- outcome{value, err}
		}()
		for {
			w.drain()
			select {
			case o := <-done:
				if o.err != nil {
					w.t.Fatal(o.err)
				}
				w.drain()
				return o.value
			default:
				runtime.Gosched()
			}
		}
	}
	w.t.Fatalf("no command %q", words)
	return nil
}
