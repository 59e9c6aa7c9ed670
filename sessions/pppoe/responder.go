package pppoe

import (
	"errors"
	"time"
)

// minCookieKeyBytes keeps the key as strong as the cookie is long.
const minCookieKeyBytes = cookieBytes

// ErrConfig says that a configuration cannot be used.
var ErrConfig = errors.New("pppoe: AC-Name is empty, names are too long, or cookie key is under 16 bytes")

// maxNamesBytes bounds what configuration puts into a PADO, so that echoed tags find room beside it.
const maxNamesBytes = 900

// Config is what a responder offers.
type Config struct {
	ACName     string   // not empty
	Services   []string // offered names; empty: any name is served
	MaxPayload uint16   // most PPP-Max-Payload we agree to, in bytes; under 1493: not offered (RFC 4638)
	CookieKey  []byte   // secret, at least 16 bytes
}

// Responder answers discovery. It holds configuration only, nothing of any client, and never changes: it is
// safe for concurrent use.
type Responder struct {
	acName     []byte
	services   [][]byte
	maxPayload uint16
	cookies    cookies
}

// NewResponder makes a responder. It fails with ErrConfig.
func NewResponder(cfg Config) (*Responder, error) {
	size := len(cfg.ACName)
	for _, s := range cfg.Services {
		size += tagHeaderBytes + len(s)
	}
	if cfg.ACName == "" || size > maxNamesBytes || len(cfg.CookieKey) < minCookieKeyBytes {
		return nil, ErrConfig
	}
	r := &Responder{acName: []byte(cfg.ACName), maxPayload: cfg.MaxPayload, cookies: cookies{own(cfg.CookieKey)}}
	for _, s := range cfg.Services {
		r.services = append(r.services, []byte(s))
	}
	return r, nil
}

// Handle takes one frame. The reply, if not nil, goes back to the source address in the same VLANs. A
// good PADR has no reply here: the owner answers with BuildPADS or BuildPADSError.
func (r *Responder) Handle(f Frame, now time.Time) (reply []byte, ev Event) {
	defer func() {
		if recover() != nil { // a frame must not stop the process, whatever we did wrong
			reply, ev = nil, Event{Reason: ReasonInternal}
		}
	}()
	return r.handle(f, now)
}

func (r *Responder) handle(f Frame, now time.Time) ([]byte, Event) {
	p, d, reason := decode(f)
	if reason != ReasonNone {
		return nil, Event{Reason: reason}
	}
	switch p.Code {
	case CodePADI:
		return r.handlePADI(f, p, d, now)
	case CodePADR:
		return r.handlePADR(f, d, now)
	}
	return nil, Event{Kind: EventTerminated, Termination: Termination{
		Client: f.Src, Line: f.Line, SessionID: p.SessionID, Message: d.errorText,
	}}
}

// decode does what all packets have in common.
func decode(f Frame) (Packet, discovery, Reason) {
	if f.Src.isZero() || f.Src.isGroup() || f.Src == f.Own {
		return Packet{}, discovery{}, ReasonSource
	}
	p, err := ParsePacket(f.Payload)
	if errors.Is(err, ErrVersion) {
		return p, discovery{}, ReasonVersion
	}
	if err != nil {
		return p, discovery{}, ReasonMalformed
	}
	if reason := checkAddress(f, p); reason != ReasonNone {
		return p, discovery{}, reason
	}
	tags, err := ParseTags(p.Tags)
	if err != nil {
		return p, discovery{}, ReasonMalformed
	}
	return p, sortTags(tags), ReasonNone
}

// checkAddress: PADI goes to everybody or to us, PADR and PADT to us alone (RFC 2516 sections 5.1,
// 5.3 and 5.5). The session id is zero until PADS gives one.
func checkAddress(f Frame, p Packet) Reason {
	hasID := p.SessionID != 0
	switch p.Code {
	case CodePADI, CodePADR:
	case CodePADT:
		hasID = !validID(p.SessionID)
	default:
		return ReasonCode
	}
	if f.Dst != f.Own && !(p.Code == CodePADI && f.Dst.isBroadcast()) {
		return ReasonDestination
	}
	if hasID {
		return ReasonSessionID
	}
	return ReasonNone
}

// checkNames is what PADI and PADR share: exactly one Service-Name (RFC 2516 sections 5.1 and 5.3),
// one that we offer, and no other concentrator's name.
func (r *Responder) checkNames(d discovery) Reason {
	switch {
	case len(d.services) == 0:
		return ReasonNoService
	case len(d.services) > 1:
		return ReasonDuplicateService
	case len(d.relayID) > maxRelayIDBytes:
		return ReasonRelayID
	case len(d.acNames) > 0 && !contains(d.acNames, r.acName):
		return ReasonOtherAC
	case !r.serves(d.services[0]):
		return ReasonUnknownService
	}
	return ReasonNone
}

// serves: a blank name accepts any service, and a concentrator without names serves any
// (RFC 2516 appendix A, Service-Name).
func (r *Responder) serves(name []byte) bool {
	return len(name) == 0 || len(r.services) == 0 || contains(r.services, name)
}

// handlePADI: one that cannot be served is not answered (RFC 2516 section 5.2).
func (r *Responder) handlePADI(f Frame, p Packet, d discovery, now time.Time) ([]byte, Event) {
	if headerBytes+len(p.Tags) > maxPacketBytes { // RFC 2516 section 5.1
		return nil, Event{Reason: ReasonTooLong}
	}
	if reason := r.checkNames(d); reason != ReasonNone {
		return nil, Event{Reason: reason}
	}
	reply, err := r.buildPADO(d, r.cookies.make(f.Src, f.Line, now))
	if err != nil {
		return nil, Event{Reason: ReasonTooLong}
	}
	return reply, Event{Kind: EventOffered}
}

func (r *Responder) handlePADR(f Frame, d discovery, now time.Time) ([]byte, Event) {
	if !r.cookies.check(d.cookie, f.Src, f.Line, now) {
		return nil, Event{Reason: ReasonCookie} // before all else: nothing is said to a stranger
	}
	reason := r.checkNames(d)
	if reason == ReasonUnknownService {
		reply, err := BuildPADSError(r.request(f, d), TagServiceNameError, "service is not offered")
		if err != nil {
			reply = nil
		}
		return reply, Event{Reason: reason} // RFC 2516 section 5.4
	}
	if reason != ReasonNone {
		return nil, Event{Reason: reason}
	}
	req := r.request(f, d)
	if !answerable(req) {
		return nil, Event{Reason: ReasonTooLong}
	}
	return nil, Event{Kind: EventRequested, Request: req}
}

// answerable reports whether a yes and a no both fit, so that the owner need not find out later.
func answerable(req Request) bool {
	_, yes := BuildPADS(req, firstID)
	_, no := BuildPADSError(req, TagGenericError, "")
	return yes == nil && no == nil
}

func (r *Responder) request(f Frame, d discovery) Request {
	return Request{
		Client: f.Src, Own: f.Own, Line: f.Line, Service: string(d.services[0]),
		HostUniq: d.hostUniq, RelayID: d.relayID, MaxPayload: r.agreePayload(d.maxPayload), Access: d.access,
	}
}

// agreePayload: the tag matters only beyond what plain PPPoE carries, and neither side is asked for more
// than it can take (RFC 4638).
func (r *Responder) agreePayload(asked uint16) uint16 {
	if agreed := min(asked, r.maxPayload); agreed > plainPayloadBytes {
		return agreed
	}
	return 0
}
