package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vbng/control/commit"
	"vbng/control/config"
	"vbng/control/schema"
)

// TestEveryLineSurvivesPrinting writes a configuration that sets every leaf and flag of the schema to
// something else than its default, and takes it through the parser and the printer twice.
func TestEveryLineSurvivesPrinting(t *testing.T) {
	root, err := commit.MergeSchema(Subsystems())
	if err != nil {
		t.Fatal(err)
	}
	w := writer{t: t}
	w.children(root, 0)
	tree := parse(t, root, w.text.String())
	for _, fault := range config.Check(tree) {
		t.Errorf("whole-tree check: %v", fault)
	}
	covered(t, root, tree, "")
	once := config.Print(tree, config.Clear)
	twice := config.Print(parse(t, root, once), config.Clear)
	if once != twice {
		t.Errorf("printed:\n%s\nparsed and printed again:\n%s", once, twice)
	}
	if again := config.Print(parse(t, root, w.text.String()+once), config.Clear); again != once {
		t.Errorf("the same lines twice are another configuration:\n%s", again)
	}
	if shown := config.Print(tree, config.Hide); strings.Contains(shown, secret) || !strings.Contains(shown, schema.Hidden) {
		t.Errorf("a secret is shown:\n%s", shown)
	}
}

func parse(t *testing.T, root *schema.Node, text string) *config.Tree {
	t.Helper()
	tree, faults := config.Parse(root, text)
	for _, fault := range faults {
		t.Fatalf("parse: %v in\n%s", fault, text)
	}
	return tree
}

// covered fails for each leaf and flag that the tree does not set.
func covered(t *testing.T, n *schema.Node, tree *config.Tree, path string) {
	for _, c := range n.Children {
		at := path + " / " + c.Name
		switch c.Kind {
		case schema.Leaf, schema.Flag:
			if !tree.Configured(c.Name) {
				t.Errorf("%s is not covered", at)
			}
		case schema.Container:
			covered(t, c, tree.Container(c.Name), at)
		case schema.List:
			if len(tree.List(c.Name)) == 0 {
				t.Errorf("%s has no entry", at)
				continue
			}
			covered(t, c, tree.List(c.Name)[0], at)
		}
	}
}

const (
	name   = "x1" // of everything that has one, so that every reference finds its target
	secret = "s3cret"
)

// words are tried in order for the value of a leaf; between them every type of the schema finds one.
func words() []string {
	return []string{
		name, secret, "7", "77", "600", "1400", "3000", "192.0.2.7", "192.0.2.8", "192.0.2.7/24", "192.0.2.0/24",
		"02:00:00:00:00:07", "0x88a8", "2001:db8::7", "2001:db8:0:7::/64", "65000:7",
	}
}

type writer struct {
	t    *testing.T
	text strings.Builder
}

func (w *writer) line(depth int, words ...string) {
	fmt.Fprintf(&w.text, "%s%s\n", strings.Repeat(" ", depth), strings.Join(words, " "))
}

func (w *writer) children(n *schema.Node, depth int) {
	for _, c := range n.Children {
		w.node(c, depth)
	}
}

func (w *writer) node(n *schema.Node, depth int) {
	line := append([]string{n.Name}, w.values(n.Keys)...)
	switch {
	case n.Kind == schema.Flag:
		w.line(depth, line...)
	case n.Kind == schema.Leaf:
		w.line(depth, append(line, w.value(n))...)
	case n.OneLine():
		for _, c := range n.Children {
			line = append(line, c.Name)
			if c.Kind == schema.Leaf {
				line = append(line, w.value(c))
			}
		}
		w.line(depth, line...)
	case n.Mode != "":
		w.line(depth, line...)
		w.children(n, depth+1)
		w.line(depth, "!")
	default: // a container of words that stand before each line
		for _, c := range n.Children {
			inner := *c
			inner.Name = n.Name + " " + c.Name
			w.node(&inner, depth)
		}
	}
}

func (w *writer) values(keys []*schema.Node) []string {
	var values []string
	for _, k := range keys {
		values = append(values, w.value(k))
	}
	return values
}

// value returns a value of a leaf that is not its default.
func (w *writer) value(n *schema.Node) string {
	if n.Type.Secret() {
		return secret
	}
	for _, word := range slices.Concat(n.Type.Words(), words()) {
		if canonical, err := n.Type.Parse(word); err == nil && canonical != n.Default {
			return word
		}
	}
	w.t.Fatalf("no value is known for %s (%s): add one to words", n.Name, n.Type.Hint())
	return ""
}
