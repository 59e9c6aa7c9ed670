package sessions

import (
	"context"
	"fmt"
	"strings"

	"vbng/control/oper"
	"vbng/sessions/ppp"
)

// Detail is everything about one session.
type Detail struct {
	Subscriber
	AcctSessionID  string       `json:"acct_session_id"`
	Profile        string       `json:"profile"`
	OwnMAC         string       `json:"own_mac"`
	OuterTPID      string       `json:"outer_tpid"`
	Service        string       `json:"service"`
	CircuitID      string       `json:"circuit_id"`
	RemoteID       string       `json:"remote_id"`
	Created        string       `json:"created"`
	Gateway        string       `json:"gateway"`
	Pool           string       `json:"pool"`
	DNS            [2]string    `json:"dns"`
	GrantedBy      string       `json:"granted_by"`
	SessionTimeout string       `json:"session_timeout"`
	IdleTimeout    string       `json:"idle_timeout"`
	Interim        string       `json:"interim_interval"`
	InputPackets   uint64       `json:"input_packets"`
	OutputPackets  uint64       `json:"output_packets"`
	MTU            uint16       `json:"mtu_bytes"`
	PeerMRU        uint16       `json:"peer_mru_bytes"`
	LCP            string       `json:"lcp_state"`
	IPCP           string       `json:"ipcp_state"`
	IPV6CP         string       `json:"ipv6cp_state"`
	Phase          string       `json:"ppp_phase"`
	LocalMagic     string       `json:"local_magic"`
	PeerMagic      string       `json:"peer_magic"`
	PPP            ppp.Counters `json:"ppp_counters"`
	Hostname       string       `json:"hostname"`
	Gateway6       string       `json:"gateway_ipv6"`
	LinkLocal      string       `json:"link_local"`
	PeerLinkLocal  string       `json:"peer_link_local"`
	DNS6           []string     `json:"dns_ipv6"`
	MSS            uint16       `json:"mss_bytes"`
	Held           []Holding    `json:"held"`
}

// Holding is an address or prefix of a session.
type Holding struct {
	What         string `json:"what"`
	Prefix       string `json:"prefix"`
	Pool         string `json:"pool"`
	LeaseSeconds int64  `json:"lease_seconds"` // left; 0: as long as the session
	State        string `json:"state"`
}

func (m *Manager) holdings(s *Session) []Holding {
	all := []Holding{}
	for x := range numSlots {
		b := &s.bindings[x]
		if !b.held() {
			continue
		}
		h := Holding{What: x.String(), Prefix: b.prefix.String(), Pool: b.pool, State: b.state()}
		if !b.until.IsZero() {
			h.LeaseSeconds = max(0, int64(b.until.Sub(m.loop.Now()).Seconds()))
		}
		all = append(all, h)
	}
	return all
}

// state says how far a binding is.
func (b *binding) state() string {
	switch {
	case b.leaving:
		return "leaving"
	case !b.live:
		return "offered"
	case !b.routed:
		return "activating"
	}
	return "bound"
}

func (m *Manager) detail(s *Session) Detail {
	usage := m.usage(s)
	d := Detail{
		Subscriber: m.subscriber(s), AcctSessionID: s.acctID, Profile: s.profile.name, OwnMAC: s.ownMAC.String(),
		OuterTPID: fmt.Sprintf("0x%04x", s.client.place.OuterTPID), Service: s.dialled.Service,
		CircuitID: string(s.dialled.CircuitID), RemoteID: string(s.dialled.RemoteID),
		Created: s.created.UTC().Format(timeFormat), Gateway: addressText(s.profile.local), Pool: s.bindings[slotIPv4].pool,
		InputPackets: usage.InputPackets, OutputPackets: usage.OutputPackets,
		MTU: compile(s).session.MTU, PeerMRU: s.peerMRU,
		LocalMagic: fmt.Sprintf("0x%08x", s.localMagic), PeerMagic: fmt.Sprintf("0x%08x", s.peerMagic),
	}
	if s.link != nil {
		lcp, ipcp, ipv6cp := s.link.States()
		d.LCP, d.IPCP, d.IPV6CP = lcp.String(), ipcp.String(), ipv6cp.String()
		d.Phase, d.PPP = s.link.Phase().String(), s.link.Counters()
	}
	e := compile(s).session
	d.MSS, d.Gateway6, d.LinkLocal = e.MSS, addressText(e.Gateway6), addressText(e.LinkLocal)
	d.Hostname, d.Held, d.PeerLinkLocal = s.dialled.Hostname, m.holdings(s), "-"
	if s.peerID != 0 {
		d.PeerLinkLocal = linkLocal(s.peerID).String()
	}
	if g := s.grant; g != nil {
		for _, a := range s.dns6() {
			d.DNS6 = append(d.DNS6, a.String())
		}
		net := m.network(s, g)
		d.DNS = [2]string{addressText(net.PrimaryDNS), addressText(net.SecondaryDNS)}
		d.GrantedBy = g.Source
		d.SessionTimeout, d.IdleTimeout = durationText(g.SessionTimeout), durationText(g.IdleTimeout)
		d.Interim = durationText(g.InterimInterval)
	}
	return d
}

