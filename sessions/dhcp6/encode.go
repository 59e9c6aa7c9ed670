package dhcp6

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"
	"github.com/insomniacslk/dhcp/rfc1035label"
)

// message is an answer before it is bytes.
type message struct {
	kind     MessageType
	to       *Request
	serverID []byte
	options  []dhcpv6.Option
}

// answer begins a message with both identifiers and what the client asked for beside leases.
func (l *Link) answer(kind MessageType, r *Request) message {
	m := message{kind: kind, to: r, serverID: l.config.ServerID}
	m.options = m.identity()
	dns := l.grant.DNS
	if len(dns) == 0 {
		dns = l.config.DNS
	}
	if m.asked(dhcpv6.OptionDNSRecursiveNameServer) && len(dns) > 0 {
		var servers []net.IP
		for _, a := range dns {
			servers = append(servers, a.AsSlice())
		}
		m.options = append(m.options, dhcpv6.OptDNS(servers...))
	}
	if m.asked(dhcpv6.OptionDomainSearchList) && len(l.config.Search) > 0 {
		m.options = append(m.options, dhcpv6.OptDomainSearchList(&rfc1035label.Labels{Labels: l.config.Search}))
	}
	return m
}

// identity is the server's and the client's identifier, which every answer carries.
func (m message) identity() []dhcpv6.Option {
	options := []dhcpv6.Option{generic(dhcpv6.OptionServerID, m.serverID)}
	if m.to.ClientID != nil {
		options = append(options, generic(dhcpv6.OptionClientID, m.to.ClientID))
	}
	return options
}

// asked reports whether the client wants an option. Without an option request it gets what we have.
func (m message) asked(code dhcpv6.OptionCode) bool {
	return m.to.Options == nil || slices.Contains(m.to.Options, uint16(code))
}

// leases is an answer to SOLICIT, REQUEST, RENEW or REBIND.
func (l *Link) leases(kind MessageType, r *Request) message {
	m := l.answer(kind, r)
	if kind == Advertise && l.config.Preference > 0 {
		m.options = append(m.options, generic(dhcpv6.OptionPreference, []byte{l.config.Preference}))
	}
	if kind == Reply && l.rapid(r) {
		m.options = append(m.options, generic(dhcpv6.OptionRapidCommit, nil))
	}
	served, _ := l.servedNA(r)
	for i, ia := range r.NA {
		first := ia.ID == served.ID && !slices.ContainsFunc(r.NA[:i], func(b IANA) bool { return b.ID == ia.ID })
		m.options = append(m.options, l.optionNA(r, ia, first))
	}
	servedPD, _ := l.servedPD(r)
	for i, ia := range r.PD {
		first := ia.ID == servedPD.ID && !slices.ContainsFunc(r.PD[:i], func(b IAPD) bool { return b.ID == ia.ID })
		m.options = append(m.options, l.optionPD(r, ia, first))
	}
	for _, iaid := range r.TA {
		m.options = append(m.options, emptyTA(iaid))
	}
	return m
}

// optionNA is the answer to one IA_NA.
func (l *Link) optionNA(r *Request, ia IANA, served bool) dhcpv6.Option {
	switch {
	case !served && extends(r):
		return emptyNA(ia.ID, NoBinding)
	case !served || !l.address.held.IsValid():
		return emptyNA(ia.ID, NoAddrsAvail)
	case l.offLink(r, ia):
		return emptyNA(ia.ID, NotOnLink)
	}
	t1, t2 := l.times()
	option := &dhcpv6.OptIANA{IaId: identifier(ia.ID), T1: t1, T2: t2}
	option.Options.Add(l.addressOption(l.address.addr(), l.grant.Preferred, l.grant.Valid))
	if extends(r) { // RFC 8415 section 18.3.4: the client forgets what it should not have
		for _, a := range ia.Addresses {
			if a != l.address.addr() {
				option.Options.Add(l.addressOption(a, 0, 0))
			}
		}
	}
	return option
}

