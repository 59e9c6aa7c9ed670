package config

import (
	"errors"
	"strings"

	"vbng/control/line"
	"vbng/control/schema"
)

// Parse reads a whole configuration. Every line that is good is in the tree; every other is an
// *Error with line and column. A caller that wants all or nothing looks at the errors first.
//
// Indentation is decoration. A mode is entered by its opening line and left by "!", "exit", "end", or
// a line that only an outer mode has. "! text" is a comment. Words may be abbreviated.
func Parse(root *schema.Node, text string) (*Tree, []error) {
	return ParseWithout(root, text, nil)
}

// ParseWithout is Parse that refuses further lines, by number, with the given faults: the way to load
// the rest of a configuration whose lines are good one by one and wrong together. A refused line that
// opens a mode takes the lines of the mode with it.
func ParseWithout(root *schema.Node, text string, refused map[int]*Error) (*Tree, []error) {
	p := newParser(New(root), refused)
	p.read(text)
	return p.builder.Tree(), p.faults
}

// Merge reads text onto a tree, "no" lines included. It returns the new tree and the changes that
// made it, for a candidate to keep. Where the text has schema.Hidden in place of a secret, the secret
// at the same place of the tree known is meant, which may be nil; a line with one that is not there is a fault.
func Merge(t *Tree, text string, known *Tree) (*Tree, []Change, []error) {
	p := newParser(t, nil)
	p.known = known
	p.read(text)
	return p.builder.Tree(), p.changes, p.faults
}

// parser holds the modes that are open while text is read.
type parser struct {
	grammar *Grammar
	builder *Builder
	frames  []frame
	skipped skipped
	refused map[int]*Error
	known   *Tree          // where hidden secrets are taken from, may be nil
	seen    map[int]string // if not nil, gets every line by number, secrets hidden
	changes []Change
	faults  []error
}

// frame is an open mode. A dead one was opened by a line that was refused: its lines are matched, so
// that its end is found, and not applied.
type frame struct {
	mode *schema.Node
	path Path
	dead int // the line that was refused
}

// skipped is what stands below a line that nothing is known of: only its indentation tells which
// lines belong to it.
type skipped struct {
	line   int // 0: nothing is being skipped
	indent int
	lines  int
}

func newParser(t *Tree, refused map[int]*Error) *parser {
	return &parser{
		grammar: NewGrammar(t.node),
		builder: t.Edit(),
		frames:  []frame{{mode: t.node}},
		refused: refused,
	}
}

func (p *parser) read(text string) {
	for i, source := range strings.Split(text, "\n") {
		p.line(i+1, strings.TrimRight(source, "\r"))
	}
}

func (p *parser) line(number int, source string) {
	body := strings.TrimLeft(source, " \t")
	if strings.TrimRight(body, " \t") == "" {
		return
	}
	if p.skips(number, source, len(source)-len(body), body) {
		return
	}
	switch word := strings.TrimRight(body, " \t"); {
	case word == "!", word == "exit":
		p.leave(1)
	case word == "end":
		p.leave(len(p.frames))
	case body[0] == '!':
	default:
		if p.seen != nil {
			p.seen[number] = p.grammar.mask(p.frames, source)
		}
		p.configuration(number, source)
	}
}

// leave closes modes; the root stays.
func (p *parser) leave(modes int) { p.frames = p.frames[:max(1, len(p.frames)-modes)] }

// skips reports whether the line belongs to an unknown line above it.
func (p *parser) skips(number int, source string, indent int, body string) bool {
	s := &p.skipped
	switch {
	case s.line == 0:
		return false
	case indent > s.indent:
		s.lines++
		if body[0] != '!' {
			p.unknown(number, source, indent, "skipped, it belongs to line "+itoa(s.line)+" which was refused")
		}
		return true
	}
	closes := indent == s.indent && s.lines > 0 && strings.TrimRight(body, " \t") == "!"
	*s = skipped{}
	return closes
}

