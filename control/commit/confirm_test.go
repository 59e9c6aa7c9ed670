package commit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vbng/control/clock"
)

const (
	one = "hostname one\n"
	two = "hostname two\n"
)

// passes advances the clock and does what Run would do.
func (r *router) passes(d time.Duration) {
	r.clock.Advance(d)
	select {
	case <-r.manager.expired:
		r.manager.expire()
	default:
	}
}

func (r *router) runs(want string, waits bool) {
	r.t.Helper()
	if _, w := r.manager.Unconfirmed(); r.running() != want || w != waits {
		r.t.Errorf("runs %q, waits %v; want %q, %v", r.running(), w, want, waits)
	}
}

func TestUnconfirmedGoesBack(t *testing.T) {
	r := newRouter(t, one)
	r.must(r.hold(two))
	r.runs(two, true)
	r.passes(10*time.Minute - 1)
	r.runs(two, true)
	r.passes(1)
	r.runs(one, false)
	if _, rev := r.manager.Running(); rev.Number != 3 || rev.User != "vbng" || rev.Comment != "back to revision 1: revision 2 not confirmed in time" {
		t.Errorf("%+v", rev)
	}
	r.restart()
	r.runs(one, false)
}

func TestGoingBackIsTriedAgain(t *testing.T) {
	r := newRouter(t, one)
	r.must(r.hold(two))
	r.manager.archive.disk = &crashDisk{left: 1, refuse: true}
	r.passes(10 * time.Minute)
	r.runs(two, true)
	r.passes(returnPause)
	r.runs(one, false)
}

func TestConfirm(t *testing.T) {
	r := newRouter(t, one)
	r.must(r.hold(two))
	// An empty commit of another operator confirms.
	result, err := r.manager.Commit(r.manager.Candidate(), Order{User: "bob"})
	if err != nil || result.Confirmed != 2 {
		t.Errorf("%+v %v", result, err)
	}
	r.passes(time.Hour)
	r.runs(two, false)
	if _, err := r.manager.Confirm("bob"); !errors.Is(err, ErrNothingWaits) {
		t.Error(err)
	}
	r.restart()
	r.runs(two, false)
}

func TestOthersWaitForConfirmation(t *testing.T) {
	r := newRouter(t, one)
	r.must(r.hold(two))
	err := r.commit("hostname other\n")
	if err == nil || !strings.Contains(err.Error(), "revision 2 by carol is not confirmed and goes back to revision 1 at ") {
		t.Errorf("error %v", err)
	}
	if refused, ok := r.manager.Refused("alice"); !ok || refused.Err != err || refused.Diff == "" {
		t.Errorf("%+v", refused)
	}
	r.runs(two, true)
	// The one who waits goes on from there; what is gone back to stays what was confirmed.
	r.passes(9 * time.Minute)
	r.must(r.hold("hostname three\n"))
	r.passes(9 * time.Minute)
	r.runs("hostname three\n", true)
	r.passes(time.Minute)
	r.runs(one, false)
}

func TestExtendAndCancel(t *testing.T) {
	r := newRouter(t, one)
	r.must(r.hold(two))
	r.passes(9 * time.Minute)
	if result, err := r.manager.Commit(r.manager.Candidate(), Order{User: "carol", Confirm: 10 * time.Minute}); err != nil || result.Deadline.IsZero() {
		t.Errorf("%+v %v", result, err)
	}
	r.passes(9 * time.Minute)
	r.runs(two, true)
	if _, err := r.manager.Cancel("bob"); err != nil {
		t.Error(err)
	}
	r.runs(one, false)
	if _, err := r.manager.Cancel("bob"); !errors.Is(err, ErrNothingWaits) {
		t.Error(err)
	}
}

func TestDeadlineOutlivesControl(t *testing.T) {
	r := newRouter(t, one)
	r.must(r.hold(two))
	r.clock.Advance(4 * time.Minute)
	r.restart() // before the deadline: armed again
	r.runs(two, true)
	r.passes(6 * time.Minute)
	r.runs(one, false)

	r.must(r.hold(two))
	r.clock.Advance(time.Hour)
	r.restart() // behind it
	r.runs(one, false)
	if _, rev := r.manager.Running(); rev.Number != 5 {
		t.Errorf("%+v", rev)
	}
	r.restart()
	r.runs(one, false)
}

// A clock that is set back does not make the router wait for longer than it was told.
func TestDeadlineAfterClockStep(t *testing.T) {
	r := newRouter(t, one)
	r.clock.Advance(100 * time.Hour)
	r.must(r.hold(two))
	r.clock = clock.NewFake(time.Unix(0, 0))
	r.restart()
	r.passes(10 * time.Minute)
	r.runs(one, false)
}

