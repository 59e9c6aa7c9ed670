package ppp

import (
	"bytes"
	"time"
)

// limits are the counters and the timer of RFC 1661 section 4.6.
type limits struct {
	restart                                time.Duration
	maxConfigure, maxTerminate, maxFailure int
}

// shared is what the automatons of one link have in common.
type shared struct {
	counters Counters
	peerMRU  uint16 // bytes; nothing longer is sent to the peer
}

// causes are the names a protocol gives to its ends.
type causes struct{ timeout, terminated, refused, rejected Cause }

// maxRepeats is how many exact repetitions of an acknowledged Configure-Request are answered in
// Opened with the same Ack. The table would reopen the layer; but a request that crossed our Ack on a
// slow line is not a new one, and reopening for it can go on for ever where the delay equals the
// restart timer. A third repetition is taken for a peer that began anew, and the table holds.
const maxRepeats = 2

// maxStretch bounds the restart timer, in multiples of its initial value.
const maxStretch = 4

// An automaton carries one protocol through Step: it turns packets into events and actions into
// packets, and keeps the restart timer, the identifiers and the limits. LCP and the network control
// protocols differ only in their negotiator. Its outputs include the three layer signals below.
type automaton struct {
	proto  uint16
	limits limits
	ends   causes
	neg    negotiator
	shared *shared

	state   State
	counter int // Restart counter (RFC 1661 section 4.6)
	timer   timer
	period  time.Duration // of the restart timer; see stretch
	resent  bool          // a Configure-Request was retransmitted since the layer last left Opened
	nextID  uint8
	request configureRequest
	acked   Packet // the peer's request we acknowledged last; Data is our copy
	repeats int    // exact repetitions of acked since the layer came up

	naks     int   // Configure-Naks since our last Ack, against Max-Failure
	bad      int   // requests of the peer not acknowledged since our last Ack
	refusals int   // requests of ours Nak'd or Rejected since the layer came up
	cause    Cause // why the layer will finish, once known; the first one stays
}

// configureRequest is our last Configure-Request. It is pending until its first valid reply: a second
// reply, caused by a retransmission, must not disturb what the first one achieved.
type configureRequest struct {
	id      uint8
	options []byte
	pending bool
}

// Layer signals, consumed by Link.
type (
	layerUp       struct{ proto uint16 }
	layerDown     struct{ proto uint16 }
	layerFinished struct {
		proto uint16
		cause Cause
	}
)

func (layerUp) output()       {}
func (layerDown) output()     {}
func (layerFinished) output() {}

// timer is one timer of the link, seen from inside.
type timer struct {
	id         TimerID
	generation uint32
	running    bool
}

func (t *timer) set(after time.Duration) Output {
	t.generation++
	t.running = true
	return SetTimer{ID: t.id, After: after, Generation: t.generation}
}

func (t *timer) stop(out []Output) []Output {
	if !t.running {
		return out
	}
	t.running = false
	return append(out, StopTimer{ID: t.id})
}

// fired reports whether a timeout is the one being waited for.
func (t *timer) fired(generation uint32) bool {
	if !t.running || t.generation != generation {
		return false
	}
	t.running = false
	return true
}

// input is what an event brings along: the packet received and the answer prepared for it.
type input struct {
	packet Packet
	reply  Packet // Code 0 where there is none
}

// step performs one event.
func (a *automaton) step(ev Event, in input) []Output {
	next, actions, legal := Step(a.state, ev)
	if !legal {
		a.shared.counters.Illegal++
		return nil
	}
	a.state = next
	var out []Output
	for _, act := range actions {
		out = a.perform(out, act, in)
	}
	if !a.timed() {
		out = a.timer.stop(out) // RFC 1661 section 4.2: no timer runs in these states
	}
	return out
}

// timed reports whether the restart timer runs in the present state (RFC 1661 section 4.2).
func (a *automaton) timed() bool { return a.state >= Closing && a.state < Opened }

// terminating reports whether the layer is on its way down.
func (a *automaton) terminating() bool { return a.state == Closing || a.state == Stopping }

