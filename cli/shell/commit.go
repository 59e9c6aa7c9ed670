package shell

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vbng/control/commit"
	"vbng/control/config"
	"vbng/control/oper"
)

// shownFaults is how many faults one answer lists.
const shownFaults = 20

// maxMinutes bounds how long a commit may wait for confirmation: a day.
const maxMinutes = 24 * 60

func isMinutes(word string) error {
	if n, err := strconv.Atoi(word); err != nil || n < 1 || n > maxMinutes {
		return fmt.Errorf("expected a number from 1 to %d (minutes), found %q", maxMinutes, word)
	}
	return nil
}

func (s *Session) commit(c oper.Call) (string, error) {
	minutes, _ := strconv.Atoi(c.Args["confirmed"])
	result, err := s.options.Manager.Commit(s.candidate, commit.Order{
		User: s.user, Comment: c.Args["comment"], Confirm: time.Duration(minutes) * time.Minute})
	if err != nil {
		return "", fmt.Errorf("not committed (lines as in \"show candidate | number\"):\n%s", indented(config.Describe(err, shownFaults)))
	}
	return committed(result), nil
}

// committed tells what a commit did.
func committed(r commit.Result) string {
	var b strings.Builder
	if !r.Unchanged {
		fmt.Fprintf(&b, "Committed as revision %d.\n", r.Revision)
	}
	if r.Confirmed > 0 {
		fmt.Fprintf(&b, "Revision %d is confirmed.\n", r.Confirmed)
	}
	if !r.Deadline.IsZero() {
		fmt.Fprintf(&b, "It goes back at %s unless \"commit\" confirms it.\n", r.Deadline.Format("15:04:05"))
	}
	for _, e := range r.Effects {
		fmt.Fprintf(&b, "Note: %s.\n", e)
	}
	if b.Len() == 0 {
		return "There are no edits to commit.\n"
	}
	return b.String()
}

func (s *Session) confirm(oper.Call) (string, error) {
	revision, err := s.options.Manager.Confirm(s.user)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Revision %d is confirmed.\n", revision), nil
}

func (s *Session) cancel(oper.Call) (string, error) {
	result, err := s.options.Manager.Cancel(s.user)
	if err != nil {
		return "", errors.New(config.Describe(err, shownFaults))
	}
	return "Gone back. " + committed(result), nil
}

func (s *Session) commitCheck(oper.Call) (string, error) {
	if faults := s.options.Manager.Check(s.candidate); len(faults) > 0 {
		return "", fmt.Errorf("a commit would be refused (lines as in \"show candidate | number\"):\n%s", indented(config.Describe(errors.Join(faults...), shownFaults)))
	}
	return "A commit would be accepted by all checks.\n", nil
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// rollback loads an old revision into the candidate.
func (s *Session) rollback(c oper.Call) (string, error) {
	number, _ := strconv.Atoi(c.Args["revision"])
	return s.rollbackTo(number)
}

// rollbackLast loads the revision of so many commits ago.
func (s *Session) rollbackLast(c oper.Call) (string, error) {
	commits, _ := strconv.Atoi(c.Args["commits"])
	numbers, at, err := s.history()
	if err != nil {
		return "", err
	}
	if at += commits; at >= len(numbers) {
		return "", fmt.Errorf("there are %d revisions before the running one", len(numbers)-1-(at-commits))
	}
	return s.rollbackTo(numbers[at])
}

// history returns the numbers of the stored revisions, newest first, and which of them runs.
func (s *Session) history() (numbers []int, running int, err error) {
	all, err := s.options.Manager.Revisions()
	if err != nil {
		return nil, 0, err
	}
	for _, r := range all {
		numbers = append(numbers, r.Number)
	}
	_, r := s.options.Manager.Running()
	if running = slices.Index(numbers, r.Number); running < 0 {
		return nil, 0, errors.New("what runs is no stored revision; give the revision by its number")
	}
	return numbers, running, nil
}

func (s *Session) rollbackTo(number int) (string, error) {
	tree, err := s.options.Manager.Stored(number)
	if err != nil {
		return "", err
	}
	if faults := s.candidate.Replace(config.Print(tree, config.Clear)); len(faults) > 0 {
		return "", fmt.Errorf("load revision %d: %w", number, errors.Join(faults...))
	}
	s.enter()
	return fmt.Sprintf("The candidate is revision %d now; see \"show configuration changes\", then commit.\n", number), nil
}
