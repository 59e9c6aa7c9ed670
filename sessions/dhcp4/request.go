package dhcp4

import (
	"net/netip"
	"time"
)

// discover answers DISCOVER (RFC 2131 section 4.3.1). A client that has a lease and does not know it is
// offered that one, and loses nothing by asking.
func (l *Lease) discover(now time.Time, r *Request) []Output {
	switch l.state {
	case idle:
		return l.ask(r, r.Requested)
	case asking:
		l.pending = r
		return []Output{Ignored{Waiting}}
	case binding:
		return []Output{Ignored{Waiting}}
	}
	return l.offer(now, r)
}

// request answers REQUEST (RFC 2131 section 4.3.2), whose fields tell the client's state by table 4.
func (l *Lease) request(now time.Time, r *Request) []Output {
	selecting := r.ServerID.IsValid()
	wants := l.named(r)
	switch {
	case selecting && r.ServerID != l.config.ServerID:
		return l.elsewhere()
	case !wants.IsValid():
		return []Output{Ignored{BadAddress}}
	case l.state == idle && !selecting && !l.config.Authoritative:
		return []Output{Ignored{NotAuthoritative}}
	case l.state == idle: // also SELECTING, when we have forgotten our offer
		return l.ask(r, wants)
	case l.state == asking:
		l.pending = r
		return []Output{Ignored{Waiting}}
	case l.state == binding:
		return l.again(r, wants)
	case wants != l.grant.Address:
		return l.nak(r, "not your address")
	case l.state == offered:
		return l.bind(r)
	}
	l.until = now.Add(l.grant.Lease)
	return append([]Output{Bound{Address: l.grant.Address, Until: l.until, Renewed: true}}, l.ack(r)...)
}

// again takes a REQUEST while NeedBinding is out: the answer will go to the newest.
func (l *Lease) again(r *Request, wants netip.Addr) []Output {
	if wants != l.grant.Address {
		return []Output{Ignored{BadAddress}}
	}
	l.pending = r
	return []Output{Ignored{Waiting}}
}

// named returns the address that a REQUEST is about: option 50 in SELECTING and INIT-REBOOT, ciaddr in
// RENEWING and REBINDING (RFC 2131 table 4).
func (l *Lease) named(r *Request) netip.Addr {
	if r.Requested.IsValid() {
		return r.Requested
	}
	return r.ClientIP
}

// elsewhere takes a REQUEST that selects another server: our offer is free again. A bound lease stays; it
// runs out if the client does not come back.
func (l *Lease) elsewhere() []Output {
	if l.state != offered && l.state != binding {
		return []Output{Ignored{OtherServer}}
	}
	gone := l.grant.Address
	l.End()
	return []Output{Released{Address: gone, Elsewhere: true}}
}

// release takes RELEASE (RFC 2131 section 4.3.4), which is never answered.
func (l *Lease) release(r *Request) []Output {
	switch {
	case r.ServerID != l.config.ServerID:
		return []Output{Ignored{OtherServer}}
	case !l.holds(r.ClientIP):
		return []Output{Ignored{NoBinding}}
	}
	l.End()
	return []Output{Released{Address: r.ClientIP}}
}

// decline takes DECLINE (RFC 2131 section 4.3.3), which is never answered.
func (l *Lease) decline(r *Request) []Output {
	switch {
	case r.ServerID != l.config.ServerID:
		return []Output{Ignored{OtherServer}}
	case !l.holds(r.Requested):
		return []Output{Ignored{NoBinding}}
	}
	l.End()
	return []Output{Declined{Address: r.Requested}}
}

// inform answers INFORM (RFC 2131 section 4.3.5) of a client that uses the address we gave it.
func (l *Lease) inform(r *Request) []Output {
	if l.state != bound || r.ClientIP != l.grant.Address {
		return []Output{Ignored{NoBinding}}
	}
	return l.send(reply{kind: Ack, to: r, mandatory: l.identity(), optional: wanted(r, l.parameters())})
}

// ask asks the owner for an address.
func (l *Lease) ask(r *Request, wants netip.Addr) []Output {
	l.state, l.pending = asking, r
	return []Output{NeedAddress{Request: r, Requested: wants}}
}

// bind asks the owner to make the address work.
func (l *Lease) bind(r *Request) []Output {
	l.state, l.pending = binding, r
	return []Output{NeedBinding{Address: l.grant.Address}}
}

func (l *Lease) offer(now time.Time, r *Request) []Output {
	if l.state != bound {
		l.state, l.until = offered, now.Add(l.hold())
	}
	return l.send(l.lease(Offer, r))
}

func (l *Lease) ack(r *Request) []Output { return l.send(l.lease(Ack, r)) }

// nak tells the client that it must begin anew.
func (l *Lease) nak(r *Request, message string) []Output {
	return l.send(reply{kind: Nak, to: r, mandatory: append(l.identity(), Text(CodeMessage, message))})
}

// lease is a reply that gives the address.
func (l *Lease) lease(kind MessageType, r *Request) reply {
	t1, t2 := l.grant.T1, l.grant.T2
	if t1 == 0 {
		t1 = l.grant.Lease / 2
	}
	if t2 == 0 {
		t2 = l.grant.Lease / 8 * 7
	}
	times := []Option{seconds(CodeLeaseTime, l.grant.Lease), seconds(CodeT1, t1), seconds(CodeT2, t2)}
	return reply{
		kind: kind, to: r, address: l.grant.Address, mandatory: append(l.identity(), times...),
		optional: wanted(r, l.parameters()),
	}
}

func (l *Lease) identity() []Option { return []Option{Addresses(CodeServerID, l.config.ServerID)} }

// parameters is all that the client may be told.
func (l *Lease) parameters() []Option {
	if l.grant.Mask == 0 {
		return l.grant.Options
	}
	mask := ^uint32(0) << (32 - l.grant.Mask)
	value := []byte{byte(mask >> 24), byte(mask >> 16), byte(mask >> 8), byte(mask)}
	return append([]Option{{CodeMask, value}}, l.grant.Options...)
}

func (l *Lease) send(r reply) []Output {
	payload, dropped, err := r.encode()
	if err != nil {
		return []Output{Ignored{TooLong}}
	}
	return []Output{Send{Type: r.kind, Payload: payload, To: r.destination(), Dropped: dropped}}
}
