package punt

import (
	"sync/atomic"

	"vbng/forwarding/entry"
)

// The rates at which frames may come up unless control says otherwise, by this reasoning:
//
// A subscriber's set-up brings up 2 frames of discovery and about 10 of PPP. Control works off 5,000
// set-ups a second and more, and bounds what waits by itself (sessions: inbox, set-up time, limits). When a
// city comes back after an outage, a policer must not be what slows it down: a lost frame costs its client
// the three seconds of a restart timer. So the classes of set-up take 10,000 set-ups a second.
//
// What holds an attacker is the bound per source. PPP control comes from known sessions only, so its
// sources cannot be invented; discovery's can, but is answered without state, some microseconds each, and
// goes further only with a cookie that the source must have received. 50 and 100 frames a second let ten
// sessions behind one address set up within a second.
//
// An IPoE subscriber's set-up brings up 2 frames of DHCPv4, 4 of DHCPv6 and about 6 of neighbour discovery; the same
// reasoning, 10,000 set-ups a second, and retransmissions on top. The bound per source is what a flood from one MAC
// address comes down to: a client sends a handful of frames, and several hosts behind one address some more.
//
// The others are bounded by what they are worth: one PADT a second per source for unknown sessions, ARP,
// neighbour discovery and gleans for as many neighbours as a core port has. Glean has no bound per source: its source is the
// router behind which the world lies, and the forwarder gleans each neighbour once per second anyway.
// Captures bound themselves (entry.Capture), and the part of the ring that they may fill is bounded (captureShare); their
// rate keeps control from having nothing else to do.
//
// All bursts together, in frames as long as they usually are in their class, fit a punt ring.
var defaultRates = [...]entry.Policer{
	{Class: entry.ClassPPPoEDiscovery, PacketsPerSecond: 20_000, Burst: 8_000, SourcePerSecond: 50, SourceBurst: 50},
	{Class: entry.ClassPPPControl, PacketsPerSecond: 100_000, Burst: 10_000, SourcePerSecond: 100, SourceBurst: 100},
	{Class: entry.ClassPPPoEUnknown, PacketsPerSecond: 1_000, Burst: 200, SourcePerSecond: 1, SourceBurst: 1},
	{Class: entry.ClassARP, PacketsPerSecond: 2_000, Burst: 500, SourcePerSecond: 200, SourceBurst: 100},
	{Class: entry.ClassGlean, PacketsPerSecond: 2_000, Burst: 500},
	{Class: entry.ClassLocal, PacketsPerSecond: 2_000, Burst: 500, SourcePerSecond: 500, SourceBurst: 200},
	{Class: entry.ClassND, PacketsPerSecond: 2_000, Burst: 500, SourcePerSecond: 200, SourceBurst: 100},
	{Class: entry.ClassSubscriberND, PacketsPerSecond: 80_000, Burst: 8_000, SourcePerSecond: 50, SourceBurst: 50},
	{Class: entry.ClassDHCPv4, PacketsPerSecond: 30_000, Burst: 4_000, SourcePerSecond: 30, SourceBurst: 30},
	{Class: entry.ClassDHCPv6, PacketsPerSecond: 60_000, Burst: 6_000, SourcePerSecond: 30, SourceBurst: 30},
	{Class: entry.ClassCapture, PacketsPerSecond: 20_000, Burst: 1_000},
}

// Policers bounds punts by two token buckets: one per class, and one per class and source MAC, which
// stands in front, so that what one source sends too much costs the others nothing. Admit belongs to
// one worker; Set may come from another goroutine. Rates count per worker.
type Policers struct {
	rates   [entry.NumClasses]rate
	classes [entry.NumClasses]bucket
	sources sources
}

// rate is a class's configuration, in the buckets' terms.
type rate struct {
	class, source limit
}

// limit is an interval between packets and a bound on how far ahead of time a bucket may run.
type limit struct {
	intervalNanos, burstNanos atomic.Int64
}

// closedNanos is the interval of a rate of 0: about three years, which no burst covers.
const closedNanos = 1e17

func (l *limit) set(perSecond, burst uint32) {
	interval := int64(closedNanos)
	if perSecond != 0 {
		interval = max(1e9/int64(perSecond), 1)
	}
	l.intervalNanos.Store(interval)
	if perSecond == 0 {
		l.burstNanos.Store(0)
	} else {
		l.burstNanos.Store(interval * int64(max(burst, 1)))
	}
}

// bucket is a token bucket as one number: the time at which it will be full again.
type bucket int64

// admits reports whether a token is there.
func (b bucket) admits(l *limit, nowNanos int64) bool {
	return max(int64(b), nowNanos)+l.intervalNanos.Load()-nowNanos <= l.burstNanos.Load()
}

func (b *bucket) take(l *limit, nowNanos int64) {
	*b = bucket(max(int64(*b), nowNanos) + l.intervalNanos.Load())
}

// NewPolicers returns policers with the default rates, in all the memory they will ever take.
func NewPolicers() *Policers {
	p := &Policers{}
	p.sources.init()
	for _, r := range defaultRates {
		p.Set(r)
	}
	return p
}

// Default returns the rates of a class that nobody configured.
func Default(c entry.Class) entry.Policer {
	for _, r := range defaultRates {
		if r.Class == c {
			return r
		}
	}
	return entry.Policer{Class: c}
}

// Set changes a class's rates; buckets keep their fill. PacketsPerSecond 0 closes the class.
func (p *Policers) Set(e entry.Policer) {
	if e.Class >= entry.NumClasses {
		return // the codec refuses it before it gets here
	}
	r := &p.rates[e.Class]
	r.class.set(e.PacketsPerSecond, e.Burst)
	if e.SourcePerSecond == 0 {
		r.source.intervalNanos.Store(0) // no such bound
		return
	}
	r.source.set(e.SourcePerSecond, e.SourceBurst)
}

// Admit takes a token for a frame of class c, or reports that there is none. nowNanos is any clock that
// does not go backwards.
func (p *Policers) Admit(c entry.Class, source entry.MAC, nowNanos int64) bool {
	if c >= entry.NumClasses {
		return false
	}
	r, class := &p.rates[c], &p.classes[c]
	if !class.admits(&r.class, nowNanos) {
		return false
	}
	if r.source.intervalNanos.Load() != 0 {
		b := p.sources.find(c, source, nowNanos)
		if !b.admits(&r.source, nowNanos) {
			return false // the class keeps its token for others
		}
		b.take(&r.source, nowNanos)
	}
	class.take(&r.class, nowNanos)
	return true
}
