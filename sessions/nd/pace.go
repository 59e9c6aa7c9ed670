package nd

import "time"

// The constants of RFC 4861 section 10, and the defaults of section 6.2.1.
const (
	maxInitialInterval = 16 * time.Second // MAX_INITIAL_RTR_ADVERT_INTERVAL
	initialAdverts     = 3                // MAX_INITIAL_RTR_ADVERTISEMENTS
	minDelayBetween    = 3 * time.Second  // MIN_DELAY_BETWEEN_RAS
	maxDelay           = 500 * time.Millisecond
	defaultMin         = 200 * time.Second
	defaultMax         = 600 * time.Second
)

// Pacing is how often a line hears router advertisements (RFC 4861 section 6.2.1). Zero values are the
// RFC's defaults: 200 s to 600 s. The first three come at most 16 s apart.
type Pacing struct{ Min, Max time.Duration }

// Pacer says when the next router advertisement is due, to all nodes. Every call that needs chance takes
// it: random is uniform in [0, 1).
type Pacer struct {
	pacing Pacing
	next   time.Time
	last   time.Time // zero: none was sent
	sent   int       // counts to initialAdverts
}

// NewPacer returns a pacer whose first advertisement is due at once.
func NewPacer(p Pacing, now time.Time) *Pacer {
	if p.Max == 0 {
		p.Max = defaultMax
	}
	if p.Min == 0 {
		p.Min = min(defaultMin, p.Max/3)
	}
	return &Pacer{pacing: p, next: now}
}

// ResumePacer returns the pacer of a line that has heard advertisements before, of an earlier process: the next
// is due anywhere within the longest interval, so that lines that are resumed together are not all told at once.
func ResumePacer(p Pacing, now time.Time, random float64) *Pacer {
	r := NewPacer(p, now)
	r.sent, r.next = initialAdverts, now.Add(part(random, r.pacing.Max))
	return r
}

// Solicited takes a valid router solicitation: the next advertisement is due after at most half a second
// (RFC 4861 section 6.2.6), but not before three seconds have passed since the last one.
func (p *Pacer) Solicited(now time.Time, random float64) {
	delay := part(random, maxDelay)
	due := now.Add(delay)
	if earliest := p.last.Add(minDelayBetween); !p.last.IsZero() && due.Before(earliest) {
		due = earliest.Add(delay)
	}
	if due.Before(p.next) {
		p.next = due
	}
}

// Sent says that an advertisement was sent now.
func (p *Pacer) Sent(now time.Time, random float64) {
	interval := p.pacing.Min + part(random, p.pacing.Max-p.pacing.Min)
	if p.sent < initialAdverts {
		p.sent++
	}
	if p.sent < initialAdverts {
		interval = min(interval, maxInitialInterval)
	}
	p.last, p.next = now, now.Add(interval)
}

// Deadline returns when the next advertisement is due.
func (p *Pacer) Deadline() time.Time { return p.next }

func part(random float64, of time.Duration) time.Duration { return time.Duration(random * float64(of)) }
