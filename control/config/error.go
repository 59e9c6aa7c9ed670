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
	Column int    // byte offset in Source
	Source string // the line itself, secrets hidden; empty: unknown
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
	return e.Error() + "\n  " + e.Source + "\n  " + Caret(e.Source, e.Column)
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
