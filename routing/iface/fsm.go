package iface

// The neighbour machine. An answer is any ARP packet that binds the neighbour's address.
//
//	           need        answer     recall     timer, attempts left   timer, last
//	idle       ask         learn      probe      -                      -
//	incomplete -           learn      -          ask                    hold
//	reachable  -           learn      -          -                      probe
//	stale      -           learn      -          probe                  forget, ask
//	failed     -           learn      -          -                      remove
//
// A stale neighbour is used while it is verified by unicast; when it does not answer, everybody is
// asked, for it may have a new MAC address. A failed one is remembered for a while, so that packets
// to nobody cost no ARP requests.

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
	recall // an earlier control knew it
	retry  // the timer, and more attempts are left
	lapse  // the timer, and it was the last attempt
	numNeighborEvents
)

// action is what the owner has to do.
type action uint8

const (
	ask    action = iota // broadcast request
	probe                // unicast request
	learn                // take the MAC address over, start its life
	forget               // give the MAC address up
	hold                 // start the time of a failed neighbour
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
		recall: {stale, []action{probe}},
	},
	incomplete: {
		answer: {reachable, []action{learn}},
		retry:  {incomplete, []action{ask}},
		lapse:  {failed, []action{hold}},
	},
	reachable: {
		answer: {reachable, []action{learn}},
		lapse:  {stale, []action{probe}},
	},
	stale: {
		answer: {reachable, []action{learn}},
		retry:  {stale, []action{probe}},
		lapse:  {incomplete, []action{forget, ask}},
	},
	failed: {
		answer: {reachable, []action{learn}},
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
