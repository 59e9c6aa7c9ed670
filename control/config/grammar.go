package config

import (
	"strings"

	"vbng/control/line"
	"vbng/control/schema"
)

// Grammar turns a schema into what may stand in a line of configuration.
type Grammar struct {
	root *schema.Node
	// names returns the keys of the list with one key that Ref names, for completion; may be nil.
	names func(ref string) []string
	// entries returns the keys at one position of the entries of a list, for completion; may be nil.
	entries func(list *schema.Node, key int) []string
	lines   map[lineKey][]*line.Item
}

type lineKey struct {
	mode   *schema.Node
	remove bool
}

// NewGrammar returns the grammar of a schema, without completion of live names.
func NewGrammar(root *schema.Node) *Grammar {
	return &Grammar{root: root, lines: map[lineKey][]*line.Item{}}
}

// NewLiveGrammar returns a grammar that completes the names that stand in one of the trees at the time. A name may
// come twice.
func NewLiveGrammar(root *schema.Node, trees func() []*Tree) *Grammar {
	g := NewGrammar(root)
	g.names = func(ref string) (names []string) {
		for _, t := range trees() {
			names = append(names, refNames(t, ref)...)
		}
		return names
	}
	g.entries = func(list *schema.Node, key int) (names []string) {
		for _, t := range trees() {
			names = append(names, keysOf(t, list, key)...)
		}
		return names
	}
	return g
}

// Set returns what a line may begin with in the mode that the node opens.
func (g *Grammar) Set(mode *schema.Node) []*line.Item { return g.cached(mode, false) }

// Remove returns what may stand after "no" in that mode.
func (g *Grammar) Remove(mode *schema.Node) []*line.Item { return g.cached(mode, true) }

func (g *Grammar) cached(mode *schema.Node, remove bool) []*line.Item {
	key := lineKey{mode, remove}
	items, ok := g.lines[key]
	if !ok {
		items = g.children(mode, remove)
		g.lines[key] = items
	}
	return items
}

// children makes a tree of words of the names of all children.
func (g *Grammar) children(n *schema.Node, remove bool) []*line.Item {
	root := &branch{}
	for _, c := range n.Children {
		root.add(strings.Fields(c.Name), c)
	}
	return g.items(root, remove)
}

// branch is a place in the tree of words: "ip" with "address" and "pool" below it.
type branch struct {
	word  string
	node  *schema.Node // ends here, may be nil
	below []*branch
}

func (b *branch) add(words []string, n *schema.Node) {
	if len(words) == 0 {
		b.node = n
		return
	}
	for _, c := range b.below {
		if c.word == words[0] {
			c.add(words[1:], n)
			return
		}
	}
	c := &branch{word: words[0]}
	b.below = append(b.below, c)
	c.add(words[1:], n)
}

func (g *Grammar) items(b *branch, remove bool) []*line.Item {
	var items []*line.Item
	for _, c := range b.below {
		items = append(items, g.item(c, remove))
	}
	return items
}

// item makes the literal of a branch. What follows it is what its node wants and the longer names.
func (g *Grammar) item(b *branch, remove bool) *line.Item {
	i := &line.Item{Word: b.word, Help: b.help()}
	longer := g.items(b, remove)
	if b.node == nil {
		i.Next = fixed(longer)
		return i
	}
	i.Tag = b.node
	i.End, i.Next = g.after(b.node, remove)
	if own := i.Next; len(longer) > 0 {
		i.Next = func() []*line.Item { return append(append([]*line.Item{}, longer...), call(own)...) }
	}
	return i
}

func (b *branch) help() string {
	if b.node != nil {
		return b.node.Help
	}
	var words []string
	for _, c := range b.below {
		words = append(words, c.word)
	}
	return strings.Join(words, ", ") + " ..."
}

// after tells what follows the words of a node.
func (g *Grammar) after(n *schema.Node, remove bool) (end bool, next func() []*line.Item) {
	switch n.Kind {
	case schema.Flag:
		return true, nil
	case schema.Leaf:
		return remove, fixed(g.value(n, n, 0))
	case schema.List:
		return false, fixed(g.keys(n, 0, remove))
	}
	if n.Mode != "" {
		return true, nil
	}
	below := g.children(n, remove)
	return remove, fixed(below)
}