func (p *parser) configuration(number int, source string) {
	words, err := line.Split(source)
	if err != nil {
		p.refuse(number, source, err)
		return
	}
	remove := words[0].Text == "no" && !words[0].Quoted
	if remove {
		words = words[1:]
	}
	best := &line.Error{Column: -1}
	for depth := len(p.frames) - 1; depth >= 0; depth-- {
		f := p.frames[depth]
		l, named, err := p.grammar.Read(f.mode, f.path, words, remove)
		if err != nil && !remove {
			l, err = p.revealed(f, words, err)
		}
		if err == nil {
			p.frames = p.frames[:depth+1]
			p.apply(number, source, f, l)
			return
		}
		if fault := asFault(err); named || fault.Column > best.Column {
			best = fault
		}
		if named {
			p.frames = p.frames[:depth+1]
			p.refuseIn(number, source, f, words, best)
			return
		}
	}
	p.refuse(number, source, best)
}

// apply makes the change of a good line, unless its mode is dead or the line is refused.
func (p *parser) apply(number int, source string, f frame, l Line) {
	l.Change.Line = number
	dead := f.dead
	if reason, no := p.refused[number]; no {
		with := *reason
		with.Line, with.Source = number, p.grammar.mask(p.frames, source)
		with.Column = column(with.Source, reason.Path, reason.Word)
		p.faults = append(p.faults, &with)
		dead = number
	} else if f.dead > 0 {
		p.fault(number, source, 0, "skipped, it belongs to line "+itoa(f.dead)+" which was refused")
	} else if err := p.builder.Apply(l.Change); err != nil {
		p.faults = append(p.faults, p.placed(number, source, err))
		return
	} else {
		p.changes = append(p.changes, l.Change)
	}
	if l.Mode != nil {
		p.frames = append(p.frames, frame{mode: l.Mode, path: l.Change.Path, dead: dead})
	}
}

// refuseIn reports a line whose words name a node of the mode and whose value is wrong. If the line
// would open a mode, its lines must not fall into this one.
func (p *parser) refuseIn(number int, source string, f frame, words []line.Word, err *line.Error) {
	p.unknown(number, source, err.Column, err.Text)
	if mode := p.grammar.opens(f.mode, words); mode != nil {
		p.frames = append(p.frames, frame{mode: mode, path: f.path, dead: number})
	}
}

// refuse reports a line of which nothing is known.
func (p *parser) refuse(number int, source string, err error) {
	fault := asFault(err)
	p.unknown(number, source, fault.Column, fault.Text)
	p.skipped = skipped{line: number, indent: len(source) - len(strings.TrimLeft(source, " \t"))}
}

func (p *parser) fault(number int, source string, column int, text string) {
	p.faults = append(p.faults, &Error{
		Path:   p.frames[len(p.frames)-1].path.String(),
		Line:   number,
		Column: max(column, 0),
		Source: p.grammar.mask(p.frames, source),
		Text:   text,
	})
}

// unknown reports a line that could not be read from a column on. What stands behind the faulty word
// may be a secret, so it is not shown.
func (p *parser) unknown(number int, source string, column int, text string) {
	p.fault(number, source, column, text)
	e := p.faults[len(p.faults)-1].(*Error)
	end := e.Column + strings.IndexAny(source[e.Column:]+" ", " \t")
	if strings.TrimSpace(source[end:]) != "" && len(e.Source) > end {
		e.Source = e.Source[:end] + " ..."
	}
}

// placed gives the fault of a change its line.
func (p *parser) placed(number int, source string, err error) error {
	var in *Error
	if !errors.As(err, &in) {
		return err
	}
	with := *in
	with.Line, with.Source = number, p.grammar.mask(p.frames, source)
	with.Column = len(source) - len(strings.TrimLeft(source, " \t"))
	return &with
}

func asFault(err error) *line.Error {
	var at *line.Error
	if errors.As(err, &at) {
		return at
	}
	return &line.Error{Text: err.Error()}
}
