package sessions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vbng/aaa"
	"vbng/forwarding/entry"
)

// dialled brings a peer up.
func (w *world) dialled(c *peer) *Session {
	w.t.Helper()
	c.dial()
	w.settle(c)
	s := w.m.index.byTuple[c.tuple()]
	if s == nil || s.state != StateUp || !c.ipcpUp {
		w.t.Fatalf("session is not up: %+v, client %+v", s, c)
	}
	return s
}

func TestSessionComesUp(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(0)
	s := w.dialled(c)
	if c.address != s.ipv4() || c.address.String() != "100.64.0.0" || c.dns.String() != "9.9.9.9" {
		t.Fatalf("client has %s, DNS %s; session has %s", c.address, c.dns, s.ipv4())
	}
	if w.routes[single(s.ipv4())] != s.id {
		t.Fatalf("routes %v", w.routes)
	}
	echo := w.entries[fmt.Sprint("echo ", s.id)].(entry.Echo)
	if echo.IntervalSeconds != 10 || echo.Misses != 3 || echo.PeerMagic != 0xaa000000 || echo.LocalMagic == 0 {
		t.Fatalf("echo %+v", echo)
	}
	if len(w.records) != 1 || w.records[0].Type != aaa.Start || w.records[0].Address != s.ipv4() {
		t.Fatalf("records %+v", w.records)
	}
	if r := w.requests[0]; r.Username != "alice" || r.Method != aaa.CHAPMD5 || r.Line.OuterVLAN != 100 || r.AcctSessionID != s.acctID {
		t.Fatalf("request %+v", r)
	}
}

// clean fails the test unless everything is given back: nothing of any session is left anywhere.
func (w *world) clean() {
	w.t.Helper()
	m := w.m
	x := m.index
	for name, n := range map[string]int{
		"forwarder entries": len(w.entries), "routes": len(w.routes), "sessions": len(x.byID), "tuples": len(x.byTuple),
		"accounting ids": len(x.byAcctID), "clients": len(x.byClient), "MACs": len(x.byMAC), "users": len(x.byUser),
		"addresses by session": len(x.byPrefix), "ports": len(x.perPort), "places": len(x.perPlace),
		"addresses held": m.space(0).pools.Held(), "prefixes held": m.space(0).prefixes.Held(), "clients pending": m.pending, "answers under way": len(w.programming) + len(w.others),
	} {
		if n != 0 {
			w.t.Errorf("%d %s are left", n, name)
		}
	}
	for i := range 20 {
		if n := m.pppoeIDs.InUse(line(w.peer(i).place)); n != 0 {
			w.t.Errorf("%d PPPoE session ids are left", n)
		}
	}
	stored := 0
	if err := m.records.ForEach(func(_, _ []byte) error { stored++; return nil }); err != nil || stored != 0 {
		w.t.Errorf("%d sessions are left in the store, %v", stored, err)
	}
	w.balanced()
}

// balanced checks the accounting records: one Start, then one Stop for each session.
func (w *world) balanced() {
	w.t.Helper()
	last := map[string]aaa.RecordType{}
	for _, r := range w.records {
		before, begun := last[r.AcctSessionID]
		if (r.Type == aaa.Start) == begun || before == aaa.Stop {
			w.t.Errorf("record %d of %s after %d", r.Type, r.AcctSessionID, before)
		}
		last[r.AcctSessionID] = r.Type
	}
	for id, kind := range last {
		if kind != aaa.Stop {
			w.t.Errorf("no Stop for %s", id)
		}
	}
}

// last returns the last record.
func (w *world) last() aaa.Record {
	w.t.Helper()
	if len(w.records) == 0 {
		w.t.Fatal("no accounting record")
	}
	return w.records[len(w.records)-1]
}

