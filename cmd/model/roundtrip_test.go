package model

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"vbng/cli/check"
	"vbng/control/commit"
	"vbng/control/config"
	"vbng/control/schema"
)

// TestEveryLineSurvivesPrinting writes configurations that set every leaf and flag of the schema, and every word of those that
// have a choice, and takes them through the parser and the printer twice.
func TestEveryLineSurvivesPrinting(t *testing.T) {
	root := wholeSchema(t)
	used := coverage{}
	for pass := 0; pass == 0 || used.left(); pass++ {
		if pass > 50 {
			t.Fatal("some words never came up")
		}
		w := writer{t: t, pass: pass, used: used}
		w.children(root, 0, "")
		tree := parse(t, root, w.text.String())
		for _, fault := range config.Check(tree) {
			t.Errorf("whole-tree check: %v", fault)
		}
		if lacks := uncovered(root, tree); len(lacks) > 0 {
			t.Errorf("not covered:\n%s", strings.Join(lacks, "\n"))
		}
		survives(t, root, w.text.String())
	}
}

// survives takes a text through the parser and the printer twice.
func survives(t *testing.T, root *schema.Node, text string) {
	t.Helper()
	tree := parse(t, root, text)
	once := config.Print(tree, config.Clear)
	twice := config.Print(parse(t, root, once), config.Clear)
	if once != twice {
		t.Errorf("printed:\n%s\nparsed and printed again:\n%s", once, twice)
	}
	if again := config.Print(parse(t, root, text+once), config.Clear); again != once {
		t.Errorf("the same lines twice are another configuration:\n%s", again)
	}
	if shown := config.Print(tree, config.Hide); strings.Contains(shown, secret) || !strings.Contains(shown, schema.Hidden) {
		t.Errorf("a secret is shown:\n%s", shown)
	}
}

// TestEveryLineIsAccepted holds a configuration of a whole router to all checks of a commit: between its entries it sets every
// leaf and flag of the schema.
func TestEveryLineIsAccepted(t *testing.T) {
	root := wholeSchema(t)
	text, err := os.ReadFile("testdata/every.conf")
	if err != nil {
		t.Fatal(err)
	}
	all, err := check.Of(Subsystems())
	if err != nil {
		t.Fatal(err)
	}
	var faults strings.Builder
	if check.Report(&faults, "testdata/every.conf", check.Text(all, string(text))) > 0 {
		t.Fatalf("refused:\n%s", faults.String())
	}
	survives(t, root, string(text))
	if lacks := uncovered(root, parse(t, root, string(text))); len(lacks) > 0 {
		t.Errorf("testdata/every.conf does not set:\n%s", strings.Join(lacks, "\n"))
	}
}

// TestUncoveredLeafIsFound adds a leaf in every place that can have one: each must be missed by a configuration that is older.
func TestUncoveredLeafIsFound(t *testing.T) {
	root := wholeSchema(t)
	text, err := os.ReadFile("testdata/every.conf")
	if err != nil {
		t.Fatal(err)
	}
	places := 0
	var grow func(n *schema.Node, path string)
	grow = func(n *schema.Node, path string) {
		if n.Kind == schema.Container || n.Kind == schema.List {
			places++
			n.Children = append(n.Children, &schema.Node{Name: "newest", Kind: schema.Leaf, Help: "New", Type: schema.Uint(1, 2, "")})
			if lacks := uncovered(root, parse(t, root, string(text))); !slices.Equal(lacks, []string{path + " / newest"}) {
				t.Errorf("a leaf under %q is new, found missing: %q", path, lacks)
			}
			n.Children = n.Children[:len(n.Children)-1]
		}
		for _, c := range n.Children {
			grow(c, path+" / "+c.Name)
		}
	}
	grow(root, "")
	if places < 20 {
		t.Errorf("only %d places", places)
	}
}

