package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"vbng/cli/client"
	"vbng/cli/prompt"
	"vbng/control/config"
)

// screen joins the terminal and the session.
type screen struct {
	client *client.Client
	out    io.Writer
	lost   error // the connection broke
}

// Prompt implements prompt.Shell.
func (s *screen) Prompt() string { return s.client.Prompt() }

// Run implements prompt.Shell.
func (s *screen) Run(text string) (done bool) {
	margin := strings.Repeat(" ", utf8.RuneCountInString(s.client.Prompt()))
	a, err := s.client.Line(text, s.out)
	if err != nil {
		s.lost = err
		return true
	}
	fmt.Fprint(s.out, a.Output)
	if a.Error != "" {
		if a.Column >= 0 {
			fmt.Fprintf(s.out, "%s%s\n", margin, config.Caret(text, a.Column))
		}
		fmt.Fprintf(s.out, "%% %s\n", a.Error)
	}
	return a.Leave
}

// Cancel implements prompt.Shell. If it fails the connection is broken, and Run will say so.
func (s *screen) Cancel() { _ = s.client.Cancel() }

// Complete implements prompt.Shell.
func (s *screen) Complete(text string) (start int, choices []prompt.Choice) {
	a, err := s.client.Complete(text)
	if err != nil {
		return len(text), nil
	}
	for _, c := range a.Choices {
		choices = append(choices, prompt.Choice(c))
	}
	return a.Start, choices
}

// Help implements prompt.Shell.
func (s *screen) Help(text string) string {
	help, err := s.client.Help(text)
	if err != nil {
		return "% " + err.Error() + "\n"
	}
	return help
}
