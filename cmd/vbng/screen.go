package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"vbng/cli/client"
	"vbng/cli/prompt"
	"vbng/cli/protocol"
	"vbng/control/config"
)

// screen joins the terminal and the session.
type screen struct {
	client *client.Client
	out    io.Writer
	pager  prompt.Pager
	lost   error // the connection broke
}

// Prompt implements prompt.Shell.
func (s *screen) Prompt() string { return s.client.Prompt() }

// Run implements prompt.Shell.
func (s *screen) Run(text string) (r prompt.Result) {
	margin := strings.Repeat(" ", utf8.RuneCountInString(s.client.Prompt()))
	a, err := s.client.Line(text, s.out)
	if err != nil {
		s.lost = err
		return prompt.Result{Done: true}
	}
	r.Done, r.Forget = a.Leave, a.Secret
	if err := s.show(a); err != nil {
		s.lost = err
		return prompt.Result{Done: true}
	}
	if a.Error != "" {
		if a.Column >= 0 {
			fmt.Fprintf(s.out, "%s%s\n", margin, config.Caret(text, a.Column))
		}
		fmt.Fprintf(s.out, "%% %s\n", a.Error)
	}
	return r
}

// show writes the output, in pages where it is longer than one.
func (s *screen) show(a protocol.Answer) error {
	if a.Page < 0 {
		_, err := io.WriteString(s.out, a.Output)
		return err
	}
	return s.pager.Show(a.Output, a.Page)
}

// Loading implements prompt.Shell.
func (s *screen) Loading() bool { return s.client.Loading() }

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
