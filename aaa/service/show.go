package service

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"vbng/aaa"
	"vbng/aaa/acct"
	"vbng/aaa/radius"
	"vbng/control/oper"
)

// Commands returns the operator's commands.
func (s *Service) Commands() []*oper.Command {
	return []*oper.Command{
		{
			Words: "show radius", Help: "RADIUS servers: state and counters",
			Args: []oper.Arg{{Name: "detail", Help: "All counters", Flag: true, Optional: true}},
			Run:  s.showRADIUS,
		},
		{Words: "show aaa", Help: "Authentication and accounting: methods, answers, records", Run: s.showAAA},
		{
			Words: "test aaa", Help: "Ask as if a subscriber with this name and password had come",
			Args: []oper.Arg{
				{Name: "user", Help: "Name of the subscriber"},
				{Name: "password", Help: "Password, sent by PAP", Secret: true},
				{Name: "group", Help: "As a subscriber of this aaa group", Keyword: true, Optional: true, Complete: s.groupNames},
			},
			Run: s.testAAA,
		},
	}
}

// ServerRow is a line of "show radius".
type ServerRow struct {
	Server          string          `show:"Server"`
	Role            string          `show:"Role"`
	Address         string          `show:"Address"`
	VRF             string          `show:"VRF"`
	Groups          string          `show:"Groups"` // that name the server; "-": none
	State           string          `show:"State"`
	DeadSeconds     int64           `show:"-"`
	Legacy          bool            `show:"-"`
	Pending         int             `show:"Pending"`
	Waiting         int             `show:"-"`
	Sockets         int             `show:"-"`
	Requests        uint64          `show:"Requests"`
	Retransmits     uint64          `show:"Retrans"`
	Accepts         uint64          `show:"Accepts"`
	Rejects         uint64          `show:"Rejects"`
	Responses       uint64          `show:"Responses"`
	Timeouts        uint64          `show:"Timeouts"`
	Dropped         uint64          `show:"Dropped"` // answers that could not be believed
	RTTMicroseconds int64           `show:"RTT us"`
	Counters        radius.Counters `show:"-"`
}

func (s *Service) showRADIUS(ctx context.Context, call oper.Call) (any, error) {
	status, err := s.client.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the RADIUS client: %w", err)
	}
	if call.Has("detail") {
		return detail(status), nil
	}
	table := oper.Table[ServerRow]{}
	if status.InboxOverflow > 0 {
		table.Summary = fmt.Sprintf("%d answers lost because the client could not follow", status.InboxOverflow)
	}
	for _, e := range status.Endpoints {
		table.Rows = append(table.Rows, row(e))
	}
	return table, nil
}

func row(e radius.Endpoint) ServerRow {
	n := e.Counters
	return ServerRow{
		Server: e.Server, Role: e.Role, Address: e.Address.String(), State: e.State,
		VRF: vrfText(e.VRF), Groups: groupsText(e.Groups),
		DeadSeconds: int64(e.DeadFor / time.Second), Legacy: e.Legacy,
		Pending: e.Pending, Waiting: e.Waiting, Sockets: e.Sockets,
		Requests: n.Requests, Retransmits: n.Retransmits, Accepts: n.Accepts, Rejects: n.Rejects + n.Challenges,
		Responses: n.Responses, Timeouts: n.Timeouts, Dropped: n.Dropped(),
		RTTMicroseconds: e.RTT.Microseconds(), Counters: n,
	}
}

func vrfText(name string) string { return choose(name == "", vrfDefault, name) }

func groupsText(names []string) string { return choose(len(names) == 0, "-", strings.Join(names, " ")) }

func detail(status radius.Status) oper.Document {
	document := oper.Document{Data: status}
	for _, e := range status.Endpoints {
		n := e.Counters
		lines := []oper.Field{
			{Name: "Address", Value: e.Address.String()},
			{Name: "VRF", Value: vrfText(e.VRF)},
			{Name: "Groups", Value: groupsText(e.Groups)},
			{Name: "State", Value: e.State},
			{Name: "Message-Authenticator", Value: choose(e.Legacy, "not required (legacy)", "required")},
			{Name: "Round-trip time", Value: e.RTT.String()},
		}
		if e.DeadFor > 0 {
			lines = append(lines, oper.Field{Name: "Dead for", Value: e.DeadFor.Truncate(time.Second).String()})
		}
		document.Sections = append(document.Sections, oper.Section{
			Title: e.Server + " " + e.Role,
			Lines: append(lines, numbers(
				number{"Pending", uint64(e.Pending)}, number{"Waiting for an identifier", uint64(e.Waiting)},
				number{"Sockets", uint64(e.Sockets)},
				number{"Requests", n.Requests}, number{"Retransmissions", n.Retransmits},
				number{"Access-Accepts", n.Accepts}, number{"Access-Rejects", n.Rejects},
				number{"Access-Challenges", n.Challenges}, number{"Accounting-Responses", n.Responses},
				number{"Timeouts", n.Timeouts}, number{"Accepts not honoured", n.BadAccepts},
				number{"Wrong Response Authenticator", n.BadAuthenticator},
				number{"Wrong Message-Authenticator", n.BadSignature},
				number{"Missing Message-Authenticator", n.Unsigned},
				number{"Malformed", n.Malformed}, number{"Unexpected (late or twice)", n.Unexpected},
				number{"Wrong source", n.WrongSource}, number{"Refused by ICMP", n.Refused},
				number{"Send errors", n.SendErrors}, number{"No identifier in time", n.Overflows},
			)...),
		})
	}
	return document
}

