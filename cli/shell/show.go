package shell

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vbng/control/config"
	"vbng/control/oper"
)

func (s *Session) showRunning(c oper.Call) (string, error) {
	tree, _ := s.options.Manager.Running()
	text, err := s.print(tree, c)
	if u, waits := s.options.Manager.Unconfirmed(); waits && err == nil {
		text = "! " + u.String() + "\n" + text
	}
	return text, err
}

func (s *Session) showStartup(c oper.Call) (string, error) {
	tree, _, err := s.options.Manager.Startup()
	if err != nil {
		return "", err
	}
	return s.print(tree, c)
}

func (s *Session) showCandidate(c oper.Call) (string, error) {
	s.candidate.Refresh()
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
	var b strings.Builder
	if failed := s.options.Manager.Failed(); len(failed) > 0 {
		b.WriteString("Not used at start:\n")
		for _, f := range failed {
			b.WriteString(indented(f.Detail()) + "\n")
		}
	} else {
		b.WriteString("All lines of the configuration were used at start.\n")
	}
	if r, ok := s.options.Manager.Refused(s.user); ok {
		fmt.Fprintf(&b, "\nYour last commit that failed, at %s:\n%s\n", r.Time.Format(time.DateTime), indented(config.Describe(r.Err, shownFaults)))
		if r.Diff != "" {
			fmt.Fprintf(&b, "\nIts edits:\n%s\n", indented(strings.TrimSuffix(r.Diff, "\n")))
		}
	}
	return b.String(), nil
}

// showDiff compares two revisions, or one with what runs.
func (s *Session) showDiff(c oper.Call) (string, error) {
	old, err := s.older(c)
	if err != nil {
		return "", err
	}
	tree, _ := s.options.Manager.Running()
	if c.Has("to") {
		if tree, err = s.stored(c.Args["to"]); err != nil {
			return "", err
		}
	}
	if d := config.Diff(old, tree); d != "" {
		return d, nil
	}
	return "There is no difference.\n", nil
}

// older is the left side of a difference: the revision that was asked for, or the one before what runs.
func (s *Session) older(c oper.Call) (*config.Tree, error) {
	if c.Has("from") {
		return s.stored(c.Args["from"])
	}
	numbers, at, err := s.history()
	if err != nil {
		return nil, err
	}
	if at+1 >= len(numbers) {
		return nil, errors.New("there is no revision before the running one")
	}
	return s.options.Manager.Stored(numbers[at+1])
}

func (s *Session) stored(number string) (*config.Tree, error) {
	n, _ := strconv.Atoi(number)
	return s.options.Manager.Stored(n)
}

func (s *Session) showRevision(c oper.Call) (string, error) {
	tree, err := s.stored(c.Args["revision"])
	if tree == nil {
		return "", err
	}
	text, shown := s.print(tree, c)
	if err != nil {
		text = "! lines that this version does not understand are left out\n" + text
	}
	return text, shown
}

// RevisionRow is one line of "show configuration revisions".
type RevisionRow struct {
	Number  int       `show:"Revision"`
	Time    time.Time `show:"Time"`
	User    string    `show:"User"`
	Comment string    `show:"Comment"`
}

func (s *Session) showRevisions(context.Context, oper.Call) (any, error) {
	all, err := s.options.Manager.Revisions()
	if err != nil {
		return nil, err
	}
	table := oper.Table[RevisionRow]{}
	for _, r := range all {
		table.Rows = append(table.Rows, RevisionRow(r))
	}
	if u, waits := s.options.Manager.Unconfirmed(); waits {
		table.Summary = u.String()
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
