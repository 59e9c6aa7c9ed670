package sessions

import (
	"sync/atomic"

	"vbng/sessions/dhcp4"
	"vbng/sessions/dhcp6"
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

	// DHCP, DHCPv6 and neighbour discovery.
	heard4, heard6, solicits            atomic.Uint64
	malformed4, malformed6, malformedND atomic.Uint64
	ignoredND                           atomic.Uint64 // neighbour messages that are none of ours
	paced                               atomic.Uint64 // said too fast by one station
	sent4, sent6, advertsSent           atomic.Uint64
	no6                                 atomic.Uint64 // IPv6 asked for by a session that may have none
	lineUntold                          atomic.Uint64 // a stranger's message without the name of its line, where that is who it is
	otherLine                           atomic.Uint64 // said in the name of a client of another line
	refusedAgain                        atomic.Uint64 // a client that was refused asks again too early
	pendingFull                         atomic.Uint64 // too many clients await authorization
	relayedUp, relayedDown              atomic.Uint64
	relayRefused, relayLost, relayStray atomic.Uint64
	ignored4                            [dhcp4.NumReasons]atomic.Uint64
	ignored6                            [dhcp6.NumReasons]atomic.Uint64
	withheldSlots                       map[string]uint64 // what a session that goes on did not get

	established atomic.Uint64

	failures map[Cause]uint64 // of sessions that never were up, and of refused requests
	ends     map[Cause]uint64 // of sessions that were up
}

func newStats() *stats {
	return &stats{withheldSlots: map[string]uint64{}, failures: map[Cause]uint64{}, ends: map[Cause]uint64{}}
}

// withheld counts what a session did not get, though it goes on.
func (s *stats) withheld(x slot, cause Cause) { s.withheldSlots[x.String()+" "+string(cause)]++ }

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
