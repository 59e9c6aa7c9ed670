package model

import (
	"fmt"
	"strings"

	"vbng/cli/render"
	"vbng/cli/shell"
	"vbng/control/oper"
)

func commandsPage() (string, error) {
	all, err := Commands()
	if err != nil {
		return "", err
	}
	exec, config := shell.Builtin()
	p := newPage("commands", "Command reference",
		`Every command of the shell `+"`vbng`"+`. Words may be abbreviated; what stands in brackets may be left out; arguments that begin
with a word come in any order. In configuration mode the `+"`show`"+` commands are there as well, and `+"`do COMMAND`"+` runs any other one.
At every place of a line `+"`?`"+` tells what may follow and TAB completes it.`)
	p.heading("Operation")
	p.commands(all)
	p.heading("The shell")
	p.commands(exec)
	p.heading("Configuration mode")
	p.printf("Besides the lines of [configuration.md](configuration.md), and `no` before one of them:\n\n")
	p.commands(withoutShared(config, exec))
	p.heading("Filters")
	p.printf("Behind a command, after `|`. They may be put one behind another; `json` stands first, and the filters behind it see its lines.\n\n")
	var rows [][]string
	for _, f := range render.Filters() {
		words := f.Name
		if f.Pattern {
			words += " PATTERN"
		}
		rows = append(rows, []string{code(words), sentence(f.Help)})
	}
	p.table([]string{"Filter", "Meaning"}, append(rows, []string{code("json"), "The typed values, for programs"},
		[]string{code("no-more"), "All at once on a terminal, not in pages"}))
	return p.text.String(), nil
}

// withoutShared leaves out the commands that the other mode has too, with the same meaning.
func withoutShared(some, others []*oper.Command) []*oper.Command {
	shared := map[string]bool{}
	for _, c := range others {
		shared[c.Words+c.Help] = true
	}
	var left []*oper.Command
	for _, c := range some {
		if !shared[c.Words+c.Help] {
			left = append(left, c)
		}
	}
	return left
}

func (p *page) commands(all []*oper.Command) {
	for _, c := range all {
		words := []string{c.Words}
		for _, a := range c.Arguments() {
			words = append(words, argument(a))
		}
		p.printf("- `%s`\n\n  %s.\n\n", strings.Join(words, " "), sentence(c.Help))
		for _, a := range c.Arguments() {
			p.printf("  - `%s`: %s%s\n", a.Name, a.Help, choices(a))
		}
		if len(c.Arguments()) > 0 {
			p.printf("\n")
		}
	}
}

func argument(a oper.Arg) string {
	value := strings.ToUpper(a.Name)
	if a.Rest {
		value += " ..."
	}
	switch {
	case a.Flag:
		value = a.Name
	case a.Keyword:
		value = a.Name + " " + value
	}
	if a.Optional || a.Flag {
		return "[" + value + "]"
	}
	return value
}

func choices(a oper.Arg) string {
	if len(a.Enum) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", strings.Join(a.Enum, ", "))
}
