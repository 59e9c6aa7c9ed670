package shell

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vbng/control/config"
	"vbng/control/oper"
)

func (s *Session) showRunning(c oper.Call) (string, error) {
	tree, _ := s.options.Manager.Running()
	return s.print(tree, c)
}

func (s *Session) showStartup(c oper.Call) (string, error) {
	tree, _, err := s.options.Manager.Startup()
	if err != nil {
		return "", err
	}
	return s.print(tree, c)
}

func (s *Session) showCandidate(c oper.Call) (string, error) {
	return s.print(s.candidate.Tree(), c)
}

// print shows a configuration or a part of it, secrets hidden.
func (s *Session) print(tree *config.Tree, c oper.Call) (string, error) {
	section := strings.Fields(c.Args["section"])
	text := config.PrintSection(tree, config.Hide, section)
	switch {
	case text != "":
		return text, nil
	case len(section) > 0:
		return "", fmt.Errorf("no part of the configuration begins with %q", c.Args["section"])
	}
	return "! the configuration is empty\n", nil
}

// sections completes the first words of the parts of the running configuration.
func (s *Session) sections() []string {
	var names []string
	seen := map[string]bool{}
	for _, n := range s.options.Manager.Schema().Children {
		first, _, _ := strings.Cut(n.Name, " ")
		if !seen[first] {
			seen[first] = true
			names = append(names, first)
		}
	}
	return names
}

func (s *Session) showChanges(oper.Call) (string, error) {
	s.candidate.Refresh()
	if d := s.candidate.Diff(); d != "" {
		return d, nil
	}
	return "There are no edits.\n", nil
}

func (s *Session) showFailed(oper.Call) (string, error) {
	failed := s.options.Manager.Failed()
	if len(failed) == 0 {
		return "All lines of the configuration were used at start.\n", nil
	}
	var b strings.Builder
	for _, f := range failed {
		b.WriteString(f.Detail() + "\n")
	}
	return b.String(), nil
}

// RevisionRow is one line of "show configuration revisions".
type RevisionRow struct {
	Number  int       `show:"Revision"`
	Time    time.Time `show:"Time"`
	User    string    `show:"User"`
	Comment string    `show:"Comment"`
}

func (s *Session) showRevisions(_ context.Context, c oper.Call) (any, error) {
	if c.Has("revision") {
		number, _ := strconv.Atoi(c.Args["revision"])
		tree, err := s.options.Manager.Stored(number)
		if err != nil {
			return nil, err
		}
		return s.print(tree, c)
	}
	all, err := s.options.Manager.Revisions()
	if err != nil {
		return nil, err
	}
	table := oper.Table[RevisionRow]{}
	for _, r := range all {
		table.Rows = append(table.Rows, RevisionRow(r))
	}
	return table, nil
}

func (s *Session) revisionNumbers() []string {
	all, err := s.options.Manager.Revisions()
	if err != nil {
		return nil
	}
	var numbers []string
	for _, r := range all {
		numbers = append(numbers, strconv.Itoa(r.Number))
	}
	return numbers
}
