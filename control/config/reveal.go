package config

import (
	"slices"

	"vbng/control/line"
	"vbng/control/schema"
)

// standIn takes the place of a hidden secret while its line is matched: a character that nobody types.
const standIn = "\uE000"

// revealed reads a line again that was refused and that has schema.Hidden in it: text that the router has shown
// comes back, and the secret that is known at the same place is meant. The fault stays when the line is wrong in
// another way.
func (p *parser) revealed(f frame, words []line.Word, fault error) (Line, error) {
	if p.known == nil || !slices.ContainsFunc(words, func(w line.Word) bool { return w.Text == schema.Hidden }) {
		return Line{}, fault
	}
	words = slices.Clone(words)
	for i := range words {
		if words[i].Text == schema.Hidden {
			words[i].Text = standIn
		}
	}
	l, _, err := p.grammar.Read(f.mode, f.path, words, false)
	if err != nil {
		return Line{}, fault
	}
	at := p.known.at(l.Change.Path)
	for i, s := range l.Change.Settings {
		if s.Value != standIn {
			continue
		}
		secret, set := at.value(s.Name)
		if leaf := schemaAt(p.known.node, l.Change.Path).Child(s.Name); !set || !leaf.Type.Secret() {
			return Line{}, fault
		}
		l.Change.Settings[i].Value = secret
	}
	return l, nil
}

// schemaAt walks down the schema.
func schemaAt(n *schema.Node, path Path) *schema.Node {
	for _, s := range path {
		n = n.Child(s.Name)
	}
	return n
}
