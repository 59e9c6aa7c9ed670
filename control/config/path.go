package config

import (
	"strings"

	"vbng/control/line"
)

// Step is one container or list entry on the way from the root.
type Step struct {
	Name string
	Keys []string // of a list entry
}

// String returns the step as it stands in the text.
func (s Step) String() string {
	var b strings.Builder
	b.WriteString(s.Name)
	for _, k := range s.Keys {
		b.WriteString(" " + line.Quote(k))
	}
	return b.String()
}

// Path leads from the root to a container or list entry.
type Path []Step

// String returns the path for messages: "interface access0 / mtu".
func (p Path) String() string {
	words := make([]string, len(p))
	for i, s := range p {
		words[i] = s.String()
	}
	return strings.Join(words, " / ")
}

// Down returns the path with further steps; p is not changed.
func (p Path) Down(steps ...Step) Path {
	return append(append(make(Path, 0, len(p)+len(steps)), p...), steps...)
}

// under names a leaf at the path for messages.
func (p Path) under(leaf string) string {
	if len(p) == 0 {
		return leaf
	}
	if leaf == "" {
		return p.String()
	}
	return p.String() + " / " + leaf
}
