package ppp

import (
	"bytes"
	"time"
)

// authStep is how far the authentication of the present LCP connection has come.
type authStep uint8

const (
	authIdle     authStep = iota
	authWaiting           // for the peer's credentials
	authAsked             // the owner decides
	authAccepted          // answered yes; repetitions get the same answer
	authRefused           // answered no; repetitions get the same answer
)

// challenge is one CHAP challenge sent.
type challenge struct {
	id    uint8
	value []byte // nil: none
}

// authenticator is the peer's proof: what was asked, what came, what was answered.
type authenticator struct {
	step   authStep
	method AuthMethod
	serial uint32
	timer  timer
	tries  int

	nextID   uint8
	current  challenge
	previous challenge // a Response to it may be under way when the timer sends the next

	username, password string // of the request the owner decides
	replyID            uint8  // identifier of the packet to be answered
	message            string // of the answer
}

// beginAuth enters the Authenticate phase (RFC 1661 section 3.5). Without a method the owner is
// asked at once.
func (l *Link) beginAuth() {
	l.phase = PhaseAuthenticate
	a := &l.auth
	a.step, a.method, a.tries = authWaiting, l.lcp.method, 0
	a.current, a.previous = challenge{}, challenge{}
	a.username, a.password, a.message = "", "", ""
	switch a.method {
	case AuthNone:
		l.ask(AuthRequest{})
	case AuthPAP:
		l.out = append(l.out, a.timer.set(l.cfg.AuthTimeout*time.Duration(l.cfg.AuthTries)))
	case AuthCHAPMD5:
		l.sendChallenge()
	}
}

// endAuth forgets an authentication under way, except that a refusal is remembered while the link
// closes, so that it can be repeated.
func (l *Link) endAuth() {
	l.out = l.auth.timer.stop(l.out)
	l.auth.password = ""
	if l.auth.step != authRefused {
		l.auth.step = authIdle
	}
}

// sendChallenge: identifier and value change with each challenge (RFC 1994 section 4.1).
func (l *Link) sendChallenge() {
	a := &l.auth
	if a.nextID == 0 {
		var b [1]byte
		l.random(b[:])
		a.nextID = b[0]
	}
	a.nextID++
	a.tries++
	a.previous, a.current = a.current, challenge{id: a.nextID, value: make([]byte, challengeBytes)}
	l.random(a.current.value)
	l.sendAuth(CHAPChallenge, a.current.id, AppendCHAPValue(nil, a.current.value, l.cfg.Name))
	l.out = append(l.out, a.timer.set(l.cfg.AuthTimeout))
}

func (l *Link) sendAuth(code, id uint8, data []byte) {
	p := Packet{Code: code, ID: id, Data: data}
	l.out = append(l.out, Send{Proto: l.auth.method.proto(), Info: p.bytes()})
}

func (l *Link) authTimeout(generation uint32) {
	a := &l.auth
	if !a.timer.fired(generation) {
		l.shared.counters.StaleTimer++
		return
	}
	if a.method == AuthCHAPMD5 && a.tries < l.cfg.AuthTries {
		l.sendChallenge()
		return
	}
	l.close(CauseAuthTimeout)
}

// ask puts the peer's credentials before the owner, who bounds the time that takes.
func (l *Link) ask(r AuthRequest) {
	a := &l.auth
	l.out = a.timer.stop(l.out)
	a.serial++
	a.step = authAsked
	a.username, a.password = r.Username, r.Password
	r.Serial, r.Method = a.serial, a.method
	l.out = append(l.out, r)
}

// AuthDone is the owner's answer to the AuthRequest of that serial; an answer to an earlier one is
// counted and ignored. The message reaches the peer. On no, the link says so and closes.
func (l *Link) AuthDone(serial uint32, ok bool, message string, grant NetConfig) []Output {
	return l.run(func() {
		if l.auth.step != authAsked || l.auth.serial != serial {
			l.shared.counters.StaleAuth++
			return
		}
		l.auth.message, l.auth.password = message, ""
		if !ok {
			l.auth.step = authRefused
			l.answer()
			l.close(CauseAuthFailed)
			return
		}
		l.auth.step = authAccepted
		l.answer()
		l.phase = PhaseNetwork
		l.take(grant)
	})
}

// answer sends the decision, the first time and every time the peer repeats its question.
func (l *Link) answer() {
	a := &l.auth
	message := a.message[:min(len(a.message), maxMessageBytes, int(l.shared.peerMRU)-headerBytes-1)]
	refused := a.step == authRefused
	switch a.method {
	case AuthPAP:
		l.sendAuth(pick(refused, PAPNak, PAPAck), a.replyID, AppendPAPMessage(nil, message))
	case AuthCHAPMD5:
		l.sendAuth(pick(refused, CHAPFailure, CHAPSuccess), a.replyID, []byte(message))
	}
}

func pick(yes bool, a, b uint8) uint8 {
	if yes {
		return a
	}
	return b
}

// receiveAuth takes a packet of the authentication protocol in force. It is heard in the phases after
// Authenticate too, since a lost answer must be given again (RFC 1334 section 2.2.1, RFC 1994 section 4.2).
func (l *Link) receiveAuth(proto uint16, info []byte) {
	if l.auth.step == authIdle || proto != l.auth.method.proto() {
		l.shared.counters.WrongPhase++
		return
	}
	p, err := ParsePacket(info)
	if err != nil {
		l.shared.counters.Malformed++
		return
	}
	switch {
	case proto == ProtoPAP && p.Code == PAPRequest:
		l.receivePAP(p)
	case proto == ProtoCHAP && p.Code == CHAPResponse:
		l.receiveCHAP(p)
	default: // neither protocol has a Code-Reject
		l.shared.counters.UnknownCode++
	}
}

func (l *Link) receivePAP(p Packet) {
	username, password, err := ParsePAPRequest(p.Data)
	if err != nil {
		l.shared.counters.Malformed++
		return
	}
	switch a := &l.auth; {
	case a.step == authWaiting:
		a.replyID = p.ID
		l.ask(AuthRequest{Username: username, Password: password})
	case a.step == authAsked && (username != a.username || password != a.password):
		l.shared.counters.Mismatch++ // the decision under way is about somebody else
	case a.step == authAsked:
		a.replyID = p.ID // a repetition: answer the newest
	default:
		a.replyID = p.ID
		l.answer()
	}
}

func (l *Link) receiveCHAP(p Packet) {
	value, username, err := ParseCHAPValue(p.Data)
	if err != nil || len(value) != md5Bytes {
		l.shared.counters.Malformed++
		return
	}
	a := &l.auth
	sent := a.challengeFor(p.ID)
	switch {
	case a.step == authWaiting && sent.value != nil:
		a.replyID = p.ID
		l.ask(AuthRequest{
			Username: username, CHAPID: p.ID,
			Challenge: bytes.Clone(sent.value), Response: bytes.Clone(value),
		})
	case a.step == authWaiting || p.ID != a.replyID:
		l.shared.counters.Mismatch++ // RFC 1994 section 4.1: it answers no challenge of ours
	case a.step != authAsked:
		l.answer()
	}
}

func (a *authenticator) challengeFor(id uint8) challenge {
	if a.previous.value != nil && a.previous.id == id {
		return a.previous
	}
	if a.current.id == id {
		return a.current
	}
	return challenge{}
}
