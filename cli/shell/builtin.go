package shell

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"vbng/control/config"
	"vbng/control/oper"
)

// The commands that are about the session itself. They are operational commands like others, made
// anew for each session.

type run func(context.Context, oper.Call) (any, error)

// says makes a command's Run of what answers text.
func says(f func(oper.Call) (string, error)) run {
	return func(_ context.Context, c oper.Call) (any, error) { return f(c) }
}

// Builtin returns the commands of every session, in exec and in configuration mode, for the reference
// manual. They belong to no session and must not be run.
func Builtin() (exec, config []*oper.Command) {
	s := &Session{}
	return s.execCommands(), s.configCommands()
}

func (s *Session) execCommands() []*oper.Command {
	return append(s.everywhere(),
		&oper.Command{Words: "configure", Help: "Edit the configuration", Run: says(s.beginEdit), Args: []oper.Arg{
			{Name: "terminal", Help: "The same; from habit", Flag: true, Optional: true},
		}},
		&oper.Command{Words: "exit", Help: "Leave", Run: says(s.exit)},
		&oper.Command{Words: "quit", Help: "Leave", Run: says(s.exit)},
	)
}

func (s *Session) configCommands() []*oper.Command {
	return append(s.everywhere(),
		&oper.Command{Words: "commit", Help: "Make the edits the running configuration", Run: says(s.commit), Args: []oper.Arg{
			{Name: "check", Help: "Run all checks, change nothing", Flag: true, Optional: true},
			{Name: "comment", Help: "Say why; kept with the revision", Keyword: true, Rest: true, Optional: true},
		}},
		&oper.Command{Words: "end", Help: "Leave configuration mode", Run: says(s.end)},
		&oper.Command{Words: "exit", Help: "Leave this mode", Run: says(s.exitMode)},
		&oper.Command{Words: "rollback", Help: "Make the candidate what an older revision was; commit makes it run", Run: says(s.rollback), Args: []oper.Arg{
			{Name: "revision", Help: "Its number", Check: isNumber, Complete: s.revisionNumbers},
		}},
	)
}

// everywhere are the commands of both exec and configuration mode.
func (s *Session) everywhere() []*oper.Command {
	section := []oper.Arg{{Name: "section", Help: "The first words of a part of it", Optional: true, Rest: true, Complete: s.sections}}
	return []*oper.Command{
		{Words: "abort", Help: "Throw the uncommitted edits away", Run: says(s.abort)},
		{Words: "help", Help: "How to use this shell", Run: says(help)},
		{Words: "show running-config", Help: "The running configuration", Args: section, Run: says(s.showRunning)},
		{Words: "show startup-config", Help: "The configuration of the next start", Args: section, Run: says(s.showStartup)},
		{Words: "show configuration candidate", Help: "The configuration with the uncommitted edits", Args: section, Run: says(s.showCandidate)},
		{Words: "show configuration changes", Help: "The uncommitted edits", Run: says(s.showChanges)},
		{Words: "show configuration failed", Help: "Lines that were not used at start", Run: says(s.showFailed)},
		{Words: "show configuration revisions", Help: "The commits that are kept, or the configuration of one", Run: s.showRevisions, Args: []oper.Arg{
			{Name: "revision", Help: "Its number", Optional: true, Check: isNumber, Complete: s.revisionNumbers},
		}},
	}
}

func help(oper.Call) (string, error) {
	return `?       shows what may come next, at any place in a line
TAB     completes the word
Words may be abbreviated. A name that is also a keyword is put in quotes.
"configure" begins to edit; "show configuration changes" shows the edits, "commit" makes them run,
"abort" throws them away; "no" before a line removes what it says.
"| include PATTERN", "| json" and others behind a command filter its output.
`, nil
}

func (s *Session) beginEdit(oper.Call) (string, error) {
	s.candidate.Refresh()
	s.enter()
	if s.Dirty() {
		return "The candidate has uncommitted edits, see \"show configuration changes\".\n", nil
	}
	return "", nil
}

// exit leaves the shell, and refuses to lose edits silently.
func (s *Session) exit(oper.Call) (string, error) {
	if s.Dirty() {
		return "", errors.New("there are uncommitted edits: \"configure\" and \"commit\" them, or \"abort\" them")
	}
	s.reply.Leave = true
	return "", nil
}

func (s *Session) exitMode(c oper.Call) (string, error) {
	if len(s.modes) == 1 {
		return s.end(c)
	}
	s.up()
	return "", nil
}

func (s *Session) end(oper.Call) (string, error) {
	s.modes = nil
	if s.Dirty() {
		return "The edits are not committed; \"configure\" goes back to them, \"abort\" throws them away.\n", nil
	}
	return "", nil
}

func (s *Session) abort(oper.Call) (string, error) {
	s.modes = nil
	if !s.Dirty() {
		s.candidate.Reset()
		return "There were no edits.\n", nil
	}
	s.candidate.Reset()
	return "The edits are thrown away.\n", nil
}

func (s *Session) commit(c oper.Call) (string, error) {
	if c.Has("check") {
		return s.commitCheck()
	}
	result, err := s.options.Manager.Commit(s.candidate, s.user, c.Args["comment"])
	if err != nil {
		return "", fmt.Errorf("not committed:\n%s", indented(err.Error()))
	}
	if result.Unchanged {
		return "There are no edits to commit.\n", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Committed as revision %d.\n", result.Revision)
	for _, e := range result.Effects {
		fmt.Fprintf(&b, "Note: %s.\n", e)
	}
	return b.String(), nil
}

func (s *Session) commitCheck() (string, error) {
	if faults := s.options.Manager.Check(s.candidate); len(faults) > 0 {
		return "", fmt.Errorf("a commit would be refused:\n%s", indented(errors.Join(faults...).Error()))
	}
	return "A commit would be accepted by all checks.\n", nil
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

func isNumber(word string) error {
	if n, err := strconv.Atoi(word); err != nil || n < 1 {
		return fmt.Errorf("expected a revision's number, found %q", word)
	}
	return nil
}

// rollback loads an old revision into the candidate.
func (s *Session) rollback(c oper.Call) (string, error) {
	number, _ := strconv.Atoi(c.Args["revision"])
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