// keys makes the values of a list's keys from position k on.
func (g *Grammar) keys(n *schema.Node, k int, remove bool) []*line.Item {
	key := n.Keys[k]
	i := &line.Item{Type: key.Type, Help: key.Help, Eager: true, Tag: key}
	i.Complete, i.Tails = g.completeKey(n, k), g.tails(key.Type)
	switch {
	case k < len(n.Keys)-1:
		i.Next = fixed(g.keys(n, k+1, remove))
	case remove && n.OneLine():
		// The line as it is printed may be put behind "no", leaves and all.
		i.End, i.Next = true, func() []*line.Item { return g.settings(n, n.Children) }
	case n.OneLine() && len(n.Children) > 0:
		i.End, i.Next = !wanting(n.Children), func() []*line.Item { return g.settings(n, n.Children) }
	default:
		i.End = true
	}
	return []*line.Item{i}
}

// settings makes the leaves of a one-line list that the line has not named yet, in any order.
func (g *Grammar) settings(n *schema.Node, left []*schema.Node) []*line.Item {
	root := &branch{}
	for _, c := range left {
		root.add(strings.Fields(c.Name), c)
	}
	return g.settingItems(n, root, left)
}

func (g *Grammar) settingItems(n *schema.Node, b *branch, left []*schema.Node) []*line.Item {
	var items []*line.Item
	for _, c := range b.below {
		i := &line.Item{Word: c.word, Help: c.help()}
		items = append(items, i)
		if c.node == nil {
			i.Next = func() []*line.Item { return g.settingItems(n, c, left) }
			continue
		}
		i.Tag = c.node
		rest := without(left, c.node)
		if c.node.Kind == schema.Flag {
			i.End, i.Next = !wanting(rest), func() []*line.Item { return g.settings(n, rest) }
			continue
		}
		i.Next = func() []*line.Item { return g.settingValue(n, c.node, 0, rest) }
	}
	return items
}

// settingValue is the value of a leaf of a one-line list; after it come the leaves that are left.
func (g *Grammar) settingValue(list, leaf *schema.Node, had int, left []*schema.Node) []*line.Item {
	least, most, element := count(leaf.Type)
	i := g.valueItem(leaf, element)
	i.End = had+1 >= least && !wanting(left)
	i.Next = func() []*line.Item {
		var next []*line.Item
		if had+1 >= least {
			next = g.settings(list, left)
		}
		if most == 0 || had+1 < most {
			next = append(next, g.settingValue(list, leaf, had+1, left)...)
		}
		return next
	}
	return []*line.Item{i}
}

// value makes the words of a leaf's value, of which had were there.
func (g *Grammar) value(n, leaf *schema.Node, had int) []*line.Item {
	least, most, element := count(leaf.Type)
	i := g.valueItem(leaf, element)
	i.End = had+1 >= least
	if most == 0 || had+1 < most {
		i.Next = func() []*line.Item { return g.value(n, leaf, had+1) }
	}
	return []*line.Item{i}
}

func (g *Grammar) valueItem(leaf *schema.Node, element schema.Type) *line.Item {
	i := &line.Item{Type: element, Help: leaf.Help, Eager: true, Tag: leaf}
	if g.names != nil && leaf.Ref != "" {
		i.Complete = func() []string { return g.names(leaf.Ref) }
	}
	return i
}

func (g *Grammar) completeKey(n *schema.Node, k int) func() []string {
	if g.entries == nil {
		return nil
	}
	return func() []string {
		names := g.entries(n, k)
		if ref := n.Keys[k].Ref; ref != "" {
			names = append(names, g.names(ref)...)
		}
		return names
	}
}

// tails completes the name at the end of a value that has one.
func (g *Grammar) tails(t schema.Type) func(typed string) []string {
	tailed, ok := t.(schema.Tailed)
	if !ok || g.names == nil {
		return nil
	}
	return func(typed string) (words []string) {
		head, ref, ok := tailed.Tail(typed)
		if !ok || schema.Find(g.root, ref) == nil {
			return nil
		}
		for _, name := range g.names(ref) {
			words = append(words, head+name)
		}
		return words
	}
}

// count returns how many words a value has, and the type of each.
func count(t schema.Type) (least, most int, element schema.Type) {
	if s, ok := t.(schema.Several); ok {
		least, most = s.Count()
		return least, most, s.Element()
	}
	return 1, 1, t
}

// wanting reports whether one of the leaves must be there.
func wanting(leaves []*schema.Node) bool {
	for _, l := range leaves {
		if l.Required {
			return true
		}
	}
	return false
}

func without(nodes []*schema.Node, gone *schema.Node) []*schema.Node {
	var rest []*schema.Node
	for _, n := range nodes {
		if n != gone {
			rest = append(rest, n)
		}
	}
	return rest
}

func fixed(items []*line.Item) func() []*line.Item { return func() []*line.Item { return items } }

func call(next func() []*line.Item) []*line.Item {
	if next == nil {
		return nil
	}
	return next()
}
