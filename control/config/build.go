package config

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"vbng/control/schema"
)

// Builder makes a new tree from another by changes. Nodes that it has copied are its own until Tree
// is called: reading a large file copies no list twice.
type Builder struct {
	root  *Tree
	owner *owner
}

// owner marks the trees that one builder may change in place.
type owner struct{ _ byte }

// New returns an empty tree of a schema.
func New(root *schema.Node) *Tree { return &Tree{node: root} }

// Edit returns a builder that begins with t.
func (t *Tree) Edit() *Builder { return &Builder{root: t, owner: &owner{}} }

// With returns the tree after one change.
func (t *Tree) With(c Change) (*Tree, error) {
	b := t.Edit()
	if err := b.Apply(c); err != nil {
		return t, err
	}
	return b.Tree(), nil
}

// Tree returns what was built. The builder goes on with a copy.
func (b *Builder) Tree() *Tree {
	b.owner = &owner{}
	return b.root
}

// Apply makes one change. When it cannot be made, the error is an *Error and nothing has changed.
func (b *Builder) Apply(c Change) error {
	if c.Action == Delete {
		return b.remove(c)
	}
	t := b.down(c.Path, c.Line)
	if c.Action == Replace {
		t.values, t.lines = nil, nil
	}
	for _, s := range c.Settings {
		t.set(s, c.Line)
	}
	return nil
}

// down makes every step of the path its own and returns the last.
func (b *Builder) down(path Path, lineNumber int) *Tree {
	b.root = b.own(b.root)
	t := b.root
	for _, s := range path {
		t = b.step(t, s, lineNumber)
	}
	return t
}

// own returns t, or a copy of it that the builder may change.
func (b *Builder) own(t *Tree) *Tree {
	if t.owner == b.owner {
		return t
	}
	c := *t
	c.owner = b.owner
	c.values = maps.Clone(t.values)
	c.lines = maps.Clone(t.lines)
	c.children = maps.Clone(t.children)
	c.lists = maps.Clone(t.lists)
	for name, entries := range c.lists {
		c.lists[name] = slices.Clone(entries)
	}
	return &c
}

func (b *Builder) step(t *Tree, s Step, lineNumber int) *Tree {
	n := t.node.Child(s.Name)
	if n.Kind == schema.Container {
		return b.container(t, n, lineNumber)
	}
	at, found := t.search(n, s.Keys)
	if found {
		e := b.own(t.lists[n.Name][at])
		t.lists[n.Name][at] = e
		return e
	}
	e := &Tree{node: n, keys: s.Keys, line: lineNumber, owner: b.owner}
	if t.lists == nil {
		t.lists = map[string][]*Tree{}
	}
	t.lists[n.Name] = slices.Insert(t.lists[n.Name], at, e)
	return e
}

func (b *Builder) container(t *Tree, n *schema.Node, lineNumber int) *Tree {
	c := t.children[n.Name]
	if c == nil {
		c = &Tree{node: n, line: lineNumber, owner: b.owner}
	} else {
		c = b.own(c)
	}
	if t.children == nil {
		t.children = map[string]*Tree{}
	}
	t.children[n.Name] = c
	return c
}

func (t *Tree) set(s Setting, lineNumber int) {
	if t.values == nil {
		t.values = map[string]string{}
	}
	t.values[s.Name] = s.Value
	if lineNumber > 0 {
		if t.lines == nil {
			t.lines = map[string]int{}
		}
		t.lines[s.Name] = lineNumber
	} else {
		delete(t.lines, s.Name)
	}
}

// search finds the entry with these keys, or the place where it belongs.
func (t *Tree) search(n *schema.Node, keys []string) (at int, found bool) {
	entries := t.lists[n.Name]
	if n.Ordered {
		for i, e := range entries {
			if slices.Equal(e.keys, keys) {
				return i, true
			}
		}
		return len(entries), false
	}
	return sort.Find(len(entries), func(i int) int { return compareKeys(keys, entries[i].keys) })
}

// remove deletes what the change names and the containers that it leaves empty.
func (b *Builder) remove(c Change) error {
	t := b.root.at(c.Path)
	if t == nil {
		return &Error{Path: c.Path.String(), Line: c.Line, Text: "is not configured, nothing to remove"}
	}
	for _, s := range c.Settings {
		if err := t.removable(s); err != nil {
			return &Error{Path: c.Path.under(s.Name), Line: c.Line, Text: err.Error()}
		}
	}
	if len(c.Settings) == 0 {
		b.cut(c.Path)
		return nil
	}
	t = b.down(c.Path, 0)
	for _, s := range c.Settings {
		delete(t.values, s.Name)
		delete(t.lines, s.Name)
	}
	b.prune(c.Path)
	return nil
}

func (t *Tree) removable(s Setting) error {
	have, ok := t.values[s.Name]
	switch {
	case !ok:
		return fmt.Errorf("is not configured, nothing to remove")
	case s.Value != "" && s.Value != have && t.node.Child(s.Name).Type.Secret():
		return fmt.Errorf("the secret is another one")
	case s.Value != "" && s.Value != have:
		return fmt.Errorf("is %q, not %q", have, s.Value)
	}
	return nil
}

// cut takes the container or entry at the path away.
func (b *Builder) cut(path Path) {
	if len(path) == 0 {
		b.root = &Tree{node: b.root.node, owner: b.owner}
		return
	}
	up, last := path[:len(path)-1], path[len(path)-1]
	t := b.down(up, 0)
	n := t.node.Child(last.Name)
	if n.Kind == schema.Container {
		delete(t.children, last.Name)
	} else if at, found := t.search(n, last.Keys); found {
		if t.lists[n.Name] = slices.Delete(t.lists[n.Name], at, at+1); len(t.lists[n.Name]) == 0 {
			delete(t.lists, n.Name)
		}
	}
	b.prune(up)
}

// prune takes the container at the path away when nothing is left in it, and so on upwards. An empty
// list entry stays: its existence means something.
func (b *Builder) prune(path Path) {
	if len(path) == 0 {
		return
	}
	t := b.root.at(path)
	if t != nil && t.node.Kind == schema.Container && t.Empty() {
		b.cut(path)
	}
}

// at walks to a container or entry, nil when there is none.
func (t *Tree) at(path Path) *Tree {
	for _, s := range path {
		if t == nil {
			return nil
		}
		n := t.node.Child(s.Name)
		if n == nil {
			return nil
		}
		if n.Kind == schema.Container {
			t = t.children[s.Name]
			continue
		}
		i, found := t.search(n, s.Keys)
		if !found {
			return nil
		}
		t = t.lists[s.Name][i]
	}
	return t
}
