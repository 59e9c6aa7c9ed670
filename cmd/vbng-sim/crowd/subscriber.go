package crowd

import (
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/life"
	"vbng/cmd/vbng-sim/traffic"
)

const reconnectWait = time.Second

// octets counts inner IP packets as the router has to account for them.
type octets struct {
	inPackets, inBytes   uint64 // from the subscriber
	outPackets, outBytes uint64 // to the subscriber
}

// subscriber is a client with what the crowd knows of it.
type subscriber struct {
	client
	id        *life.Identity
	state     life.State                // after the client's last call; the crowd counts it under this stage
	addresses [traffic.Flows]netip.Addr // while it was last up; invalid: none
	flows     []traffic.Flow            // that it has traffic on
	started   bool                      // its first set-up has begun
	settled   bool                      // and come to a result
	wasUp     bool                      // in its present life
	octets    octets
	place     int // in Crowd.active; -1: not up
}

// after performs what a client answered, and takes note of where it stands now. It is called after
// each call of a client.
func (c *Crowd) after(i uint32, frames [][]byte) {
	for _, f := range frames {
		c.access.send(f)
	}
	s := &c.subscribers[i]
	before := s.state.Stage
	s.state = s.State()
	c.timers.set(i, s.state.Deadline)
	if s.state.Stage == before {
		return
	}
	c.stages[before]--
	c.stages[s.state.Stage]++
	if before == life.Up {
		c.deactivate(i)
	}
	switch s.state.Stage {
	case life.Up:
		c.cameUp(i)
	case life.Ended:
		c.hasEnded(i)
	case life.Silent:
		c.settle(s)
	}
}

// settle marks the end of a subscriber's first set-up.
func (c *Crowd) settle(s *subscriber) {
	if s.started && !s.settled {
		s.settled = true
		c.starter.outstanding--
	}
}

func (c *Crowd) cameUp(i uint32) {
	s := &c.subscribers[i]
	if !s.settled {
		c.everUp++
		c.lastUp = c.now
	}
	c.settle(s)
	s.wasUp = true
	c.takeAddresses(i)
	s.place = len(c.active)
	c.active = append(c.active, i)
}

// takeAddresses notes which addresses a subscriber came up with, and which of them have traffic.
func (c *Crowd) takeAddresses(i uint32) {
	s := &c.subscribers[i]
	a := s.Addresses()
	s.addresses = [traffic.Flows]netip.Addr{a.IPv4, a.SLAAC, a.Assigned, a.InDelegated()}
	s.flows = s.flows[:0]
	for f, address := range s.addresses {
		if address.IsValid() {
			c.byAddr[address] = i
			if c.internet != nil && c.internet.has(address.Is6()) {
				s.flows = append(s.flows, traffic.Flow(f))
			}
		}
	}
}

// deactivate takes a subscriber out of those that have traffic.
func (c *Crowd) deactivate(i uint32) {
	place, last := c.subscribers[i].place, len(c.active)-1
	c.active[place] = c.active[last]
	c.subscribers[c.active[place]].place = place
	c.active = c.active[:last]
	c.subscribers[i].place = -1
}

func (c *Crowd) hasEnded(i uint32) {
	s := &c.subscribers[i]
	c.settle(s)
	if s.state.Closed {
		return
	}
	if s.wasUp {
		c.routerEnds++
	}
	if c.options.reconnect && !c.goingDown {
		c.timers.set(i, c.now+reconnectWait)
	}
}

// dial begins a subscriber's first or next life.
func (c *Crowd) dial(i uint32) {
	s := &c.subscribers[i]
	if s.started {
		c.reconnects++
	}
	s.started = true
	s.octets, s.wasUp = octets{}, false
	c.after(i, s.Start(c.now))
}

// expire runs the timers that are due.
func (c *Crowd) expire() {
	for {
		i, ok := c.timers.due(c.now)
		if !ok {
			return
		}
		if s := &c.subscribers[i]; s.state.Stage == life.Ended {
			c.dial(i)
		} else {
			c.after(i, s.Expire(c.now))
		}
	}
}

// starter begins set-ups at a bounded rate, with a bounded number of them unfinished.
type starter struct {
	pacer       *traffic.Pacer // nil: no bound of the rate
	window      int
	next        int // subscriber
	outstanding int
}

func newStarter(now time.Duration, o *options) *starter {
	s := &starter{window: o.window}
	if o.setupsPerSecond > 0 {
		s.pacer = traffic.NewPacer(now, o.setupsPerSecond, o.window)
	}
	return s
}

// startSome begins those set-ups that are due.
func (c *Crowd) startSome() {
	s := c.starter
	if s == nil || s.next == len(c.subscribers) {
		return
	}
	n := min(len(c.subscribers)-s.next, s.window-s.outstanding)
	if s.pacer != nil {
		n = s.pacer.Take(c.now, n)
	}
	for range n {
		if s.next == 0 {
			c.firstFrame = c.now
		}
		s.outstanding++
		s.next++
		c.dial(uint32(s.next - 1))
	}
}

// hangUpSome lets subscribers hang up, no more at a time than may dial: all at once would only
// measure how many frames the router's control path can queue.
func (c *Crowd) hangUpSome() {
	for len(c.leaving) > 0 && c.stages[life.Closing] < c.options.window {
		i := c.leaving[0]
		c.leaving = c.leaving[1:]
		c.after(i, c.subscribers[i].Close(c.now))
	}
}
