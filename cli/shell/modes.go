package shell

import (
	"vbng/control/config"
	"vbng/control/line"
	"vbng/control/schema"
)

// mode is an open configuration mode.
type mode struct {
	node *schema.Node
	path config.Path
}

// suffix is what the prompt shows in brackets.
func (m mode) suffix() string {
	if m.node.Mode != "" {
		return m.node.Mode
	}
	return "config"
}

func (s *Session) configuring() bool { return len(s.modes) > 0 }

func (s *Session) mode() mode { return s.modes[len(s.modes)-1] }

// enter opens the outermost configuration mode.
func (s *Session) enter() { s.modes = []mode{{node: s.options.Manager.Schema()}} }

// up leaves the innermost mode.
func (s *Session) up() { s.modes = s.modes[:len(s.modes)-1] }

// prefix is the tag of a word that stands before a line of another kind.
type prefix uint8

const (
	no prefix = 1 + iota // configuration to remove
	do                   // a command of exec mode
)

// prefixes are the words that may stand before a line in configuration mode.
func (s *Session) prefixes() []*line.Item {
	return []*line.Item{
		{Word: "do", Help: "Run a command of exec mode", Tag: do, Next: func() []*line.Item { return s.exec }},
		{Word: "no", Help: "Remove configuration", Tag: no, Next: func() []*line.Item { return s.grammar.Remove(s.mode().node) }},
	}
}

// items is what a line may begin with in the present mode.
func (s *Session) items() []*line.Item {
	if !s.configuring() {
		return s.exec
	}
	return append(append([]*line.Item{}, s.grammar.Set(s.mode().node)...), s.commands...)
}
