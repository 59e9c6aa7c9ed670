package sessions

import (
	"sync/atomic"

	"vbng/sessions/pppoe"
)

// stats counts what happened. The atomic ones are counted on the punt path, the others on the loop.
type stats struct {
	offers, requests, terminations atomic.Uint64
	refusals                       [pppoe.NumReasons]atomic.Uint64

	noProfile      atomic.Uint64 // discovery on a port without a profile
	offersWithheld atomic.Uint64 // no PADO because the box is full
	malformed      atomic.Uint64
	injectLost     atomic.Uint64 // frames the ring to the forwarder had no room for
	faults         atomic.Uint64 // of ours, caught at the door
	late           atomic.Uint64 // packets and answers for what is over

	padsRepeated  atomic.Uint64
	padtsStray    atomic.Uint64 // received for no session
	padtsUnknown  atomic.Uint64 // sent for no session
	padtsWithheld atomic.Uint64 // not sent: one per second per source

	established atomic.Uint64

	failures map[Cause]uint64 // of sessions that never were up, and of refused requests
	ends     map[Cause]uint64 // of sessions that were up
}

func newStats() *stats { return &stats{failures: map[Cause]uint64{}, ends: map[Cause]uint64{}} }

func (s *stats) countDiscovery(e pppoe.Event) {
	switch e.Kind {
	case pppoe.EventOffered:
		s.offers.Add(1)
	case pppoe.EventRequested:
		s.requests.Add(1)
	case pppoe.EventTerminated:
		s.terminations.Add(1)
	default:
		s.refusals[e.Reason].Add(1)
	}
}

func (s *stats) ended(cause Cause, wasUp bool) {
	if wasUp {
		s.ends[cause]++
	} else {
		s.failures[cause]++
	}
}
