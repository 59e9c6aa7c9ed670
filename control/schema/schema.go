// Package schema declares configuration: containers, lists and leaves in Cisco-style words, each once.
// Parsing, bounds, '?', completion, abbreviation, 'no', printing and the reference manual are derived.
//
// Each subsystem returns its nodes; nodes of the same name and kind from several subsystems at the
// same place are merged (routing and sessions both add to "interface").
package schema

// Kind tells what a node is in the text and in the tree.
type Kind uint8

const (
	// Container groups children. With Mode set its words open a configuration mode.
	Container Kind = 1 + iota
	// List is a container that occurs once per key. Without Mode an entry is one line: words, keys,
	// then its leaves as NAME VALUE in order ("ip route 0.0.0.0/0 192.0.2.1 distance 5").
	List
	// Leaf is one value behind its words ("mtu 1500").
	Leaf
	// Flag is present or absent ("shutdown").
	Flag
)

// Node is one declaration.
type Node struct {
	// Name is the words as they stand in the text: "interface", "ip address". It is also the name by
	// which config.Tree finds the node.
	Name     string
	Kind     Kind
	Help     string
	Mode     string  // prompt suffix of the mode that the node opens ("config-if"), empty: no mode
	Keys     []*Node // of a List: leaves whose values follow the words, without words of their own
	Children []*Node
	Type     Type   // of a Leaf
	Default  string // of a Leaf: the value when absent; empty: none
	Required bool   // of a Leaf: its parent must have it
	Ordered  bool   // of a List: entries keep the operator's order (else sorted by key)
	// Ref names the list that a leaf's value must be a key of ("ip pool"), empty: none.
	Ref string
	// Effect tells when a change takes effect, if not at once ("new sessions only"); shown at commit.
	Effect string
	// Removal tells what an entry of a List takes with it when it is removed ("its sessions end"); shown at commit.
	Removal string
}

// Type parses and bounds a value.
type Type interface {
	// Parse checks one word and returns it in canonical form. The error says what was expected.
	Parse(word string) (canonical string, err error)
	// Hint is the placeholder in help: "<1-4094>", "A.B.C.D/LEN", "WORD".
	Hint() string
	// Words lists the literal alternatives of an enumeration, nil otherwise.
	Words() []string
	// Secret values are printed obscured, never in clear, in anything but the stored configuration.
	Secret() bool
}

// Tailed is a Type whose value may end in a name: ADDRESS%INTERFACE.
type Tailed interface {
	Type
	// Tail parts a word that is being typed in front of the name, which is a key of the list ref (see Node.Ref).
	// ok is false when the word has not come to the name.
	Tail(word string) (head, ref string, ok bool)
}
