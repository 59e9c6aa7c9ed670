package config

import (
	"fmt"
	"slices"
	"strings"

	"vbng/control/schema"
)

// Check returns the faults that only the whole tree shows: names that nothing defines and leaves that
// must be there. Each is an *Error with path and, when known, line.
func Check(t *Tree) []error {
	c := checker{root: t, known: map[string]map[string]bool{}}
	c.tree(t, nil)
	return c.faults
}

type checker struct {
	root   *Tree
	known  map[string]map[string]bool // names by Ref
	faults []error
}

func (c *checker) tree(t *Tree, path Path) {
	if t == nil {
		return
	}
	for i, k := range t.node.Keys {
		c.reference(k, t.keys[i], path.String(), t.line)
	}
	for _, n := range t.node.Children {
		switch n.Kind {
		case schema.Leaf:
			c.leaf(t, n, path)
		case schema.Container:
			c.tree(t.children[n.Name], path.Down(Step{Name: n.Name}))
		case schema.List:
			for _, e := range t.lists[n.Name] {
				c.tree(e, path.Down(Step{Name: n.Name, Keys: e.keys}))
			}
		}
	}
}

func (c *checker) leaf(t *Tree, n *schema.Node, path Path) {
	value, set := t.values[n.Name]
	if !set {
		if n.Required {
			c.fault(path.String(), t.line, fmt.Sprintf("%s must be set", n.Name))
		}
		return
	}
	for _, name := range words(n.Type, value) {
		c.reference(n, name, path.under(n.Name), t.lines[n.Name])
	}
}

func words(t schema.Type, value string) []string {
	if s, several := t.(schema.Several); several && s.Separate() {
		return strings.Fields(value)
	}
	return []string{value}
}

// reference checks that a name is defined. A list that the schema does not have (in the tests of one
// subsystem) defines nothing and forbids nothing.
func (c *checker) reference(n *schema.Node, name, path string, line int) {
	if n.Ref == "" || schema.Find(c.root.node, n.Ref) == nil {
		return
	}
	known, ok := c.known[n.Ref]
	if !ok {
		known = map[string]bool{}
		for _, k := range refNames(c.root, n.Ref) {
			known[k] = true
		}
		c.known[n.Ref] = known
	}
	if !known[name] {
		c.faults = append(c.faults, &Error{Path: path, Line: line, Word: name,
			Text: fmt.Sprintf("%s %q is not defined%s", n.Ref, name, defined(known))})
	}
}

// defined names what is there instead, when that fits in a line.
func defined(known map[string]bool) string {
	if len(known) == 0 || len(known) > 8 {
		return ""
	}
	var names []string
	for k := range known {
		names = append(names, k)
	}
	slices.Sort(names)
	return " (defined: " + strings.Join(names, ", ") + ")"
}

func (c *checker) fault(path string, line int, text string) {
	c.faults = append(c.faults, &Error{Path: path, Line: line, Text: text})
}