// steppedClock is a clock that somebody has set.
type steppedClock struct {
	*clock.Fake
	by time.Duration
}

func (c *steppedClock) Now() time.Time { return c.Fake.Now().Add(c.by) }

// A clock that is set back while a commit waits does not make it permanent.
func TestClockSetBackWhileWaiting(t *testing.T) {
	r := newRouter(t, one)
	c := &steppedClock{Fake: r.clock}
	r.manager.options.Clock = c
	r.must(r.hold(two))
	c.by = -time.Hour
	for range 8 {
		r.passes(10 * time.Minute)
	}
	r.runs(one, false)
}

func TestDamagedDeadlineIsReported(t *testing.T) {
	r := newRouter(t, one)
	r.must(os.WriteFile(r.manager.archive.unconfirmedPath(), []byte("! vbng unconfirmed x\n"), 0o600))
	r.restart()
	if len(r.manager.Failed()) != 1 || r.running() != one {
		t.Errorf("%v", r.manager.Failed())
	}
}

func TestStartupThatCannotBeUsed(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"empty":     func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"zeros":     func(p string) error { return os.WriteFile(p, make([]byte, 100), 0o600) },
		"directory": func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
		"missing":   os.Remove,
		"huge":      func(p string) error { return os.Truncate(p, MaxTextBytes+1) },
	} {
		r := newRouter(t, one)
		r.must(r.commit(two))
		r.must(spoil(r.manager.archive.startupPath()))
		r.restart()
		if r.running() != two || len(r.manager.Failed()) < 2 || !strings.Contains(r.manager.Failed()[1].Text, "revision 2 is used in its place") {
			t.Errorf("%s: runs %q, failed %v", name, r.running(), r.manager.Failed())
		}
		if name == "directory" {
			continue
		}
		if r.restart(); r.running() != two || len(r.manager.Failed()) > 0 {
			t.Errorf("%s: second start: %q, %v", name, r.running(), r.manager.Failed())
		}
	}
}

// A startup file that an operator wrote becomes a revision; those of before stay.
func TestStartupWrittenByHand(t *testing.T) {
	r := newRouter(t, one)
	r.must(r.commit(two))
	r.must(os.WriteFile(r.manager.archive.startupPath(), []byte("hostname mine\n"), 0o600))
	r.restart()
	all, err := r.manager.Revisions()
	if err != nil || len(all) != 3 || all[0].Number != 3 || r.running() != "hostname mine\n" {
		t.Errorf("%+v %v", all, err)
	}
	// An old one that was brought back does not cost the newer revisions.
	_, text, err := r.manager.archive.read(1)
	r.must(err)
	r.must(os.WriteFile(r.manager.archive.startupPath(), []byte(text), 0o600))
	r.restart()
	r.must(r.commit("hostname four\n"))
	if all, err := r.manager.Revisions(); err != nil || len(all) != 4 || all[0].Number != 4 {
		t.Errorf("%+v %v", all, err)
	}
}

func TestSeedIsBounded(t *testing.T) {
	dir := t.TempDir()
	for name, make := range map[string]func(string) error{
		"no regular file": func(p string) error { return os.Mkdir(p, 0o700) },
		"more than":       func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o600), os.Truncate(p, MaxTextBytes+1)) },
	} {
		seed := filepath.Join(dir, name)
		if err := make(seed); err != nil {
			t.Fatal(err)
		}
		m, err := New(Options{StateDir: filepath.Join(dir, "state"), Seed: seed})
		if err == nil {
			err = m.Start()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A text that was shown, with hidden secrets, can be loaded: they stay what they are.
func TestHiddenSecretsStay(t *testing.T) {
	r := newRouter(t, "user alice\n password wonder\n!\nradius server r\n secret s3\n!\n")
	c := r.manager.Candidate()
	if faults := c.Replace("user alice\n password <hidden>\n!\nhostname x\n"); len(faults) > 0 {
		t.Fatal(faults)
	}
	if got := c.Tree().Entry("user", "alice").Text("password"); got != "wonder" {
		t.Errorf("password %q", got)
	}
	for text, want := range map[string]string{
		"user bob\n password <hidden>\n": "user bob: <hidden> stands for a secret",
		"hostname <hidden>\n":            "HOSTNAME",
	} {
		if faults := c.Merge(text); len(faults) != 1 || !strings.Contains(faults[0].Error(), want) {
			t.Errorf("%q: %v", text, faults)
		}
	}
}
