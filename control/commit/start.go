package commit

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"vbng/control/config"
)

// Start loads the startup configuration, or the seed when there is none, and applies it. Lines that
// cannot be used are left out and reported by Failed; the error is for what stops the router: a state
// directory or seed that cannot be read.
func (m *Manager) Start() error {
	m.commits.Lock()
	defer m.commits.Unlock()
	text, seeded, err := m.initialText()
	if err != nil {
		return err
	}
	revision := parseHeader(text)
	if !seeded {
		if err := m.archive.forget(revision.Number); err != nil {
			return err
		}
	}
	tree, failed := m.usable(text)
	for _, f := range failed {
		m.options.Logger.Error("configuration line not used", "line", f.Line, "text", strings.TrimSpace(f.Source), "cause", f.Text)
	}
	m.mu.Lock()
	m.failed = failed
	m.mu.Unlock()
	if len(failed) > 0 {
		m.keepRefused(text)
	} else if seeded && text != "" {
		revision = Revision{Number: 1, Time: m.options.Clock.Now(), User: "seed", Comment: "first start"}
		if err := m.archive.store(revision, config.Print(tree, config.Clear)); err != nil {
			m.release(m.options.Subsystems)
			return err
		}
	}
	m.apply(nil, tree, revision)
	return nil
}

func (m *Manager) initialText() (text string, seeded bool, err error) {
	text, found, err := m.archive.startup()
	if err != nil || found {
		return text, false, err
	}
	if m.options.Seed == "" {
		return "", true, nil
	}
	b, err := os.ReadFile(m.options.Seed)
	if err != nil {
		return "", true, fmt.Errorf("read seed configuration: %w", err)
	}
	return string(b), true, nil
}

// keepRefused saves the text before a commit can replace it, so that no operator's line is lost.
func (m *Manager) keepRefused(text string) {
	path := m.archive.startupPath() + ".refused"
	if err := writeFile(path, text); err != nil {
		m.options.Logger.Error("keep refused startup configuration", "path", path, "error", err)
	}
}

// usable returns the largest part of the text, by lines, that every check and every Reserve accepts,
// and the faults of the rest. What it returns is reserved.
func (m *Manager) usable(text string) (*config.Tree, []*config.Error) {
	refused := map[int]string{}
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
func refuse(tree *config.Tree, faults []error, refused map[int]string) bool {
	progress := false
	for _, f := range asErrors(faults) {
		line := f.Line
		if line == 0 {
			line = config.Locate(tree, f.Path)
		}
		if _, already := refused[line]; line == 0 || already {
			continue
		}
		refused[line] = f.Message()
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