// perform carries out one action of the table (RFC 1661 section 4.4).
func (a *automaton) perform(out []Output, act Action, in input) []Output {
	switch act {
	case ActTLU:
		a.refusals, a.repeats = 0, 0
		return append(out, layerUp{a.proto})
	case ActTLD:
		a.request.pending = false
		a.stretch()
		a.neg.reset()
		return append(out, layerDown{a.proto})
	case ActTLF:
		return append(out, layerFinished{a.proto, a.cause})
	case ActIRC:
		a.counter = a.limits.maxConfigure
		if a.terminating() {
			a.counter = a.limits.maxTerminate
		}
	case ActZRC:
		a.counter = 0
		return append(out, a.timer.set(a.limits.restart)) // one period for the peer to finish
	case ActSCR:
		return a.sendRequest(out)
	case ActSCA:
		a.acknowledge(in.packet)
		return a.send(out, in.reply)
	case ActSCN, ActSER:
		return a.send(out, in.reply)
	case ActSTR:
		a.counter--
		out = a.send(out, Packet{Code: CodeTerminateRequest, ID: a.takeID()})
		return append(out, a.timer.set(a.limits.restart))
	case ActSTA:
		return a.send(out, Packet{Code: CodeTerminateAck, ID: in.packet.ID})
	case ActSCJ:
		return a.sendCodeReject(out, in.packet)
	}
	return out
}

func (a *automaton) send(out []Output, p Packet) []Output {
	if p.Code == 0 {
		return out
	}
	return append(out, Send{Proto: a.proto, Info: p.bytes()})
}

func (a *automaton) takeID() uint8 {
	a.nextID++
	return a.nextID
}

// sendRequest sends or retransmits our Configure-Request. An unanswered request whose options did
// not change keeps its identifier (RFC 1661 section 5.1), so that an Ack slower than the restart
// timer still counts.
func (a *automaton) sendRequest(out []Output) []Output {
	options := appendOptions(nil, a.neg.options())
	a.resent = a.resent || a.request.pending
	if !a.request.pending || !bytes.Equal(options, a.request.options) {
		a.request = configureRequest{id: a.takeID(), options: options, pending: true}
	}
	a.counter--
	out = a.send(out, Packet{Code: CodeConfigureRequest, ID: a.request.id, Data: options})
	return append(out, a.timer.set(max(a.period, a.limits.restart)))
}

// stretch doubles the restart timer, up to maxStretch times its initial value, when the layer leaves
// Opened after a negotiation in which it retransmitted. Where the round trip exceeds the timer, our
// second request finds the peer in Opened and reopens the layer; with the same timer it would do so
// every time.
func (a *automaton) stretch() {
	if a.resent {
		a.period = min(2*max(a.period, a.limits.restart), maxStretch*a.limits.restart)
	}
	a.resent = false
}

func (a *automaton) acknowledge(p Packet) {
	a.naks, a.bad = 0, 0
	a.acked = Packet{Code: p.Code, ID: p.ID, Data: bytes.Clone(p.Data)}
	a.neg.commit()
}

// sendCodeReject returns the whole packet, cut to the peer's MRU (RFC 1661 section 5.6).
func (a *automaton) sendCodeReject(out []Output, p Packet) []Output {
	a.shared.counters.UnknownCode++
	data := cut(p.bytes(), int(a.shared.peerMRU)-headerBytes)
	return a.send(out, Packet{Code: CodeCodeReject, ID: a.takeID(), Data: data})
}

// start opens the layer over a lower layer that is up; it may be started again after down.
func (a *automaton) start() []Output {
	a.cause, a.naks, a.bad, a.refusals = "", 0, 0, 0
	out := a.step(EvOpen, input{})
	return append(out, a.step(EvUp, input{})...)
}

// close ends the layer in good order. The first cause given stays.
func (a *automaton) close(cause Cause) []Output {
	a.because(cause)
	return a.step(EvClose, input{})
}

// down is the lower layer's end; it is no event for a layer whose lower layer is not up.
func (a *automaton) down() []Output {
	if a.state < Closed {
		return nil
	}
	return a.step(EvDown, input{})
}

func (a *automaton) because(cause Cause) {
	if a.cause == "" {
		a.cause = cause
	}
}

// timeout is the restart timer's TO+ or TO-.
func (a *automaton) timeout(generation uint32) []Output {
	if !a.timer.fired(generation) {
		a.shared.counters.StaleTimer++
		return nil
	}
	if a.counter > 0 {
		return a.step(EvTOPlus, input{})
	}
	a.because(a.ends.timeout)
	return a.step(EvTOMinus, input{})
}

func cut(b []byte, n int) []byte { return b[:max(0, min(len(b), n))] }
