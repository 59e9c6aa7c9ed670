package config

import (
	"strings"

	"vbng/control/schema"
)

// refNames returns the keys of the list that a Ref names.
func refNames(t *Tree, ref string) []string {
	var names []string
	for _, e := range refEntries(t, strings.Split(ref, " / ")) {
		names = append(names, e.keys[0])
	}
	return names
}

// refEntries walks to a list by the names on the way; containers are passed through.
func refEntries(t *Tree, names []string) []*Tree {
	for _, name := range names[:len(names)-1] {
		t = t.Container(name)
	}
	return t.List(names[len(names)-1])
}

// keysOf returns the keys at one position of all entries of a list, wherever it stands.
func keysOf(t *Tree, list *schema.Node, key int) []string {
	var keys []string
	seen := map[string]bool{}
	walk(t, func(e *Tree) {
		if e.node == list && !seen[e.keys[key]] {
			seen[e.keys[key]] = true
			keys = append(keys, e.keys[key])
		}
	})
	return keys
}

// walk calls visit for the tree and every container and entry in it.
func walk(t *Tree, visit func(*Tree)) {
	if t == nil {
		return
	}
	visit(t)
	for _, n := range t.node.Children {
		switch n.Kind {
		case schema.Container:
			walk(t.Container(n.Name), visit)
		case schema.List:
			for _, e := range t.List(n.Name) {
				walk(e, visit)
			}
		}
	}
}
