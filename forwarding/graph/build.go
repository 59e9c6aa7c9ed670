package graph

import (
	"fmt"
	"slices"
)

// Graph is nodes in packet order, joined.
type Graph struct {
	nodes []*Node
	words []string
	count map[string]uint32 // words by name
}

// Build joins the nodes, which are given in packet order, with the drop node behind them. words are
// further counters by name.
func Build(specs []Spec, arcs []Arc, words []string) (*Graph, error) {
	if len(specs)+1 > maxNodes {
		return nil, fmt.Errorf("build graph: %d nodes, at most %d fit", len(specs), maxNodes-1)
	}
	g := &Graph{count: map[string]uint32{}}
	for _, w := range words {
		g.word(w)
	}
	for i := range specs {
		if err := g.add(&specs[i]); err != nil {
			return nil, fmt.Errorf("build graph: %w", err)
		}
	}
	if err := g.add(&Spec{Name: dropName, Process: drop}); err != nil {
		return nil, fmt.Errorf("build graph: %w", err)
	}
	for i := range specs {
		if err := g.join(i, specs, arcs); err != nil {
			return nil, fmt.Errorf("build graph: node %s: %w", specs[i].Name, err)
		}
	}
	return g, nil
}

// word makes a counter, or finds the one of that name.
func (g *Graph) word(name string) uint32 {
	if w, ok := g.count[name]; ok {
		return w
	}
	w := uint32(len(g.words))
	g.words, g.count[name] = append(g.words, name), w
	return w
}

// add makes a node with its counters: NAME/packets, NAME/vectors, and NAME/REASON for each reason.
func (g *Graph) add(s *Spec) error {
	if g.find(s.Name) != nil {
		return fmt.Errorf("two nodes are called %s", s.Name)
	}
	if len(s.Edges) > maxEdges {
		return fmt.Errorf("node %s has %d edges, at most %d fit", s.Name, len(s.Edges), maxEdges)
	}
	n := &Node{Name: s.Name, process: s.Process, index: uint8(len(g.nodes)), names: s.Reasons}
	n.packets = g.word(s.Name + "/packets")
	n.vectors = g.word(s.Name + "/vectors")
	n.reasons = uint32(len(g.words))
	for _, r := range s.Reasons {
		if _, taken := g.count[s.Name+"/"+r]; taken {
			return fmt.Errorf("node %s has two counters called %s", s.Name, r)
		}
		g.word(s.Name + "/" + r)
	}
	g.nodes = append(g.nodes, n)
	return nil
}

func (g *Graph) find(name string) *Node {
	for _, n := range g.nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// join resolves a node's edges.
func (g *Graph) join(i int, specs []Spec, arcs []Arc) error {
	for e, name := range specs[i].Edges {
		target, err := resolve(name, &specs[i], specs, arcs)
		if err != nil {
			return err
		}
		to := g.find(target)
		if to == nil {
			return fmt.Errorf("edge to %s, which is no node", target)
		}
		if int(to.index) <= i {
			return fmt.Errorf("edge to %s leads back", target)
		}
		g.nodes[i].edges[e] = to.index
	}
	return nil
}

// resolve turns an edge's name into a node's name.
func resolve(name string, from *Spec, specs []Spec, arcs []Arc) (string, error) {
	after := -1 // slot
	if name == Continue {
		arc := findArc(arcs, from.Arc)
		if arc == nil {
			return "", fmt.Errorf("arc %q does not exist", from.Arc)
		}
		if after = slices.Index(arc.Slots, from.Slot); after < 0 {
			return "", fmt.Errorf("arc %s has no slot %q", arc.Name, from.Slot)
		}
		name = arc.Name
	}
	arc := findArc(arcs, name)
	if arc == nil {
		return name, nil
	}
	for _, slot := range arc.Slots[after+1:] {
		for i := range specs {
			if specs[i].Arc == arc.Name && specs[i].Slot == slot {
				return specs[i].Name, nil
			}
		}
	}
	return arc.End, nil
}

func findArc(arcs []Arc, name string) *Arc {
	for i := range arcs {
		if arcs[i].Name == name {
			return &arcs[i]
		}
	}
	return nil
}

// Words returns the names of all counters; a name's place is its word in package counter.
func (g *Graph) Words() []string { return g.words }

// Word returns the word of a counter that was given to Build.
func (g *Graph) Word(name string) uint32 {
	w, ok := g.count[name]
	if !ok {
		panic("graph has no counter " + name) // a programming error that the first test shows
	}
	return w
}

// Node returns a node by name, nil if there is none.
func (g *Graph) Node(name string) *Node { return g.find(name) }
