package dhcp6

import (
	"bytes"
	"slices"
)

// confirm answers CONFIRM (RFC 8415 section 18.3.3). The client's link is its own: an address is
// appropriate there when we have bound it, and when we do not know it, the client must begin anew.
func (l *Link) confirm(r *Request) []Output {
	status, any := Success, false
	for _, ia := range r.NA {
		for _, a := range ia.Addresses {
			any = true
			if !l.address.bound() || a != l.address.addr() || !l.knows(r) {
				status = NotOnLink
			}
		}
	}
	if !any {
		return []Output{Ignored{NoAddress}}
	}
	m := l.answer(Reply, r)
	m.options = append(m.options, statusOption(status))
	return []Output{l.send(m)}
}

// knows reports whether the client is the one that holds the leases.
func (l *Link) knows(r *Request) bool { return bytes.Equal(l.client, r.ClientID) }

// giveBack answers RELEASE and DECLINE (RFC 8415 sections 18.3.7 and 18.3.8): Success for the message,
// NoBinding in each IA that is not bound. A prefix cannot be declined.
func (l *Link) giveBack(r *Request) []Output {
	m := l.answer(Reply, r)
	m.options = append(m.options, statusOption(Success))
	var gone Released
	for _, ia := range r.NA {
		switch {
		case !l.knows(r) || !l.address.bound() || ia.ID != l.address.iaid:
			m.options = append(m.options, emptyNA(ia.ID, NoBinding))
		case slices.Contains(ia.Addresses, l.address.addr()):
			gone.Address = l.address.addr()
		}
	}
	for _, ia := range r.PD {
		switch {
		case !l.knows(r) || !l.prefix.bound() || ia.ID != l.prefix.iaid:
			m.options = append(m.options, emptyPD(ia.ID, NoBinding))
		case r.Type == Release && slices.Contains(ia.Prefixes, l.prefix.held):
			gone.Delegated = l.prefix.held
		}
	}
	// The answer goes first: an owner for whom this was the last lease may have nobody to answer afterwards.
	return append([]Output{l.send(m)}, l.forget(r.Type, gone)...)
}

// forget ends leases that the client gave back, and tells the owner.
func (l *Link) forget(kind MessageType, gone Released) []Output {
	if gone.Address.IsValid() {
		l.address = lease{}
	}
	if gone.Delegated.IsValid() {
		l.prefix = lease{}
	}
	switch {
	case !gone.Address.IsValid() && !gone.Delegated.IsValid():
		return nil
	case kind == Decline:
		return []Output{Declined{Address: gone.Address}}
	}
	return []Output{gone}
}
