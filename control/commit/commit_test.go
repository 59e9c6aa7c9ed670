package commit

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vbng/control/clock"
	"vbng/control/config"
	"vbng/control/config/sample"
	"vbng/control/schema"
)

// part is a subsystem that writes down what is asked of it and refuses on request.
type part struct {
	name    string
	log     *[]string
	check   func(old, new *config.Tree) []error
	reserve func(old, new *config.Tree) error
}

func (p *part) Name() string              { return p.name }
func (p *part) Schema() []*schema.Node    { return nil }
func (p *part) Release()                  { p.note("release") }
func (p *part) Apply(_, _ *config.Tree)   { p.note("apply") }
func (p *part) Run(context.Context) error { return nil }
func (p *part) note(what string)          { *p.log = append(*p.log, what+" "+p.name) }

func (p *part) Check(old, new *config.Tree) []error {
	if p.check == nil {
		return nil
	}
	return p.check(old, new)
}

func (p *part) Reserve(old, new *config.Tree) error {
	p.note("reserve")
	if p.reserve == nil {
		return nil
	}
	return p.reserve(old, new)
}

// router is a manager with two subsystems.
type router struct {
	t       *testing.T
	dir     string
	log     []string
	a, b    *part
	manager *Manager
	clock   *clock.Fake
}

func newRouter(t *testing.T, seed string) *router {
	t.Helper()
	r := &router{t: t, dir: t.TempDir()}
	r.a, r.b = &part{name: "a", log: &r.log}, &part{name: "b", log: &r.log}
	if err := os.WriteFile(filepath.Join(r.dir, "seed.conf"), []byte(seed), 0o600); err != nil {
		t.Fatal(err)
	}
	r.restart()
	return r
}