// optionPD is the answer to one IA_PD.
func (l *Link) optionPD(r *Request, ia IAPD, served bool) dhcpv6.Option {
	switch {
	case !served && extends(r):
		return emptyPD(ia.ID, NoBinding)
	case !served || !l.prefix.held.IsValid():
		return emptyPD(ia.ID, NoPrefixAvail)
	}
	t1, t2 := l.times()
	option := &dhcpv6.OptIAPD{IaId: identifier(ia.ID), T1: t1, T2: t2}
	option.Options.Add(l.prefixOption(l.prefix.held, l.grant.Preferred, l.grant.Valid))
	if extends(r) {
		for _, p := range ia.Prefixes {
			if p != l.prefix.held && !p.Addr().IsUnspecified() {
				option.Options.Add(l.prefixOption(p, 0, 0))
			}
		}
	}
	return option
}

// extends reports whether the message speaks of leases that the client has.
func extends(r *Request) bool { return r.Type == Renew || r.Type == Rebind }

func (l *Link) times() (t1, t2 time.Duration) {
	t1, t2 = l.grant.T1, l.grant.T2
	if t1 == 0 {
		t1 = l.grant.Preferred / 2
	}
	if t2 == 0 {
		t2 = l.grant.Preferred / 5 * 4
	}
	return t1, t2
}

func (l *Link) addressOption(a netip.Addr, preferred, valid time.Duration) dhcpv6.Option {
	return &dhcpv6.OptIAAddress{IPv6Addr: a.AsSlice(), PreferredLifetime: preferred, ValidLifetime: valid}
}

func (l *Link) prefixOption(p netip.Prefix, preferred, valid time.Duration) dhcpv6.Option {
	return &dhcpv6.OptIAPrefix{
		PreferredLifetime: preferred, ValidLifetime: valid,
		Prefix: &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), 128)},
	}
}

func emptyNA(iaid uint32, s Status) dhcpv6.Option {
	option := &dhcpv6.OptIANA{IaId: identifier(iaid)}
	option.Options.Add(statusOption(s))
	return option
}

func emptyPD(iaid uint32, s Status) dhcpv6.Option {
	option := &dhcpv6.OptIAPD{IaId: identifier(iaid)}
	option.Options.Add(statusOption(s))
	return option
}

// emptyTA says that temporary addresses are not to be had.
func emptyTA(iaid uint32) dhcpv6.Option {
	option := &dhcpv6.OptIATA{IaId: identifier(iaid)}
	option.Options.Add(statusOption(NoAddrsAvail))
	return option
}

func statusOption(s Status) dhcpv6.Option {
	return &dhcpv6.OptStatusCode{StatusCode: iana.StatusCode(s), StatusMessage: s.text()}
}

// text is what the client's log will say.
func (s Status) text() string {
	texts := [...]string{
		"", "failed", "no address for this line", "no such lease", "not an address of this line", "use multicast",
		"no prefix for this line",
	}
	if int(s) < len(texts) {
		return texts[s]
	}
	return ""
}

func generic(code dhcpv6.OptionCode, value []byte) dhcpv6.Option {
	return &dhcpv6.OptionGeneric{OptionCode: code, OptionData: value}
}

func identifier(iaid uint32) (b [4]byte) {
	binary.BigEndian.PutUint32(b[:], iaid)
	return b
}

// send makes the bytes, in the envelopes that the request came in (RFC 8415 section 19.3).
func (l *Link) send(m message) Output {
	payload := binary.BigEndian.AppendUint32(nil, uint32(m.kind)<<24|m.to.XID)
	payload = append(payload, dhcpv6.Options(m.options).ToBytes()...)
	port := uint16(ClientPort) // RFC 8415 section 7.2, whatever the source port was
	if len(m.to.Relays) > 0 {
		port = ServerPort
	}
	for i := len(m.to.Relays) - 1; i >= 0; i-- {
		payload = m.to.Relays[i].seal(payload)
	}
	return Send{Type: m.kind, Payload: payload, To: netip.AddrPortFrom(m.to.From.Addr(), port)}
}

// seal puts a message into RELAY-REPL with the fields of the RELAY-FORW.
func (r Relay) seal(payload []byte) []byte {
	b := append([]byte{byte(RelayReply), r.Hops}, r.Link.AsSlice()...)
	b = append(b, r.Peer.AsSlice()...)
	var options dhcpv6.Options
	if r.InterfaceID != nil { // RFC 8415 section 21.18: echoed
		options.Add(generic(dhcpv6.OptionInterfaceID, r.InterfaceID))
	}
	options.Add(generic(dhcpv6.OptionRelayMsg, payload))
	return append(b, options.ToBytes()...)
}
