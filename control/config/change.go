package config

import (
	"slices"

	"vbng/control/line"
	"vbng/control/schema"
)

// Action is what a Change does.
type Action uint8

const (
	// Enter makes the list entry at Path if it is not there; containers appear with their first value.
	Enter Action = 1 + iota
	// Set gives the leaves and flags at Path their values.
	Set
	// Replace makes the one-line list entry at Path have exactly these leaves.
	Replace
	// Delete takes away the leaves and flags at Path, or, if none are given, the container or entry.
	Delete
)

// Change is one edit of a tree: what one line of configuration says. It is a value: a candidate keeps
// its changes and replays them on a newer running configuration.
type Change struct {
	Action   Action
	Path     Path
	Settings []Setting
	Line     int // where it was read from, 0: typed
}

// Setting is a leaf or flag with its canonical value. In a Delete an empty value matches any.
type Setting struct{ Name, Value string }

// Line is what a line of configuration means.
type Line struct {
	Change Change
	// Mode is the node of the mode that the line opens, nil when it opens none.
	Mode *schema.Node

	secret bool
}

// Secret reports whether the line gives a secret its value.
func (l Line) Secret() bool { return l.secret }

// Read matches a line in a mode at a place in the tree. The error is a *line.Error; named tells that
// the words before it did name a node of this mode, so the fault lies in its value.
func (g *Grammar) Read(mode *schema.Node, at Path, words []line.Word, remove bool) (l Line, named bool, err error) {
	items := g.Set(mode)
	if remove {
		items = g.Remove(mode)
	}
	tokens, err := line.Match(items, words)
	if err != nil {
		return Line{}, names(tokens), err
	}
	r := reader{at: at, remove: remove}
	for _, t := range tokens {
		r.token(t)
	}
	l, err = r.line(tokens)
	l.secret = slices.ContainsFunc(tokens, func(t line.Token) bool { return t.Item.Type != nil && t.Item.Type.Secret() })
	return l, true, err
}

// names reports whether the words name a node. A container without a mode is no more than the first
// words of its children, and other modes may have the same words.
func names(tokens []line.Token) bool {
	for _, t := range tokens {
		if n, ok := t.Item.Tag.(*schema.Node); ok && (n.Kind != schema.Container || n.Mode != "") {
			return true
		}
	}
	return false
}

// reader collects the tokens of one line into a Change.
type reader struct {
	at       Path
	remove   bool
	list     *schema.Node // whose keys are being read
	keys     []string
	last     *schema.Node // container or list named last
	leaf     *schema.Node
	words    []string
	settings []Setting
	err      error
}

func (r *reader) token(t line.Token) {
	n, _ := t.Item.Tag.(*schema.Node)
	switch {
	case n == nil:
	case t.Item.Word == "" && n == r.leaf:
		r.words = append(r.words, t.Text)
	case t.Item.Word == "":
		r.key(t.Text)
	default:
		r.node(n)
	}
}

func (r *reader) key(text string) {
	r.keys = append(r.keys, text)
	if len(r.keys) == len(r.list.Keys) {
		r.at = r.at.Down(Step{Name: r.list.Name, Keys: r.keys})
	}
}

func (r *reader) node(n *schema.Node) {
	r.finishLeaf()
	if c := r.last; c != nil && c.Kind == schema.Container && c.Child(n.Name) != n {
		r.at = r.at[:len(r.at)-1] // its word was the beginning of a longer name: "aaa" of "aaa group"
	}
	switch n.Kind {
	case schema.Container:
		r.at, r.last = r.at.Down(Step{Name: n.Name}), n
	case schema.List:
		r.list, r.keys, r.last = n, nil, n
	case schema.Flag:
		r.settings = append(r.settings, Setting{Name: n.Name})
	case schema.Leaf:
		r.leaf, r.words = n, nil
	}
}

// finishLeaf turns the leaf's words into a setting. A leaf without words was the beginning of a
// longer name ("dns" of "dns search"), or stands after "no".
func (r *reader) finishLeaf() {
	if r.leaf == nil || len(r.words) == 0 {
		r.leaf = nil
		return
	}
	value, err := join(r.leaf.Type, r.words)
	if err != nil && r.err == nil {
		r.err = err
	}
	r.settings = append(r.settings, Setting{Name: r.leaf.Name, Value: value})
	r.leaf = nil
}

func (r *reader) line(tokens []line.Token) (Line, error) {
	if r.remove && r.leaf != nil && len(r.words) == 0 {
		r.settings = append(r.settings, Setting{Name: r.leaf.Name})
		r.leaf = nil
	}
	r.finishLeaf()
	if r.err != nil {
		return Line{}, &line.Error{Column: tokens[len(tokens)-1].Column, Text: r.err.Error()}
	}
	l := Line{Change: Change{Path: r.at, Settings: r.settings}}
	switch {
	case r.remove:
		l.Change.Action = Delete
		if r.last != nil && r.last.OneLine() {
			l.Change.Settings = nil
		}
	case r.last != nil && r.last.OneLine():
		l.Change.Action = Replace
	case len(r.settings) > 0:
		l.Change.Action = Set
	default:
		l.Change.Action, l.Mode = Enter, r.last
	}
	return l, nil
}
