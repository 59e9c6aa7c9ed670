// Package config holds configuration as values: trees typed by a schema, their text form, and the
// difference of two of them.
package config

import "vbng/control/schema"

// Tree is one container or list entry. A Tree that has been handed out is never changed: edits make
// a new one that shares what is the same.
type Tree struct {
	node     *schema.Node
	line     int               // where it was read from, 0: unknown
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
next:
	for _, e := range t.List(name) {
		for i, k := range keys {
			if i >= len(e.keys) || e.keys[i] != k {
				continue next
			}
		}
		return e
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