func wholeSchema(t *testing.T) *schema.Node {
	t.Helper()
	root, err := commit.MergeSchema(Subsystems())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func parse(t *testing.T, root *schema.Node, text string) *config.Tree {
	t.Helper()
	tree, faults := config.Parse(root, text)
	for _, fault := range faults {
		t.Fatalf("parse: %v in\n%s", fault, text)
	}
	return tree
}

// uncovered lists the leaves and flags that no entry of the tree sets.
func uncovered(root *schema.Node, tree *config.Tree) (paths []string) {
	return uncoveredIn(root, []*config.Tree{tree}, "")
}

// uncoveredIn looks at all instances of a node at once.
func uncoveredIn(n *schema.Node, trees []*config.Tree, path string) (paths []string) {
	for _, c := range n.Children {
		at := path + " / " + c.Name
		var below []*config.Tree
		set := false
		for _, tree := range trees {
			switch c.Kind {
			case schema.Leaf, schema.Flag:
				set = set || tree.Configured(c.Name)
			case schema.Container:
				below = append(below, tree.Container(c.Name))
			case schema.List:
				below = append(below, tree.List(c.Name)...)
			}
		}
		switch {
		case c.Kind == schema.Leaf || c.Kind == schema.Flag:
			if !set {
				paths = append(paths, at)
			}
		case len(below) == 0:
			paths = append(paths, at+" has no entry")
		default:
			paths = append(paths, uncoveredIn(c, below, at)...)
		}
	}
	return paths
}

const (
	name   = "x1" // of everything that has one, so that every reference finds its target
	secret = "s3cret"
)

// words are tried for the value of a leaf; between them every type of the schema finds one.
func words() []string {
	return []string{
		name, "x2", "7", "77", "600", "1400", "3000", "192.0.2.7", "192.0.2.8", "192.0.2.7/24", "192.0.2.0/24", "203.0.113.0/24",
		"02:00:00:00:00:07", "02:00:00:00:00:08", "0x88a8", "2001:db8::7", "2001:db8::8", "2001:db8:0:7::/64", "2001:db8:0:8::/64", "65000:7",
	}
}

// coverage is which words of a choice have been written, by the path of the leaf.
type coverage map[string]map[string]bool

// left reports whether a word has not been written yet.
func (c coverage) left() bool {
	for _, words := range c {
		for _, written := range words {
			if !written {
				return true
			}
		}
	}
	return false
}

func (c coverage) note(path string, n *schema.Node, word string) {
	if c[path] == nil {
		c[path] = map[string]bool{}
		for _, w := range n.Type.Words() {
			c[path][w] = false
		}
	}
	if _, choice := c[path][word]; choice {
		c[path][word] = true
	}
}

// writer writes a configuration; each pass has other values.
type writer struct {
	t    *testing.T
	pass int
	used coverage
	text strings.Builder
}

func (w *writer) line(depth int, words ...string) {
	fmt.Fprintf(&w.text, "%s%s\n", strings.Repeat(" ", depth), strings.Join(words, " "))
}

func (w *writer) children(n *schema.Node, depth int, path string) {
	for _, c := range n.Children {
		w.node(c, depth, path+" / "+c.Name)
	}
}

// node writes a node, of a list two entries where two keys can be found.
func (w *writer) node(n *schema.Node, depth int, path string) {
	if n.Kind != schema.List {
		w.entry(n, depth, path, 0)
		return
	}
	w.entry(n, depth, path, 0)
	if !slices.Equal(w.keys(n, path, 0), w.keys(n, path, 1)) {
		w.entry(n, depth, path, 1)
	}
}

func (w *writer) keys(n *schema.Node, path string, entry int) []string {
	var values []string
	for _, k := range n.Keys {
		values = append(values, w.value(k, path+" / "+k.Name, entry))
	}
	return values
}

func (w *writer) entry(n *schema.Node, depth int, path string, entry int) {
	line := append([]string{n.Name}, w.keys(n, path, entry)...)
	switch {
	case n.Kind == schema.Flag:
		w.line(depth, line...)
	case n.Kind == schema.Leaf:
		w.line(depth, append(line, w.value(n, path, 0))...)
	case n.OneLine():
		for _, c := range n.Children {
			line = append(line, c.Name)
			if c.Kind == schema.Leaf {
				line = append(line, w.value(c, path+" / "+c.Name, entry))
			}
		}
		w.line(depth, line...)
	case n.Mode != "":
		w.line(depth, line...)
		w.children(n, depth+1, path)
		w.line(depth, "!")
	default: // a container of words that stand before each line
		for _, c := range n.Children {
			inner := *c
			inner.Name = n.Name + " " + c.Name
			w.node(&inner, depth, path+" / "+c.Name)
		}
	}
}

// value returns a value of a leaf: another in each pass and entry, as far as there are some, the default in the last place.
func (w *writer) value(n *schema.Node, path string, entry int) string {
	if n.Type.Secret() {
		return secret
	}
	var values []string
	usual := ""
	for _, word := range slices.Concat(n.Type.Words(), words()) {
		canonical, err := n.Type.Parse(word)
		switch {
		case err != nil || slices.Contains(values, canonical):
		case canonical == n.Default:
			usual = canonical
		default:
			values = append(values, canonical)
		}
	}
	if usual != "" {
		values = append(values, usual)
	}
	if len(values) == 0 {
		w.t.Fatalf("no value is known for %s (%s): add one to words", path, n.Type.Hint())
	}
	if values[0] == name {
		values = values[:2] // a name, and what refers to it
	}
	value := values[(w.pass+entry)%len(values)]
	w.used.note(path, n, value)
	return value
}
