package config

import (
	"fmt"
	"strings"
)

// Error is a fault of the configuration at a place in it.
type Error struct {
	Path   string // "interface access0 / mtu"; empty: the top
	Line   int    // of the text it was read from; 0: typed or unknown
	Text   string // what is wrong
	Word   string // the word that is wrong, if one is; never a secret
	Column int    // byte offset in Source
	Source string // the line itself, secrets hidden; empty: unknown
	// Context is the lines that open the modes around Source, outermost first.
	Context []string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Message())
	}
	return e.Message()
}

// Message is the error without its line number.
func (e *Error) Message() string {
	if e.Path == "" {
		return e.Text
	}
	return e.Path + ": " + e.Text
}

// Detail is the error with its line of text below it and a caret under the place.
func (e *Error) Detail() string {
	if e.Source == "" {
		return e.Error()
	}
	var b strings.Builder
	b.WriteString(e.Error() + "\n")
	for _, outer := range e.Context {
		b.WriteString("  " + outer + "\n")
	}
	b.WriteString("  " + e.Source + "\n  " + Caret(e.Source, e.Column))
	return b.String()
}

// Describe is the text of an error for people: every *Error in it with its Detail, at most as many as the limit.
func Describe(err error, limit int) string {
	all := flat(err)
	var lines []string
	for i, one := range all {
		if i == limit {
			lines = append(lines, fmt.Sprintf("... and %d more", len(all)-limit))
			break
		}
		if in, ok := one.(*Error); ok {
			lines = append(lines, in.Detail())
		} else {
			lines = append(lines, one.Error())
		}
	}
	return strings.Join(lines, "\n")
}

// flat takes joined errors apart.
func flat(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flat(e)...)
	}
	return all
}

// Caret returns a line that has a caret below the given byte of source.
func Caret(source string, column int) string {
	var b strings.Builder
	for i, r := range source {
		if i >= column {
			break
		}
		if r == '\t' {
			b.WriteByte('\t')
			continue
		}
		b.WriteByte(' ')
	}
	return b.String() + "^"
}
