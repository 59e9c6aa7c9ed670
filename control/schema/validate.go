package schema

import (
	"fmt"
	"strings"
)

// Validate returns every fault of a schema: they are programming errors, reported at start.
func Validate(root *Node) []error {
	v := validator{root: root}
	v.children(root, "")
	return v.faults
}

type validator struct {
	root   *Node
	faults []error
}

func (v *validator) fault(path, format string, args ...any) {
	v.faults = append(v.faults, fmt.Errorf("schema node %s: %s", path, fmt.Sprintf(format, args...)))
}

func (v *validator) children(n *Node, path string) {
	seen := map[string]bool{}
	for _, c := range n.Children {
		at := path + "/" + c.Name
		if seen[c.Name] || n.Key(c.Name) != nil {
			v.fault(at, "the name is declared twice")
		}
		seen[c.Name] = true
		v.node(c, at)
	}
	v.shadowed(n, path)
}

// shadowed finds a leaf "a" beside a node "a b" whose value could be the word "b": the line would
// have two readings.
func (v *validator) shadowed(n *Node, path string) {
	for _, leaf := range n.Children {
		if leaf.Kind != Leaf || leaf.Type == nil {
			continue
		}
		for _, c := range n.Children {
			rest, longer := strings.CutPrefix(c.Name, leaf.Name+" ")
			if !longer {
				continue
			}
			word, _, _ := strings.Cut(rest, " ")
			if _, err := leaf.Type.Parse(word); err == nil {
				v.fault(path+"/"+leaf.Name, "its value may be %q, which begins %q", word, c.Name)
			}
		}
	}
}

func (v *validator) node(n *Node, at string) {
	if n.Name == "" || n.Name != strings.Join(strings.Fields(n.Name), " ") {
		v.fault(at, "the name must be words with one blank between them")
	}
	if n.Help == "" {
		v.fault(at, "needs help")
	}
	if n.Ref != "" && Find(v.root, n.Ref) == nil {
		v.fault(at, "refers to %q, which is no list with one key", n.Ref)
	}
	switch n.Kind {
	case Leaf:
		v.leaf(n, at)
	case Flag:
		if n.Type != nil || n.Default != "" || len(n.Children) > 0 {
			v.fault(at, "a flag has no type, default or children")
		}
	case List:
		v.list(n, at)
	case Container:
		if len(n.Children) == 0 {
			v.fault(at, "a container needs children")
		}
		v.children(n, at)
	default:
		v.fault(at, "unknown kind %d", n.Kind)
	}
}

func (v *validator) leaf(n *Node, at string) {
	if n.Type == nil {
		v.fault(at, "a leaf needs a type")
		return
	}
	if len(n.Children) > 0 || n.Mode != "" {
		v.fault(at, "a leaf has no children and no mode")
	}
	if n.Default == "" {
		return
	}
	canonical, err := n.Type.Parse(n.Default)
	if err != nil {
		v.fault(at, "default: %v", err)
	} else if canonical != n.Default {
		v.fault(at, "default %q is not canonical, %q is", n.Default, canonical)
	}
}

func (v *validator) list(n *Node, at string) {
	if len(n.Keys) == 0 {
		v.fault(at, "a list needs keys")
	}
	for _, k := range n.Keys {
		if k.Type == nil || k.Help == "" {
			v.fault(at, "key %q needs a type and help", k.Name)
		}
		if k.Ref != "" && Find(v.root, k.Ref) == nil {
			v.fault(at, "key %q refers to %q, which is no list with one key", k.Name, k.Ref)
		}
		if _, several := k.Type.(Several); several {
			v.fault(at, "key %q must be one word", k.Name)
		}
	}
	if n.OneLine() {
		v.oneLine(n, at)
	}
	v.children(n, at)
}

// oneLine checks that a line of leaves can be told apart: nothing nested, and a leaf that runs to the
// end of the line stands last.
func (v *validator) oneLine(n *Node, at string) {
	for i, c := range n.Children {
		if c.Kind != Leaf && c.Kind != Flag {
			v.fault(at+"/"+c.Name, "a list without a mode has leaves and flags only")
			continue
		}
		if s, ok := c.Type.(Several); ok && i < len(n.Children)-1 {
			if _, most := s.Count(); most == 0 {
				v.fault(at+"/"+c.Name, "a value to the end of the line must be the last leaf")
			}
		}
	}
}
