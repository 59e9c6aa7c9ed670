package config

import (
	"strings"

	"vbng/control/schema"
)

// Locate returns the line that the path of an Error was read from, or the line of the nearest thing
// around it; 0 when nothing of it was read from text. It is slow: for faults only.
func Locate(t *Tree, path string) int {
	best, bestLen := 0, -1
	consider := func(at string, line int) {
		if line > 0 && len(at) > bestLen && (at == path || strings.HasPrefix(path, at+" / ")) {
			best, bestLen = line, len(at)
		}
	}
	locate(t, nil, consider)
	return best
}

func locate(t *Tree, path Path, consider func(at string, line int)) {
	if t == nil {
		return
	}
	consider(path.String(), t.line)
	for _, n := range t.node.Children {
		switch n.Kind {
		case schema.Leaf, schema.Flag:
			consider(path.under(n.Name), t.lines[n.Name])
		case schema.Container:
			locate(t.children[n.Name], path.Down(Step{Name: n.Name}), consider)
		case schema.List:
			for _, e := range t.lists[n.Name] {
				locate(e, path.Down(Step{Name: n.Name, Keys: e.keys}), consider)
			}
		}
	}
}
