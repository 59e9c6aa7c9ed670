package bgp

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	api "github.com/osrg/gobgp/v3/api"
	gobgp "github.com/osrg/gobgp/v3/pkg/server"

	"vbng/control/oper"
)

// SummaryRow is a neighbour and one of its address families.
type SummaryRow struct {
	VRF         string
	Neighbor    string
	AS          uint32
	Family      string
	State       string
	Since       string `show:"Up/Down"`
	Received    uint64 // prefixes, before filters
	Accepted    uint64 // after them
	Advertised  uint64
	Description string
}

// counts is a neighbour's prefixes of one family.
type counts struct{ received, accepted, advertised uint64 }

// peers asks GoBGP for its neighbours, all or the one with the address.
func (srv *server) peers(addr string) (all []*api.Peer, err error) {
	err = srv.use(func(b *gobgp.BgpServer) error {
		return b.ListPeer(context.Background(), &api.ListPeerRequest{Address: addr, EnableAdvertised: true}, func(p *api.Peer) { all = append(all, p) })
	})
	return all, err
}

func (srv *server) counts(addr netip.Addr) (c [families]counts) {
	peers, err := srv.peers(addr.String())
	if err != nil || len(peers) != 1 {
		return c
	}
	return countsOf(peers[0])
}

func countsOf(p *api.Peer) (c [families]counts) {
	for _, a := range p.GetAfiSafis() {
		s := a.GetState()
		advertised := s.GetAdvertised()
		if advertised > 0 {
			advertised-- // GoBGP counts the End-of-RIB marker
		}
		c[familyByAFI(s.GetFamily().GetAfi())] = counts{s.GetReceived(), s.GetAccepted(), advertised}
	}
	return c
}

// Commands returns the show and clear commands of BGP.
func (b *BGP) Commands() []*oper.Command {
	inVRF := oper.Arg{Name: "vrf", Help: "in a VRF; without it the default one", Keyword: true, Optional: true, Complete: b.vrfs}
	family := oper.Arg{Name: "family", Help: "one address family", Optional: true, Enum: []string{"ipv4", "ipv6"}}
	neighbor := oper.Arg{Name: "neighbor", Help: "its address", Complete: b.neighbors, Check: addressArgument}
	optional := neighbor
	optional.Optional = true
	return []*oper.Command{
		{Words: "show bgp summary", Help: "BGP neighbours and their prefixes", Args: []oper.Arg{inVRF, family}, Run: b.showSummary},
		{Words: "show bgp neighbors", Help: "BGP neighbours in detail, or the routes exchanged with one",
			Args: []oper.Arg{optional, {Name: "routes", Help: "routes before our filters, or after them", Optional: true, Enum: []string{"received-routes", "advertised-routes"}}, inVRF},
			Run:  b.showNeighbors},
		{Words: "show bgp", Help: "BGP's paths to a prefix", Run: b.showPrefix,
			Args: []oper.Arg{{Name: "prefix", Help: "the prefix, or an address in it", Check: prefixArgument}, inVRF}},
		{Words: "clear bgp", Help: "make the session with a neighbour anew; soft: evaluate and send its routes anew", Run: b.clear,
			Args: []oper.Arg{neighbor, {Name: "soft", Help: "keep the session", Flag: true, Optional: true}, inVRF}},
	}
}

func addressArgument(text string) error {
	_, err := netip.ParseAddr(text)
	return err
}

func prefixArgument(text string) error {
	if _, err := netip.ParsePrefix(text); err == nil {
		return nil
	}
	return addressArgument(text)
}

func (b *BGP) vrfs() []string {
	var names []string
	for _, s := range b.all() {
		names = append(names, vrfName(s.vrf))
	}
	return names
}

func (b *BGP) neighbors() []string {
	var names []string
	for _, s := range b.all() {
		for _, n := range s.view().settings.neighbors {
			if a := n.addr.String(); !slices.Contains(names, a) {
				names = append(names, a)
			}
		}
	}
	return names
}

// view is what show commands know without the loop.
type view struct {
	settings *settings
	server   *server
	trouble  string
	refused  map[string]uint64
	causes   map[netip.Addr]string
}

