// Package check reads a configuration file as the router would, without a router: for editors, CI
// and installers.
package check

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"vbng/control/commit"
	"vbng/control/config"
	"vbng/control/schema"
)

// Check is the whole-configuration check of one subsystem.
type Check func(old, new *config.Tree) []error

// Schema is all that the router understands: the merged schema and every subsystem's check.
type Schema struct {
	Root   *schema.Node
	Checks []Check
}

// Of makes a Schema of the subsystems, as the router merges it.
func Of(subsystems []commit.Subsystem) (Schema, error) {
	root, err := commit.MergeSchema(subsystems)
	if err != nil {
		return Schema{}, err
	}
	s := Schema{Root: root}
	for _, sub := range subsystems {
		s.Checks = append(s.Checks, sub.Check)
	}
	return s, nil
}

// Text returns what is wrong with a configuration, in the order of its lines. What only follows from another fault is
// left out: a name is not "undefined" because the line that defines it has a typing error, and the subsystems judge
// what is left without the faulty lines.
func Text(s Schema, text string) []error {
	tree, faults := config.Parse(s.Root, text)
	lines := strings.Split(text, "\n")
	for _, f := range config.ExplainText(tree, text, config.Check(tree)) {
		if !follows(f, faults, lines) {
			faults = append(faults, f)
		}
	}
	good := without(s.Root, text)
	for _, check := range s.Checks {
		for _, f := range config.ExplainText(good, text, check(nil, good)) {
			if !touches(f, faults) {
				faults = append(faults, f)
			}
		}
	}
	slices.SortStableFunc(faults, func(a, b error) int { return lineOf(a) - lineOf(b) })
	return faults
}

// without returns the tree of the lines that are left when those are taken out that the whole-tree check blames.
func without(root *schema.Node, text string) *config.Tree {
	refused := map[int]*config.Error{}
	for {
		tree, _ := config.ParseWithout(root, text, refused)
		before := len(refused)
		for _, f := range config.ExplainText(tree, text, config.Check(tree)) {
			var e *config.Error
			if errors.As(f, &e) && e.Line > 0 {
				refused[e.Line] = e
			}
		}
		if len(refused) == before {
			return tree
		}
	}
}

// follows reports whether a fault of the whole tree may come from a line that could not be read: the line has the
// name in it that is missing, or stands in the mode in which something is missing.
func follows(f error, reading []error, lines []string) bool {
	var e *config.Error
	if !errors.As(f, &e) {
		return false
	}
	return slices.ContainsFunc(reading, func(r error) bool {
		var line *config.Error
		switch {
		case !errors.As(r, &line) || line.Line == 0:
			return false
		case e.Word == "":
			return line.Path == e.Path
		}
		return slices.Contains(strings.Fields(lines[line.Line-1]), e.Word)
	})
}

// touches reports whether a subsystem's fault is about something that has a fault already.
func touches(f error, before []error) bool {
	var e *config.Error
	if !errors.As(f, &e) {
		return len(before) > 0
	}
	return slices.ContainsFunc(before, func(b error) bool {
		var other *config.Error
		return errors.As(b, &other) && first(other.Path) != "" && first(other.Path) == first(e.Path)
	})
}

// first is the outermost step of a path.
func first(path string) string {
	step, _, _ := strings.Cut(path, " / ")
	return step
}

func lineOf(err error) int {
	var e *config.Error
	if errors.As(err, &e) {
		return e.Line
	}
	return 0
}

// Report writes the faults in the form that compilers use, "FILE:LINE:COLUMN: text", with the line
// and a caret where there is one. It returns how many there are.
func Report(w io.Writer, file string, faults []error) int {
	for _, err := range faults {
		var e *config.Error
		switch {
		case !errors.As(err, &e):
			fmt.Fprintf(w, "%s: %v\n", file, err)
		case e.Source == "":
			fmt.Fprintf(w, "%s:%d: %s\n", file, e.Line, e.Message())
		default:
			fmt.Fprintf(w, "%s:%d:%d: %s\n", file, e.Line, e.Column+1, e.Message())
			for _, outer := range e.Context {
				fmt.Fprintf(w, "  %s\n", outer)
			}
			fmt.Fprintf(w, "  %s\n  %s\n", e.Source, config.Caret(e.Source, e.Column))
		}
	}
	return len(faults)
}
