package model

import (
	"slices"
	"strings"

	"vbng/control/commit"
	"vbng/control/schema"
)

func configurationPage() (string, error) {
	root, err := commit.MergeSchema(Subsystems())
	if err != nil {
		return "", err
	}
	p := newPage("configuration", "Configuration reference",
		`Every line that the router understands, in the order in which it prints them. What stands in capitals or in
angle brackets is to be filled in; words may be abbreviated; a line begun with `+"`no`"+` removes what it says. A line that
opens a mode is followed by that mode's lines, indented or not, and ended by `+"`!`"+` or `+"`exit`"+`. A change acts at
commit; where it acts later, the last column says when.

`+"`vbng check FILE`"+` tells whether a file is good. [operator-guide.md](operator-guide.md) explains a whole one.`)
	p.printf("\n")
	for _, n := range root.Children {
		if heading := syntax(n); modeful(n) {
			p.printf("- [`%s`](%s)\n", heading, anchor(heading))
		}
	}
	p.heading("Single lines")
	p.leaves(slices.DeleteFunc(slices.Clone(root.Children), modeful))
	for _, n := range root.Children {
		if modeful(n) {
			p.mode(n)
		}
	}
	return p.text.String(), nil
}

func modeful(n *schema.Node) bool { return n.Mode != "" }

// mode describes a node that opens a mode, and then the modes within.
func (p *page) mode(n *schema.Node) {
	p.heading(syntax(n))
	p.printf("%s. Opens the mode `%s`.", sentence(n.Help), n.Mode)
	if n.Ordered {
		p.printf(" The order of the entries counts.")
	}
	if n.Effect != "" {
		p.printf(" A change acts: %s.", n.Effect)
	}
	if n.Removal != "" {
		p.printf(" When one is removed, %s.", n.Removal)
	}
	p.printf("\n\n")
	p.keys(n)
	p.leaves(slices.DeleteFunc(slices.Clone(n.Children), modeful))
	for _, c := range n.Children {
		if modeful(c) {
			p.mode(c)
		}
	}
}

// keys explains what names an entry.
func (p *page) keys(n *schema.Node) {
	for _, k := range n.Keys {
		p.printf("%s: %s.\n\n", code(placeholder(k)), k.Help+form(k))
	}
}

// leaves is the table of lines without a mode.
func (p *page) leaves(nodes []*schema.Node) {
	var rows [][]string
	for _, n := range nodes {
		rows = append(rows, lines(n, "")...)
	}
	p.table([]string{"Line", "Meaning", "Default", "Effect"}, rows)
}

// lines returns a row for a line and each part of it that has a meaning of its own.
func lines(n *schema.Node, before string) [][]string {
	if n.Kind == schema.Container {
		var rows [][]string
		for _, c := range n.Children {
			rows = append(rows, lines(c, before+n.Name+" ")...)
		}
		return rows
	}
	rows := [][]string{{code(before + syntax(n)), meaning(n), fallback(n), n.Effect}}
	for _, k := range n.Keys {
		rows = append(rows, []string{"&nbsp;&nbsp;" + code(placeholder(k)), sentence(k.Help) + form(k), "", ""})
	}
	if n.OneLine() {
		for _, c := range n.Children {
			rows = append(rows, []string{"&nbsp;&nbsp;" + code(syntax(c)), meaning(c), fallback(c), c.Effect})
		}
	}
	return rows
}

// form tells what a key's value looks like, where its placeholder does not.
func form(k *schema.Node) string {
	if hint := k.Type.Hint(); hint != placeholder(k) && hint != "NAME" {
		return " (" + code(hint) + ")"
	}
	return ""
}

func meaning(n *schema.Node) string {
	text := sentence(n.Help)
	switch {
	case n.Required:
		text += ". Must be set"
	case n.Kind == schema.List && n.Ordered:
		text += ". May be given several times; the order counts"
	case n.Kind == schema.List:
		text += ". May be given several times"
	}
	if n.Ref != "" {
		text += ". The name of " + article(n.Ref) + " " + code(n.Ref)
	}
	return text
}

func article(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an"
	}
	return "a"
}

func fallback(n *schema.Node) string {
	if n.Kind == schema.Leaf {
		return code(n.Default)
	}
	return ""
}

// syntax is a node's line: its words, and what is to be filled in.
func syntax(n *schema.Node) string {
	words := []string{n.Name}
	for _, k := range n.Keys {
		words = append(words, placeholder(k))
	}
	if n.Kind == schema.Leaf {
		words = append(words, n.Type.Hint())
	}
	if n.OneLine() {
		for _, c := range n.Children {
			words = append(words, "["+syntax(c)+"]")
		}
	}
	return strings.Join(words, " ")
}

// placeholder stands for a key: its own name says more than that of its type.
func placeholder(k *schema.Node) string { return strings.ToUpper(k.Name) }
