package rib

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// defaultShowLimit bounds how many prefixes one answer lists: with a quarter million subscribers
// nobody reads on, and the loop should not be kept.
const (
	defaultShowLimit = 1000
	maxShowLimit     = 1_000_000
)

// RouteRow is one candidate route, one row per next hop.
type RouteRow struct {
	Code       string `show:"Code"` // letter of the source, ">" behind it: in the forwarder
	Prefix     string `show:"Prefix"`
	Source     string `show:"Source"`
	Distance   uint8  `show:"Distance"`
	Via        string `show:"Via"`
	Interface  string `show:"Interface"`
	Age        string `show:"Age"`
	AgeSeconds uint64 `show:"-"`
	State      string `show:"State"` // active, backup, unresolved, programming, refused: REASON
}

// SummaryRow counts the routes of one source.
type SummaryRow struct {
	Code     string `show:"Code"`
	Source   string `show:"Source"`
	Distance uint8  `show:"Distance"`
	Routes   int    `show:"Routes"`
	Active   int    `show:"Active"`
}

// Commands returns the show commands.
func (r *RIB) Commands() []*oper.Command {
	return []*oper.Command{{
		Words: "show ip route",
		Help:  "the IPv4 routing table, or the routes for a prefix or address",
		Args: []oper.Arg{
			{Name: "prefix", Help: "A.B.C.D/LEN: this prefix; A.B.C.D: what leads there", Optional: true, Check: checkSubject},
			{Name: "source", Help: "only routes of this source", Keyword: true, Optional: true, Enum: sourceNames()},
			{Name: "limit", Help: fmt.Sprintf("how many prefixes to list, %d if not given", defaultShowLimit), Keyword: true, Optional: true, Check: checkLimit},
			{Name: "summary", Help: "only how many there are", Flag: true, Optional: true},
		},
		Run: r.showRoutes,
	}}
}

func checkSubject(word string) error {
	_, err := parseSubject(word)
	return err
}

