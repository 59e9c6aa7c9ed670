package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"vbng/control/config"
	"vbng/control/line"
)

// Unconfirmed is a commit that holds until a deadline, and what the router goes back to then. As an error it
// refuses the commit of another operator.
type Unconfirmed struct {
	Since    int // the first revision that waits
	Revision int // the last one
	User     string
	Deadline time.Time
	Back     int // the revision that was confirmed last

	hold time.Duration // that was asked for
	text string        // the configuration of Back
}

// Error implements error.
func (u *Unconfirmed) Error() string {
	return u.String() + "; \"commit confirm\" keeps it, \"commit cancel\" goes back now"
}

// String tells who waits for what.
func (u *Unconfirmed) String() string {
	return fmt.Sprintf("revision %d by %s is not confirmed and goes back to revision %d at %s",
		u.Revision, u.User, u.Back, u.Deadline.Format("15:04:05"))
}

// ErrNothingWaits refuses to confirm or cancel what is for good already.
var ErrNothingWaits = errors.New("no commit waits for confirmation")

// Router is the user of commits that the router makes by itself.
const Router = "vbng"

// returnPause is how long the router waits when going back is refused before it tries again.
const returnPause = 10 * time.Second

// Unconfirmed returns the commit that waits for confirmation.
func (m *Manager) Unconfirmed() (u Unconfirmed, waits bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.waiting == nil {
		return Unconfirmed{}, false
	}
	return *m.waiting, true
}

// Confirm makes the commit that waits one for good, whoever asks. It returns its revision.
func (m *Manager) Confirm(user string) (revision int, err error) {
	m.commits.Lock()
	defer m.commits.Unlock()
	if _, waits := m.Unconfirmed(); !waits {
		return 0, ErrNothingWaits
	}
	return m.confirm(user)
}

// Cancel goes back to the last confirmed configuration at once, whoever asks.
func (m *Manager) Cancel(user string) (Result, error) {
	m.commits.Lock()
	defer m.commits.Unlock()
	u, waits := m.Unconfirmed()
	if !waits {
		return Result{}, ErrNothingWaits
	}
	return m.goBack(u, user, "cancelled")
}

// Run goes back when a deadline passes, until ctx ends.
func (m *Manager) Run(ctx context.Context) error {
	for {
		select {
		case <-m.expired:
			m.expire()
		case <-ctx.Done():
			return nil
		}
	}
}

// expire goes back if the deadline has passed: a confirmation may have come first.
func (m *Manager) expire() {
	m.commits.Lock()
	defer m.commits.Unlock()
	u, waits := m.Unconfirmed()
	if !waits {
		return
	}
	if left := u.Deadline.Sub(m.options.Clock.Now()); left > 0 { // it was moved, or the clock set back
		m.arm(min(left, u.hold))
		return
	}
	m.options.Logger.Warn("configuration was not confirmed in time, going back", "revision", u.Revision, "user", u.User, "back to", u.Back)
	if _, err := m.goBack(u, Router, "not confirmed in time"); err != nil {
		m.options.Logger.Error("going back is refused, trying again", "pause", returnPause, "error", err)
		m.arm(returnPause)
	}
}

// goBack installs the last confirmed configuration as a revision of its own.
func (m *Manager) goBack(u Unconfirmed, user, why string) (Result, error) {
	tree, faults := config.Parse(m.options.Schema, u.text)
	for _, f := range faults {
		m.options.Logger.Error("line of the confirmed configuration not used", "error", f)
	}
	old, _ := m.Running()
	if faults := m.check(old, tree); len(faults) > 0 {
		return Result{}, errors.Join(faults...)
	}
	r, err := m.next(user, fmt.Sprintf("back to revision %d: revision %d %s", u.Back, u.Revision, why))
	if err != nil {
		return Result{}, err
	}
	if err := m.install(old, tree, r); err != nil {
		return Result{}, err
	}
	m.passed()
	return Result{Revision: r.Number, Effects: config.Effects(old, tree)}, nil
}

// settle is a commit without edits: it confirms what waits, or gives it a new deadline.
func (m *Manager) settle(o Order) (Result, error) {
	_, revision := m.Running()
	result := Result{Revision: revision.Number, Unchanged: true}
	u, waits := m.Unconfirmed()
	if !waits {
		return result, nil
	}
	if o.Confirm == 0 {
		var err error
		result.Confirmed, err = m.confirm(o.User)
		return result, err
	}
	u.hold, u.Deadline = o.Confirm, m.options.Clock.Now().Add(o.Confirm)
	if err := replace(m.archive.disk, m.archive.unconfirmedPath(), u.file()); err != nil {
		return Result{}, fmt.Errorf("write deadline: %w", err)
	}
	m.wait(u)
	result.Deadline = u.Deadline
	return result, nil
}

