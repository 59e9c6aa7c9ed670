package traffic

import "time"

// Pacer says how many events are due: a token bucket that fills evenly.
type Pacer struct {
	perSecond float64
	burst     float64
	credit    float64
	last      time.Duration
}

// NewPacer returns a pacer that starts at now with an empty bucket. What a late caller may catch up
// with at once is bounded to burst.
func NewPacer(now time.Duration, perSecond float64, burst int) *Pacer {
	return &Pacer{perSecond: perSecond, burst: float64(burst), last: now}
}

// Take returns how many events are due, at most limit; what is due beyond stays due.
func (p *Pacer) Take(now time.Duration, limit int) int {
	p.credit = min(p.burst, p.credit+p.perSecond*(now-p.last).Seconds())
	p.last = now
	n := min(int(p.credit), limit)
	p.credit -= float64(n)
	return n
}
