// Package check reads a configuration file as the router would, without a router: for editors, CI
// and installers.
package check

import (
	"errors"
	"fmt"
	"io"

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

// Text returns what is wrong with a configuration. Each stage speaks only when the one before had
// nothing to say: a name is not "undefined" because the line that defines it has a typing error.
func Text(s Schema, text string) []error {
	tree, faults := config.Parse(s.Root, text)
	if len(faults) > 0 {
		return faults
	}
	faults = config.Check(tree)
	if len(faults) == 0 {
		for _, check := range s.Checks {
			faults = append(faults, check(nil, tree)...)
		}
	}
	return config.ExplainText(tree, text, faults)
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
