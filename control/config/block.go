package config

import "vbng/control/schema"

// block is a tree as text: one line, and the blocks of the mode that the line opens. Printing and
// differences both work on blocks.
type block struct {
	id    string // the same in two trees for the same leaf or entry
	clear string // with secrets
	shown string // without
	mode  bool   // the line opens a mode
	below []block
}

// blocks returns what stands in a tree, in the order of the schema.
func blocks(t *Tree) []block { return appendBlocks(nil, t, "") }

// appendBlocks writes every line with the words of the mode-less containers that lead to it in front.
func appendBlocks(all []block, t *Tree, prefix string) []block {
	if t == nil {
		return all
	}
	for _, n := range t.node.Children {
		switch n.Kind {
		case schema.Leaf, schema.Flag:
			if value, set := t.values[n.Name]; set {
				all = append(all, leafBlock(n, prefix, value))
			}
		case schema.Container:
			c := t.children[n.Name]
			if n.Mode == "" {
				all = appendBlocks(all, c, prefix+n.Name+" ")
			} else if !c.Empty() {
				all = append(all, modeBlock(c, prefix+n.Name))
			}
		case schema.List:
			for _, e := range t.lists[n.Name] {
				all = append(all, entryBlock(e, prefix))
			}
		}
	}
	return all
}

func leafBlock(n *schema.Node, prefix, value string) block {
	clear, shown := leafLine(n, value)
	return block{id: prefix + n.Name, clear: prefix + clear, shown: prefix + shown}
}

func leafLine(n *schema.Node, value string) (clear, shown string) {
	if n.Kind == schema.Flag {
		return n.Name, n.Name
	}
	clear = n.Name + " " + split(n.Type, value)
	if n.Type.Secret() {
		return clear, n.Name + " " + schema.Hidden
	}
	return clear, clear
}

func modeBlock(t *Tree, line string) block {
	return block{id: line, clear: line, shown: line, mode: true, below: blocks(t)}
}

func entryBlock(e *Tree, prefix string) block {
	opening := prefix + Step{Name: e.node.Name, Keys: e.keys}.String()
	if !e.node.OneLine() {
		return modeBlock(e, opening)
	}
	b := block{id: opening, clear: opening, shown: opening}
	for _, n := range e.node.Children {
		if value, set := e.values[n.Name]; set {
			clear, shown := leafLine(n, value)
			b.clear += " " + clear
			b.shown += " " + shown
		}
	}
	return b
}
