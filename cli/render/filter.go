package render

import (
	"fmt"
	"regexp"
	"strings"
)

// Filter is one step behind a pipe.
type Filter struct {
	Name    string // one of the Filters
	Pattern string // regular expression, of those that take one
}

// FilterKind describes a filter for help.
type FilterKind struct {
	Name, Help string
	Pattern    bool
}

// Filters are the filters of text, in the order of help.
func Filters() []FilterKind {
	return []FilterKind{
		{"begin", "Begin with the first line that matches", true},
		{"count", "Count the lines", false},
		{"exclude", "Leave out lines that match", true},
		{"include", "Only lines that match", true},
		{"number", "Put its number before each line", false},
		{"section", "Only lines that match and the lines indented below them", true},
	}
}

// maxPatternBytes bounds a pattern. The expressions are RE2's: matching takes time linear in the text, whatever
// the pattern.
const maxPatternBytes = 1024

// Pipeline is filters one behind another. Text comes in pieces of whole lines.
type Pipeline struct{ stages []stage }

// stage looks at one line. It returns what goes on in its place, and whether anything does.
type stage interface {
	line(text string) (string, bool)
	// last is what stands behind the last line, empty: nothing.
	last() string
}

// NewPipeline compiles the filters.
func NewPipeline(filters []Filter) (*Pipeline, error) {
	p := &Pipeline{}
	for _, f := range filters {
		s, err := f.stage()
		if err != nil {
			return nil, err
		}
		p.stages = append(p.stages, s)
	}
	return p, nil
}

// Write runs a piece of text through the filters and returns what comes out at once.
func (p *Pipeline) Write(text string) string {
	if len(p.stages) == 0 || text == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		p.pass(0, strings.TrimSuffix(line, "\n"), &b)
	}
	return b.String()
}

// Close returns what the filters say at the end.
func (p *Pipeline) Close() string {
	var b strings.Builder
	for i, s := range p.stages {
		if text := s.last(); text != "" {
			p.pass(i+1, text, &b)
		}
	}
	return b.String()
}

func (p *Pipeline) pass(from int, line string, b *strings.Builder) {
	for _, s := range p.stages[from:] {
		var on bool
		if line, on = s.line(line); !on {
			return
		}
	}
	b.WriteString(line + "\n")
}

func (f Filter) stage() (stage, error) {
	switch f.Name {
	case "count":
		return &counter{}, nil
	case "number":
		return &numberer{}, nil
	}
	if len(f.Pattern) > maxPatternBytes {
		return nil, fmt.Errorf("the pattern has %d bytes, %d are permitted", len(f.Pattern), maxPatternBytes)
	}
	re, err := regexp.Compile(f.Pattern)
	if err != nil {
		return nil, fmt.Errorf("compile pattern %q: %w", f.Pattern, err)
	}
	switch f.Name {
	case "include":
		return sieve(re.MatchString), nil
	case "exclude":
		return sieve(func(l string) bool { return !re.MatchString(l) }), nil
	case "begin":
		begun := false
		return sieve(func(l string) bool { begun = begun || re.MatchString(l); return begun }), nil
	case "section":
		return sieve(section(re)), nil
	}
	return nil, fmt.Errorf("unknown filter %q", f.Name)
}

// sieve lets lines pass or not.
type sieve func(string) bool

func (s sieve) line(text string) (string, bool) { return text, s(text) }
func (sieve) last() string                      { return "" }

type counter struct{ lines int }

func (c *counter) line(string) (string, bool) { c.lines++; return "", false }
func (c *counter) last() string               { return fmt.Sprintf("%d lines", c.lines) }

type numberer struct{ lines int }

func (n *numberer) line(text string) (string, bool) {
	n.lines++
	return fmt.Sprintf("%4d  %s", n.lines, text), true
}
func (*numberer) last() string { return "" }

// section accepts a matching line and those that stand deeper right below it.
func section(re *regexp.Regexp) func(string) bool {
	depth := -1
	return func(l string) bool {
		d := len(l) - len(strings.TrimLeft(l, " "))
		if depth >= 0 && d > depth {
			return true
		}
		depth = -1
		if re.MatchString(l) {
			depth = d
		}
		return depth >= 0
	}
}
