package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"vbng/cli/client"
	"vbng/control/config"
)

// script runs lines without a terminal.
type script struct {
	client    *client.Client
	out, errs io.Writer
}

// lines runs lines in order and stops at the first that fails.
func (s script) lines(all []string) int {
	for _, block := range all {
		for _, text := range strings.Split(block, "\n") {
			if leave, ok := s.line(text); !ok {
				return failure
			} else if leave {
				return success
			}
		}
	}
	return s.finish()
}

// read runs the lines of a file.
func (s script) read(in io.Reader) int {
	scanner := bufio.NewScanner(in)
	for scanner.Scan() {
		if leave, ok := s.line(scanner.Text()); !ok {
			return failure
		} else if leave {
			return success
		}
	}
	if err := scanner.Err(); err != nil {
		fmt.Fprintf(s.errs, "vbng: read lines: %v\n", err)
		return failure
	}
	return s.finish()
}

func (s script) line(text string) (leave, ok bool) {
	a, err := s.client.Line(text, s.out)
	if err != nil {
		fmt.Fprintf(s.errs, "vbng: %v\n", err)
		return false, false
	}
	fmt.Fprint(s.out, a.Output)
	if a.Error == "" {
		return a.Leave, true
	}
	if a.Column >= 0 {
		fmt.Fprintf(s.errs, "%s\n%s\n", text, config.Caret(text, a.Column))
	}
	fmt.Fprintf(s.errs, "error: %s\n", a.Error)
	return false, false
}

// finish refuses to lose edits silently.
func (s script) finish() int {
	if s.client.Loading() {
		fmt.Fprintln(s.errs, `error: the text of "load" was not ended by "end", nothing is loaded`)
		return failure
	}
	if s.client.Dirty() {
		fmt.Fprintln(s.errs, `error: the edits were not committed and are lost; end with "commit"`)
		return failure
	}
	return success
}
