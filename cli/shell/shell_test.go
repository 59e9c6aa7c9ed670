package shell

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/control/commit"
	"vbng/control/config/sample"
	"vbng/control/oper"
)

type subscriber struct {
	User string `show:"User"`
	VLAN int    `show:"VLAN"`
}

func registry(t testing.TB) *oper.Registry {
	t.Helper()
	r := oper.NewRegistry()
	err := r.Add(
		&oper.Command{Words: "show subscribers", Help: "Subscribers", Run: func(_ context.Context, c oper.Call) (any, error) {
			table := oper.Table[subscriber]{Rows: []subscriber{{"alice", 7}, {"bob", 8}}}
			if c.Args["user"] == "nobody" {
				table.Rows = nil
			}
			return table, nil
		}, Args: []oper.Arg{
			{Name: "detail", Help: "Everything", Flag: true, Optional: true},
			{Name: "user", Help: "Of this user", Keyword: true, Optional: true, Complete: func() []string { return []string{"alice", "bob", "a b", "\x1b]0;root\x07"} }},
		}},
		&oper.Command{Words: "show slow", Help: "Never answers", Run: func(ctx context.Context, _ oper.Call) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}},
		&oper.Command{Words: "show broken", Help: "Panics", Run: func(context.Context, oper.Call) (any, error) { panic("broken") }},
		&oper.Command{Words: "clear subscriber", Help: "End sessions", Args: []oper.Arg{
			{Name: "user", Help: "Of this user", Keyword: true, Check: func(v string) error {
				if v == "root" {
					return errors.New("not this one")
				}
				return nil
			}},
		}, Run: func(_ context.Context, c oper.Call) (any, error) { return "ended " + c.Args["user"], nil }},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// options makes a router of the sample language without subsystems.
func options(t testing.TB) Options { o, _ := clocked(t); return o }

// clocked also returns the router's clock.
func clocked(t testing.TB) (Options, *clock.Fake) {
	t.Helper()
	c := clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	root, err := sample.Schema()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	seed := filepath.Join(dir, "seed.conf")
	if err := os.WriteFile(seed, []byte(sample.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	m, err := commit.New(commit.Options{StateDir: dir, Seed: seed, Schema: root, Logger: quiet,
		Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	return Options{Manager: m, Registry: registry(t), Logger: quiet}, c
}

// terminal is an operator who types.
type terminal struct {
	t *testing.T
	s *Session
}

func newTerminal(t *testing.T) terminal { return terminal{t, New(options(t), "alice")} }

// types runs lines that must succeed and returns the output of the last.
func (x terminal) types(lines ...string) string {
	x.t.Helper()
	var r Reply
	for _, l := range lines {
		if r = x.s.Line(context.Background(), l); r.Error != "" {
			x.t.Fatalf("%s: %s", l, r.Error)
		}
	}
	return r.Output
}

// fails runs a line that must fail at a column with a text.
func (x terminal) fails(text string, column int, part string) {
	x.t.Helper()
	r := x.s.Line(context.Background(), text)
	if r.Column != column || !strings.Contains(r.Error, part) || r.Error == "" {
		x.t.Errorf("%s: got column %d, %q; want column %d, %q", text, r.Column, r.Error, column, part)
	}
}

func (x terminal) prompt(want string) {
	x.t.Helper()
	if got := x.s.Prompt(); got != want {
		x.t.Errorf("prompt %q, want %q", got, want)
	}
}

func TestModesAndPrompt(t *testing.T) {
	x := newTerminal(t)
	x.prompt("bng1# ")
	x.types("configure")
	x.prompt("bng1(config)# ")
	x.types("int access0")
	x.prompt("bng1(config-if)# ")
	x.types("vlan 5")
	x.prompt("bng1(config-if-vlan)# ")
	x.types("exit")
	x.prompt("bng1(config-if)# ")
	x.types("pppoe profile residential")
	x.prompt("bng1(config-if)# ") // the interface's leaf wins over the list of profiles
	x.types("aaa")
	x.prompt("bng1(config-aaa)# ")
	x.types("interface access0", "vlan 5", "!")
	x.prompt("bng1(config-if)# ")
	x.types("! a remark")
	x.prompt("bng1(config-if)# ")
	x.types("!", "!") // as often as it is printed; the outermost mode stays
	x.prompt("bng1(config)# ")
	x.types("end")
	x.prompt("bng1# ")
}

func TestEditCommitAndShow(t *testing.T) {
	x := newTerminal(t)
	x.types("configure terminal", "hostname bng2", "interface core0", "no description", "mac 02-00-00-00-00-01")
	const diff = "- hostname bng1\n+ hostname bng2\n  interface core0\n-  description Internet\n+  mac 02:00:00:00:00:01\n  !\n"
	if got := x.types("show configuration changes"); got != diff {
		t.Errorf("changes:\n%s", got)
	}
	if got := x.types("commit check"); !strings.Contains(got, "would be accepted") {
		t.Error(got)
	}
	if got := x.types("commit comment a new name"); got != "Committed as revision 2.\n" {
		t.Error(got)
	}
	x.prompt("bng2(config-if)# ")
	if got := x.types("do show running-config interface core0"); got != "interface core0\n mac 02:00:00:00:00:01\n ip address 198.51.100.1/24\n!\n" {
		t.Errorf("running:\n%s", got)
	}
	if got := x.types("show conf revisions | include name"); got != "       2  2026-01-02 03:04:05  alice  a new name\n" {
		t.Errorf("revisions: %q", got)
	}
	if got := x.types("commit"); got != "There are no edits to commit.\n" {
		t.Error(got)
	}
	x.types("rollback configuration 1", "commit", "end")
	x.prompt("bng1# ")
}

func TestEffectIsTold(t *testing.T) {
	x := newTerminal(t)
	x.types("configure", "ip pool other", "pppoe profile residential", "ip pool other")
	if got := x.types("commit"); got != "Committed as revision 2.\nNote: pppoe profile residential / ip pool: new sessions only.\n" {
		t.Errorf("%q", got)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	x := newTerminal(t)
	x.types("configure", "user alice", "password looking-glass")
	for _, line := range []string{"show running-config", "show startup-config user", "show candidate user", "show configuration changes", "show configuration revision 1"} {
		got := x.types(line)
		if strings.Contains(got, "wonderland") || strings.Contains(got, "looking-glass") || !strings.Contains(got, "password <hidden>") {
			t.Errorf("%s:\n%s", line, got)
		}
	}
	x.fails("password <hidden>", 9, "type the secret itself")
}

func TestFaults(t *testing.T) {
	x := newTerminal(t)
	x.fails("shwo", 0, `expected abort, clear, commit, configure, exit, help, load, quit, rollback, show or terminal, found "shwo"`)
	x.fails("show s", 5, `"s" is ambiguous: slow, startup-config or subscribers`)
	x.fails("show", 4, "incomplete, expected broken")
	x.fails("show subscribers us", 19, "incomplete, expected <user>")
	x.fails("show subscribers detail detail", 24, `expected user or |, found "detail"`)
	x.fails("clear subscriber user root", 22, "not this one")
	x.fails("show subscribers | include (", -1, "compile pattern")
	x.fails("show slow | count | json", 20, "json must be the first filter")
	x.fails("show broken", -1, "internal error: broken")
	x.types("configure")
	x.fails("interface access0 5", 18, "nothing may follow")
	x.fails("no interface nowhere", 3, "not configured, nothing to remove")
	x.fails("engine 7", 7, "nothing may follow")
	x.types("engine")
	x.fails("workers 65", 8, "a number from 1 to 64")
	x.fails("mtu 5", 0, "expected workers")
	x.types("interface access0", "pppoe profile none", "user carol")
	x.fails("commit", -1, "line 8: interface access0 / pppoe profile: pppoe profile \"none\" is not defined (defined: residential)\n    interface access0\n     pppoe profile none\n                   ^\n"+
		"  line 36: user carol: password must be set\n    user carol\n    ^")
	if got := x.types("show candidate | number | include profile.none"); got != "   8   pppoe profile none\n" {
		t.Error(got)
	}
	x.fails("commit check", -1, "a commit would be refused")
}

func TestUncommittedEditsAreNotLostSilently(t *testing.T) {
	x := newTerminal(t)
	x.types("configure", "hostname other")
	if got := x.types("end"); !strings.Contains(got, "not committed") {
		t.Error(got)
	}
	x.fails("exit", -1, "uncommitted edits")
	x.types("abort")
	if r := x.s.Line(context.Background(), "exit"); !r.Leave {
		t.Errorf("%+v", r)
	}
}

func TestTwoOperators(t *testing.T) {
	o := options(t)
	a, b := terminal{t, New(o, "alice")}, terminal{t, New(o, "bob")}
	a.types("configure", "interface core0", "description from alice")
	b.types("configure", "interface core0", "description from bob", "shutdown", "commit")
	a.fails("commit", -1, "interface core0 / description: was changed meanwhile")
	if got := a.types("show configuration changes"); got != "  interface core0\n-  description \"from bob\"\n+  description \"from alice\"\n  !\n" {
		t.Errorf("changes:\n%s", got)
	}
	a.types("commit")
	b.types("hostname bobs")
	a.types("hostname2x"[:8]+" alices", "abort")
	a.types("configure", "aaa", "authentication radius", "commit")
	b.types("commit") // another part: no conflict
	if got := b.types("do show running-config aaa"); !strings.Contains(got, "radius") {
		t.Error(got)
	}
}

func TestJSONAndFilters(t *testing.T) {
	x := newTerminal(t)
	if got := x.types("show sub | json"); !strings.Contains(got, `"vlan": 7`) {
		t.Error(got)
	}
	if got := x.types("show sub | exclude bob | count"); got != "2 lines\n" {
		t.Error(got)
	}
	if got := x.types("show sub user nobody"); got != "(none)\n" {
		t.Error(got)
	}
}

func TestInterrupt(t *testing.T) {
	x := newTerminal(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r := x.s.Line(ctx, "show slow"); r.Error != "interrupted" {
		t.Errorf("%+v", r)
	}
}

func texts(c Completion) string {
	var all []string
	for _, x := range c.Choices {
		all = append(all, x.Text)
	}
	return strings.Join(all, " ")
}

func TestCompletion(t *testing.T) {
	x := newTerminal(t)
	for _, c := range []struct{ text, want string }{
		{"", "abort clear commit configure exit help load quit rollback show terminal"},
		{"sh", "show"},
		{"show subscribers user ", `"a b" alice bob <user>`},
		{"show subscribers user al", "alice <user>"},
		{"show subscribers ", "detail user |"},
		{"show subscribers detail ", "user |"},
		{"show subscribers | ", "begin count exclude include number section no-more json"},
		{"show foo ", ""},
		{"show running-config int", "interface <section>"},
	} {
		if got := texts(x.s.Complete(c.text)); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	x.types("configure")
	for _, c := range []struct{ text, want string }{
		{"interface ", "access0 core0 loopback0 NAME"},
		{"no ip po", "pool"},
		{"no ip pool ", "residential NAME"},
		{"do show sub", "subscribers"},
		{"ip route 0.0.0.0/0 192.0.2.1 d", "distance discard"},
		{"com", "commit"},
	} {
		if got := texts(x.s.Complete(c.text)); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
	x.types("pppoe profile residential")
	for _, c := range []struct{ text, want string }{
		{"authentication ", "chap pap"},
		{"ip pool ", "residential NAME"},
		{"ip unnumbered lo", "loopback0 NAME"},
		{"echo-interval ", "<0-3600 seconds>"},
		{"hostname ", "HOSTNAME"}, // of the outer mode
	} {
		if got := texts(x.s.Complete(c.text)); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestHelp(t *testing.T) {
	x := newTerminal(t)
	if got := x.s.Help("show subscribers "); got != "  detail  Everything\n  user    Of this user\n  |       Filter the output\n  <cr>    Run the line\n" {
		t.Errorf("%q", got)
	}
	if got := x.s.Help("show x "); !strings.HasPrefix(got, "% expected broken") {
		t.Errorf("%q", got)
	}
}

func FuzzLine(f *testing.F) {
	for _, seed := range []string{"show subscribers user \"a b\" | include x | count", "configure", "interface a", "no user x", "ip route 10.0.0.0/8 192.0.2.1 tag 1 2 name x", "commit check", "\"", "do show run | json", "rollback configuration 1", "load merge terminal", "load replace /etc/passwd", "show candidate | number | begin x | json", "commit confirmed 5 comment x y"} {
		f.Add(seed, seed)
	}
	o := options(f)
	o.Registry = without(f, o.Registry, "show broken") // it panics on purpose
	o.Patience = time.Millisecond
	f.Fuzz(func(t *testing.T, first, second string) {
		s := New(o, "fuzz")
		s.Line(context.Background(), "configure")
		for _, text := range []string{first, second} {
			c := s.Complete(text)
			if c.Error == "" && (c.Start < 0 || c.Start > len(text)) {
				t.Fatalf("%q: completion starts at %d", text, c.Start)
			}
			s.Help(text)
			if strings.HasPrefix(strings.TrimSpace(text), "co") {
				continue // writes to disk
			}
			if r := s.Line(context.Background(), text); strings.Contains(r.Error, "internal error") {
				t.Fatalf("%q: %s", text, r.Error)
			}
		}
	})
}

// Orders are logged in full words with their operator, secrets are not.
func TestAudit(t *testing.T) {
	var log strings.Builder
	o := options(t)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	err := o.Registry.Add(&oper.Command{Words: "test aaa", Help: "Try a subscriber", Args: []oper.Arg{
		{Name: "user", Help: "Its name"}, {Name: "password", Help: "Its password", Secret: true},
	}, Run: func(_ context.Context, c oper.Call) (any, error) { return "tested " + c.Args["password"], nil }})
	if err != nil {
		t.Fatal(err)
	}
	x := terminal{t, New(o, "alice")}
	if out := x.types("tes aaa bob \"won der\""); out != "tested won der\n" {
		t.Errorf("output %q", out)
	}
	x.fails("test aaa bob wonder land", 20, "a secret ends the line")
	x.types("cl sub user bob", "show subscribers user alice")
	got := log.String()
	for _, want := range []string{`user=alice line="test aaa bob <hidden>"`, `line="clear subscriber user bob"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "won") || strings.Contains(got, "show") {
		t.Errorf("log\n%s", got)
	}
}

func TestNamesOfOthersAreNoCommandsToTheTerminal(t *testing.T) {
	x := newTerminal(t)
	if got := x.s.Help("show subscribers user "); strings.Contains(got, "\x1b") || strings.Contains(got, "root") {
		t.Errorf("%q", got)
	}
}
