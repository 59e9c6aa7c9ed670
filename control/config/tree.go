package config

import "vbng/control/schema"

// Tree is one container or list entry. A Tree that has been handed out is never changed: edits make
// a new one that shares what is the same.
type Tree struct {
	node     *schema.Node
	owner    *owner            // the builder that may still change it
	line     int               // where it was read from, 0: unknown
	lines    map[string]int    // where leaves and flags were read from
	keys     []string          // of a list entry, canonical
	values   map[string]string // leaves (canonical text) and flags ("")
	children map[string]*Tree  // containers by name
	lists    map[string][]*Tree
}

// Lookup returns a leaf's or key's text, or its default; set tells whether there is one of the two.
func (t *Tree) Lookup(name string) (text string, set bool) {
	if t == nil {
		return "", false
	}
	for i, k := range t.node.Keys {
		if k.Name == name && i < len(t.keys) {
			return t.keys[i], true
		}
	}
	if text, ok := t.values[name]; ok {
		return text, true
	}
	for _, c := range t.node.Children {
		if c.Name == name && c.Default != "" {
			return c.Default, true
		}
	}
	return "", false
}

// Configured reports whether the leaf was set by the operator (defaults do not count).
func (t *Tree) Configured(name string) bool {
	if t == nil {
		return false
	}
	_, ok := t.values[name]
	return ok
}

// Container returns a child container, nil when absent.
func (t *Tree) Container(name string) *Tree {
	if t == nil {
		return nil
	}
	return t.children[name]
}

// List returns the entries of a list in their canonical order.
func (t *Tree) List(name string) []*Tree {
	if t == nil {
		return nil
	}
	return t.lists[name]
}

// Entry returns the list entry with these keys, nil when absent.
func (t *Tree) Entry(name string, keys ...string) *Tree {
	if t == nil {
		return nil
	}
	n := t.node.Child(name)
	if n == nil {
		return nil
	}
	if i, found := t.search(n, keys); found {
		return t.lists[name][i]
	}
	return nil
}

// Keys returns a list entry's keys.
func (t *Tree) Keys() []string {
	if t == nil {
		return nil
	}
	return t.keys
}

// Line returns the line of text that the entry was read from, 0 when unknown.
func (t *Tree) Line() int {
	if t == nil {
		return 0
	}
	return t.line
}

// LineOf returns the line of text that the leaf or flag was read from, 0 when unknown.
func (t *Tree) LineOf(name string) int {
	if t == nil {
		return 0
	}
	return t.lines[name]
}

// Empty reports whether nothing is configured in the tree.
func (t *Tree) Empty() bool {
	return t == nil || len(t.values) == 0 && len(t.children) == 0 && len(t.lists) == 0
}

// At walks to the container or list entry at a path, nil when there is none.
func (t *Tree) At(path Path) *Tree { return t.at(path) }

// Node returns the schema node that the tree is an instance of.
func (t *Tree) Node() *schema.Node {
	if t == nil {
		return nil
	}
	return t.node
}
