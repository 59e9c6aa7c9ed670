package config

import (
	"errors"
	"strings"

	"vbng/control/line"
)

// Explain points faults of a tree at lines of the text that Print makes of it with secrets hidden, which is what
// an operator sees. Faults that are no *Error, or that stand on nothing which is printed, stay as they are.
func Explain(t *Tree, faults []error) []error {
	if len(faults) == 0 {
		return nil
	}
	numbered, _ := Parse(t.node, Print(t, Clear))
	shown := strings.Split(Print(t, Hide), "\n") // line by line the same
	return explain(faults, func(e *Error) int { return Locate(numbered, e.Path) }, func(n int) string { return shown[n-1] })
}

// ExplainText points faults of a tree at lines of the text that it was parsed from.
func ExplainText(t *Tree, text string, faults []error) []error {
	place := func(e *Error) int {
		if e.Line > 0 {
			return e.Line
		}
		return Locate(t, e.Path)
	}
	if len(faults) == 0 {
		return nil
	}
	p := newParser(New(t.node), nil)
	p.seen = map[int]string{}
	p.read(text)
	return explain(faults, place, func(n int) string { return p.seen[n] })
}

func asError(f error) (e *Error, ok bool) { return e, errors.As(f, &e) }

// explain gives each fault its line, and its source unless it has one already.
func explain(faults []error, place func(*Error) int, source func(number int) string) []error {
	all := make([]error, len(faults))
	for i, f := range faults {
		all[i] = f
		e, ok := asError(f)
		if !ok {
			continue
		}
		n := place(e)
		if n == 0 {
			continue
		}
		with := *e
		with.Line = n
		if text := source(n); text != "" {
			with.Source = text
			with.Column = column(text, e.Path, e.Word)
			with.Context = context(n, indentation(text), source)
		}
		all[i] = &with
	}
	return all
}

// context returns the lines above line n that stand further left, each further than the one below it: the
// openings of the modes around it. Where the text has no such shape there are none.
func context(n, indent int, source func(int) string) []string {
	var outer []string
	for n--; n > 0 && indent > 0; n-- {
		if text := source(n); strings.TrimSpace(text) != "" && indentation(text) < indent {
			outer = append([]string{text}, outer...)
			indent = indentation(text)
		}
	}
	return outer
}

func indentation(text string) int { return len(text) - len(strings.TrimLeft(text, " \t")) }

// column finds the place of a fault in its line: the word that is wrong, else the value of the leaf at the end of
// the path, else the first word.
func column(source, path, word string) int {
	words, err := line.Split(source)
	if err != nil || len(words) == 0 {
		return indentation(source)
	}
	last := path[strings.LastIndex(path, " / ")+1:]
	name := strings.Fields(strings.TrimPrefix(last, "/ "))
	start := behind(words, name)
	if word != "" {
		for _, w := range words[start:] {
			if w.Text == word {
				return w.Column
			}
		}
	}
	if start > 0 && start < len(words) {
		return words[start].Column
	}
	return words[0].Column
}

// behind returns the position in a line behind a leaf's name, 0 when the name does not stand there.
func behind(words []line.Word, name []string) int {
	for at := 0; len(name) > 0 && at+len(name) <= len(words); at++ {
		same := true
		for i, n := range name {
			same = same && words[at+i].Text == n
		}
		if same {
			return at + len(name)
		}
	}
	return 0
}
