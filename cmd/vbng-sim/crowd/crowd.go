package crowd

import (
	"math/rand/v2"
	"net/netip"
	"time"

	"vbng/cmd/vbng-sim/frame"
	"vbng/cmd/vbng-sim/life"
	"vbng/cmd/vbng-sim/traffic"
	"vbng/forwarding/port"
)

// Crowd is a run of the simulator. Times are distances from its start.
type Crowd struct {
	options *options
	log     func(format string, arguments ...any)
	start   time.Time // of the run by the wall clock
	now     time.Duration

	access   *link
	internet *internet // nil: there is no Internet side

	subscribers []subscriber
	stages      [life.Stages]int        // how many subscribers are in each stage
	onTags      map[frame.Tags][]uint32 // subscribers by their VLANs, if the kind has groups
	active      []uint32                // those that are up, in no order
	byAddr      map[netip.Addr]uint32   // the last owner of each address
	timers      *timers
	starter     *starter // nil: not begun
	leaving     []uint32 // that will hang up as soon as the window permits

	run       uint32                           // tells our packets from those of another run
	meters    [2][traffic.Flows]*traffic.Meter // by direction
	generator *generator                       // nil: no traffic at the moment
	requested [2]uint64                        // packets that the traffic steps asked for so far
	scratch   []byte                           // a frame being written
	probe     [traffic.MaxBytes]byte           // a packet being written

	player       player
	problems     []string
	goingDown    bool
	firstFrame   time.Duration // PADI or DISCOVER of the first subscriber
	lastUp       time.Duration // of the first set-ups
	everUp       int
	reconnects   int
	routerEnds   int // sessions that ended while up, and not by our will
	expectedEnds int
	strays       uint64 // frames to a subscriber's MAC on VLANs that are not its own
	faults       int    // packets that were told in detail
}

// newCrowd makes a run. inet is nil if there is no Internet side.
func newCrowd(o *options, access, inet port.Port, start time.Time, random *rand.Rand, log func(string, ...any)) *Crowd {
	c := &Crowd{
		options: o, log: log, start: start,
		access:      newLink(access),
		subscribers: make([]subscriber, o.count),
		byAddr:      make(map[netip.Addr]uint32, o.count),
		timers:      newTimers(o.count),
		run:         random.Uint32(),
		player:      player{steps: o.steps},
	}
	c.populate(random.Uint32)
	for d := range c.meters {
		for f := range c.meters[d] {
			c.meters[d][f] = traffic.NewMeter(traffic.Direction(d), traffic.Flow(f), o.count)
		}
	}
	if inet != nil {
		c.internet = newInternet(newLink(inet), o)
	}
	return c
}

// populate makes the subscribers.
func (c *Crowd) populate(random func() uint32) {
	newClient := c.options.kind.clients(c.options, random)
	for i := range c.subscribers {
		made := newClient(c.options.identity(i))
		c.subscribers[i] = subscriber{client: made, id: made.Who(), place: -1}
	}
	c.stages[life.Idle] = len(c.subscribers)
	if !c.options.kind.groups {
		return
	}
	c.onTags = map[frame.Tags][]uint32{}
	for i := range c.subscribers {
		tags := c.subscribers[i].id.Tags
		c.onTags[tags] = append(c.onTags[tags], uint32(i))
	}
}

// outstanding is how many packets have not arrived yet.
func (c *Crowd) outstanding() (n uint64) {
	for d := range c.meters {
		n += c.outstandingOf(traffic.Direction(d))
	}
	return n
}

func (c *Crowd) outstandingOf(d traffic.Direction) (n uint64) {
	for _, m := range c.meters[d] {
		n += m.Outstanding()
	}
	return n
}

func (c *Crowd) sentOf(d traffic.Direction) (n uint64) {
	for _, m := range c.meters[d] {
		n += m.Sent()
	}
	return n
}

// Round does all that is due at now. It returns how long nothing will be due, and whether the script
// is over.
func (c *Crowd) Round(now time.Duration) (idle time.Duration, over bool) {
	c.now = now
	more := c.access.receive(c.receiveAccess)
	if c.internet != nil {
		more = c.internet.link.receive(c.receiveInternet) || more
		c.internet.resolve(now)
	}
	c.expire()
	c.startSome()
	c.generate()
	c.hangUpSome()
	over = c.play()
	c.access.flush()
	if c.internet != nil {
		c.internet.link.flush()
	}
	if more {
		return 0, over
	}
	return c.idle(), over
}

const pacingTick = time.Millisecond

// idle is how long the loop may sleep if no frame comes.
func (c *Crowd) idle() time.Duration {
	idle := stepTick
	if next := c.timers.next(); next > 0 {
		idle = min(idle, max(next-c.now, 0))
	}
	if c.starter != nil && c.starter.next < len(c.subscribers) || c.generator != nil || len(c.leaving) > 0 {
		idle = min(idle, pacingTick)
	}
	return idle
}
