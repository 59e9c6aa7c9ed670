package crowd

import (
	"fmt"
	"time"

	"vbng/cmd/vbng-sim/traffic"
)

const (
	resolveWait   = 10 * time.Second       // for the gateway's MAC
	learnWait     = 200 * time.Millisecond // for the gateway to learn ours, which it need not before it answers
	drainWait     = time.Second            // for the last packets
	catchUp       = 50 * time.Millisecond  // of traffic that a late round may send at once
	packetsAtOnce = 64                     // each way, before arrivals get their turn
	spoofWait     = 500 * time.Millisecond // for spoofed packets to come through, if they do
)

// generator sends packets of all sessions in turn, and of each session's flows in turn.
type generator struct {
	step    *step
	begun   time.Duration
	known   time.Duration  // when the gateway was first known
	pacer   *traffic.Pacer // nil: waits for the gateway
	until   time.Duration
	cursor  int // in Crowd.active
	passes  int // over all of them
	packets int // counts through the sizes
	drained time.Duration
}

func (c *Crowd) beginTraffic(s *step) error {
	c.generator = &generator{step: s, begun: c.now}
	return nil
}

func (c *Crowd) trafficDone(*step) bool { return c.generator == nil }

// generate sends what is due.
func (c *Crowd) generate() {
	g := c.generator
	switch {
	case g == nil:
	case g.pacer == nil:
		c.waitForGateway(g)
	case c.now < g.until:
		for range g.pacer.Take(c.now, packetsAtOnce) {
			c.generateOne(g)
		}
	default:
		c.drain(g)
	}
}

func (c *Crowd) waitForGateway(g *generator) {
	switch {
	case c.internet.resolved() && g.known == 0:
		g.known = c.now
	case c.internet.resolved() && c.now < g.known+learnWait:
	case c.internet.resolved():
		burst := max(packetsAtOnce, int(g.step.perSecond*catchUp.Seconds()))
		g.pacer = traffic.NewPacer(c.now, g.step.perSecond, burst)
		g.until = c.now + g.step.duration
		c.noteRequested(g.step)
	case c.now >= g.begun+resolveWait:
		c.problem(g.step, c.internet.unresolved())
		c.generator = nil
	}
}

// unresolved says which gateway is silent.
func (n *internet) unresolved() string {
	if !n.four.resolved() {
		return "the gateway does not answer ARP"
	}
	return "the IPv6 gateway does not answer neighbour solicitations"
}

// noteRequested adds up what should be sent; a machine that is too busy sends less, which the report
// must not hide.
func (c *Crowd) noteRequested(s *step) {
	packets := uint64(s.perSecond * s.duration.Seconds())
	if s.up {
		c.requested[traffic.Upstream] += packets
	}
	if s.down {
		c.requested[traffic.Downstream] += packets
	}
}

// generateOne sends the next session's packets.
func (c *Crowd) generateOne(g *generator) {
	if len(c.active) == 0 {
		return
	}
	if g.cursor++; g.cursor >= len(c.active) {
		g.cursor = 0
		g.passes++
	}
	g.packets++
	i, size := c.active[g.cursor], c.options.sizes[g.packets%len(c.options.sizes)]
	flows := c.subscribers[i].flows
	if len(flows) == 0 {
		return
	}
	flow := flows[g.passes%len(flows)]
	if flow != traffic.IPv4 {
		size = max(size, traffic.MinBytes6)
	}
	if g.step.up {
		c.sendUpstream(i, flow, size)
	}
	if g.step.down {
		c.sendDownstream(i, flow, size)
	}
}

func (c *Crowd) sendUpstream(i uint32, f traffic.Flow, size int) {
	src := c.subscribers[i].addresses[f]
	p := traffic.Probe{
		Run: c.run, Session: i, Direction: traffic.Upstream, Flow: f,
		Sequence: c.meters[traffic.Upstream][f].Next(c.now, i),
		Src:      src, Dst: c.internet.address(src.Is6()), Bytes: size,
	}
	c.sendUser(i, p.Append(c.probe[:0]))
	c.countSent(i, size)
}

func (c *Crowd) sendDownstream(i uint32, f traffic.Flow, size int) {
	dst := c.subscribers[i].addresses[f]
	from := c.internet.side(dst.Is6())
	p := traffic.Probe{
		Run: c.run, Session: i, Direction: traffic.Downstream, Flow: f,
		Sequence: c.meters[traffic.Downstream][f].Next(c.now, i),
		Src:      from.address, Dst: dst, Bytes: size,
	}
	c.internet.sendIP(from.gatewayMAC, p.Append(c.probe[:0]))
}

// drain waits until all has arrived, or can no longer be expected.
func (c *Crowd) drain(g *generator) {
	if g.drained == 0 {
		g.drained = c.now + drainWait
		c.endSending()
	}
	if c.outstanding() == 0 || c.now >= g.drained {
		c.generator = nil
	}
}

func (c *Crowd) endSending() {
	for d := range c.meters {
		for _, m := range c.meters[d] {
			m.EndOfSending(c.now)
		}
	}
}

// beginSpoof sends packets that a source check must stop: each subscriber's bear an address of its
// neighbour in the list, of each of that one's flows in turn. They take no sequence numbers and are not accounted for; one that arrives is
// foreign.
func (c *Crowd) beginSpoof(s *step) error {
	s.due = c.now + spoofWait
	if len(c.active) < 2 {
		return fmt.Errorf("needs two subscribers that are up")
	}
	for k := range s.count {
		i, other := c.active[k%len(c.active)], c.active[(k+1)%len(c.active)]
		flows := c.subscribers[other].flows
		if len(flows) == 0 {
			return fmt.Errorf("subscriber %d has no address to borrow", other)
		}
		flow := flows[k%len(flows)]
		src := c.subscribers[other].addresses[flow]
		p := traffic.Probe{
			Run: c.run, Session: i, Direction: traffic.Upstream, Flow: flow, Sequence: uint64(k),
			Src: src, Dst: c.internet.address(src.Is6()), Bytes: traffic.MinBytes,
		}
		c.sendUser(i, p.Append(c.probe[:0]))
	}
	return nil
}