// endings are the ways in which a session that is up ends.
func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name      string
		end       func(w *world, c *peer, s *Session)
		cause     Cause
		terminate aaa.TerminateCause
		heard     string // what the client must have heard of it
	}{
		{"clear", func(w *world, c *peer, s *Session) {
			w.run("clear subscriber", map[string]string{"user": "alice"})
		}, CauseCleared, aaa.AdminReset, "Terminate-Request PADT"},
		{"PADT", func(w *world, c *peer, s *Session) {
			c.discover(0xa7, c.session, nil)
		}, CausePADT, aaa.UserRequest, ""},
		{"LCP terminate", func(w *world, c *peer, s *Session) {
			c.ppp(0xc021, 5, 77, nil)
			w.settle(c)
			w.clock.Advance(3 * time.Second) // the link waits for its Terminate-Ack to arrive
		}, "peer-terminated", aaa.UserRequest, "PADT"},
		{"silence", func(w *world, c *peer, s *Session) {
			w.m.Event(entry.PeerSilent{Session: s.id})
		}, CausePeerSilent, aaa.LostCarrier, "PADT"},
		{"port removed", func(w *world, c *peer, s *Session) {
			w.configure(strings.Replace(sampleConfig, "interface access0\n pppoe profile residential\n", "", 1))
		}, CausePortRemoved, aaa.PortError, "Terminate-Request PADT"},
		{"port shut down", func(w *world, c *peer, s *Session) {
			w.configure(strings.Replace(sampleConfig, "interface access0\n", "interface access0\n shutdown\n", 1))
		}, CausePortShutdown, aaa.AdminReset, "Terminate-Request PADT"},
		{"profile taken off the port", func(w *world, c *peer, s *Session) {
			w.configure(strings.Replace(sampleConfig, " pppoe profile residential\n", "", 1))
		}, CauseProfileRemoved, aaa.NASRequest, "Terminate-Request PADT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, sampleConfig)
			client := w.peer(0)
			s := w.dialled(client)
			w.counters[s.id] = entry.SessionCounters{InputBytes: 1 << 40, OutputBytes: 7, InputPackets: 5, OutputPackets: 6}
			clear(client.heard)
			w.clock.Advance(40 * time.Second)
			ended := w.clock.Now()
			c.end(w, client, s)
			w.settle(client)
			r := w.last()
			if r.Type != aaa.Stop || r.Cause != c.terminate || r.Usage.InputBytes != 1<<40 || r.Usage.OutputPackets != 6 {
				t.Errorf("record %+v", r)
			}
			if r.SessionTime < 40*time.Second || r.Time.Before(ended) || string(r.Class[0]) != "\x01\x00\x02" {
				t.Errorf("record %+v", r)
			}
			for _, word := range strings.Fields(c.heard) {
				if client.heard[word] != 1 {
					t.Errorf("client heard %v, want %s", client.heard, c.heard)
				}
			}
			if c.heard == "" && len(client.heard) > 0 {
				t.Errorf("client heard %v", client.heard)
			}
			if rows := w.m.history.latest(); len(rows) != 1 || rows[0].Cause != string(c.cause) || rows[0].InputBytes != 1<<40 {
				t.Errorf("history %+v", rows)
			}
			if w.m.stats.ends[c.cause] != 1 {
				t.Errorf("ends %v", w.m.stats.ends)
			}
			w.clean()
		})
	}
}

// TestSetupFailures lets a set-up fail at every step that can.
func TestSetupFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(w *world)
		config  func(string) string
		cause   Cause
		message string // part of what the client was told
	}{
		{name: "wrong password", cause: "authentication-rejected", message: "go away", prepare: func(w *world) {
			w.authorize = func(aaa.Request) aaa.Answer {
				return aaa.Answer{Reject: &aaa.Reject{Cause: aaa.BadCredentials, Message: "go away"}}
			}
		}},
		{name: "RADIUS silent", cause: "radius-no-answer", message: "no authentication server answers", prepare: func(w *world) {
			w.authorize = func(aaa.Request) aaa.Answer { return aaa.Answer{Reject: &aaa.Reject{Cause: aaa.NoAnswer}} }
		}},
		{name: "empty answer", cause: "no-authentication-method", prepare: func(w *world) {
			w.authorize = func(aaa.Request) aaa.Answer { return aaa.Answer{} }
		}},
		{name: "pool empty", cause: CausePoolExhausted, message: "no address is free", config: func(c string) string {
			return strings.Replace(c, "100.64.0.0 100.64.63.254", "100.64.0.1 100.64.0.1", 1)
		}},
		{name: "pool unknown", cause: CausePoolUnknown, message: "not configured", prepare: func(w *world) { w.grant(aaa.Grant{Pool: "nowhere"}) }},
		{name: "no pool at all", cause: CausePoolUnknown, config: func(c string) string {
			return strings.Replace(c, " ip pool residential\n dns", " dns", 1)
		}},
		{name: "own address", cause: CauseAddressOwn, prepare: func(w *world) { w.grant(aaa.Grant{Address: addr("198.51.100.1")}) }},
		{name: "broadcast address", cause: CauseAddressUnusable, prepare: func(w *world) { w.grant(aaa.Grant{Address: addr("255.255.255.255")}) }},
		{name: "IPv6 address", cause: CauseAddressUnusable, prepare: func(w *world) { w.grant(aaa.Grant{Address: addr("2001:db8::1")}) }},
		{name: "forwarder refuses", cause: CauseProgramRefused, prepare: func(w *world) { w.refuseProgram = 1 }},
		{name: "route refused", cause: CauseRouteRefused, prepare: func(w *world) { w.refuseRoute = 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := sampleConfig
			if c.config != nil {
				text = c.config(text)
			}
			w := newWorld(t, text)
			if c.prepare != nil {
				c.prepare(w)
			}
			client := w.peer(0)
			client.dial()
			w.settle(client)
			told := client.message + client.padsErr + client.ended
			if client.ipcpUp || !strings.Contains(told, c.message) || told == "" {
				t.Errorf("client was told %q, want %q", told, c.message)
			}
			if w.m.stats.failures[c.cause] != 1 || len(w.records) != 0 {
				t.Errorf("failures %v, records %v", w.m.stats.failures, w.records)
			}
			w.clean()
		})
	}
}

