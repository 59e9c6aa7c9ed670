package commit

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"vbng/control/clock"
	"vbng/control/config"
	"vbng/control/schema"
)

// Options is what a Manager is made of.
type Options struct {
	StateDir   string       // of the startup configuration and the revisions
	Seed       string       // path of the configuration for an empty state directory; may be empty
	Schema     *schema.Node // by MergeSchema; nil: made of the subsystems'
	Subsystems []Subsystem  // in order of Reserve and Apply
	Clock      clock.Clock
	Logger     *slog.Logger
}

// Manager owns the running configuration. Its methods may be called from any goroutine.
type Manager struct {
	options Options
	archive archive

	commits sync.Mutex // held by the one commit that runs; never while waiting for an operator

	mu       sync.RWMutex // guards what follows
	running  *config.Tree
	revision Revision
	failed   []*config.Error
	refusals map[string]Refusal // the last failed commit of each operator
	waiting  *Unconfirmed       // nil: the running configuration is confirmed
	timer    clock.Timer        // of waiting

	expired chan struct{} // the timer has run out
}

// MergeSchema joins the schemas of the subsystems and checks the whole.
func MergeSchema(subsystems []Subsystem) (*schema.Node, error) {
	var groups [][]*schema.Node
	for _, s := range subsystems {
		groups = append(groups, s.Schema())
	}
	root, err := schema.Merge(groups...)
	if err != nil {
		return nil, err
	}
	if faults := schema.Validate(root); len(faults) > 0 {
		return nil, fmt.Errorf("validate schema: %w", errors.Join(faults...))
	}
	return root, nil
}

// New checks the schema and the state directory.
func New(o Options) (*Manager, error) {
	if o.Schema == nil {
		root, err := MergeSchema(o.Subsystems)
		if err != nil {
			return nil, err
		}
		o.Schema = root
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	m := &Manager{options: o, archive: archive{dir: o.StateDir, disk: osDisk{}, kept: keptRevisions},
		running: config.New(o.Schema), refusals: map[string]Refusal{}, expired: make(chan struct{}, 1)}
	return m, m.archive.create()
}

// Schema returns the whole schema.
func (m *Manager) Schema() *schema.Node { return m.options.Schema }

// Running returns the running configuration and its revision.
func (m *Manager) Running() (*config.Tree, Revision) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.running, m.revision
}

// Failed returns the lines of the startup configuration that could not be used.
func (m *Manager) Failed() []*config.Error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.failed
}

// Startup returns the startup configuration as it would be shown: parsed, secrets hidden.
func (m *Manager) Startup() (*config.Tree, Revision, error) {
	text, found, err := m.archive.startup()
	if err != nil || !found {
		return config.New(m.options.Schema), Revision{}, err
	}
	tree, _ := config.Parse(m.options.Schema, text)
	return tree, parseHeader(text), nil
}