// Summary is the typed value of "show aaa".
type Summary struct {
	Methods           []string
	Accounting        bool
	InterimSeconds    int64
	GrantsLocal       uint64
	GrantsRADIUS      uint64
	Rejects           map[string]uint64 // by cause
	Records           acct.Status
	UnaccountedEvents uint64 // records that came while accounting was off
	Groups            []GroupSummary
	Ignored           []radius.IgnoredAttribute
}

// GroupSummary is an "aaa group" with all that it takes from "aaa".
type GroupSummary struct {
	Name       string
	Methods    []string
	Accounting bool
	Servers    []string // none: all
	Former     bool     // not configured any more, kept for the records of its sessions
}

func (s *Service) showAAA(ctx context.Context, _ oper.Call) (any, error) {
	client, err := s.client.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the RADIUS client: %w", err)
	}
	records, err := s.accountant.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the accountant: %w", err)
	}
	p := s.active.Load()
	summary := Summary{
		Methods: p.fallback.methodSet, Accounting: p.fallback.account, InterimSeconds: int64(p.interimOf(p.fallback) / time.Second),
		Groups:      p.summaries(),
		GrantsLocal: s.tally.grantsLocal.Load(), GrantsRADIUS: s.tally.grantsRADIUS.Load(),
		Rejects: map[string]uint64{}, Records: records, UnaccountedEvents: s.tally.unaccounted.Load(),
		Ignored: client.Ignored,
	}
	for cause := aaa.BadCredentials; int(cause) < causes; cause++ {
		summary.Rejects[cause.String()] = s.tally.rejects[cause].Load()
	}
	return summary.document(), nil
}

func (s Summary) document() oper.Document {
	return oper.Document{Data: s, Sections: []oper.Section{
		{Title: "Authentication", Lines: s.authentication()},
		{Title: "Accounting", Lines: s.accounting()},
		{Title: "Groups", Lines: s.groupLines()},
		{Title: "Attributes not honoured", Lines: s.ignored()},
	}}
}

func (s Summary) authentication() []oper.Field {
	lines := []oper.Field{{Name: "Methods", Value: choose(len(s.Methods) == 0, "none", strings.Join(s.Methods, " "))}}
	lines = append(lines, numbers(number{"Grants, local", s.GrantsLocal}, number{"Grants, RADIUS", s.GrantsRADIUS})...)
	for cause := aaa.BadCredentials; int(cause) < causes; cause++ {
		lines = append(lines, numbers(number{"Rejects, " + cause.String(), s.Rejects[cause.String()]})...)
	}
	return lines
}

func (s Summary) accounting() []oper.Field {
	r := s.Records
	lines := []oper.Field{
		{Name: "Accounting", Value: choose(s.Accounting, methodRADIUS, "off")},
		{Name: "Default interim interval", Value: strconv.FormatInt(s.InterimSeconds, 10) + " s"},
		{Name: "Servers", Value: choose(r.SinkDown, "none takes records", "take records")},
		{Name: "Oldest record waits", Value: r.OldestAge.Truncate(time.Second).String()},
	}
	return append(lines, numbers(
		number{"Records accepted", r.Accepted}, number{"Records taken", r.Taken},
		number{"Records waiting", uint64(r.Queued)}, number{"Records in delivery", uint64(r.InFlight)},
		number{"Rounds without answer", r.Failed}, number{"Interims superseded", r.Superseded},
		number{"Records given up (in the log)", r.GivenUp},
		number{"Records while accounting was off", s.UnaccountedEvents},
	)...)
}

