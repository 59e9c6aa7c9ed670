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
		{"section", "Only lines that match and the lines indented below them", true},
	}
}

// Apply runs the text through the filter.
func (f Filter) Apply(text string) (string, error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		lines = nil
	}
	if f.Name == "count" {
		return fmt.Sprintf("%d lines\n", len(lines)), nil
	}
	re, err := regexp.Compile(f.Pattern)
	if err != nil {
		return "", fmt.Errorf("compile pattern %q: %w", f.Pattern, err)
	}
	switch f.Name {
	case "include":
		return keep(lines, re.MatchString), nil
	case "exclude":
		return keep(lines, func(l string) bool { return !re.MatchString(l) }), nil
	case "begin":
		begun := false
		return keep(lines, func(l string) bool { begun = begun || re.MatchString(l); return begun }), nil
	case "section":
		return keep(lines, section(re)), nil
	}
	return "", fmt.Errorf("unknown filter %q", f.Name)
}

func keep(lines []string, yes func(string) bool) string {
	var b strings.Builder
	for _, l := range lines {
		if yes(l) {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

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
