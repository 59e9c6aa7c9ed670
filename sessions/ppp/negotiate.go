package ppp

import "bytes"

// A negotiator knows the options of one protocol. The automaton calls it; it never sends.
type negotiator interface {
	// options are those of our next Configure-Request.
	options() []Option
	// begin announces that a request of the peer will be judged, option by option.
	begin()
	judge(Option) opinion
	// missing are options whose absence from the request just judged deserves a Nak
	// (RFC 1661 section 5.3).
	missing() []Option
	// commit makes the request just judged the peer's configuration: its Ack is being sent.
	commit()
	// nakked and rejected report the peer's refusal of an option. A cause ends the negotiation.
	nakked(Option) Cause
	rejected(Option) Cause
	// reset returns the peer's values to their defaults: the layer left Opened.
	reset()
}

type verdict uint8

const (
	accept verdict = iota
	nak
	reject
)

// opinion is what a negotiator thinks of one option.
type opinion struct {
	verdict verdict
	want    Option // with nak: what we would accept
	alone   bool   // with nak: answer with this and nothing else
	cause   Cause  // not empty: stop negotiating
}

// receive takes one packet of the protocol. Codes beyond the first seven are unknown here; LCP's
// own are taken out before (RFC 1661 section 5).
func (a *automaton) receive(p Packet) []Output {
	switch p.Code {
	case CodeConfigureRequest:
		return a.receiveRequest(p)
	case CodeConfigureAck:
		return a.receiveAck(p)
	case CodeConfigureNak, CodeConfigureReject:
		return a.receiveRefusal(p)
	case CodeTerminateRequest:
		if a.state == Opened {
			a.because(a.ends.terminated)
		}
		return a.step(EvRTR, input{packet: p})
	case CodeTerminateAck:
		return a.step(EvRTA, input{packet: p})
	case CodeCodeReject:
		return a.receiveCodeReject(p)
	}
	return a.step(EvRUC, input{packet: p})
}

// receiveCodeReject: the basic codes cannot be done without (RFC 1661 section 5.6, RXJ-).
func (a *automaton) receiveCodeReject(p Packet) []Output {
	if len(p.Data) == 0 {
		a.shared.counters.Malformed++
		return nil
	}
	if code := p.Data[0]; code < CodeConfigureRequest || code > CodeCodeReject {
		return a.step(EvRXJPlus, input{packet: p})
	}
	return a.rejectedByPeer(p)
}

// rejectedByPeer is RXJ-: the peer does not know this protocol, or a code it cannot do without.
func (a *automaton) rejectedByPeer(p Packet) []Output {
	a.because(a.ends.rejected)
	return a.step(EvRXJMinus, input{packet: p})
}

func (a *automaton) receiveRequest(p Packet) []Output {
	if a.state < Stopped || a.terminating() {
		return a.step(EvRCRPlus, input{packet: p}) // the options make no difference in these states
	}
	if a.repeated(p) {
		a.repeats++
		return a.send(nil, Packet{Code: CodeConfigureAck, ID: p.ID, Data: p.Data})
	}
	opts, err := ParseOptions(p.Data)
	if err != nil {
		a.shared.counters.Malformed++
		return nil
	}
	reply, cause := a.judge(opts)
	if cause != "" {
		return a.close(cause)
	}
	ev := EvRCRMinus
	if reply.Code == CodeConfigureAck {
		ev, reply.Data = EvRCRPlus, p.Data // RFC 1661 section 5.2: unmodified, in the same order
	}
	reply.ID = p.ID
	return a.step(ev, input{packet: p, reply: reply})
}

// repeated recognises a retransmission that crossed our Ack; see maxRepeats.
func (a *automaton) repeated(p Packet) bool {
	return a.state == Opened && a.repeats < maxRepeats && a.acked.Code != 0 &&
		a.acked.ID == p.ID && bytes.Equal(a.acked.Data, p.Data)
}

