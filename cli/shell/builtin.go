package shell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

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
	comment := oper.Arg{Name: "comment", Help: "Say why, to the end of the line; kept with the revision", Keyword: true, Rest: true, Optional: true}
	return append(s.everywhere(),
		&oper.Command{Words: "commit", Help: "Make the edits the running configuration; without edits, confirm the one that waits", Run: says(s.commit), Args: []oper.Arg{
			{Name: "confirmed", Help: "Go back after so many minutes unless another commit confirms it", Keyword: true, Optional: true, Check: isMinutes},
			comment,
		}},
		&oper.Command{Words: "commit check", Help: "Run all checks, change nothing", Run: says(s.commitCheck)},
		&oper.Command{Words: "end", Help: "Leave configuration mode", Run: says(s.end)},
		&oper.Command{Words: "exit", Help: "Leave this mode", Run: says(s.exitMode)},
	)
}

// everywhere are the commands of both exec and configuration mode.
func (s *Session) everywhere() []*oper.Command {
	section := []oper.Arg{{Name: "section", Help: "The first words of a part of it", Optional: true, Rest: true, Complete: s.sections}}
	revision := oper.Arg{Name: "revision", Help: "Its number", Check: isNumber, Complete: s.revisionNumbers}
	from, to := revision, revision
	from.Name, from.Help, from.Optional = "from", "The older revision; otherwise the one before the running", true
	to.Name, to.Help, to.Optional = "to", "The newer revision; otherwise what runs", true
	return slices.Concat(s.loadCommands(), []*oper.Command{
		{Words: "abort", Help: "Throw the uncommitted edits away", Run: says(s.abort)},
		{Words: "commit confirm", Help: "Keep the configuration that waits for confirmation", Run: says(s.confirm)},
		{Words: "commit cancel", Help: "Go back now from the configuration that waits for confirmation", Run: says(s.cancel)},
		{Words: "help", Help: "How to use this shell", Run: says(help)},
		{Words: "rollback configuration", Help: "Make the candidate what an older revision was; commit makes it run", Run: says(s.rollback),
			Args: []oper.Arg{revision}},
		{Words: "rollback configuration last", Help: "The same, by how many commits to go back", Run: says(s.rollbackLast), Args: []oper.Arg{
			{Name: "commits", Help: "How many commits to go back", Check: isNumber}}},
		{Words: "show candidate", Help: "The configuration with the uncommitted edits", Args: section, Run: says(s.showCandidate)},
		{Words: "show configuration changes", Help: "The uncommitted edits", Run: says(s.showChanges)},
		{Words: "show configuration diff", Help: "What changed between two revisions", Run: says(s.showDiff), Args: []oper.Arg{from, to}},
		{Words: "show configuration failed", Help: "What was not used at start, and your last commit that failed", Run: says(s.showFailed)},
		{Words: "show configuration revision", Help: "The configuration of a revision", Run: says(s.showRevision), Args: append([]oper.Arg{revision}, section...)},
		{Words: "show configuration revisions", Help: "The commits that are kept", Run: s.showRevisions},
		{Words: "show running-config", Help: "The running configuration", Args: section, Run: says(s.showRunning)},
		{Words: "show startup-config", Help: "The configuration of the next start", Args: section, Run: says(s.showStartup)},
		{Words: techWords, Help: "Everything that can be shown, bounded, secrets hidden", Run: s.showTech},
		{Words: "terminal length", Help: "How many lines make a page of output", Run: says(s.terminalLength), Args: []oper.Arg{
			{Name: "lines", Help: "0: no pages; auto: the height of the terminal", Check: isLength, Complete: func() []string { return []string{"0", "auto"} }}}},
	})
}

func help(oper.Call) (string, error) {
	return `?       shows what may come next, at any place in a line
TAB     completes the word
Words may be abbreviated. A name that is also a keyword is put in quotes.
"configure" begins to edit; "show configuration changes" shows the edits, "commit" makes them run,
"abort" throws them away; "no" before a line removes what it says.
"commit confirmed 5" goes back by itself after five minutes unless "commit" confirms it.
"| include PATTERN", "| json" and others behind a command filter its output.
Ctrl-C stops a command, Ctrl-R finds an earlier line that holds what is typed.
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

func isNumber(word string) error {
	if n, err := strconv.Atoi(word); err != nil || n < 1 {
		return fmt.Errorf("expected a number from 1 on, found %q", word)
	}
	return nil
}

// autoLength is the word for a page of the terminal's height.
const autoLength = "auto"

// maxLength bounds the lines of a page.
const maxLength = 10_000

func isLength(word string) error {
	if n, err := strconv.Atoi(word); word != autoLength && (err != nil || n < 0 || n > maxLength) {
		return fmt.Errorf("expected a number from 0 to %d, or %s, found %q", maxLength, autoLength, word)
	}
	return nil
}

// terminalLength sets how many lines a page has for the rest of the session.
func (s *Session) terminalLength(c oper.Call) (string, error) {
	switch n, err := strconv.Atoi(c.Args["lines"]); {
	case err != nil:
		s.page = 0
	case n == 0:
		s.page = -1
	default:
		s.page = n
	}
	return "", nil
}
