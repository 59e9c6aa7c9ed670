package radius

import (
	"net/netip"
	"time"
)

// attempt is one identifier in flight.
type attempt struct {
	exchange *exchange
	flow     *flow
	id       byte
	wire     []byte
	proof    proof
	sentAt   time.Time
	copies   int // transmissions of wire
}

// flow is one socket with its 256 identifiers. An identifier is taken from the front of the free
// list and returned to its end, so that it rests as long as can be before it is used again.
type flow struct {
	endpoint *endpoint
	socket   Socket
	slots    [256]*attempt
	free     []byte
}

func newFlow(e *endpoint) *flow {
	f := &flow{endpoint: e, free: make([]byte, 256)}
	for i := range f.free {
		f.free[i] = byte(i)
	}
	return f
}

// take gives an identifier to an attempt; there must be a free one.
func (f *flow) take(a *attempt) {
	a.flow, a.id = f, f.free[0]
	f.free = f.free[1:]
	f.slots[a.id] = a
}

func (f *flow) release(a *attempt) {
	if f.slots[a.id] != a {
		return
	}
	f.slots[a.id] = nil
	f.free = append(f.free, a.id)
}

func (f *flow) idle() bool { return len(f.free) == len(f.slots) }

// inFlight returns the attempts that wait for an answer.
func (f *flow) inFlight() []*attempt {
	var waiting []*attempt
	for _, a := range f.slots {
		if a != nil {
			waiting = append(waiting, a)
		}
	}
	return waiting
}

// sink passes what the socket hears to the loop.
func (f *flow) sink(c *Client) Sink {
	return Sink{
		Received: func(from netip.AddrPort, payload []byte) { c.loop.Offer(received{f, from, payload}) },
		Refused:  func() { c.loop.Offer(refused{f}) },
	}
}