// judge prepares the answer to a Configure-Request, all but the identifier: a Reject if anything
// must be rejected, else a Nak, else an Ack (RFC 1661 sections 5.2 to 5.4).
func (a *automaton) judge(opts []Option) (Packet, Cause) {
	rejects, naks, disliked, cause := a.sort(opts)
	if cause != "" {
		return Packet{}, cause
	}
	if len(rejects)+len(naks) == 0 {
		return Packet{Code: CodeConfigureAck}, ""
	}
	if a.bad++; a.bad > 2*a.limits.maxFailure {
		return Packet{}, a.ends.refused // neither Naks nor Rejects move this peer
	}
	if len(rejects) == 0 {
		if a.naks++; a.naks <= a.limits.maxFailure {
			return Packet{Code: CodeConfigureNak, Data: appendOptions(nil, naks)}, ""
		}
		// RFC 1661 section 4.6: after Max-Failure Naks, what we would Nak we reject, and nothing
		// more is suggested. A peer that merely leaves out what we need leaves nothing to reject.
		rejects = disliked
	}
	if len(rejects) == 0 {
		return Packet{}, a.ends.refused
	}
	return Packet{Code: CodeConfigureReject, Data: appendOptions(nil, rejects)}, ""
}

// sort asks the negotiator about each option. disliked are the peer's versions of those Nak'd.
func (a *automaton) sort(opts []Option) (rejects, naks, disliked []Option, cause Cause) {
	var seen [256]bool
	a.neg.begin()
	for _, o := range opts {
		if seen[o.Type] { // RFC 1661 section 5.1: no option twice
			rejects = append(rejects, o)
			continue
		}
		seen[o.Type] = true
		switch op := a.neg.judge(o); {
		case op.cause != "":
			return nil, nil, nil, op.cause
		case op.alone:
			return nil, []Option{op.want}, []Option{o}, ""
		case op.verdict == reject:
			rejects = append(rejects, o)
		case op.verdict == nak:
			naks, disliked = append(naks, op.want), append(disliked, o)
		}
	}
	return rejects, append(naks, a.neg.missing()...), disliked, ""
}

// receiveAck: the identifier and the options must be those of our last request, bit for bit
// (RFC 1661 section 5.2).
func (a *automaton) receiveAck(p Packet) []Output {
	if a.state >= ReqSent {
		if !a.answers(p) || !bytes.Equal(p.Data, a.request.options) {
			a.shared.counters.Mismatch++
			return nil
		}
		a.request.pending = false
	}
	return a.step(EvRCA, input{packet: p})
}

func (a *automaton) answers(p Packet) bool { return a.request.pending && p.ID == a.request.id }

// receiveRefusal takes a Configure-Nak or Configure-Reject of our request.
func (a *automaton) receiveRefusal(p Packet) []Output {
	if a.state < ReqSent {
		return a.step(EvRCN, input{packet: p})
	}
	opts, err := ParseOptions(p.Data)
	if err != nil {
		a.shared.counters.Malformed++
		return nil
	}
	if !a.answers(p) || len(opts) == 0 || p.Code == CodeConfigureReject && !a.requested(opts) {
		a.shared.counters.Mismatch++
		return nil
	}
	a.request.pending = false
	if a.refusals++; a.refusals > 2*a.limits.maxFailure {
		return a.close(a.ends.refused)
	}
	for _, o := range opts {
		if cause := a.refuse(p.Code, o); cause != "" {
			return a.close(cause)
		}
	}
	return a.step(EvRCN, input{packet: p})
}

func (a *automaton) refuse(code uint8, o Option) Cause {
	if code == CodeConfigureReject {
		return a.neg.rejected(o)
	}
	return a.neg.nakked(o)
}

// requested reports whether all options stand unmodified in our request (RFC 1661 section 5.4).
func (a *automaton) requested(opts []Option) bool {
	ours, err := ParseOptions(a.request.options)
	if err != nil {
		return false
	}
	for _, o := range opts {
		for len(ours) > 0 && !ours[0].equal(o) { // in our order: each search goes on from the last hit
			ours = ours[1:]
		}
		if len(ours) == 0 {
			return false
		}
		ours = ours[1:]
	}
	return true
}
