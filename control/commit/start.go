package commit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"vbng/control/config"
)

// Start loads the startup configuration, or the seed when there is none, and applies it. Lines that
// cannot be used are left out and reported by Failed; a startup configuration that is empty or cannot be read is
// replaced by the newest stored revision, and reported, too. The error is for what stops the router: a state
// directory or seed that cannot be read.
func (m *Manager) Start() error {
	m.commits.Lock()
	defer m.commits.Unlock()
	if err := m.archive.sweep(); err != nil {
		m.options.Logger.Warn("half written files stay on disk", "error", err)
	}
	o, err := m.initial()
	if err != nil {
		return err
	}
	tree, failed := m.usable(o.text)
	for _, f := range failed {
		m.options.Logger.Error("configuration line not used", "line", f.Line, "text", strings.TrimSpace(f.Source), "cause", f.Message())
	}
	m.mu.Lock()
	m.failed = append(asErrors(o.faults), failed...)
	m.mu.Unlock()
	if len(failed) > 0 {
		m.keepRefused(o.text)
		if o.fresh {
			o.revision = Revision{Number: o.revision.Number - 1} // what runs is no text that anybody wrote
		}
	} else if o.fresh {
		if err := m.archive.store(o.revision, config.Print(tree, config.Clear)); err != nil {
			m.release(m.options.Subsystems)
			return err
		}
	}
	m.apply(nil, tree, o.revision)
	if o.waiting != nil {
		m.wait(*o.waiting)
	}
	return nil
}

// origin is the text that a start begins with.
type origin struct {
	text     string
	revision Revision
	fresh    bool         // the text is no stored revision yet
	faults   []error      // why it is not the startup configuration, and what else is wrong
	waiting  *Unconfirmed // the text is to be confirmed
}

// initial finds the text of this start.
func (m *Manager) initial() (origin, error) {
	text, found, err := m.archive.startup()
	newest, listErr := m.archive.newest()
	switch {
	case listErr != nil:
		return origin{}, listErr
	case !found && newest <= 1: // a crash of the very first start leaves its revision
		return m.seed()
	case !found:
		return m.fallBack(errors.New("the startup configuration is missing"))
	case err != nil:
		return m.fallBack(err)
	case strings.Trim(text, " \t\r\n\x00") == "":
		return m.fallBack(errors.New("the startup configuration is empty (one without lines, but committed, has a header)"))
	}
	o := origin{text: text, revision: parseHeader(text)}
	if o.revision.Number == 0 {
		o.fresh = true
		o.revision = Revision{Number: newest + 1, Time: m.options.Clock.Now(), User: "unknown", Comment: startupName + " was written by hand"}
		return o, nil
	}
	if err := m.archive.forget(o.revision.Number); err != nil {
		return origin{}, err
	}
	return m.unconfirmed(o, newest), nil
}

// unconfirmed goes back at start when the deadline has passed while no control was running.
func (m *Manager) unconfirmed(o origin, newest int) origin {
	u, err := m.unconfirmedAtStart(o.revision.Number)
	switch now := m.options.Clock.Now(); {
	case err != nil:
		m.options.Logger.Error("whether the startup configuration was confirmed is not known, it is used", "error", err)
		o.faults = append(o.faults, err)
	case u == nil:
	case now.Before(u.Deadline):
		o.waiting = u
		m.options.Logger.Warn("configuration waits for confirmation", "revision", u.Revision, "user", u.User, "deadline", u.Deadline)
	default:
		m.options.Logger.Warn("configuration was not confirmed in time, going back", "revision", u.Revision, "user", u.User, "back to", u.Back)
		return origin{text: u.text, fresh: true, faults: o.faults, revision: Revision{Number: max(newest, o.revision.Number) + 1, Time: now, User: Router,
			Comment: fmt.Sprintf("back to revision %d: revision %d not confirmed in time", u.Back, u.Revision)}}
	}
	return o
}

