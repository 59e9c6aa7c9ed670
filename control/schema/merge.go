package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Merge joins the nodes of several subsystems into one root container. Nodes of the same name and
// kind at the same place become one: their children are joined in order of appearance, which is also
// the order of printing. The given nodes are not changed. The error names declarations that cannot
// be joined; Validate checks the result, which may be a part only (in a subsystem's tests).
func Merge(groups ...[]*Node) (*Node, error) {
	root := &Node{Kind: Container, Help: "the configuration"}
	var faults []error
	for _, group := range groups {
		for _, n := range group {
			faults = append(faults, add(root, n, "")...)
		}
	}
	return root, errors.Join(faults...)
}

// add puts a copy of n below parent, or joins it with the child of the same name.
func add(parent, n *Node, path string) []error {
	path = path + "/" + n.Name
	have := parent.Child(n.Name)
	if have == nil {
		fresh := *n
		fresh.Children = nil
		parent.Children = append(parent.Children, &fresh)
		have = &fresh
	} else if err := joinable(have, n); err != nil {
		return []error{fmt.Errorf("merge schema node %s: %w", path, err)}
	}
	have.Help = firstSet(have.Help, n.Help)
	have.Mode = firstSet(have.Mode, n.Mode)
	have.Effect = firstSet(have.Effect, n.Effect)
	have.Removal = firstSet(have.Removal, n.Removal)
	var faults []error
	for _, c := range n.Children {
		faults = append(faults, add(have, c, path)...)
	}
	return faults
}

// joinable tells why two declarations of one name cannot be one node.
func joinable(a, b *Node) error {
	if a.Kind != b.Kind {
		return errors.New("declared with two kinds")
	}
	if a.Kind == Leaf || a.Kind == Flag {
		return errors.New("leaf or flag declared twice")
	}
	if a.Mode != "" && b.Mode != "" && a.Mode != b.Mode {
		return fmt.Errorf("declared with two modes, %q and %q", a.Mode, b.Mode)
	}
	if a.Kind == List && !slices.EqualFunc(a.Keys, b.Keys, func(x, y *Node) bool { return x.Name == y.Name }) {
		return errors.New("declared with two sets of keys")
	}
	return nil
}

func firstSet(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Child returns the child of this name, nil when there is none.
func (n *Node) Child(name string) *Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Key returns the key of this name, nil when there is none.
func (n *Node) Key(name string) *Node {
	for _, k := range n.Keys {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// OneLine reports whether the node is a list whose entries are one line each.
func (n *Node) OneLine() bool { return n.Kind == List && n.Mode == "" }

// Find returns the list with one key that Ref names: the words of the names on the way from the root,
// parted by " / " where lists nest ("ip pool"). It returns nil when there is none.
func Find(root *Node, ref string) *Node {
	n := root
	for _, name := range strings.Split(ref, " / ") {
		if n = n.Child(name); n == nil {
			return nil
		}
	}
	if n.Kind != List || len(n.Keys) != 1 {
		return nil
	}
	return n
}