func (w *world) grant(g aaa.Grant) {
	w.authorize = func(aaa.Request) aaa.Answer {
		mine := g
		return aaa.Answer{Grant: &mine}
	}
}

func TestFixedAddressConflict(t *testing.T) {
	w := newWorld(t, sampleConfig)
	w.grant(aaa.Grant{Address: addr("203.0.113.7"), Username: "real-name", DNS: dnsOf("192.0.2.53")})
	a, b := w.peer(0), w.peer(1)
	s := w.dialled(a)
	if s.username != "real-name" || a.address.String() != "203.0.113.7" || a.dns.String() != "192.0.2.53" {
		t.Fatalf("session %+v, client %+v", s, a)
	}
	if w.last().Username != "real-name" {
		t.Fatalf("record %+v", w.last())
	}
	b.dial()
	w.settle(a, b)
	if w.m.stats.failures[CauseAddressInUse] != 1 || b.ipcpUp || s.state != StateUp {
		t.Fatalf("failures %v", w.m.stats.failures)
	}
}

func TestNobodyAnswersInTime(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(0)
	c.dial()
	for range 30 { // all but the authorizer answer
		w.drain()
		if len(w.programming) > 0 {
			w.answerProgrammer()
		}
		for _, f := range w.frames {
			c.receive(f)
		}
		w.frames = nil
	}
	if len(w.others) != 1 {
		t.Fatalf("%d requests under way", len(w.others))
	}
	w.clock.Advance(setupTime)
	w.drain()
	if w.m.stats.failures[CauseSetupTimeout] != 0 && len(w.m.index.byID) != 0 {
		t.Fatal("buried before the forwarder answered")
	}
	w.settle(c) // the late answer finds nobody
	if w.m.stats.failures[CauseSetupTimeout] != 1 || !strings.Contains(c.ended, "in time") {
		t.Fatalf("failures %v, client %q", w.m.stats.failures, c.ended)
	}
	w.clean()
}

func TestPADRAgain(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(0)
	c.dial()
	w.drain()
	c.receive(w.frames[0]) // PADO; the client sends its PADR, and again before the forwarder answers
	c.request()
	w.drain()
	if len(w.m.index.byID) != 1 {
		t.Fatalf("%d sessions", len(w.m.index.byID))
	}
	w.answerProgrammer()
	w.drain()
	w.frames = nil // PADS and Configure-Request are lost
	c.request()
	w.settle(c)
	if c.heard["PADS"] != 1 || w.m.stats.padsRepeated.Load() != 1 || len(w.m.index.byID) != 1 {
		t.Fatalf("heard %v, %d sessions", c.heard, len(w.m.index.byID))
	}
	w.clock.Advance(3 * time.Second) // the request that was lost comes again
	w.settle(c)
	if !c.ipcpUp {
		t.Fatal("not up")
	}
	first := c.session
	c.dial() // the client has forgotten it all
	w.settle(c)
	if !c.ipcpUp || c.session == first || len(w.m.index.byID) != 1 || w.m.stats.ends[CauseReplaced] != 1 {
		t.Fatalf("client %+v, ends %v", c, w.m.stats.ends)
	}
	if w.kindsOf() != "1 2 1" {
		t.Fatalf("records %s", w.kindsOf())
	}
}

