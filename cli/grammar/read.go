package grammar

import (
	"vbng/cli/render"
	"vbng/control/line"
	"vbng/control/oper"
)

// Order is a command line understood.
type Order struct {
	Command *oper.Command
	Args    map[string]string
	JSON    bool
	NoMore  bool // do not stop at each page
	Filters []render.Filter
}

// Read turns the tokens of a matched line into an order; ok is false when no command is in them.
func Read(tokens []line.Token) (o Order, ok bool) {
	o.Args = map[string]string{}
	for _, t := range tokens {
		switch tag := t.Item.Tag.(type) {
		case *oper.Command:
			o.Command = tag
		case flag:
			o.Args[string(tag)] = "true"
		case arg:
			o.Args[string(tag)] = joined(o.Args[string(tag)], t.Text)
		case filter:
			o.Filters = append(o.Filters, render.Filter{Name: string(tag)})
		case pattern:
			f := &o.Filters[len(o.Filters)-1]
			f.Pattern = joined(f.Pattern, t.Text)
		case asJSON:
			o.JSON = true
		case noMore:
			o.NoMore = true
		}
	}
	return o, o.Command != nil
}

func joined(before, word string) string {
	if before == "" {
		return word
	}
	return before + " " + word
}
