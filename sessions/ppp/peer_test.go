package ppp

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A line joins a link to a small client over a wire with delay and loss, in virtual time. The client
// reuses the automaton with a negotiator that agrees to everything.
type simLine struct {
	t        *testing.T
	delay    time.Duration // one way
	loss     float64
	rng      *rand.Rand
	now      time.Duration
	queue    []simEvent
	link     *Link
	lcp      automaton
	ipcp     automaton
	shared   shared
	password string
	acked    bool // PAP
	lcpUps   int
	netUps   int
	clientUp bool
	end      Cause

	toTheLetter bool // the client reopens for every Configure-Request, as the table says
}

type simEvent struct {
	at time.Duration
	do func()
}

// agreeable is the client's side of a negotiation.
type agreeable struct{ opts []Option }

func (n *agreeable) options() []Option    { return n.opts }
func (n *agreeable) begin()               {}
func (n *agreeable) judge(Option) opinion { return opinion{} }
func (n *agreeable) missing() []Option    { return nil }
func (n *agreeable) commit()              {}
func (n *agreeable) reset()               {}

func (n *agreeable) nakked(o Option) Cause {
	for i := range n.opts {
		if n.opts[i].Type == o.Type {
			n.opts[i] = Option{o.Type, append([]byte{}, o.Data...)}
		}
	}
	return ""
}

func (n *agreeable) rejected(o Option) Cause {
	var left []Option
	for _, p := range n.opts {
		if p.Type != o.Type {
			left = append(left, p)
		}
	}
	n.opts = left
	return ""
}

func newSimLine(t *testing.T, delay time.Duration, loss float64, seed uint64) *simLine {
	s := &simLine{t: t, delay: delay, loss: loss, rng: rand.New(rand.NewPCG(seed, 1)), password: "secret"}
	s.link = NewLink(pap, counting())
	s.shared.peerMRU = 1492
	limits := Config{}.withDefaults().limits()
	s.lcp = automaton{
		proto: ProtoLCP, limits: limits, shared: &s.shared, timer: timer{id: 10},
		neg: &agreeable{opts: []Option{mruOpt(1500), magicOpt(0xcafe), {Type: 7}, {Type: 8}}},
	}
	s.ipcp = automaton{
		proto: ProtoIPCP, limits: limits, shared: &s.shared, timer: timer{id: 11},
		neg: &agreeable{opts: []Option{{2, []byte{0, 0x2d, 15, 1}}, addrOpt("0.0.0.0"),
			{OptPrimaryDNS, make([]byte, 4)}, {OptSecondaryDNS, make([]byte, 4)}}},
	}
	return s
}

func (s *simLine) after(d time.Duration, f func()) {
	s.queue = append(s.queue, simEvent{s.now + d, f})
}

// carry puts a packet on the wire.
func (s *simLine) carry(f func()) {
	if s.rng.Float64() >= s.loss {
		s.after(s.delay, f)
	}
}

// run plays events in order of time until the queue is empty or the time is over.
func (s *simLine) run(until time.Duration) {
	for len(s.queue) > 0 {
		first := 0
		for i, e := range s.queue {
			if e.at < s.queue[first].at {
				first = i
			}
		}
		e := s.queue[first]
		if e.at > until {
			return
		}
		s.queue = append(s.queue[:first], s.queue[first+1:]...)
		s.now = e.at
		e.do()
	}
}

// server performs the link's outputs; the owner decides after 50 ms.
func (s *simLine) server(outs []Output) {
	for _, o := range outs {
		switch o := o.(type) {
		case Send:
			s.carry(func() { s.clientReceive(o.Proto, o.Info) })
		case SetTimer:
			s.after(o.After, func() { s.server(s.link.Timeout(o.ID, o.Generation)) })
		case LCPUp:
			s.lcpUps++
		case AuthRequest:
			s.after(50*time.Millisecond, func() {
				s.server(s.link.AuthDone(o.Serial, o.Password == "secret", "", grantFor("10.0.0.9")))
				s.server(s.link.OpenNetwork())
			})
		case NetworkUp:
			s.netUps++
		case Finished:
			s.end = o.Cause
		}
	}
}