func (w *world) kindsOf() string {
	var all []string
	for _, r := range w.records {
		all = append(all, fmt.Sprint(uint8(r.Type)))
	}
	return strings.Join(all, " ")
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		line  string
		cause Cause
		more  func(w *world) *peer // the client that is one too many
	}{
		{"pppoe profile residential\n sessions per-port limit 1\n", CauseLimitPort, func(w *world) *peer { return w.peer(1) }},
		{"pppoe profile residential\n sessions per-vlan limit 1\n", CauseLimitVLAN, func(w *world) *peer {
			p := w.peer(1)
			p.place = w.peer(0).place
			return p
		}},
		{"pppoe profile residential\n sessions per-mac limit 2\n", CauseLimitMAC, func(w *world) *peer {
			second := w.peer(0)
			second.hostUniq = []byte("second")
			w.dialled(second)
			p := w.peer(0)
			p.hostUniq = []byte("third")
			return p
		}},
	} {
		t.Run(string(c.cause), func(t *testing.T) {
			w := newWorld(t, sampleConfig+c.line)
			w.dialled(w.peer(0))
			p := c.more(w)
			p.dial()
			w.settle(p)
			if p.padsErr != c.cause.Text() || w.m.stats.failures[c.cause] != 1 {
				t.Fatalf("PADS says %q, failures %v", p.padsErr, w.m.stats.failures)
			}
		})
	}
}

func TestFullBoxIsSilent(t *testing.T) {
	w := newWorld(t, sampleConfig+"subscriber limit 1\n")
	first, second := w.peer(0), w.peer(1)
	w.dialled(first)
	second.dial()
	w.settle(second)
	if second.heard["PADO"] != 0 {
		t.Fatal("a full router made an offer")
	}
	second.cookie = w.m.current.profiles["residential"].cookieFor(second, w.clock.Now())
	second.request()
	w.settle(second)
	if second.padsErr != CauseLimitBox.Text() {
		t.Fatalf("PADS says %q", second.padsErr)
	}
	w.run("clear subscriber", map[string]string{"all": "true"})
	w.settle(first, second)
	w.dialled(second)
}

func TestChangesDropNobody(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(0)
	s := w.dialled(c)
	if got := fmt.Sprint(w.aggregates["pool residential"]); !strings.Contains(got, "100.64.32.0/20") {
		t.Fatalf("aggregates %s", got)
	}
	changed := strings.NewReplacer("100.64.0.0 100.64.63.254", "10.0.0.0 10.0.0.255", "echo-interval 10", "echo-interval 60",
		"100.64.0.1/32", "10.0.0.0/32", "9.9.9.9 ", "8.8.8.8 ", "pool residential", "pool other").Replace(sampleConfig)
	w.configure(changed)
	w.settle(c)
	if s.state != StateUp || w.routes[single(s.ipv4())] != s.id || w.kindsOf() != "1" {
		t.Fatalf("session %+v", s)
	}
	if got := fmt.Sprint(w.aggregates); got != "map[pool other:[10.0.0.0/24]]" {
		t.Fatalf("aggregates %s", got)
	}
	d := w.peer(1)
	w.dialled(d)
	if d.address.String() != "10.0.0.1" || d.dns.String() != "8.8.8.8" {
		t.Fatalf("new client has %s, %s", d.address, d.dns)
	}
}

func TestTimers(t *testing.T) {
	w := newWorld(t, sampleConfig)
	w.grant(aaa.Grant{SessionTimeout: time.Hour, InterimInterval: 10 * time.Minute})
	c := w.peer(0)
	s := w.dialled(c)
	var at []time.Duration
	for range 59 {
		w.clock.Advance(time.Minute)
		w.counters[s.id] = entry.SessionCounters{InputBytes: w.counters[s.id].InputBytes + 100}
		n := len(w.records)
		w.settle(c)
		if len(w.records) > n {
			at = append(at, w.last().SessionTime.Truncate(time.Second))
		}
	}
	if len(at) < 5 || len(at) > 6 || w.last().Type != aaa.Interim || w.last().Usage.InputBytes == 0 {
		t.Fatalf("interim records at %v, last %+v", at, w.last())
	}
	for i, each := range at[1:] {
		if gap := each - at[i]; gap < 9*time.Minute || gap > 11*time.Minute {
			t.Errorf("gap %v", gap)
		}
	}
	w.clock.Advance(time.Minute)
	w.settle(c)
	if r := w.last(); r.Type != aaa.Stop || r.Cause != aaa.SessionTimeout || r.SessionTime.Truncate(time.Minute) != time.Hour {
		t.Fatalf("record %+v", r)
	}
	w.clean()
	w.clock.Advance(24 * time.Hour)
	w.settle(c)
	w.clean()
}

