package node

import (
	"vbng/forwarding/graph"
	"vbng/forwarding/packet"
)

// The rates of ICMP errors, of both families together (RFC 1812 section 4.3.2.8, RFC 4443 section 2.4 f).
const (
	errorsPerSecond       = 1000 // per worker
	errorBurst            = 250
	sourceErrorsPerSecond = 100 // per subscriber, or per sender's IPv4 /24 or IPv6 /64
	sourceErrorBurst      = 50

	errorNanos       = int64(1e9 / errorsPerSecond)
	sourceErrorNanos = int64(1e9 / sourceErrorsPerSecond)
	limitSets        = 256 // a power of two
	limitWays        = 4
)

// errorLimit is a token bucket for the worker and one for each of those who caused errors lately. A bucket is kept as
// the time at which it will be full.
type errorLimit struct {
	fullNanos int64
	sources   [limitSets][limitWays]struct {
		key       uint64
		fullNanos int64
	}
}

// admit takes a token for an error to a subscriber (its slot, or packet.None) or else to a prefix.
func (e *errorLimit) admit(session uint32, prefix uint64, nowNanos int64) (graph.Reason, bool) {
	key := prefix<<1 | 1 // never 0, and no session's
	if session != packet.None {
		key = uint64(session+1) << 1
	}
	s := e.source(key)
	sourceFull, ok := take(*s, sourceErrorNanos, sourceErrorBurst, nowNanos)
	if !ok {
		return errorSourceLimited, false
	}
	full, ok := take(e.fullNanos, errorNanos, errorBurst, nowNanos)
	if !ok {
		return errorLimited, false
	}
	*s, e.fullNanos = sourceFull, full
	return 0, true
}

// source returns the bucket of a key. When there are more senders than buckets, the fullest one is begun anew: who has
// it needs it least, and what many senders get in all the worker's bucket bounds.
func (e *errorLimit) source(key uint64) *int64 {
	set := &e.sources[key*0x9E3779B97F4A7C15>>56&(limitSets-1)]
	fullest := 0
	for i := range set {
		if set[i].key == key {
			return &set[i].fullNanos
		}
		if set[i].fullNanos < set[fullest].fullNanos {
			fullest = i
		}
	}
	set[fullest].key, set[fullest].fullNanos = key, 0
	return &set[fullest].fullNanos
}

// take takes a token from a bucket that gets one each interval and holds burst of them.
func take(fullNanos, intervalNanos, burst, nowNanos int64) (int64, bool) {
	if fullNanos-nowNanos > (burst-1)*intervalNanos {
		return fullNanos, false
	}
	return max(fullNanos, nowNanos) + intervalNanos, true
}