// confirm makes what waits permanent; it returns its revision, 0 when nothing waits.
func (m *Manager) confirm(user string) (revision int, err error) {
	u, waits := m.Unconfirmed()
	if !waits {
		return 0, nil
	}
	if err := drop(m.archive.disk, m.archive.unconfirmedPath()); err != nil {
		return 0, fmt.Errorf("remove the deadline: %w", err) // it would bring the old configuration back
	}
	m.rest()
	m.options.Logger.Info("configuration confirmed", "revision", u.Revision, "user", user)
	return u.Revision, nil
}

// installUnconfirmed is install of a commit that holds until a deadline. What it goes back to is on disk first.
// What waited before goes on to wait: the router goes back to what was confirmed.
func (m *Manager) installUnconfirmed(old, tree *config.Tree, r Revision, hold time.Duration) (time.Time, error) {
	_, back := m.Running()
	before, waited := m.Unconfirmed()
	u := before
	if !waited {
		u = Unconfirmed{Since: r.Number, Back: back.Number, text: config.Print(old, config.Clear)}
	}
	u.Revision, u.User, u.hold, u.Deadline = r.Number, r.User, hold, m.options.Clock.Now().Add(hold)
	err := replace(m.archive.disk, m.archive.unconfirmedPath(), u.file())
	if err == nil {
		err = m.install(old, tree, r)
	}
	switch {
	case err == nil:
		m.wait(u)
		return u.Deadline, nil
	case waited:
		err = errors.Join(err, replace(m.archive.disk, m.archive.unconfirmedPath(), before.file()))
	default:
		err = errors.Join(err, drop(m.archive.disk, m.archive.unconfirmedPath()))
	}
	return time.Time{}, fmt.Errorf("commit that waits for confirmation: %w", err)
}

// wait makes u what waits and arms its deadline, which from here on follows no step of the clock: one that was read
// from disk has no monotonic part.
func (m *Manager) wait(u Unconfirmed) {
	now := m.options.Clock.Now()
	left := u.Deadline.Sub(now)
	u.Deadline = now.Add(left)
	m.mu.Lock()
	m.waiting = &u
	m.mu.Unlock()
	m.arm(left)
}

func (m *Manager) arm(d time.Duration) {
	if m.timer != nil {
		m.timer.Stop()
	}
	m.timer = m.options.Clock.AfterFunc(d, func() {
		select {
		case m.expired <- struct{}{}:
		default:
		}
	})
}

// passed ends the waiting when a later revision has become the startup configuration, and returns the revision that
// it confirms, 0: none. A file that stays speaks of another revision, so the next start takes no notice of it.
func (m *Manager) passed() (revision int) {
	u, waits := m.Unconfirmed()
	if !waits {
		return 0
	}
	if err := drop(m.archive.disk, m.archive.unconfirmedPath()); err != nil {
		m.options.Logger.Warn("the deadline of an older revision stays on disk", "error", err)
	}
	m.rest()
	return u.Revision
}

// rest says that nothing waits.
func (m *Manager) rest() {
	m.mu.Lock()
	m.waiting = nil
	m.mu.Unlock()
	if m.timer != nil {
		m.timer.Stop()
	}
}

// file is an Unconfirmed as it is stored: a line of comment, then the configuration to go back to.
func (u *Unconfirmed) file() string {
	return fmt.Sprintf("%s unconfirmed %d since %d user %s deadline %s seconds %d back %d\n%s", headerMark, u.Revision, u.Since,
		line.Quote(u.User), u.Deadline.UTC().Format(time.RFC3339Nano), int(u.hold.Seconds()), u.Back, u.text)
}

func parseUnconfirmed(file string) (Unconfirmed, error) {
	said := headerWords(file)
	_, text, _ := strings.Cut(file, "\n")
	u := Unconfirmed{User: said["user"], text: text}
	var faults []error
	number := func(name string) int {
		n, err := strconv.Atoi(said[name])
		faults = append(faults, err)
		return n
	}
	u.Revision, u.Since, u.Back = number("unconfirmed"), number("since"), number("back")
	u.hold = time.Duration(number("seconds")) * time.Second
	var err error
	u.Deadline, err = time.Parse(time.RFC3339Nano, said["deadline"])
	return u, errors.Join(append(faults, err)...)
}

// unconfirmedAtStart returns what an earlier control left waiting for the startup configuration of that revision.
// A file that speaks of other revisions is what a crash left of a commit that did not happen, or that was
// confirmed; it is removed.
func (m *Manager) unconfirmedAtStart(startup int) (*Unconfirmed, error) {
	file, err := ReadText(m.archive.unconfirmedPath(), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the router goes back to: %w", err)
	}
	u, err := parseUnconfirmed(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.archive.unconfirmedPath(), err)
	}
	if startup < u.Since || startup > u.Revision {
		return nil, drop(m.archive.disk, m.archive.unconfirmedPath())
	}
	now := m.options.Clock.Now()
	if latest := now.Add(u.hold); u.Deadline.After(latest) {
		u.Deadline = latest // the clock has been set back
	}
	return &u, nil
}
