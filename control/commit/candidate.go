package commit

import (
	"fmt"
	"strings"

	"vbng/control/config"
)

// Candidate is one operator's edits on a revision of the running configuration. It belongs to one
// session and is not safe for concurrent use.
type Candidate struct {
	manager  *Manager
	base     *config.Tree
	revision int // of base
	tree     *config.Tree
	changes  []config.Change
}

// Candidate returns a candidate without edits.
func (m *Manager) Candidate() *Candidate {
	c := &Candidate{manager: m}
	c.Reset()
	return c
}

// Reset throws the edits away and stands on the running configuration.
func (c *Candidate) Reset() {
	tree, revision := c.manager.Running()
	c.base, c.tree, c.revision, c.changes = tree, tree, revision.Number, nil
}

// Tree returns the configuration with the edits.
func (c *Candidate) Tree() *config.Tree { return c.tree }

// Dirty reports whether there are edits that make a difference.
func (c *Candidate) Dirty() bool { return !config.Equal(c.base, c.tree) }

// Diff returns the edits as lines of difference.
func (c *Candidate) Diff() string { return config.Diff(c.base, c.tree) }

// Refresh moves a candidate without edits to the running configuration.
func (c *Candidate) Refresh() {
	if !c.Dirty() {
		c.Reset()
	}
}

// Apply makes one edit.
func (c *Candidate) Apply(change config.Change) error {
	tree, err := c.tree.With(change)
	if err != nil {
		return err
	}
	c.tree = tree
	c.changes = append(c.changes, change)
	return nil
}

// Merge reads text onto the candidate. With a fault in it nothing is changed. Secrets that are hidden in the text
// stay what they are.
func (c *Candidate) Merge(text string) []error {
	tree, changes, faults := config.Merge(c.tree, text, c.tree)
	if len(faults) == 0 {
		c.tree = tree
		c.changes = append(c.changes, changes...)
	}
	return faults
}

// Replace makes the candidate what the text says and nothing else. With a fault nothing is changed. Secrets that
// are hidden in the text stay what they are.
func (c *Candidate) Replace(text string) []error {
	tree, changes, faults := config.Merge(config.New(c.manager.options.Schema), text, c.tree)
	if len(faults) == 0 {
		c.tree = tree
		c.changes = append([]config.Change{{Action: config.Delete}}, changes...)
	}
	return faults
}

// Conflict is the refusal of a commit whose candidate touches what others have changed meanwhile.
type Conflict struct {
	Revision int // that the candidate stands on now
	User     string
	Lines    []string
}

// Error implements error.
func (e *Conflict) Error() string {
	return fmt.Sprintf("revision %d by %s changed the same configuration:\n  %s\n"+
		"your edits now stand on that revision: look at the changes, then commit again or abort",
		e.Revision, e.User, strings.Join(e.Lines, "\n  "))
}

// rebase moves the candidate to the running configuration.
func (c *Candidate) rebase() error {
	running, revision := c.manager.Running()
	if revision.Number == c.revision {
		return nil
	}
	tree, made, conflicts := config.Rebase(c.base, running, c.changes)
	c.base, c.tree, c.revision, c.changes = running, tree, revision.Number, made
	if len(conflicts) > 0 {
		return &Conflict{Revision: revision.Number, User: revision.User, Lines: conflicts}
	}
	return nil
}
