package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCommitConfirmedInTheShell(t *testing.T) {
	o := options(t)
	a, b := terminal{t, New(o, "alice")}, terminal{t, New(o, "bob")}
	a.types("configure", "hostname bng2")
	if got := a.types("commit confirmed 5 comment try it, confirmed or not"); got != "Committed as revision 2.\nIt goes back at 03:09:05 unless \"commit\" confirms it.\n" {
		t.Errorf("%q", got)
	}
	a.prompt("bng2[unconfirmed](config)# ")
	const waits = "revision 2 by alice is not confirmed and goes back to revision 1 at 03:09:05"
	for _, line := range []string{"show running-config hostname", "show configuration revisions"} {
		if got := b.types(line); !strings.Contains(got, waits) {
			t.Errorf("%s:\n%s", line, got)
		}
	}
	if got := New(o, "carol").Greeting(); !strings.Contains(got, waits) {
		t.Errorf("greeting %q", got)
	}
	b.types("configure", "hostname bobs")
	b.fails("commit", -1, waits)
	if got := b.types("show configuration failed"); !strings.Contains(got, waits) || !strings.Contains(got, "+ hostname bobs") {
		t.Errorf("failed:\n%s", got)
	}
	b.types("abort", "configure")
	if got := b.types("commit"); got != "Revision 2 is confirmed.\n" {
		t.Errorf("%q", got)
	}
	if got := b.types("show configuration revisions | include try"); !strings.Contains(got, "alice  try it, confirmed or not") {
		t.Errorf("%q", got)
	}
	a.types("hostname bng3", "commit confirmed 5")
	if got := a.types("commit cancel"); got != "Gone back. Committed as revision 4.\n" {
		t.Errorf("%q", got)
	}
	a.prompt("bng2(config)# ")
	a.fails("commit confirm", -1, "no commit waits")
	a.fails("commit confirmed 0", 17, "a number from 1 to 1440")
}

func TestRollbackAndDifference(t *testing.T) {
	x := newTerminal(t)
	x.types("configure", "hostname bng2", "commit", "hostname bng3", "commit")
	for line, want := range map[string]string{
		"show configuration diff":                         "- hostname bng2\n+ hostname bng3\n",
		"show configuration diff 1":                       "- hostname bng1\n+ hostname bng3\n",
		"show configuration diff 2 1":                     "- hostname bng2\n+ hostname bng1\n",
		"show configuration diff 3":                       "There is no difference.\n",
		"show configuration revision 1 hostname":          "hostname bng1\n",
		"show configuration revisions | include x$":       "",
		"show configuration revisions | exclude . | json": "",
	} {
		if strings.HasSuffix(line, "json") {
			x.fails(line, 43, "json must be the first")
			continue
		}
		if got := x.types(line); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
	x.fails("rollback configuration 9", -1, "there is no revision 9")
	x.fails("rollback configuration last 3", -1, "there are 2 revisions before")
	x.types("end", "rollback configuration last 2", "commit")
	x.prompt("bng1(config)# ")
}

func TestLoad(t *testing.T) {
	x := newTerminal(t)
	if got := x.types("load merge terminal"); !strings.Contains(got, "Ctrl-D") {
		t.Error(got)
	}
	x.prompt("load> ")
	if got := x.types("interface core0", " shutdown", "!", "end"); !strings.Contains(got, "Loaded into the candidate") {
		t.Error(got)
	}
	x.prompt("bng1(config)# ")
	if got := x.types("show configuration changes"); got != "  interface core0\n+  shutdown\n  !\n" {
		t.Error(got)
	}
	x.types("load replace terminal", "hostname h", "engine", " workers 65")
	x.fails(endOfText, -1, "line 3: engine: expected a number from 1 to 64, found \"65\"\n     workers 65\n             ^")
	if got := x.types("load merge terminal", "hostname other", "abort"); got != "Nothing is loaded.\n" {
		t.Error(got)
	}
	if got := x.types("show configuration changes"); got != "  interface core0\n+  shutdown\n  !\n" {
		t.Error(got)
	}
	// What is shown can be loaded: hidden secrets stay.
	shown := x.types("abort", "configure", "show running-config")
	x.types(append(append([]string{"load replace terminal"}, strings.Split(shown, "\n")...), "end")...)
	if got := x.types("show configuration changes"); got != "There are no edits.\n" {
		t.Error(got)
	}
}

func TestLoadFile(t *testing.T) {
	x := newTerminal(t)
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Mkdir(filepath.Join(dir, "closed"), 0o700)); err != nil {
		t.Fatal(err)
	}
	good, private, inside := filepath.Join(dir, "good"), filepath.Join(dir, "private"), filepath.Join(dir, "closed", "inside")
	for path, mode := range map[string]os.FileMode{good: 0o644, private: 0o600, inside: 0o644} {
		if err := os.WriteFile(path, []byte("hostname loaded\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	x.types("load merge "+good, "commit")
	x.prompt("loaded(config)# ")
	x.fails("load merge "+private, -1, "neither yours nor readable")
	x.fails("load merge "+inside, -1, "closed is neither yours nor open")
	if err := os.Symlink(inside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	x.fails("load merge "+filepath.Join(dir, "link"), -1, "closed is neither yours nor open")
	x.fails("load merge "+dir, -1, "no regular file")
	x.fails("load merge relative", 11, "an absolute path")
}

func TestTerminalLength(t *testing.T) {
	x := newTerminal(t)
	for line, want := range map[string]int{"terminal length 0": -1, "terminal length 40": 40, "terminal length auto": 0} {
		if x.types(line); x.s.Page() != want {
			t.Errorf("%s: %d", line, x.s.Page())
		}
	}
	x.fails("terminal length x", 16, "a number from 0")
	if r := x.s.Line(t.Context(), "show running-config | no-more | count"); !r.NoMore || r.Error != "" {
		t.Errorf("%+v", r)
	}
}

// Names that an operator has taken out of the candidate still run, and are offered.
func TestCompletionOfNames(t *testing.T) {
	x := newTerminal(t)
	x.types("configure", "no ip pool residential", "ip pool fresh", "pppoe profile residential")
	if got := texts(x.s.Complete("ip pool ")); got != "fresh residential NAME" {
		t.Error(got)
	}
	if got := texts(x.s.Complete("do rollback configuration ")); got != "last 1 <revision>" {
		t.Error(got)
	}
}

func TestSecretLinesAreMarked(t *testing.T) {
	x := newTerminal(t)
	x.types("configure", "user alice")
	for line, want := range map[string]bool{"password looking-glass": true, "password a b": true, "ip address 192.0.2.1": false} {
		if r := x.s.Line(t.Context(), line); r.Secret != want {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

// Who has seen a commit wait is told that the router has gone back.
func TestGoingBackIsTold(t *testing.T) {
	o, c := clocked(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.Manager.Run(ctx) }()
	x := terminal{t, New(o, "alice")}
	x.types("configure", "hostname bng2", "commit confirmed 1")
	c.Advance(time.Minute)
	for _, waits := o.Manager.Unconfirmed(); waits; _, waits = o.Manager.Unconfirmed() {
		time.Sleep(time.Millisecond)
	}
	if got := x.types("show running-config hostname"); got != "Note: back to revision 1: revision 2 not confirmed in time (now revision 3).\nhostname bng1\n" {
		t.Errorf("%q", got)
	}
	if got := x.types("show running-config hostname"); got != "hostname bng1\n" {
		t.Errorf("%q", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
