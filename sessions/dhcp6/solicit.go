package dhcp6

import (
	"bytes"
	"net/netip"
	"time"
)

// refuse applies the rules that come before all others (RFC 8415 sections 16 and 18.4); nil: go on.
func (l *Link) refuse(r *Request) []Output {
	ours := bytes.Equal(r.ServerID, l.config.ServerID)
	switch r.Type {
	case Solicit, Confirm, Rebind:
		if r.ServerID != nil {
			return []Output{Ignored{BadServerID}}
		}
	case RequestLeases, Renew, Release, Decline:
		if r.ServerID == nil {
			return []Output{Ignored{BadServerID}}
		}
		if !ours {
			return []Output{Ignored{OtherServer}}
		}
	case InformationRequest:
		if r.ServerID != nil && !ours {
			return []Output{Ignored{OtherServer}}
		}
		if len(r.NA)+len(r.PD)+len(r.TA) > 0 {
			return []Output{Ignored{HasIA}}
		}
	default:
		return []Output{Ignored{NotClients}}
	}
	if r.ClientID == nil && r.Type != InformationRequest {
		return []Output{Ignored{NoClientID}}
	}
	if !r.Unicast {
		return nil
	}
	switch r.Type {
	case RequestLeases, Renew, Release, Decline: // RFC 8415 section 18.4: we never send the unicast option
		m := l.answer(Reply, r)
		m.options = append(m.identity(), statusOption(UseMulticast))
		return []Output{l.send(m)}
	}
	return []Output{Ignored{NotUnicast}}
}

// want goes on with a message that asks for leases as far as it can without the owner: SOLICIT, REQUEST,
// RENEW, REBIND (RFC 8415 sections 18.3.1, 18.3.2, 18.3.4, 18.3.5).
func (l *Link) want(now time.Time, r *Request) []Output {
	if l.phase != ready {
		if l.phase == asking || r.Type != Solicit || l.rapid(r) { // else a REPLY to a SOLICIT would answer nobody
			l.pending = r
		}
		return []Output{Ignored{Waiting}}
	}
	needsAddress := len(r.NA) > 0 && !l.address.held.IsValid() && !l.address.denied
	needsPrefix := len(r.PD) > 0 && !l.prefix.held.IsValid() && !l.prefix.denied
	if needsAddress || needsPrefix {
		l.phase, l.pending = asking, r
		need := NeedLeases{Request: r, Address: needsAddress, Prefix: needsPrefix}
		if needsAddress {
			need.Requested = requested(r)
		}
		if needsPrefix {
			need.Hint = hint(r)
		}
		return []Output{need}
	}
	if r.Type == Solicit && !l.rapid(r) {
		return []Output{l.send(l.leases(Advertise, r))}
	}
	return l.bind(now, r)
}

// bind takes what the message asks for; what is new the owner must make work first.
func (l *Link) bind(now time.Time, r *Request) []Output {
	l.client = r.ClientID
	if ia, served := l.servedNA(r); served && l.address.held.IsValid() && !l.offLink(r, ia) {
		l.address.isNew, l.address.taken, l.address.iaid = !l.address.taken, true, ia.ID
	}
	if ia, served := l.servedPD(r); served && l.prefix.held.IsValid() {
		l.prefix.isNew, l.prefix.taken, l.prefix.iaid = !l.prefix.taken, true, ia.ID
	}
	if !l.address.isNew && !l.prefix.isNew {
		return l.conclude(now, r, true)
	}
	l.phase, l.pending = binding, r
	need := NeedBinding{}
	if l.address.isNew {
		need.Address = l.address.addr()
	}
	if l.prefix.isNew {
		need.Delegated = l.prefix.held
	}
	return []Output{need}
}

// conclude extends the leases of the message and tells the client.
func (l *Link) conclude(now time.Time, r *Request, renewed bool) []Output {
	until := now.Add(l.grant.Valid)
	any := false
	if ia, served := l.servedNA(r); served && l.address.bound() && !l.offLink(r, ia) {
		l.address.until, any = until, true
	}
	if _, served := l.servedPD(r); served && l.prefix.bound() {
		l.prefix.until, any = until, true
	}
	var outputs []Output
	if any {
		bound := Bound{Renewed: renewed}
		for _, each := range []*lease{&l.address, &l.prefix} {
			if each.bound() && each.until.After(bound.Until) {
				bound.Until = each.until
			}
		}
		if l.address.bound() {
			bound.Address = l.address.addr()
		}
		if l.prefix.bound() {
			bound.Delegated = l.prefix.held
		}
		outputs = append(outputs, bound)
	}
	return append(outputs, l.send(l.leases(Reply, r)))
}

// rapid reports whether SOLICIT is answered with REPLY (RFC 8415 section 18.3.1).
func (l *Link) rapid(r *Request) bool {
	return r.Type == Solicit && r.RapidCommit && l.config.RapidCommit
}

// offLink reports whether a REQUEST names an address that is not the one held: the advertisement it
// answers is not ours any more (RFC 8415 section 18.3.2). NotOnLink makes the client begin anew.
func (l *Link) offLink(r *Request, ia IANA) bool {
	if r.Type != RequestLeases {
		return false
	}
	for _, a := range ia.Addresses {
		if a != l.address.addr() {
			return true
		}
	}
	return false
}

// servedNA returns the IA_NA that is served: the one that holds the address already, else the first.
func (l *Link) servedNA(r *Request) (IANA, bool) {
	for _, ia := range r.NA {
		if l.address.taken && ia.ID == l.address.iaid {
			return ia, true
		}
	}
	if len(r.NA) == 0 {
		return IANA{}, false
	}
	return r.NA[0], true
}

// servedPD returns the IA_PD that is served, as servedNA.
func (l *Link) servedPD(r *Request) (IAPD, bool) {
	for _, ia := range r.PD {
		if l.prefix.taken && ia.ID == l.prefix.iaid {
			return ia, true
		}
	}
	if len(r.PD) == 0 {
		return IAPD{}, false
	}
	return r.PD[0], true
}

// requested returns the address that the client would like.
func requested(r *Request) netip.Addr {
	for _, ia := range r.NA {
		for _, a := range ia.Addresses {
			return a
		}
	}
	return netip.Addr{}
}

// hint returns the prefix that the client would like.
func hint(r *Request) netip.Prefix {
	for _, ia := range r.PD {
		for _, p := range ia.Prefixes {
			return p
		}
	}
	return netip.Prefix{}
}
