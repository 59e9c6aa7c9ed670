package config

import (
	"slices"

	"vbng/control/schema"
)

// Effects tells which changes between two trees do not act at once: "pppoe profile residential / ip
// pool: new sessions only". What stands in a new or removed list entry is not named, but what goes with the entry.
func Effects(old, new *Tree) []string {
	var notes []string
	effects(old, new, new.Node(), nil, &notes)
	return notes
}

func effects(old, new *Tree, n *schema.Node, path Path, notes *[]string) {
	if n == nil || old == new {
		return
	}
	for _, c := range n.Children {
		switch c.Kind {
		case schema.Leaf, schema.Flag:
			was, before := old.value(c.Name)
			is, now := new.value(c.Name)
			if c.Effect != "" && (was != is || before != now) {
				*notes = append(*notes, path.under(c.Name)+": "+c.Effect)
			}
		case schema.Container:
			effects(old.Container(c.Name), new.Container(c.Name), c, path.Down(Step{Name: c.Name}), notes)
		case schema.List:
			listEffects(old, new, c, path, notes)
		}
	}
}

func listEffects(old, new *Tree, n *schema.Node, path Path, notes *[]string) {
	changed := !slices.EqualFunc(old.List(n.Name), new.List(n.Name), sameText)
	if n.Effect != "" && changed {
		*notes = append(*notes, path.under(n.Name)+": "+n.Effect)
	}
	for _, e := range old.List(n.Name) {
		if n.Removal != "" && new.Entry(n.Name, e.keys...) == nil {
			*notes = append(*notes, path.Down(Step{Name: n.Name, Keys: e.keys}).String()+": "+n.Removal)
		}
	}
	for _, e := range new.List(n.Name) {
		if was := old.Entry(n.Name, e.keys...); was != nil {
			effects(was, e, n, path.Down(Step{Name: n.Name, Keys: e.keys}), notes)
		}
	}
}

// sameText reports whether two entries of a list print alike.
func sameText(a, b *Tree) bool { return a == b || slices.Equal(a.keys, b.keys) && Equal(a, b) }

// Equal reports whether two trees, instances of one node, print alike. It is asked after every line that an
// operator types, so it passes over what the two share: for all but a few nodes that is all.
func Equal(a, b *Tree) bool {
	if a == b {
		return true
	}
	n := a.Node()
	if n == nil {
		n = b.Node()
	}
	return !slices.ContainsFunc(n.Children, func(c *schema.Node) bool { return !equalChild(a, b, c) })
}

func equalChild(a, b *Tree, n *schema.Node) bool {
	switch n.Kind {
	case schema.List:
		return slices.EqualFunc(a.List(n.Name), b.List(n.Name), sameText)
	case schema.Container:
		x, y := a.Container(n.Name), b.Container(n.Name)
		return (n.Mode == "" || x.Empty() == y.Empty()) && Equal(x, y) // an empty mode is not printed
	default:
		was, before := a.value(n.Name)
		is, now := b.value(n.Name)
		return was == is && before == now
	}
}

// value returns what the operator set, not the default.
func (t *Tree) value(name string) (text string, set bool) {
	if t == nil {
		return "", false
	}
	text, set = t.values[name]
	return text, set
}
