package sessions

import (
	"sync"
	"time"
)

const (
	// paceBurst is what one station may say at once: DHCP, DHCPv6 and neighbour discovery of a client that
	// comes up, twice over.
	paceBurst = 20
	// pacePerSecond is what it may say after that.
	pacePerSecond = 5
	// maxPaced bounds the stations that are remembered; what others say then counts together.
	maxPaced = 1 << 15
)

// pacer keeps one station's flood out of the inbox. It is safe for concurrent use.
type pacer struct {
	mu      sync.Mutex
	buckets map[client]bucket
	crowd   bucket // all that there is no room for
	swept   time.Time
}

// bucket is what a station may say yet, as of a moment.
type bucket struct {
	tokens float64
	at     time.Time
}

func newPacer() *pacer { return &pacer{buckets: map[client]bucket{}} }

// take takes one token if there is one.
func (b *bucket) take(now time.Time, perSecond, burst float64) bool {
	if b.at.IsZero() {
		b.tokens = burst
	} else {
		b.tokens = min(burst, b.tokens+perSecond*now.Sub(b.at).Seconds())
	}
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// allow reports whether a station may say something more. A MAC address on another VLAN is another station: who
// borrows a neighbour's must not silence him.
func (p *pacer) allow(source client, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweep(now)
	b, known := p.buckets[source]
	if !known && len(p.buckets) >= maxPaced {
		return p.crowd.take(now, 100*pacePerSecond, 100*paceBurst)
	}
	ok := b.take(now, pacePerSecond, paceBurst)
	p.buckets[source] = b
	return ok
}

// sweep forgets stations whose buckets are full again.
func (p *pacer) sweep(now time.Time) {
	const pause = paceBurst / pacePerSecond * time.Second
	if now.Sub(p.swept) < pause {
		return
	}
	p.swept = now
	for source, b := range p.buckets {
		if now.Sub(b.at) >= pause {
			delete(p.buckets, source)
		}
	}
}
