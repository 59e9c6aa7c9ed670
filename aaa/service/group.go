package service

import (
	"maps"
	"slices"
	"time"

	"vbng/aaa"
	"vbng/aaa/chain"
	"vbng/control/config"
)

// policy is what the configuration says about how to treat requests and records.
type policy struct {
	fallback group // what "aaa" itself says
	groups   map[string]group
	servers  bool // there is a RADIUS server
	announce bool // Accounting-On
	interim  time.Duration
}

// group is one way to treat subscribers.
type group struct {
	methods   chain.Chain
	methodSet []string
	account   bool
	servers   []string // in the order in which they are asked; none: all
	former    bool     // not configured any more; kept for the records of its sessions
}

// judges returns the group that decides about a request, and the name under which the RADIUS client knows its
// servers. A group that is gone has no say any more.
func (p *policy) judges(name string) (g group, client string, known bool) {
	if name == "" {
		return p.fallback, "", true
	}
	if g, known = p.groups[name]; known && !g.former {
		return g, name, true
	}
	return p.fallback, "", false
}

// accounts reports whether a record of a group is told to servers. A group that is gone goes on as before;
// of one that nobody remembers (control was started anew since) some session was accounted, and its end must
// not be lost.
func (p *policy) accounts(name string) bool {
	if name == "" {
		return p.fallback.account
	}
	if g, known := p.groups[name]; known {
		return g.account
	}
	return p.fallback.account || p.servers
}

// announced returns the groups whose servers are told of a beginning, "" for those of "aaa".
func (p *policy) announced() []string {
	var names []string
	if p.fallback.account {
		names = append(names, "")
	}
	for _, name := range slices.Sorted(maps.Keys(p.groups)) {
		g := p.groups[name]
		if g.account && !g.former && (len(g.servers) > 0 || !p.fallback.account) {
			names = append(names, name)
		}
	}
	return names
}

// interimOf is the interval for sessions of a group that the server names none for.
func (p *policy) interimOf(g group) time.Duration {
	if !g.account {
		return 0
	}
	return p.interim
}

func (s *Service) readPolicy(root *config.Tree, before *policy) *policy {
	t := root.Container("aaa")
	p := &policy{
		announce: t.Flag("accounting-on"), interim: t.Seconds("interim-interval"),
		servers: len(root.List("radius server")) > 0, groups: map[string]group{},
		fallback: group{account: t.Text("accounting") != "", methodSet: methods(t)},
	}
	p.fallback.methods = s.chainOf(p.fallback.methodSet)
	for _, each := range root.List("aaa group") {
		p.groups[each.Text("name")] = s.readGroup(each, p.fallback)
	}
	for name, g := range before.groups {
		if _, stays := p.groups[name]; !stays {
			g.former = true
			p.groups[name] = g
		}
	}
	return p
}

// readGroup takes from "aaa" what the group does not say.
func (s *Service) readGroup(t *config.Tree, fallback group) group {
	g := fallback
	if own := methods(t); len(own) > 0 {
		g.methodSet, g.methods = own, s.chainOf(own)
	}
	if text := t.Text("accounting"); text != "" {
		g.account = text == methodRADIUS
	}
	for _, server := range t.List("radius server") {
		g.servers = append(g.servers, server.Text("name"))
	}
	return g
}

func (s *Service) chainOf(words []string) chain.Chain {
	var c chain.Chain
	for _, method := range words {
		switch method {
		case methodLocal:
			c = append(c, s.byLocal())
		case methodRADIUS:
			c = append(c, s.byRADIUS())
		}
	}
	return c
}

// Authorize asks who a subscriber is. done is called exactly once, possibly before Authorize returns
// and on any goroutine; it must not block.
func (s *Service) Authorize(request aaa.Request, done func(aaa.Answer)) {
	p := s.active.Load()
	g, client, known := p.judges(request.Group)
	if !known {
		s.options.Log.Warn("aaa group of a request is not configured, the methods of aaa are used",
			"group", request.Group, "session", request.AcctSessionID)
	}
	request.Group = client
	g.methods.Authorize(request, func(answer aaa.Answer) {
		if grant := answer.Grant; grant != nil && grant.InterimInterval == 0 {
			grant.InterimInterval = p.interimOf(g)
		}
		s.tally.count(answer)
		done(answer)
	})
}

// Account accepts an accounting record; its delivery is the accountant's business from here on.
func (s *Service) Account(record aaa.Record) { s.AccountThen(record, nil) }

// AccountThen is Account, and done is told once whether a server has the record: at once and false
// when accounting is off.
func (s *Service) AccountThen(record aaa.Record, done func(taken bool)) {
	if s.active.Load().accounts(record.Group) {
		s.accountant.Account(record, done)
		return
	}
	s.tally.unaccounted.Add(1)
	if done != nil {
		done(false)
	}
}