func (s *speaker) view() view {
	s.notes.mu.Lock()
	defer s.notes.mu.Unlock()
	v := view{s.notes.settings, s.notes.server, s.notes.trouble, maps.Clone(s.notes.refused), maps.Clone(s.notes.causes)}
	if v.settings == nil {
		v.settings = &settings{}
	}
	return v
}

// speaker returns that of the VRF that a call names.
func (b *BGP) speaker(call oper.Call) (*speaker, error) {
	name := call.Args["vrf"]
	for _, s := range b.all() {
		if s.vrf == name || vrfName(s.vrf) == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("BGP is not configured in VRF %s", vrfName(name))
}

func (b *BGP) showSummary(_ context.Context, call oper.Call) (any, error) {
	var answer oper.Table[SummaryRow]
	var troubles []string
	for _, s := range b.all() {
		if call.Has("vrf") && vrfName(s.vrf) != call.Args["vrf"] {
			continue
		}
		v := s.view()
		answer.Rows = append(answer.Rows, v.summary(s, call.Args["family"])...)
		if v.trouble != "" {
			troubles = append(troubles, fmt.Sprintf("VRF %s: %s", vrfName(s.vrf), v.trouble))
		}
		for _, reason := range slices.Sorted(maps.Keys(v.refused)) {
			troubles = append(troubles, fmt.Sprintf("VRF %s: %d paths refused: %s", vrfName(s.vrf), v.refused[reason], reason))
		}
	}
	answer.Summary = strings.Join(troubles, "\n")
	return answer, nil
}

func (v view) summary(s *speaker, only string) []SummaryRow {
	peers, _ := v.server.peers("")
	var rows []SummaryRow
	for i := range v.settings.neighbors {
		n := &v.settings.neighbors[i]
		p := find(peers, n.addr)
		c := countsOf(p)
		for f := range families {
			if !n.active[f] || only != "" && !strings.EqualFold(only, f.String()) {
				continue
			}
			rows = append(rows, SummaryRow{
				VRF: vrfName(s.vrf), Neighbor: n.addr.String(), AS: n.as, Family: f.String(), State: state(n, p), Since: since(p, s.loop.Now()),
				Received: c[f].received, Accepted: c[f].accepted, Advertised: c[f].advertised, Description: n.description,
			})
		}
	}
	return rows
}

func find(peers []*api.Peer, addr netip.Addr) *api.Peer {
	for _, p := range peers {
		if p.GetConf().GetNeighborAddress() == addr.String() {
			return p
		}
	}
	return nil
}

// state says in words how a neighbour stands. p may be nil.
func state(n *neighbor, p *api.Peer) string {
	switch {
	case n.shutdown:
		return "shutdown"
	case p == nil:
		return "not started"
	case p.GetState().GetAdminState() == api.PeerState_PFX_CT:
		return "maximum-prefix"
	}
	return strings.ToLower(p.GetState().GetSessionState().String())
}

// since tells for how long a session is up or down, "never" when there was none.
func since(p *api.Peer, now time.Time) string {
	at := p.GetTimers().GetState().GetDowntime()
	if p.GetState().GetSessionState() == api.PeerState_ESTABLISHED {
		at = p.GetTimers().GetState().GetUptime()
	}
	if at.GetSeconds() <= 0 {
		return "never"
	}
	return now.Sub(at.AsTime()).Truncate(time.Second).String()
}

func (b *BGP) clear(_ context.Context, call oper.Call) (any, error) {
	s, err := b.speaker(call)
	if err != nil {
		return nil, err
	}
	addr, _ := netip.ParseAddr(call.Args["neighbor"])
	v := s.view()
	if v.settings.find(addr) == nil {
		return nil, fmt.Errorf("%v is no neighbour in VRF %s", addr, vrfName(s.vrf))
	}
	request := &api.ResetPeerRequest{Address: addr.String(), Soft: call.Has("soft"), Direction: api.ResetPeerRequest_BOTH}
	peers, err := v.server.peers(addr.String())
	if err == nil && len(peers) == 1 && peers[0].GetState().GetAdminState() == api.PeerState_PFX_CT {
		return "", v.server.enable(addr)
	}
	return "", v.server.use(func(b *gobgp.BgpServer) error { return b.ResetPeer(context.Background(), request) })
}
