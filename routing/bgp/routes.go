package bgp

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	api "github.com/osrg/gobgp/v3/api"
	gobgp "github.com/osrg/gobgp/v3/pkg/server"

	"vbng/control/oper"
)

// PathRow is a path to a prefix.
type PathRow struct {
	Best        string `show:""` // ">" for those in use
	Prefix      string
	NextHop     string
	From        string // the neighbour, or "own"
	Preference  string `show:"LocPref"`
	Metric      string
	ASPath      string
	Origin      string
	Communities string
}

// maxRows bounds what a show command prints of a table.
const maxRows = 10_000

// list asks GoBGP for a table: the global one, or a neighbour's. An empty prefix is all of both families.
func (srv *server) list(table api.TableType, neighbor, prefix string, each func(*api.Destination)) error {
	for f := range families {
		request := &api.ListPathRequest{TableType: table, Name: neighbor, Family: familyMessages[f], SortType: api.ListPathRequest_PREFIX, EnableFiltered: table == api.TableType_ADJ_IN}
		if prefix != "" {
			p, err := netip.ParsePrefix(prefix)
			if a, asAddress := netip.ParseAddr(prefix); asAddress == nil {
				p, err = netip.PrefixFrom(a, a.BitLen()), nil
			}
			if err != nil || familyOf(p.Addr()) != f {
				continue
			}
			request.Prefixes = []*api.TableLookupPrefix{{Prefix: prefix, Type: api.TableLookupPrefix_EXACT}}
		}
		err := srv.use(func(b *gobgp.BgpServer) error { return b.ListPath(context.Background(), request, each) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *BGP) showPrefix(_ context.Context, call oper.Call) (any, error) {
	s, err := b.speaker(call)
	if err != nil {
		return nil, err
	}
	return s.table(api.TableType_GLOBAL, "", call.Args["prefix"])
}

// table returns the paths of a table as rows.
func (s *speaker) table(kind api.TableType, neighbor, prefix string) (any, error) {
	var answer oper.Table[PathRow]
	total := 0
	err := s.view().server.list(kind, neighbor, prefix, func(d *api.Destination) {
		for _, p := range d.GetPaths() {
			if total++; len(answer.Rows) < maxRows {
				answer.Rows = append(answer.Rows, pathRow(d.GetPrefix(), p))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	answer.Summary = fmt.Sprintf("%d paths", total)
	if total > len(answer.Rows) {
		answer.Summary += fmt.Sprintf(", the first %d shown", len(answer.Rows))
	}
	return answer, nil
}

func pathRow(prefix string, p *api.Path) PathRow {
	row := PathRow{Prefix: prefix, From: p.GetNeighborIp()}
	if _, err := netip.ParseAddr(row.From); err != nil {
		row.From = "own"
	}
	if p.GetBest() {
		row.Best = ">"
	}
	if p.GetFiltered() {
		row.Best = "filtered"
	}
	if p.GetStale() {
		row.Best += " stale"
	}
	for _, a := range p.GetPattrs() {
		if m, err := a.UnmarshalNew(); err == nil {
			row.attribute(m)
		}
	}
	return row
}

func (r *PathRow) attribute(attribute any) {
	switch v := attribute.(type) {
	case *api.NextHopAttribute:
		r.NextHop = v.NextHop
	case *api.MpReachNLRIAttribute:
		r.NextHop = strings.Join(v.NextHops, " ")
	case *api.LocalPrefAttribute:
		r.Preference = fmt.Sprint(v.LocalPref)
	case *api.MultiExitDiscAttribute:
		r.Metric = fmt.Sprint(v.Med)
	case *api.OriginAttribute:
		r.Origin = originName(v.Origin)
	case *api.AsPathAttribute:
		r.ASPath = asPath(v.Segments)
	case *api.CommunitiesAttribute:
		r.Communities = communityText(v.Communities)
	}
}

func originName(n uint32) string {
	if names := []string{"IGP", "EGP", "incomplete"}; n < uint32(len(names)) {
		return names[n]
	}
	return fmt.Sprint(n)
}

// asPath prints sets in braces (RFC 4271 4.3: AS_SET).
func asPath(segments []*api.AsSegment) string {
	var words []string
	for _, s := range segments {
		numbers := strings.Trim(fmt.Sprint(s.GetNumbers()), "[]")
		if s.GetType() == api.AsSegment_AS_SET {
			numbers = "{" + numbers + "}"
		}
		words = append(words, numbers)
	}
	return strings.Join(words, " ")
}

func communityText(all []uint32) string {
	var words []string
	for _, c := range all {
		words = append(words, fmt.Sprintf("%d:%d", c>>16, c&0xffff))
	}
	return strings.Join(words, " ")
}

func (b *BGP) showNeighbors(_ context.Context, call oper.Call) (any, error) {
	s, err := b.speaker(call)
	if err != nil {
		return nil, err
	}
	v := s.view()
	addr, _ := netip.ParseAddr(call.Args["neighbor"])
	if call.Has("neighbor") && v.settings.find(addr) == nil {
		return nil, fmt.Errorf("%v is no neighbour in VRF %s", addr, vrfName(s.vrf))
	}
	switch routes := call.Args["routes"]; {
	case routes != "" && !call.Has("neighbor"):
		return nil, fmt.Errorf("%s needs a neighbour", routes)
	case routes == "received-routes":
		return s.table(api.TableType_ADJ_IN, addr.String(), "")
	case routes == "advertised-routes":
		return s.table(api.TableType_ADJ_OUT, addr.String(), "")
	}
	peers, err := v.server.peers("")
	if err != nil && v.trouble != "" {
		err = fmt.Errorf("%s", v.trouble)
	}
	if err != nil {
		return nil, err
	}
	var d oper.Document
	var data []NeighborDetail
	for i := range v.settings.neighbors {
		if n := &v.settings.neighbors[i]; !addr.IsValid() || n.addr == addr {
			detail := v.detail(n, find(peers, n.addr), s.loop.Now())
			data = append(data, detail)
			d.Sections = append(d.Sections, detail.section())
		}
	}
	d.Data = data
	return d, nil
}

// NeighborDetail is all about a neighbour.
type NeighborDetail struct {
	Neighbor, Description, State, Since, LastReset      string
	AS                                                  uint32
	RouterID, LocalAddress                              string
	HoldSeconds, KeepaliveSeconds                       uint64 // as negotiated
	ConfiguredHoldSeconds, ConfiguredKeepaliveSeconds   uint64
	Password                                            bool
	MessagesReceived, MessagesSent                      uint64
	UpdatesReceived, UpdatesSent, NotificationsReceived uint64
	NotificationsSent, Flaps                            uint64
	Received, Accepted, Advertised                      map[string]uint64 // prefixes by family
	Filters                                             []string
}

func (v view) detail(n *neighbor, p *api.Peer, now time.Time) NeighborDetail {
	in, out := p.GetState().GetMessages().GetReceived(), p.GetState().GetMessages().GetSent()
	t := p.GetTimers().GetState()
	d := NeighborDetail{
		Neighbor: n.addr.String(), Description: n.description, State: state(n, p), Since: since(p, now), AS: n.as,
		LastReset: cmp.Or(v.causes[n.addr], "never"), RouterID: p.GetState().GetRouterId(), LocalAddress: p.GetTransport().GetLocalAddress(),
		HoldSeconds: t.GetNegotiatedHoldTime(), KeepaliveSeconds: t.GetKeepaliveInterval(), Password: n.password != "",
		ConfiguredHoldSeconds: uint64(n.hold / time.Second), ConfiguredKeepaliveSeconds: uint64(n.keepalive / time.Second),
		MessagesReceived: in.GetTotal(), MessagesSent: out.GetTotal(), UpdatesReceived: in.GetUpdate(), UpdatesSent: out.GetUpdate(),
		NotificationsReceived: in.GetNotification(), NotificationsSent: out.GetNotification(), Flaps: uint64(p.GetState().GetFlops()),
		Received: map[string]uint64{}, Accepted: map[string]uint64{}, Advertised: map[string]uint64{},
	}
	for f, c := range countsOf(p) {
		if name := family(f).String(); n.active[f] {
			d.Received[name], d.Accepted[name], d.Advertised[name] = c.received, c.accepted, c.advertised
			d.Filters = append(d.Filters, n.families[f].filters(family(f))...)
		}
	}
	return d
}

// filters names what acts on a family's routes.
func (x exchange) filters(f family) []string {
	var all []string
	add := func(set bool, format string, args ...any) {
		if set {
			all = append(all, f.String()+" "+fmt.Sprintf(format, args...))
		}
	}
	if x.listIn != nil {
		add(true, "prefix-list in %s", x.listIn.Name)
	}
	if x.listOut != nil {
		add(true, "prefix-list out %s", x.listOut.Name)
	}
	if x.mapIn != nil {
		add(true, "route-map in %s", x.mapIn.Name)
	}
	if x.mapOut != nil {
		add(true, "route-map out %s", x.mapOut.Name)
	}
	add(x.maximum > 0, "maximum-prefix %d", x.maximum)
	add(x.defaultOriginate, "default-originate")
	return all
}

func (d NeighborDetail) section() oper.Section {
	s := oper.Section{Title: "Neighbor " + d.Neighbor}
	line := func(name, format string, args ...any) {
		s.Lines = append(s.Lines, oper.Field{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	if d.Description != "" {
		line("Description", "%s", d.Description)
	}
	line("AS", "%d", d.AS)
	line("State", "%s (%s)", d.State, d.Since)
	line("Last reset", "%s", d.LastReset)
	line("Router ID", "%s", cmp.Or(d.RouterID, "not known"))
	line("Our address", "%s", d.LocalAddress)
	line("Hold time", "%d s negotiated, %d s configured", d.HoldSeconds, d.ConfiguredHoldSeconds)
	line("Keepalive", "%d s negotiated, %d s configured", d.KeepaliveSeconds, d.ConfiguredKeepaliveSeconds)
	line("TCP MD5", "%t", d.Password)
	line("Messages", "%d received, %d sent", d.MessagesReceived, d.MessagesSent)
	line("Updates", "%d received, %d sent", d.UpdatesReceived, d.UpdatesSent)
	line("Notifications", "%d received, %d sent", d.NotificationsReceived, d.NotificationsSent)
	for _, name := range []string{"IPv4", "IPv6"} {
		if received, active := d.Received[name]; active {
			line(name+" prefixes", "%d received, %d accepted, %d advertised", received, d.Accepted[name], d.Advertised[name])
		}
	}
	slices.Sort(d.Filters)
	for _, f := range d.Filters {
		line("Filter", "%s", f)
	}
	return s
}