// parseSubject reads a prefix, or an address as a prefix of full length without the slash.
func parseSubject(word string) (netip.Prefix, error) {
	if strings.Contains(word, "/") {
		p, err := netip.ParsePrefix(word)
		if err != nil || !p.Addr().Is4() {
			return p, fmt.Errorf("expected an IPv4 prefix or address, found %q", word)
		}
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(word)
	if err != nil || !a.Is4() {
		return netip.Prefix{}, fmt.Errorf("expected an IPv4 prefix or address, found %q", word)
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

func checkLimit(word string) error {
	if n, err := strconv.Atoi(word); err != nil || n < 1 || n > maxShowLimit {
		return fmt.Errorf("expected a number from 1 to %d, found %q", maxShowLimit, word)
	}
	return nil
}

func (r *RIB) showRoutes(ctx context.Context, call oper.Call) (any, error) {
	q := query{limit: defaultShowLimit, source: call.Args["source"], summary: call.Has("summary"), reply: make(chan any, 1)}
	if word := call.Args["limit"]; word != "" {
		q.limit, _ = strconv.Atoi(word)
	}
	if word := call.Args["prefix"]; word != "" {
		subject, err := parseSubject(word)
		if err != nil {
			return nil, err
		}
		q.subject, q.address = subject, !strings.Contains(word, "/")
	}
	r.loop.Post(q)
	select {
	case answer := <-q.reply:
		return answer, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("show routes: %w", ctx.Err())
	}
}

// query asks the loop for a view of the default VRF's table.
type query struct {
	subject netip.Prefix // not valid: everything
	address bool         // the subject is an address: show what leads there
	source  string       // empty: all
	limit   int
	summary bool
	reply   chan any // buffered
}

func (m query) handle(r *RIB) {
	t := r.table(0)
	if m.summary {
		m.reply <- t.summary()
		return
	}
	found, total := m.find(t)
	answer := oper.Table[RouteRow]{Rows: make([]RouteRow, 0, len(found))}
	for _, d := range found {
		answer.Rows = append(answer.Rows, r.rows(d, m.source)...)
	}
	answer.Summary = fmt.Sprintf("%d prefixes", total)
	if total > len(found) {
		answer.Summary = fmt.Sprintf("the first %d of %d prefixes; 'limit' shows more, 'summary' counts", len(found), total)
	}
	m.reply <- answer
}

// find returns the destinations to show in order, at most the limit, and how many match.
func (m query) find(t *table) (found []*destination, total int) {
	if m.subject.IsValid() {
		t.destinations.covering(m.subject.Addr(), m.subject.Bits(), func(p netip.Prefix, d *destination) bool {
			if m.matches(d) && (m.address && d.installed.target.Kind != 0 || p == m.subject) {
				found = append(found, d)
			}
			return len(found) == 0
		})
		return found, len(found)
	}
	// The loop must not be kept by sorting a table of which only the beginning is shown.
	var last *destination // nothing behind it can be among the first
	for p, d := range t.destinations.all() {
		if !m.matches(d) {
			continue
		}
		total++
		if last != nil && comparePrefixes(p, last.prefix) > 0 {
			continue
		}
		if found = append(found, d); len(found) >= 2*m.limit {
			found = first(found, m.limit)
			last = found[m.limit-1]
		}
	}
	return first(found, m.limit), total
}

// first returns the first n destinations in order.
func first(all []*destination, n int) []*destination {
	slices.SortFunc(all, func(a, b *destination) int { return comparePrefixes(a.prefix, b.prefix) })
	return all[:min(len(all), n)]
}

func (m query) matches(d *destination) bool {
	return slices.ContainsFunc(d.routes, func(rt *route) bool { return m.source == "" || rt.source.String() == m.source })
}

// rows returns a destination's candidates, best first.
func (r *RIB) rows(d *destination, source string) []RouteRow {
	var rows []RouteRow
	best := d.best()
	for _, rt := range d.routes {
		if source != "" && rt.source.String() != source {
			continue
		}
		age := r.loop.Now().Sub(rt.since)
		row := RouteRow{
			Code: rt.source.Code(), Prefix: d.prefix.String(), Source: rt.source.String(), Distance: rt.distance,
			Age: formatAge(age), AgeSeconds: uint64(age / time.Second), State: d.state(rt, best),
		}
		if row.State == "active" {
			row.Code += ">"
		}
		rows = append(rows, r.paths(rt, row)...)
	}
	return rows
}

// state says in a word how a candidate stands.
func (d *destination) state(rt, best *route) string {
	switch {
	case rt.refused != "":
		return "refused: " + rt.refused
	case rt.target.Kind == 0:
		return "unresolved"
	case rt != best:
		return "backup"
	case d.changed || d.installed.target != rt.target:
		return "programming"
	}
	return "active"
}

// paths fills in where a route leads: a row, or one per next hop.
func (r *RIB) paths(rt *route, row RouteRow) []RouteRow {
	if rt.via == nil {
		row.Via, row.Interface = r.describe(rt)
		return []RouteRow{row}
	}
	var rows []RouteRow
	for _, g := range rt.via.gateways {
		one := row
		one.Via = g.String()
		at := slices.IndexFunc(rt.via.hops, func(h *hop) bool { return h.key.Addr == g })
		switch {
		case at < 0:
			one.Code, one.State = rt.source.Code(), "unresolved"
		default:
			one.Interface = r.name(rt.via.hops[at].key.Interface)
			if rt.target.Addr != g && row.State == "active" {
				one.Code, one.State = rt.source.Code(), "backup"
			}
		}
		rows = append(rows, one)
	}
	return rows
}

func (r *RIB) describe(rt *route) (via, iface string) {
	switch rt.target.Kind {
	case entry.TargetDrop:
		if rt.source == Connected {
			return "discard", r.name(entry.InterfaceID(rt.owner.id))
		}
		if rt.source == Aggregate {
			return "discard (" + rt.owner.name + ")", ""
		}
		return "discard", ""
	case entry.TargetLocal:
		return "own address", r.name(entry.InterfaceID(rt.owner.id))
	case entry.TargetConnected:
		return "on link", r.name(rt.target.Interface)
	case entry.TargetNeighbor:
		return rt.target.Addr.String(), r.name(rt.target.Interface)
	case entry.TargetSession:
		return fmt.Sprintf("session %d", rt.target.Session), ""
	}
	return "", ""
}

func (r *RIB) name(i entry.InterfaceID) string {
	if r.nameOf == nil {
		return strconv.FormatUint(uint64(i), 10)
	}
	return r.nameOf(i)
}

func (t *table) summary() oper.Table[SummaryRow] {
	var answer oper.Table[SummaryRow]
	routes, active := 0, 0
	for s := Local; s < numSources; s++ {
		answer.Rows = append(answer.Rows, SummaryRow{s.Code(), s.String(), s.Distance(), t.candidates[s], t.installed[s]})
		routes, active = routes+t.candidates[s], active+t.installed[s]
	}
	answer.Summary = fmt.Sprintf("%d prefixes, %d routes, %d active", t.destinations.len(), routes, active)
	return answer
}

// formatAge prints a duration as routers do: 12s, 3m07s, 4h05m, 6d11h.
func formatAge(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}