// Revisions returns the stored revisions, newest first.
func (m *Manager) Revisions() ([]Revision, error) {
	numbers, err := m.archive.numbers()
	if err != nil {
		return nil, err
	}
	var all []Revision
	for i := len(numbers) - 1; i >= 0; i-- {
		r, _, err := m.archive.read(numbers[i])
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Stored returns the configuration of a stored revision. With an error there may be a tree all the same: what
// this version of the router still understands.
func (m *Manager) Stored(number int) (*config.Tree, error) {
	_, text, err := m.archive.read(number)
	if err != nil {
		return nil, err
	}
	tree, faults := config.Parse(m.options.Schema, text)
	return tree, errors.Join(faults...)
}

// Result tells what a commit did.
type Result struct {
	Revision  int
	Unchanged bool      // there was nothing to do
	Confirmed int       // the revision that this commit confirmed, 0: none
	Deadline  time.Time // of a commit that waits for confirmation
	Effects   []string  // what does not act at once
}

// Order is who commits, why, and whether for good.
type Order struct {
	User    string
	Comment string
	// Confirm is how long the commit holds unless it is confirmed; 0: for good.
	Confirm time.Duration
}

// Check runs every check of a commit and changes nothing. The faults point at lines of the candidate as it is
// printed.
func (m *Manager) Check(c *Candidate) []error {
	old, _ := m.Running()
	return config.Explain(c.Tree(), m.check(old, c.Tree()))
}

// Commit makes the candidate the running configuration. The error joins everything that is wrong; a
// *Conflict among it means that others changed the same things, that the candidate now stands on
// their revision, and that a second commit goes through. While a revision waits for confirmation, a commit
// without edits confirms it, one of the same operator goes on from it, and one of another is an *Unconfirmed.
func (m *Manager) Commit(c *Candidate, o Order) (Result, error) {
	m.commits.Lock()
	defer m.commits.Unlock()
	diff := c.Diff()
	result, err := m.commit(c, o)
	if err != nil {
		m.note(o.User, diff, err)
	}
	return result, err
}

func (m *Manager) commit(c *Candidate, o Order) (Result, error) {
	if !c.Dirty() {
		c.Reset()
		return m.settle(o)
	}
	if p, waits := m.Unconfirmed(); waits && p.User != o.User {
		return Result{}, &p
	}
	if err := c.rebase(); err != nil {
		return Result{}, err
	}
	old, _ := m.Running()
	tree := c.Tree()
	if config.Equal(old, tree) {
		c.Reset()
		return m.settle(o)
	}
	if faults := m.check(old, tree); len(faults) > 0 {
		return Result{}, errors.Join(config.Explain(tree, faults)...)
	}
	r, err := m.next(o.User, o.Comment)
	if err != nil {
		return Result{}, err
	}
	result := Result{Revision: r.Number, Effects: config.Effects(old, tree)}
	if o.Confirm > 0 {
		result.Deadline, err = m.installUnconfirmed(old, tree, r, o.Confirm)
	} else if err = m.install(old, tree, r); err == nil {
		result.Confirmed = m.passed()
	}
	if err != nil {
		return Result{}, err
	}
	c.Reset()
	return result, nil
}

// next returns the revision that follows all others.
func (m *Manager) next(user, comment string) (Revision, error) {
	newest, err := m.archive.newest()
	if err != nil {
		return Revision{}, err
	}
	_, running := m.Running()
	return Revision{Number: max(running.Number, newest) + 1, Time: m.options.Clock.Now(), User: user, Comment: comment}, nil
}

// install reserves, stores and applies a checked tree.
func (m *Manager) install(old, tree *config.Tree, r Revision) error {
	if err := m.reserve(old, tree); err != nil {
		return err
	}
	if err := m.archive.store(r, config.Print(tree, config.Clear)); err != nil {
		m.release(m.options.Subsystems)
		return err
	}
	m.apply(old, tree, r)
	if err := m.archive.prune(); err != nil { // the commit is done: disk space is all that is at stake
		m.options.Logger.Warn("old revisions stay on disk", "error", err)
	}
	m.options.Logger.Info("configuration committed", "revision", r.Number, "user", r.User, "comment", r.Comment)
	return nil
}

// check collects the faults of the whole tree and of every subsystem.
func (m *Manager) check(old, new *config.Tree) []error {
	faults := config.Check(new)
	if len(faults) > 0 {
		return faults // subsystems may rely on names that are defined
	}
	for _, s := range m.options.Subsystems {
		faults = append(faults, s.Check(old, new)...)
	}
	return faults
}

// reserve asks every subsystem in order; when one refuses, those before it give back what they took.
func (m *Manager) reserve(old, new *config.Tree) error {
	for i, s := range m.options.Subsystems {
		if err := s.Reserve(old, new); err != nil {
			m.release(m.options.Subsystems[:i])
			return fmt.Errorf("%s: %w", s.Name(), err)
		}
	}
	return nil
}

func (m *Manager) release(reserved []Subsystem) {
	for i := len(reserved) - 1; i >= 0; i-- {
		reserved[i].Release()
	}
}

// apply makes the tree the running one, first for readers, then for the subsystems.
func (m *Manager) apply(old, new *config.Tree, r Revision) {
	m.mu.Lock()
	m.running, m.revision = new, r
	m.mu.Unlock()
	for _, s := range m.options.Subsystems {
		s.Apply(old, new)
	}
}
