package traffic

import (
	"net/netip"
	"time"
)

// Verdict is what an arrival was judged to be.
type Verdict uint8

// The verdicts.
const (
	Good      Verdict = iota
	Reordered         // good, but behind a later one
	Duplicate         // the same packet again
	Late              // too far behind to be told from a duplicate; counts as lost
	Foreign           // whole, but of another session than the one it arrived at
	Corrupt           // damaged, or never sent
)

var verdictNames = [...]string{"good", "reordered", "duplicate", "late", "foreign", "corrupt"}

// String names the verdict.
func (v Verdict) String() string { return verdictNames[v] }

// Count sums up one direction.
type Count struct {
	Sent         uint64 `json:"sent"`
	Received     uint64 `json:"received"`
	Lost         uint64 `json:"lost"`
	Duplicates   uint64 `json:"dup"`
	Reordered    uint64 `json:"reordered"`
	Late         uint64 `json:"late"`
	Foreign      uint64 `json:"foreign"`
	Corrupt      uint64 `json:"corrupt"`
	DeadFlows    uint64 `json:"dead_flows"` // sent something, nothing arrived
	LongestGapMS uint64 `json:"longest_gap_ms"`
}

// Faultless reports whether nothing arrived that must not, whatever was lost.
func (c Count) Faultless() bool { return c.Duplicates+c.Foreign+c.Corrupt == 0 }

// Plus adds up the counts of two sets of flows.
func (c Count) Plus(o Count) Count {
	return Count{
		Sent: c.Sent + o.Sent, Received: c.Received + o.Received, Lost: c.Lost + o.Lost,
		Duplicates: c.Duplicates + o.Duplicates, Reordered: c.Reordered + o.Reordered, Late: c.Late + o.Late,
		Foreign: c.Foreign + o.Foreign, Corrupt: c.Corrupt + o.Corrupt, DeadFlows: c.DeadFlows + o.DeadFlows,
		LongestGapMS: max(c.LongestGapMS, o.LongestGapMS),
	}
}

// Meter keeps one kind of flow of all sessions in one direction. The zero value of its clock is the start of the run.
type Meter struct {
	direction Direction
	flow      Flow
	flows     []flow
	sent      uint64 // over all flows
	received  uint64
	verdicts  [Corrupt + 1]uint64
	gap       gap
}

// NewMeter returns a meter for sessions 0..sessions-1.
func NewMeter(d Direction, f Flow, sessions int) *Meter {
	return &Meter{direction: d, flow: f, flows: make([]flow, sessions)}
}

// Next takes the next sequence number of a session's flow; the caller sends it now.
func (m *Meter) Next(now time.Duration, session uint32) uint64 {
	f := &m.flows[session]
	f.sent++
	m.sent++
	m.gap.send(now)
	return f.sent - 1
}

// Arrival is where and how a packet came in.
type Arrival struct {
	Session  uint32     // where it arrived: by encapsulation downstream, by source address upstream
	Known    bool       // false: at no session of ours
	Src, Dst netip.Addr // what the packet's addresses must be there
}

// Arrive judges a packet that Parse has read; err is Parse's.
func (m *Meter) Arrive(now time.Duration, at Arrival, p Probe, err error) Verdict {
	v := m.judge(at, p, err)
	m.verdicts[v]++
	if v == Good || v == Reordered {
		m.received++
		m.gap.arrive(now)
	}
	return v
}

func (m *Meter) judge(at Arrival, p Probe, err error) Verdict {
	switch {
	case err != nil:
		return Corrupt
	case p.Direction != m.direction, p.Flow != m.flow, int64(p.Session) >= int64(len(m.flows)):
		return Foreign
	case !at.Known, p.Session != at.Session, p.Src != at.Src, p.Dst != at.Dst:
		return Foreign
	}
	return m.flows[p.Session].arrive(p.Sequence)
}

// EndOfSending ends the search for gaps once nothing more is sent: silence is no outage then.
func (m *Meter) EndOfSending(now time.Duration) { m.gap.stop(now) }

// Sent is how many packets were sent.
func (m *Meter) Sent() uint64 { return m.sent }

// Outstanding is how many packets have not arrived yet.
func (m *Meter) Outstanding() uint64 { return m.sent - m.received }

// Count sums up.
func (m *Meter) Count() Count {
	c := Count{
		Sent: m.sent, Received: m.received, Lost: m.Outstanding(),
		Duplicates: m.verdicts[Duplicate], Reordered: m.verdicts[Reordered], Late: m.verdicts[Late],
		Foreign: m.verdicts[Foreign], Corrupt: m.verdicts[Corrupt],
		LongestGapMS: uint64(m.gap.longest.Milliseconds()),
	}
	for i := range m.flows {
		f := &m.flows[i]
		if f.sent > 0 && f.received == 0 {
			c.DeadFlows++
		}
	}
	return c
}

// gap finds the longest time in which packets were on their way and none arrived.
type gap struct {
	running bool
	since   time.Duration // last arrival, or start of sending
	longest time.Duration
}

func (g *gap) send(now time.Duration) {
	if !g.running {
		g.running, g.since = true, now
	}
}

func (g *gap) arrive(now time.Duration) {
	if g.running {
		g.longest, g.since = max(g.longest, now-g.since), now
	}
}

func (g *gap) stop(now time.Duration) {
	g.arrive(now)
	g.running = false
}