// restart makes a new manager on the same state directory.
func (r *router) restart() {
	r.t.Helper()
	if r.clock == nil {
		r.clock = clock.NewFake(time.Unix(0, 0))
	}
	root, err := sample.Schema()
	if err != nil {
		r.t.Fatal(err)
	}
	r.manager, err = New(Options{
		StateDir: filepath.Join(r.dir, "state"), Seed: filepath.Join(r.dir, "seed.conf"), Schema: root,
		Subsystems: []Subsystem{r.a, r.b}, Clock: r.clock,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err == nil {
		err = r.manager.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *router) running() string {
	tree, _ := r.manager.Running()
	return config.Print(tree, config.Clear)
}

func (r *router) candidate(text string) *Candidate {
	r.t.Helper()
	c := r.manager.Candidate()
	for _, f := range c.Merge(text) {
		r.t.Error(f)
	}
	return c
}

func (r *router) commit(text string) error {
	_, err := r.manager.Commit(r.candidate(text), Order{User: "alice", Comment: "because"})
	return err
}

func TestSeedBecomesRevisionOne(t *testing.T) {
	r := newRouter(t, "hostname one\n")
	if tree, rev := r.manager.Running(); rev.Number != 1 || tree.Text("hostname") != "one" {
		t.Errorf("revision %+v", rev)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "seed.conf"), []byte("hostname two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if r.running() != "hostname one\n" {
		t.Error("the seed was read although there is a startup configuration")
	}
}

func TestCommitOrderAndStorage(t *testing.T) {
	r := newRouter(t, "hostname one\n")
	r.log = nil
	if err := r.commit("hostname two\nuser u\n password \"a b\"\n"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"reserve a", "reserve b", "apply a", "apply b"}; !slices.Equal(r.log, want) {
		t.Errorf("order %v", r.log)
	}
	before := r.running()
	r.restart()
	if _, rev := r.manager.Running(); r.running() != before || rev.Number != 2 || rev.User != "alice" || rev.Comment != "because" {
		t.Errorf("after restart: %+v\n%s", rev, r.running())
	}
	for _, path := range []string{r.manager.archive.startupPath(), r.manager.archive.revisionPath(2)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", path, info, err)
		}
	}
	all, err := r.manager.Revisions()
	if err != nil || len(all) != 2 || all[0].Number != 2 {
		t.Errorf("revisions %+v, %v", all, err)
	}
}

func TestReserveRefusalReleasesInReverse(t *testing.T) {
	r := newRouter(t, "hostname one\n")
	r.log = nil
	r.b.reserve = func(_, _ *config.Tree) error { return errors.New("no such device") }
	if err := r.commit("hostname two"); err == nil || err.Error() != "b: no such device" {
		t.Errorf("error %v", err)
	}
	if want := []string{"reserve a", "reserve b", "release a"}; !slices.Equal(r.log, want) {
		t.Errorf("order %v", r.log)
	}
	if r.running() != "hostname one\n" {
		t.Error("refused and changed")
	}
}

func TestFullDiskRefusesAndReleases(t *testing.T) {
	r := newRouter(t, "hostname one\n")
	r.log = nil
	r.manager.archive.disk = &crashDisk{left: 1, refuse: true}
	if err := r.commit("hostname two"); err == nil || !strings.Contains(err.Error(), "write revision 2") {
		t.Errorf("error %v", err)
	}
	if want := []string{"reserve a", "reserve b", "release b", "release a"}; !slices.Equal(r.log, want) {
		t.Errorf("order %v", r.log)
	}
	if r.running() != "hostname one\n" {
		t.Error("refused and changed")
	}
}

func TestStartUsesWhatItCan(t *testing.T) {
	r := &router{t: t, dir: t.TempDir()}
	r.a, r.b = &part{name: "a", log: &r.log}, &part{name: "b", log: &r.log}
	r.a.check = func(_, new *config.Tree) []error { // by path alone
		if new.Entry("interface", "eth9") != nil {
			return []error{&config.Error{Path: "interface eth9", Text: "does not exist"}}
		}
		return nil
	}
	r.b.reserve = func(_, new *config.Tree) error { // by line
		if new.Text("hostname") == "taken" {
			return &config.Error{Path: "hostname", Line: new.LineOf("hostname"), Text: "is taken"}
		}
		return nil
	}
	const seed = "hostname taken\nbogus\ninterface eth9\n pppoe profile p\n!\ninterface eth1\n pppoe profile nowhere\n shutdown\n!\nuser nopass\n!\n"
	if err := os.WriteFile(filepath.Join(r.dir, "seed.conf"), []byte(seed), 0o600); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if want := "interface eth1\n shutdown\n!\n"; r.running() != want {
		t.Errorf("running:\n%s", r.running())
	}
	var got []string
	for _, f := range r.manager.Failed() {
		got = append(got, f.Error())
	}
	text := strings.Join(got, "\n")
	for _, want := range []string{"line 1: hostname: is taken", `found "bogus"`, "line 3: ", "line 4: ", "line 7: ", "line 10: "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if kept, err := os.ReadFile(r.manager.archive.startupPath() + ".refused"); err != nil || string(kept) != seed {
		t.Errorf("the refused text is not kept: %v", err)
	}
}

func TestStartWithNothingThatCanBeBlamed(t *testing.T) {
	r := &router{t: t, dir: t.TempDir()}
	r.a, r.b = &part{name: "a", log: &r.log}, &part{name: "b", log: &r.log}
	r.a.check = func(_, new *config.Tree) []error {
		if !new.Empty() {
			return []error{errors.New("out of sorts")}
		}
		return nil
	}
	if err := os.WriteFile(filepath.Join(r.dir, "seed.conf"), []byte("hostname x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if r.running() != "" || len(r.manager.Failed()) != 1 {
		t.Errorf("running %q, failed %v", r.running(), r.manager.Failed())
	}
}

func TestUnfinishedRevisionIsForgotten(t *testing.T) {
	r := newRouter(t, "hostname one\n")
	if err := replace(osDisk{}, r.manager.archive.revisionPath(2), "hostname never\n"); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if all, err := r.manager.Revisions(); err != nil || len(all) != 1 {
		t.Errorf("%+v %v", all, err)
	}
}

func TestRebaseAndConflict(t *testing.T) {
	r := newRouter(t, "hostname one\ninterface x\n description d\n")
	mine := r.candidate("interface x\n shutdown\n")
	clash := r.candidate("hostname mine\nno interface x\n")
	if err := r.commit("hostname two\ninterface x\n description e\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.manager.Commit(mine, Order{User: "bob"}); err != nil {
		t.Errorf("edits of other leaves conflict: %v", err)
	}
	_, err := r.manager.Commit(clash, Order{User: "bob"})
	if !errors.As(err, new(*Conflict)) || !strings.Contains(err.Error(), "hostname: was changed") || !strings.Contains(err.Error(), "interface x: was changed") {
		t.Errorf("error %v", err)
	}
	if _, err := r.manager.Commit(clash, Order{User: "bob"}); err != nil {
		t.Errorf("second commit: %v", err)
	}
	if r.running() != "hostname mine\n" {
		t.Errorf("running:\n%s", r.running())
	}
}

func TestReplaceAndStored(t *testing.T) {
	r := newRouter(t, "hostname one\ninterface x\n")
	if err := r.commit("hostname two\n"); err != nil {
		t.Fatal(err)
	}
	old, err := r.manager.Stored(1)
	if err != nil {
		t.Fatal(err)
	}
	c := r.manager.Candidate()
	if faults := c.Replace(config.Print(old, config.Clear)); len(faults) > 0 {
		t.Fatal(faults)
	}
	if d := c.Diff(); d != "- hostname two\n+ hostname one\n" {
		t.Errorf("difference:\n%s", d)
	}
	if faults := c.Replace("bogus"); len(faults) != 1 {
		t.Error(faults)
	}
}

func TestOldRevisionsArePruned(t *testing.T) {
	a := archive{dir: t.TempDir(), disk: osDisk{}, kept: keptRevisions}
	if err := a.create(); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= keptRevisions+3; n++ {
		if err := os.WriteFile(a.revisionPath(n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.prune(); err != nil {
		t.Fatal(err)
	}
	if numbers, err := a.numbers(); err != nil || len(numbers) != keptRevisions || numbers[0] != 4 {
		t.Errorf("%v %v", numbers, err)
	}
}

// undeletable puts something at a path that can neither be removed nor replaced by a file.
func undeletable(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Join(path, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
}

// An old revision that cannot be removed is no reason to refuse a commit that is on disk already.
func TestCommitWithoutPruning(t *testing.T) {
	r := newRouter(t, "hostname one\n")
	for n := 2; n <= keptRevisions; n++ {
		if err := os.WriteFile(r.manager.archive.revisionPath(n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	undeletable(t, r.manager.archive.revisionPath(1))
	if err := r.manager.archive.store(Revision{Number: keptRevisions + 1}, "hostname one\n"); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if err := r.commit("hostname two\n"); err != nil || r.running() != "hostname two\n" {
		t.Fatalf("running %s, %v", r.running(), err)
	}
	if r.restart(); r.running() != "hostname two\n" {
		t.Errorf("after the restart %s", r.running())
	}
}

// A commit that cannot become the startup configuration leaves no revision behind.
func TestCommitWithoutStartup(t *testing.T) {
	r := newRouter(t, "hostname one\n")
	undeletable(t, r.manager.archive.startupPath())
	if err := r.commit("hostname two\n"); err == nil {
		t.Fatal("committed")
	}
	all, err := r.manager.Revisions()
	if err != nil || len(all) != 1 || r.running() != "hostname one\n" || r.log[len(r.log)-1] != "release a" {
		t.Errorf("revisions %+v, %v, running %s, %v", all, err, r.running(), r.log)
	}
}

func TestHeader(t *testing.T) {
	r := Revision{Number: 7, Time: time.Unix(1000, 0).UTC(), User: "a \"b\"", Comment: "x \\ y"}
	if got := parseHeader(r.header() + "hostname x\n"); got != r {
		t.Errorf("%+v, want %+v", got, r)
	}
	if got := parseHeader("hostname x\n"); got != (Revision{}) {
		t.Errorf("%+v", got)
	}
}
