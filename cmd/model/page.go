package model

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Page is one page of the reference manual.
type Page struct {
	Name string // of the file in docs, without ".md"
	Help string
	make func() (string, error)
}

// Pages lists the pages of the reference manual.
func Pages() []Page {
	return []Page{
		{"configuration", "every line of the configuration", configurationPage},
		{"commands", "every command of the shell", commandsPage},
		{"counters", "every drop reason of the forwarder, every cause of a session's end", countersPage},
	}
}

// Text returns the page in Markdown.
func (p Page) Text() (string, error) {
	text, err := p.make()
	if err != nil {
		return "", fmt.Errorf("write page %s: %w", p.Name, err)
	}
	return text, nil
}

// page is Markdown that grows.
type page struct{ text strings.Builder }

// newPage begins a page; a reader is told not to edit it.
func newPage(name, title, introduction string) *page {
	p := &page{}
	p.printf("<!-- Written by `vbng reference %s`; edits are lost. -->\n\n# %s\n\n%s\n", name, title, introduction)
	return p
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.text, format, args...) }

func (p *page) heading(text string) { p.printf("\n## %s\n\n", text) }

// table writes a table; the cells are Markdown.
func (p *page) table(columns []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	p.row(columns)
	p.row(strings.Split(strings.Repeat("---|", len(columns)-1)+"---", "|"))
	for _, r := range rows {
		p.row(r)
	}
}

func (p *page) row(cells []string) {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	p.printf("| %s |\n", strings.Join(cells, " | "))
}

// code is text as it is typed. None is nothing.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// sentence begins a help text with a capital letter, outside of code.
func sentence(text string) string {
	text = strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(text)
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}

// anchor is the address of a heading within a page, as Markdown readers make it.
func anchor(heading string) string {
	keep := func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}
	return "#" + strings.Map(keep, heading)
}
