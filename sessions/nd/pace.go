package nd

import "time"

// Pacing is how often a line hears router advertisements (RFC 4861 section 6.2.1). Zero values are the
// RFC's defaults: 200 s to 600 s, the first three after 16 s at most.
type Pacing struct{ Min, Max time.Duration }

// Pacer says when the next router advertisement is due, to all nodes. Every call that needs chance takes
// it: random is uniform in [0, 1).
type Pacer struct {
	pacing Pacing
}

// NewPacer returns a pacer whose first advertisement is due at once.
func NewPacer(p Pacing, now time.Time) *Pacer { return &Pacer{pacing: p} }

// Solicited takes a valid router solicitation: the next advertisement is due after at most half a second
// (RFC 4861 section 6.2.6), but not before three seconds have passed since the last one.
func (p *Pacer) Solicited(now time.Time, random float64) {}

// Sent says that an advertisement was sent now.
func (p *Pacer) Sent(now time.Time, random float64) {}

// Deadline returns when the next advertisement is due.
func (p *Pacer) Deadline() time.Time { return time.Time{} }
