package shell

import (
	"errors"

	"vbng/control/config"
	"vbng/control/line"
)

// configure makes the edit that a line of configuration says, in the present mode or, when it has no
// such line, in an outer one. fault is what is wrong with the line in the present mode, if anything.
func (s *Session) configure(tokens []line.Token, words []line.Word, fault error) error {
	remove := len(tokens) > 0 && tokens[0].Item.Tag == no
	if remove {
		words = words[1:]
	}
	for depth := len(s.modes) - 1; depth >= 0; depth-- {
		m := s.modes[depth]
		l, named, err := s.grammar.Read(m.node, m.path, words, remove)
		s.reply.Secret = s.reply.Secret || l.Secret()
		if err == nil {
			return s.edit(depth, l, words)
		}
		if named {
			return err
		}
		fault = deeper(fault, err)
	}
	return fault
}

// deeper returns the fault that lies further right: the mode that understood more of the line.
func deeper(a, b error) error {
	var x, y *line.Error
	if errors.As(a, &x) && errors.As(b, &y) && y.Column <= x.Column {
		return a
	}
	return b
}

// edit applies a change that was read in the mode at depth, and enters the mode that it opens.
func (s *Session) edit(depth int, l config.Line, words []line.Word) error {
	s.candidate.Refresh()
	if err := s.candidate.Apply(l.Change); err != nil {
		return &line.Error{Column: words[0].Column, Text: err.Error()}
	}
	s.modes = s.modes[:depth+1]
	if l.Mode != nil {
		s.modes = append(s.modes, mode{node: l.Mode, path: l.Change.Path})
	}
	return nil
}