// client performs the outputs of the client's automatons.
func (s *simLine) client(a *automaton, outs []Output) {
	for _, o := range outs {
		switch o := o.(type) {
		case Send:
			s.carry(func() { s.server(s.link.Receive(o.Proto, o.Info)) })
		case SetTimer:
			s.after(o.After, func() { s.client(a, a.timeout(o.Generation)) })
		case layerUp:
			if s.toTheLetter {
				a.repeats = maxRepeats
			}
			s.clientLayer(o.proto)
		case layerDown:
			s.clientUp = false
			if o.proto == ProtoLCP {
				s.acked = false
				s.client(&s.ipcp, s.ipcp.down())
			}
		}
	}
}

func (s *simLine) clientLayer(proto uint16) {
	if proto == ProtoIPCP {
		s.clientUp = true
		return
	}
	s.sendPAP()
}

func (s *simLine) sendPAP() {
	if s.acked || s.lcp.state != Opened {
		return
	}
	p := papRequest(1, "alice", s.password)
	s.carry(func() { s.server(s.link.Receive(ProtoPAP, p.bytes())) })
	s.after(3*time.Second, s.sendPAP)
}

func (s *simLine) clientReceive(proto uint16, info []byte) {
	p := mustParse(s.t, info)
	switch {
	case proto == ProtoLCP:
		s.client(&s.lcp, s.lcp.receive(p))
	case s.lcp.state != Opened: // RFC 1661 section 3.4: discarded
	case proto == ProtoPAP && p.Code == PAPAck && !s.acked:
		s.acked = true
		s.client(&s.ipcp, s.ipcp.start())
	case proto == ProtoIPCP && s.acked:
		s.client(&s.ipcp, s.ipcp.receive(p))
	}
}

func (s *simLine) start() {
	s.client(&s.lcp, s.lcp.start())
	s.server(s.link.Start())
}

// Both sides begin at once, so that their Configure-Requests cross.
func TestCrossingRequests(t *testing.T) {
	s := newSimLine(t, 10*time.Millisecond, 0, 1)
	s.start()
	s.run(2 * time.Second)
	if s.lcpUps != 1 || s.netUps != 1 || !s.clientUp {
		t.Fatalf("%d LCP, %d network, client %v, %v", s.lcpUps, s.netUps, s.clientUp, s.end)
	}
}

// Round trips around the restart timer and beyond it: with a client of our own kind each layer opens
// once; with one that follows the table to the letter it may open again, but settles.
func TestSlowLine(t *testing.T) {
	for _, delay := range []time.Duration{1400, 1500, 1600, 2000, 2500, 2900, 3000} {
		for _, strict := range []bool{false, true} {
			s := newSimLine(t, delay*time.Millisecond, 0, 1)
			s.toTheLetter = strict
			s.start()
			s.run(2 * time.Minute)
			settled := s.lcpUps + s.netUps
			s.run(10 * time.Minute)
			if !s.clientUp || !s.link.networks[0].up || s.lcpUps+s.netUps != settled || !strict && settled != 2 {
				t.Errorf("%v one way, to the letter %v: LCP up %d times, network %d, %d settled, client %v, %q",
					s.delay, strict, s.lcpUps, s.netUps, settled, s.clientUp, s.end)
			}
		}
	}
}

// With loss, a link comes up or ends with a cause; it never stays between.
func TestLossyLine(t *testing.T) {
	up := 0
	for seed := range uint64(300) {
		s := newSimLine(t, 20*time.Millisecond, 0.3, seed)
		s.start()
		s.run(10 * time.Minute)
		switch {
		case s.end == "" && s.link.networks[0].up && s.clientUp:
			up++
		case s.end == "":
			lcp, ipcp, _ := s.link.States()
			t.Errorf("seed %d: in between, LCP %v, IPCP %v, client %v %v", seed, lcp, ipcp, s.lcp.state, s.ipcp.state)
		}
		if n := s.link.Counters(); n.Illegal+n.Internal > 0 {
			t.Errorf("seed %d: %+v", seed, n)
		}
	}
	if up < 250 {
		t.Errorf("only %d of 300 links came up", up)
	}
}

func TestWrongPasswordOverALine(t *testing.T) {
	for seed := range uint64(50) {
		s := newSimLine(t, 20*time.Millisecond, 0.2, seed)
		s.password = "guess"
		s.start()
		s.run(10 * time.Minute)
		if s.end == "" || s.netUps != 0 {
			t.Errorf("seed %d: ended %q, network up %d times", seed, s.end, s.netUps)
		}
	}
}