// fallBack takes the newest stored revision that can be read in place of the startup configuration, and makes it
// that again.
func (m *Manager) fallBack(why error) (origin, error) {
	o := origin{faults: []error{why}}
	numbers, err := m.archive.numbers()
	if err != nil {
		return o, err
	}
	for _, n := range slices.Backward(numbers) {
		r, text, err := m.archive.read(n)
		if err == nil && r.Number != n {
			err = fmt.Errorf("revision %d is damaged", n)
		}
		if err != nil {
			o.faults = append(o.faults, err)
			continue
		}
		o.text, o.revision = text, r
		o.faults = append(o.faults, fmt.Errorf("revision %d is used in its place: look at it, and \"commit\" what should be another way", n))
		if err := replace(m.archive.disk, m.archive.startupPath(), text); err != nil {
			o.faults = append(o.faults, err)
		}
		break
	}
	if o.revision.Number == 0 {
		o.faults = append(o.faults, errors.New("no stored revision can be used: the configuration is empty"))
	}
	for _, f := range o.faults {
		m.options.Logger.Error("startup configuration", "error", f)
	}
	if len(numbers) > 0 {
		o = m.unconfirmed(o, numbers[len(numbers)-1])
	}
	return o, nil
}

// seed is the text of the very first start.
func (m *Manager) seed() (origin, error) {
	o := origin{revision: Revision{Number: 1, Time: m.options.Clock.Now(), User: "seed", Comment: "first start"}}
	if m.options.Seed == "" {
		o.revision = Revision{}
		return o, nil
	}
	text, err := ReadText(m.options.Seed, nil)
	if err != nil {
		return o, fmt.Errorf("read seed configuration: %w", err)
	}
	o.text, o.fresh = text, text != ""
	return o, nil
}

// keepRefused saves the text before a commit can replace it, so that no operator's line is lost.
func (m *Manager) keepRefused(text string) {
	path := m.archive.startupPath() + ".refused"
	if err := replace(m.archive.disk, path, text); err != nil {
		m.options.Logger.Error("keep refused startup configuration", "path", path, "error", err)
	}
}

// usable returns the largest part of the text, by lines, that every check and every Reserve accepts,
// and the faults of the rest. What it returns is reserved.
func (m *Manager) usable(text string) (*config.Tree, []*config.Error) {
	refused := map[int]*config.Error{}
	for range strings.Count(text, "\n") + 1 {
		tree, parsing := config.ParseWithout(m.options.Schema, text, refused)
		faults := m.check(nil, tree)
		if len(faults) == 0 {
			err := m.reserve(nil, tree)
			if err == nil {
				return tree, asErrors(parsing)
			}
			faults = []error{err}
		}
		if !refuse(tree, faults, refused) {
			return m.nothing(append(parsing, faults...))
		}
	}
	return m.nothing([]error{errors.New("no part of the configuration is accepted")})
}

// refuse notes the lines that faults stand on; false means that no new line could be blamed.
func refuse(tree *config.Tree, faults []error, refused map[int]*config.Error) bool {
	progress := false
	for _, f := range asErrors(faults) {
		line := f.Line
		if line == 0 {
			line = config.Locate(tree, f.Path)
		}
		if _, already := refused[line]; line == 0 || already {
			continue
		}
		refused[line] = f
		progress = true
	}
	return progress
}

// nothing is the last resort: an empty configuration, so that an operator can get in and repair.
func (m *Manager) nothing(faults []error) (*config.Tree, []*config.Error) {
	tree := config.New(m.options.Schema)
	if err := m.reserve(nil, tree); err != nil {
		faults = append(faults, fmt.Errorf("even an empty configuration is refused: %w", err))
	}
	return tree, asErrors(faults)
}

// asErrors gives every fault the shape that can be shown with a line.
func asErrors(faults []error) []*config.Error {
	var all []*config.Error
	for _, f := range faults {
		var e *config.Error
		if !errors.As(f, &e) {
			e = &config.Error{Text: f.Error()}
		}
		all = append(all, e)
	}
	return all
}
