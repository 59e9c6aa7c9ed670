package iface

// The neighbour machine, of ARP and of neighbour discovery (RFC 4861 7.3). An answer binds the
// neighbour's address and proves that it hears us: any ARP packet, a solicited advertisement. A hint only
// binds it: an earlier control's memory, a solicitation or advertisement that we did not ask for.
//
//	           need        answer     hint            timer, attempts left   timer, last
//	idle       ask         learn      suppose, probe  -                      -
//	incomplete -           learn      suppose, probe  ask                    hold
//	reachable  -           learn      suppose, probe  -                      probe
//	stale      -           learn      -               probe                  forget, ask
//	failed     -           learn      suppose, probe  -                      remove
//
// A stale neighbour is used while it is verified by unicast (at once: RFC 4861's STALE, DELAY and PROBE are
// one state, since only the forwarder sees whether the neighbour is used); when it does not answer,
// everybody is asked, for it may have a new MAC address. A failed one is remembered for a while, so that
// packets to nobody cost no requests.

// neighborState is a neighbour's state.
type neighborState uint8

const (
	idle neighborState = iota
	incomplete
	reachable
	stale
	failed
	numNeighborStates
)

func (s neighborState) String() string {
	return [...]string{"idle", "incomplete", "reachable", "stale", "failed"}[s]
}

// resolved reports whether packets can be sent to the neighbour.
func (s neighborState) resolved() bool { return s == reachable || s == stale }

// neighborEvent is what happens to a neighbour.
type neighborEvent uint8

const (
	need neighborEvent = iota // a packet or a route wants it
	answer
	hint  // its MAC address is told, not proven
	retry // the timer, and more attempts are left
	lapse // the timer, and it was the last attempt
	numNeighborEvents
)

// action is what the owner has to do.
type action uint8

const (
	ask     action = iota // request to all
	probe                 // unicast request
	learn                 // take the MAC address over, start its life
	suppose               // take the MAC address over
	forget                // give the MAC address up
	hold                  // start the time of a failed neighbour
	remove
)

type transition struct {
	next    neighborState
	actions []action
}

// neighborTable is the machine; the zero transition of a pair means that nothing happens.
var neighborTable = [numNeighborStates][numNeighborEvents]transition{
	idle: {
		need:   {incomplete, []action{ask}},
		answer: {reachable, []action{learn}},
		hint:   {stale, []action{suppose, probe}},
	},
	incomplete: {
		answer: {reachable, []action{learn}},
		hint:   {stale, []action{suppose, probe}},
		retry:  {incomplete, []action{ask}},
		lapse:  {failed, []action{hold}},
	},
	reachable: {
		answer: {reachable, []action{learn}},
		hint:   {stale, []action{suppose, probe}},
		lapse:  {stale, []action{probe}},
	},
	stale: {
		answer: {reachable, []action{learn}},
		retry:  {stale, []action{probe}},
		lapse:  {incomplete, []action{forget, ask}},
	},
	failed: {
		answer: {reachable, []action{learn}},
		hint:   {stale, []action{suppose, probe}},
		lapse:  {idle, []action{remove}},
	},
}

// step returns the next state and what to do.
func step(s neighborState, e neighborEvent) (neighborState, []action) {
	t := neighborTable[s][e]
	if t.actions == nil {
		return s, nil
	}
	return t.next, t.actions
}
