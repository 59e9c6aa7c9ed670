package grammar

import (
	"fmt"
	"slices"

	"vbng/control/line"
	"vbng/control/oper"
	"vbng/control/schema"
)

// place is where a command's line stands: which arguments may still come.
type place struct {
	end   bool
	items func() []*line.Item
}

// arguments tells what may follow when the given arguments have not been used. Keywords and flags
// come in any order; values without a keyword keep theirs.
func arguments(c *oper.Command, left []oper.Arg) place {
	end := !slices.ContainsFunc(left, func(a oper.Arg) bool { return !a.Optional && !a.Flag })
	return place{end: end, items: func() []*line.Item {
		var items []*line.Item
		positional := false
		for i, a := range left {
			if !a.Flag && !a.Keyword {
				if positional {
					continue
				}
				positional = true
			}
			items = append(items, argument(c, a, without(left, i)))
		}
		if end {
			items = append(items, pipe())
		}
		return items
	}}
}

func without(args []oper.Arg, i int) []oper.Arg { return slices.Delete(slices.Clone(args), i, i+1) }

func argument(c *oper.Command, a oper.Arg, left []oper.Arg) *line.Item {
	after := arguments(c, left)
	switch {
	case a.Flag:
		return &line.Item{Word: a.Name, Help: a.Help, Tag: flag(a.Name), End: after.end, Next: after.items}
	case a.Keyword && a.Rest:
		return &line.Item{Word: a.Name, Help: a.Help, Next: func() []*line.Item { return []*line.Item{rest(a)} }}
	case a.Keyword:
		return &line.Item{Word: a.Name, Help: a.Help, Next: func() []*line.Item { return []*line.Item{single(a, after)} }}
	case a.Rest:
		return rest(a)
	}
	return single(a, after)
}

// The tags of arguments' items.
type (
	flag string // the flag's name
	arg  string // the argument whose value the word is, or a part of it
)

func single(a oper.Arg, after place) *line.Item {
	return &line.Item{Type: argType{a}, Help: a.Help, Complete: a.Complete, Tag: arg(a.Name), End: after.end, Next: after.items}
}

// rest takes word after word up to a pipe: a comment may have any word in it.
func rest(a oper.Arg) *line.Item {
	i := single(a, place{end: true})
	i.Next = func() []*line.Item { return []*line.Item{pipe(), rest(a)} }
	return i
}

// argType checks an argument's value.
type argType struct{ arg oper.Arg }

var _ schema.Type = argType{}

// Parse implements schema.Type.
func (t argType) Parse(word string) (string, error) {
	if len(t.arg.Enum) > 0 {
		return schema.Enum(t.arg.Enum...).Parse(word)
	}
	if t.arg.Check != nil {
		if err := t.arg.Check(word); err != nil {
			return "", fmt.Errorf("%s: %w", t.arg.Name, err)
		}
	}
	return word, nil
}

// Hint implements schema.Type.
func (t argType) Hint() string { return "<" + t.arg.Name + ">" }

// Words implements schema.Type.
func (t argType) Words() []string { return t.arg.Enum }

// Secret implements schema.Type.
func (t argType) Secret() bool { return t.arg.Secret }