func (m *Manager) showDetail(ctx context.Context, sel selection) (any, error) {
	rows, err := collect(ctx, m, sel, m.detail)
	if err != nil {
		return nil, err
	}
	doc := oper.Document{Data: rows}
	for _, d := range rows {
		doc.Sections = append(doc.Sections, d.section())
	}
	return doc, nil
}

// section lays one session out for people.
func (d Detail) section() oper.Section {
	field := func(name, format string, args ...any) oper.Field {
		return oper.Field{Name: name, Value: fmt.Sprintf(format, args...)}
	}
	ppp := fmt.Sprintf("%s, LCP %s, IPCP %s, IPV6CP %s, magic %s, peer's %s", d.Phase, d.LCP, d.IPCP, d.IPV6CP, d.LocalMagic, d.PeerMagic)
	if d.Phase == "" {
		ppp = "none"
	}
	lines := []oper.Field{
		field("User", "%s", d.Username),
		field("Acct-Session-Id", "%s", d.AcctSessionID),
		field("Line", "%s vlan %s (%s) mac %s", d.Port, d.VLAN, d.OuterTPID, d.MAC),
		field("Own MAC", "%s", d.OwnMAC),
		field("Circuit, remote id", "%q, %q", d.CircuitID, d.RemoteID),
		field("Access", "%s, session %d, profile %s, service %q, host name %q", d.Access, d.PPPoE, d.Profile, d.Service, d.Hostname),
		field("VRF", "%s", d.VRF),
		field("PPP", "%s", ppp),
		field("MTU, MSS, peer's MRU", "%d, %d, %d bytes", d.MTU, d.MSS, d.PeerMRU),
		field("Address", "%s, gateway %s, pool %q", d.Address, d.Gateway, d.Pool),
		field("DNS", "%s, %s", d.DNS[0], d.DNS[1]),
		field("IPv6", "%s, delegated %s, gateway %s", d.IPv6, d.Delegated, d.Gateway6),
		field("IPv6 link-local", "%s, peer's %s", d.LinkLocal, d.PeerLinkLocal),
		field("IPv6 DNS", "%s", strings.Join(d.DNS6, ", ")),
		field("Granted by", "%s", d.GrantedBy),
		field("Timeouts, interim", "session %s, idle %s, interim every %s", d.SessionTimeout, d.IdleTimeout, d.Interim),
		field("Created, uptime", "%s, %d s", d.Created, d.UptimeSeconds),
		field("Input", "%d packets, %d bytes", d.InputPackets, d.InputBytes),
		field("Output", "%d packets, %d bytes", d.OutputPackets, d.OutputBytes),
		field("PPP packets refused", "%s", refused(d.PPP)),
	}
	for _, h := range d.Held {
		lines = append(lines, field("Holds "+h.What, "%s, pool %q, %s, lease %d s", h.Prefix, h.Pool, h.State, h.LeaseSeconds))
	}
	return oper.Section{Title: fmt.Sprintf("Session %d, %s", d.SessionID, d.State), Lines: lines}
}

// refused names the packets of the client that PPP did not act on; most sessions have none.
func refused(c ppp.Counters) string {
	var some []string
	for _, r := range []struct {
		name  string
		count uint32
	}{
		{"illegal", c.Illegal}, {"malformed", c.Malformed}, {"mismatch", c.Mismatch}, {"wrong phase", c.WrongPhase},
		{"data", c.DataDiscarded}, {"unknown code", c.UnknownCode}, {"protocol rejected", c.ProtocolReject},
		{"ignored", c.Ignored}, {"looped", c.Looped}, {"internal fault", c.Internal},
	} {
		if r.count > 0 {
			some = append(some, fmt.Sprintf("%d %s", r.count, r.name))
		}
	}
	if some == nil {
		return "none"
	}
	return strings.Join(some, ", ")
}