func TestRenegotiation(t *testing.T) {
	for _, c := range []struct {
		name  string
		grant aaa.Grant
		user  string
		cause Cause
	}{
		{"same subscriber", aaa.Grant{}, "alice", ""},
		{"same fixed address", aaa.Grant{Address: addr("100.64.0.0")}, "alice", ""},
		{"another user", aaa.Grant{}, "bob", CauseIdentityChanged},
		{"another address", aaa.Grant{Address: addr("100.64.0.9")}, "alice", CauseIdentityChanged},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, sampleConfig)
			client := w.peer(0)
			s := w.dialled(client)
			w.grant(c.grant)
			client.user, client.ipcpUp = c.user, false
			client.lcpRequest()
			w.settle(client)
			if c.cause == "" {
				if s.state != StateUp || !client.ipcpUp || w.kindsOf() != "1" || w.routes[single(s.ipv4())] != s.id {
					t.Fatalf("session %+v, client %+v, records %s", s, client, w.kindsOf())
				}
				echo := w.entries[fmt.Sprint("echo ", s.id)].(entry.Echo)
				if echo.LocalMagic != s.localMagic {
					t.Fatalf("echo %+v", echo)
				}
				return
			}
			w.clock.Advance(10 * time.Second)
			w.settle(client)
			if w.m.stats.ends[c.cause] != 1 {
				t.Fatalf("ends %v", w.m.stats.ends)
			}
			w.clean()
		})
	}
}

func TestStrayFrames(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(0)
	s := w.dialled(c)
	stray := func(to [6]byte) {
		c.send(entry.ClassPPPoEUnknown, to, 0x8864, []byte{0x11, 0, byte(c.session >> 8), byte(c.session), 0, 2, 0, 0x21})
		w.drain()
	}
	stray([6]byte(routerMAC)) // the forwarder has lost it, we have not
	if len(w.frames) != 0 || s.state != StateUp {
		t.Fatal("PADT for a live session")
	}
	c.session++
	stray([6]byte{2, 9, 9, 9, 9, 9}) // flooded by a switch: not to us
	if len(w.frames) != 0 {
		t.Fatal("PADT for a frame to somebody else")
	}
	stray([6]byte(routerMAC))
	stray([6]byte(routerMAC))
	if len(w.frames) != 1 {
		t.Fatalf("%d PADTs", len(w.frames))
	}
	w.clock.Advance(time.Second)
	stray([6]byte(routerMAC))
	w.settle(c)
	if c.heard["PADT"] != 2 || !strings.Contains(c.ended, "no such session") {
		t.Fatalf("heard %v, %q", c.heard, c.ended)
	}
	// Somebody else's PADT with the right id ends nothing.
	other := w.peer(1)
	other.session = s.pppoe
	other.discover(0xa7, s.pppoe, nil)
	w.settle(c, other)
	if s.state != StateUp || w.m.stats.padtsStray.Load() != 1 {
		t.Fatal("a stranger ended the session")
	}
}

func TestPortWithoutProfileIsDeaf(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(0)
	c.place.Port = 2
	c.dial()
	w.settle(c)
	if len(c.heard) != 0 || w.m.stats.noProfile.Load() != 1 {
		t.Fatalf("heard %v", c.heard)
	}
}

func TestIdleTimeout(t *testing.T) {
	w := newWorld(t, sampleConfig)
	w.grant(aaa.Grant{IdleTimeout: 20 * time.Minute})
	c := w.peer(0)
	s := w.dialled(c)
	for range 60 {
		w.clock.Advance(time.Minute)
		w.counters[s.id] = entry.SessionCounters{OutputPackets: w.counters[s.id].OutputPackets + 1}
		w.settle(c)
	}
	if s.state != StateUp {
		t.Fatal("a busy session was ended")
	}
	w.clock.Advance(19 * time.Minute)
	w.settle(c)
	if s.state != StateUp {
		t.Fatal("ended too early")
	}
	for range 7 {
		w.clock.Advance(time.Minute)
		w.settle(c)
	}
	if r := w.last(); r.Type != aaa.Stop || r.Cause != aaa.IdleTimeout {
		t.Fatalf("record %+v", r)
	}
	w.clean()
}

// TestLateDuplicateOfPADR: a repetition that crossed our PADS must not end the session it is about.
func TestLateDuplicateOfPADR(t *testing.T) {
	w := newWorld(t, sampleConfig)
	c := w.peer(0)
	c.dial()
	w.drain()
	c.receive(w.frames[0])
	w.frames = nil
	w.drain()
	w.answerProgrammer()
	w.drain()
	for _, f := range w.frames { // PADS and Configure-Request: the client answers both
		c.receive(f)
	}
	w.frames = nil
	c.request()
	w.settle(c)
	if !c.ipcpUp || c.heard["PADS"] != 2 || len(w.m.index.byID) != 1 || c.heard["PADT"] != 0 {
		t.Fatalf("client %+v", c)
	}
}
