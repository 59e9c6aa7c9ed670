package rib

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// defaultShowLimit bounds how many prefixes one answer lists: with a million of them nobody reads on,
// and the loop should not be kept.
const (
	defaultShowLimit = 1000
	maxShowLimit     = 100_000
)

// RouteRow is one candidate route, one row per next hop in the end.
type RouteRow struct {
	Code       string `show:"Code"` // letter of the source, ">" behind it: in the forwarder
	Prefix     string `show:"Prefix"`
	Source     string `show:"Source"`
	Distance   uint8  `show:"Distance"`
	Metric     uint32 `show:"Metric"`
	Via        string `show:"Via"` // the next hop, and behind ">" the one it is reached by
	Interface  string `show:"Interface"`
	Age        string `show:"Age"`
	AgeSeconds uint64 `show:"-"`
	State      string `show:"State"` // active, backup, unresolved, silent, programming, refused: REASON
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
	return []*oper.Command{r.command(ipv4, "show ip route", "IPv4", "A.B.C.D"), r.command(ipv6, "show ipv6 route", "IPv6", "X:X::X")}
}

func (r *RIB) command(f family, words, name, hint string) *oper.Command {
	return &oper.Command{
		Words: words,
		Help:  "the " + name + " routing table, or the routes for a prefix or address",
		Args: []oper.Arg{
			{Name: "prefix", Help: hint + "/LEN: this prefix; " + hint + ": what leads there", Optional: true,
				Check: func(word string) error { _, err := parseSubject(f, word); return err }},
			{Name: "vrf", Help: "the table of this VRF, default if not given", Keyword: true, Optional: true, Complete: r.vrfNames, Check: r.checkVRF},
			{Name: "source", Help: "only routes of this source", Keyword: true, Optional: true, Enum: sourceNames()},
			{Name: "limit", Help: fmt.Sprintf("how many prefixes to list, %d if not given", defaultShowLimit), Keyword: true, Optional: true, Check: checkLimit},
			{Name: "summary", Help: "only how many there are", Flag: true, Optional: true},
		},
		Run: func(ctx context.Context, call oper.Call) (any, error) { return r.show(ctx, f, call) },
	}
}

// defaultVRF is the name of VRF 0.
const defaultVRF = "default"

func (r *RIB) vrfNames() []string {
	if r.vrfs == nil {
		return []string{defaultVRF}
	}
	return append([]string{defaultVRF}, r.vrfs.Names()...)
}

func (r *RIB) checkVRF(name string) error {
	if !slices.Contains(r.vrfNames(), name) {
		return fmt.Errorf("there is no VRF %q", name)
	}
	return nil
}

// parseSubject reads a prefix, or an address as a prefix of full length without the slash.
func parseSubject(f family, word string) (netip.Prefix, error) {
	wrong := fmt.Errorf("expected an %s prefix or address, found %q", [...]string{"IPv4", "IPv6"}[f], word)
	if strings.Contains(word, "/") {
		p, err := netip.ParsePrefix(word)
		if err != nil || familyOf(p.Addr()) != f {
			return p, wrong
		}
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(word)
	if err != nil || familyOf(a) != f || a.Zone() != "" {
		return netip.Prefix{}, wrong
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

func checkLimit(word string) error {
	if n, err := strconv.Atoi(word); err != nil || n < 1 || n > maxShowLimit {
		return fmt.Errorf("expected a number from 1 to %d, found %q", maxShowLimit, word)
	}
	return nil
}

func (r *RIB) show(ctx context.Context, f family, call oper.Call) (any, error) {
	q := query{family: f, limit: defaultShowLimit, summary: call.Has("summary"), reply: make(chan any, 1)}
	if word := call.Args["vrf"]; word != "" && word != defaultVRF {
		if err := r.checkVRF(word); err != nil {
			return nil, err
		}
		q.vrf = r.vrfs.ID(word)
	}
	if word := call.Args["source"]; word != "" {
		q.source = Source(1 + slices.Index(sourceNames(), word))
	}
	if word := call.Args["limit"]; word != "" {
		q.limit, _ = strconv.Atoi(word)
	}
	if word := call.Args["prefix"]; word != "" {
		subject, err := parseSubject(f, word)
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

// query asks the loop for a view of a table.
type query struct {
	vrf     entry.VRFID
	family  family
	subject netip.Prefix // not valid: everything
	address bool         // the subject is an address: show what leads there
	source  Source       // 0: all
	limit   int
	summary bool
	reply   chan any // buffered
}

func (m query) handle(r *RIB) {
	t, ok := r.tables[m.vrf]
	if !ok {
		t = newTable(m.vrf)
	}
	if m.summary {
		m.reply <- t.summary(m.family)
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
		for p, d := range t.destinations.covering(m.subject.Addr(), m.subject.Bits()) {
			if m.matches(d) && (m.address && d.installed.kind != 0 || p == m.subject) {
				return []*destination{d}, 1
			}
		}
		return nil, 0
	}
	// The loop must not be kept by a walk of which only a part is shown: a source other than BGP is looked up.
	if m.source != 0 && m.source != BGP {
		found = t.held(m.source, m.family)
		return found[:min(m.limit, len(found))], len(found)
	}
	total = t.destinations.len(m.family)
	if m.source == BGP {
		total = t.candidates[m.family][BGP] // of one prefix BGP has one
	}
	for _, d := range t.destinations.sorted(m.family) {
		if len(found) == min(m.limit, total) {
			break
		}
		if m.matches(d) {
			found = append(found, d)
		}
	}
	if len(found) < m.limit {
		total = len(found)
	}
	return found, total
}

// held returns the destinations of a family that have a route of the source, in order.
func (t *table) held(s Source, f family) (all []*destination) {
	for d := range t.holders[s] {
		if familyOf(d.prefix.Addr()) == f {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b *destination) int { return comparePrefixes(a.prefix, b.prefix) })
	return all
}

func (m query) matches(d *destination) bool {
	return d.routes != nil && (m.source == 0 || d.hasSource(m.source))
}

func (t *table) summary(f family) oper.Table[SummaryRow] {
	var answer oper.Table[SummaryRow]
	routes, active := 0, 0
	for s := Local; s < numSources; s++ {
		answer.Rows = append(answer.Rows, SummaryRow{s.Code(), s.String(), s.Distance(), t.candidates[f][s], t.installed[f][s]})
		routes, active = routes+t.candidates[f][s], active+t.installed[f][s]
	}
	answer.Summary = fmt.Sprintf("%d prefixes, %d routes, %d active", t.destinations.len(f), routes, active)
	return answer
}
