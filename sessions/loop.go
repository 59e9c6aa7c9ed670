package sessions

import (
	"net/netip"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
	"vbng/sessions/dhcp6"
	"vbng/sessions/pppoe"
)

// message is what comes to the loop's inbox: all that can happen to a session is in this file.
type message interface{ message() }

type (
	// requested is a PADR with a good cookie.
	requested struct {
		place   Place
		request pppoe.Request
	}
	// terminated is a PADT.
	terminated struct {
		client client
		pppoe  uint16
	}
	// received is a PPP packet of a session, in a borrowed buffer.
	received struct {
		id       entry.SessionID
		protocol uint16
		buffer   *frameBuffer // information begins at its start
	}
	// stray is a session frame that the forwarder knows no session for.
	stray struct {
		tuple tuple
		own   entry.MAC
	}
	// fired is a timer.
	fired struct {
		id         entry.SessionID
		slot       timerSlot
		generation uint32
	}
	// authorized is the authorizer's answer.
	authorized struct {
		id       entry.SessionID
		serial   uint32
		username string // that was asked about
		answer   aaa.Answer
	}
	// applied is the forwarder's answer to the session's one batch in flight.
	applied struct {
		id     entry.SessionID
		result entry.Result
		before program // what the forwarder knows if the batch was refused
	}
	// routed is the RIB's answer to AddSubscriber.
	routed struct {
		id   entry.SessionID
		slot slot
		err  error
	}
	// withdrawn is the RIB's answer to DeleteSubscriber.
	withdrawn struct {
		id   entry.SessionID
		slot slot
	}
	// peerSilent says that echoes are not answered.
	peerSilent struct{ id entry.SessionID }
	// forwarderUp says that a new forwarder has been programmed.
	forwarderUp struct{}
	// savingBases keeps the counters of a lost forwarder, some sessions at a time.
	savingBases struct{ ids []entry.SessionID }
	// configured brings new settings.
	configured struct{ settings *settings }
	// closing ends sessions in good order, some at a time.
	closing struct {
		ids   []entry.SessionID
		cause Cause
	}
	// restoring brings what the store holds.
	restoring struct {
		records []record
		done    func(revived int)
	}
	// asked4, asked6 and askedRouter are what a subscriber says in IP.
	asked4 struct {
		from came
		say  *said4
	}
	asked6 struct {
		from    came
		request *dhcp6.Request
	}
	askedRouter struct{ from came }
	// answered is a DHCP server's message to the relay.
	answered struct {
		vrf     entry.VRFID
		from    netip.Addr
		payload []byte
	}
	// tendPools says that a quarantine is over.
	tendPools struct{}
	// question runs a function of another goroutine, which waits, on the loop.
	question struct{ ask func() }
)

func (requested) message()   {}
func (terminated) message()  {}
func (received) message()    {}
func (stray) message()       {}
func (fired) message()       {}
func (authorized) message()  {}
func (applied) message()     {}
func (routed) message()      {}
func (withdrawn) message()   {}
func (peerSilent) message()  {}
func (forwarderUp) message() {}
func (savingBases) message() {}
func (configured) message()  {}
func (closing) message()     {}
func (restoring) message()   {}
func (asked4) message()      {}
func (asked6) message()      {}
func (askedRouter) message() {}
func (answered) message()    {}
func (tendPools) message()   {}
func (question) message()    {}

// handle is the loop's handler. A message about a session that is gone finds nobody, and one about
// something that is over finds another state: both are ignored where they arrive.
func (m *Manager) handle(msg message) {
	switch msg := msg.(type) {
	case requested:
		m.requested(msg)
	case terminated:
		m.terminated(msg)
	case received:
		m.received(msg)
	case stray:
		m.stray(msg)
	case fired:
		m.fired(msg)
	case authorized:
		m.authorized(msg)
	case applied:
		m.applied(msg)
	case routed:
		m.routed(msg)
	case withdrawn:
		m.withdrawn(msg)
	case peerSilent:
		m.peerSilent(msg)
	case forwarderUp:
		m.saveBases(savingBases{ids: keys(m.index.byID)})
	case savingBases:
		m.saveBases(msg)
	case configured:
		m.configured(msg.settings)
	case closing:
		m.closing(msg)
	case restoring:
		m.restoring(msg)
	case asked4:
		m.asked4(msg)
	case asked6:
		m.asked6(msg)
	case askedRouter:
		m.askedRouter(msg)
	case answered:
		m.answered(msg)
	case tendPools:
		m.tending = time.Time{}
		m.tend()
	case question:
		msg.ask()
	}
	if m.followers != nil {
		m.observe()
	}
}