func (p *policy) summaries() []GroupSummary {
	var all []GroupSummary
	for _, name := range slices.Sorted(maps.Keys(p.groups)) {
		g := p.groups[name]
		all = append(all, GroupSummary{Name: name, Methods: g.methodSet, Accounting: g.account, Servers: g.servers, Former: g.former})
	}
	return all
}

func (s Summary) groupLines() []oper.Field {
	var lines []oper.Field
	for _, g := range s.Groups {
		value := fmt.Sprintf("authentication %s, accounting %s, servers %s",
			choose(len(g.Methods) == 0, "none", strings.Join(g.Methods, " ")), choose(g.Accounting, methodRADIUS, "off"),
			choose(len(g.Servers) == 0, "all", strings.Join(g.Servers, " ")))
		lines = append(lines, oper.Field{Name: g.Name, Value: value + choose(g.Former, " (not configured any more)", "")})
	}
	return lines
}

func (s Summary) ignored() []oper.Field {
	var lines []oper.Field
	for _, a := range s.Ignored {
		lines = append(lines, oper.Field{Name: a.Name, Value: fmt.Sprintf("%d, last from %s for %s", a.Count, a.LastServer, a.LastSession)})
	}
	return lines
}

func (s *Service) groupNames() []string {
	var names []string
	for name, g := range s.active.Load().groups {
		if !g.former {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (s *Service) testAAA(ctx context.Context, call oper.Call) (any, error) {
	if group := call.Args["group"]; group != "" && !slices.Contains(s.groupNames(), group) {
		return nil, fmt.Errorf("aaa group %q is not configured", group)
	}
	answered := make(chan aaa.Answer, 1)
	begun := s.options.Clock.Now()
	s.Authorize(aaa.Request{
		AcctSessionID: "test-" + strconv.FormatInt(begun.UnixNano(), 36),
		Group:         call.Args["group"],
		Username:      call.Args["user"],
		Method:        aaa.PAP,
		Password:      []byte(call.Args["password"]),
		Line:          aaa.Line{Port: "test"},
	}, func(answer aaa.Answer) { answered <- answer })
	select {
	case answer := <-answered:
		return verdict(answer, s.options.Clock.Now().Sub(begun)), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("test user %s: %w", call.Args["user"], ctx.Err())
	}
}

func verdict(answer aaa.Answer, took time.Duration) oper.Document {
	took = took.Round(time.Microsecond)
	if r := answer.Reject; r != nil {
		return oper.Document{Data: answer, Sections: []oper.Section{{Title: "Refused", Lines: []oper.Field{
			{Name: "Cause", Value: r.Cause.String()}, {Name: "Message", Value: r.Message}, {Name: "Time", Value: took.String()},
		}}}}
	}
	g := answer.Grant
	lines := []oper.Field{{Name: "Source", Value: g.Source}}
	add := func(name, value string, said bool) {
		if said {
			lines = append(lines, oper.Field{Name: name, Value: value})
		}
	}
	add("Name", g.Username, g.Username != "")
	add("Address", g.Address.String(), g.Address.IsValid())
	add("Pool", g.Pool, g.Pool != "")
	add("IPv6 address", g.Address6.String(), g.Address6.IsValid())
	add("IPv6 address pool", g.Pool6, g.Pool6 != "")
	add("IPv6 prefix", g.Prefix.String(), g.Prefix.IsValid())
	add("IPv6 prefix pool", g.PrefixPool, g.PrefixPool != "")
	add("Delegated prefix", g.Delegated.String(), g.Delegated.IsValid())
	add("Delegated prefix pool", g.DelegatedPool, g.DelegatedPool != "")
	add("Interface identifier", fmt.Sprintf("%016x", g.InterfaceID), g.InterfaceID != 0)
	for _, dns := range slices.Concat(g.DNS[:], g.DNS6[:]) {
		add("DNS", dns.String(), dns.IsValid())
	}
	add("Session timeout", g.SessionTimeout.String(), g.SessionTimeout > 0)
	add("Interim interval", g.InterimInterval.String(), g.InterimInterval > 0)
	for _, class := range g.Class {
		add("Class", fmt.Sprintf("%q", class), true)
	}
	add("Message", g.Message, g.Message != "")
	add("Time", took.String(), true)
	return oper.Document{Data: answer, Sections: []oper.Section{{Title: "Granted", Lines: lines}}}
}

type number struct {
	name  string
	value uint64
}

func numbers(all ...number) []oper.Field {
	fields := make([]oper.Field, len(all))
	for i, n := range all {
		fields[i] = oper.Field{Name: n.name, Value: strconv.FormatUint(n.value, 10)}
	}
	return fields
}

func choose(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
