// Package oper is the registry of what operators may ask and order besides configuration: show, clear
// and debug commands. A command returns typed values; how they look is the business of whoever asked
// (table in the CLI, JSON for scripts, samples for telemetry).
package oper

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
)

// Command is one operational command. Words are literal; Args follow them in order, each either a
// positional value or a keyword with a value.
type Command struct {
	Words string // "show subscribers"
	Help  string
	Args  []Arg
	// Run answers the call. It is called on the asker's goroutine and may wait for a loop's answer,
	// bounded by ctx. The returned value is rendered by its type, see Table and Document.
	Run func(ctx context.Context, call Call) (any, error)
	// Stream answers piece by piece, in place of Run: what a debug or monitor command sees until its
	// end. emit takes a piece, of the kinds that Run returns, and waits until the asker has taken it
	// (a loop must not call it: put a bounded queue between); when it returns false the stream is over
	// and Stream returns soon. ctx ends with Ctrl-C, with the asker's connection, and with Bound;
	// Stream then returns nil, ctx.Err() or a *Farewell, and what it had switched on is switched off. It may return
	// earlier by itself.
	Stream func(ctx context.Context, call Call, emit func(piece any) bool) error
	// Bound ends a Stream that goes on. The asker may ask for another by the arguments "count" and
	// "seconds", which every streaming command has without declaring them.
	Bound Bound
}

// Arg is an argument of a command.
type Arg struct {
	Name     string // "detail", "user"
	Help     string
	Flag     bool // a bare keyword, no value follows
	Keyword  bool // NAME VALUE; otherwise the value stands alone (positional)
	Optional bool
	Rest     bool                     // takes all words up to a "|"; the last argument
	Secret   bool                     // the value appears in no log and no error
	Enum     []string                 // permitted values, empty: any
	Complete func() []string          // live names for completion, may be nil
	Check    func(value string) error // nil: any value
}

// Call carries the arguments of one call by name; a flag's value is "true".
type Call struct {
	Args map[string]string
	User string // who asked
}

// Has reports whether the argument was given.
func (c Call) Has(name string) bool { _, ok := c.Args[name]; return ok }

// Table is rows of a struct type T, printed as columns. Fields are exported; the tag `show:"MAC"`
// names the column, `show:"-"` hides it from tables (JSON still has it). Every unit is in the field's
// name or tag.
type Table[T any] struct {
	Rows    []T
	Summary string // a line below the table, may be empty
}

// Tabular is how a Table of any T is recognised.
type Tabular interface {
	// TableRows returns the slice of rows.
	TableRows() any
	// TableSummary returns the line below the table.
	TableSummary() string
}

// TableRows implements Tabular.
func (t Table[T]) TableRows() any { return t.Rows }

// TableSummary implements Tabular.
func (t Table[T]) TableSummary() string { return t.Summary }

// Document is a free form answer of sections and key-value lines for people; Data is the same as
// typed value for JSON.
type Document struct {
	Sections []Section
	Data     any
}

// Section is a titled block of a Document.
type Section struct {
	Title string
	Lines []Field
	Text  string // preformatted, in place of Lines
}

// Field is one line of a Section.
type Field struct{ Name, Value string }

// Registry holds the commands of all subsystems.
type Registry struct {
	mu       sync.RWMutex
	commands map[string]*Command
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{commands: map[string]*Command{}} }

// Add registers commands; two with the same words are a programming error, reported at start.
func (r *Registry) Add(commands ...*Command) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range commands {
		if _, dup := r.commands[c.Words]; dup {
			return fmt.Errorf("register command %q: registered twice", c.Words)
		}
		if err := c.valid(); err != nil {
			return fmt.Errorf("register command %q: %w", c.Words, err)
		}
		r.commands[c.Words] = c
	}
	return nil
}

// All returns the commands sorted by their words.
func (r *Registry) All() []*Command {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]*Command, 0, len(r.commands))
	for _, c := range r.commands {
		all = append(all, c)
	}
	sort.Slice(all, func(i, j int) bool { return strings.Compare(all[i].Words, all[j].Words) < 0 })
	return all
}
