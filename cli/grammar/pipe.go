package grammar

import (
	"vbng/cli/render"
	"vbng/control/line"
	"vbng/control/oper"
)

// The tags of a pipe's items.
type (
	filter  string // the filter's name
	pattern struct{}
	asJSON  struct{}
	noMore  struct{}
)

// pipe is the bar behind a command and what may follow it. "json" comes first, as it is made of the typed answer;
// the filters behind it see its lines.
func pipe() *line.Item {
	return &line.Item{Word: "|", Help: "Filter the output", Next: func() []*line.Item {
		json := &line.Item{Word: "json", Help: "Output for programs", Tag: asJSON{}, End: true, Next: morePipe}
		return append(filters(), json)
	}}
}

func filters() []*line.Item {
	var items []*line.Item
	for _, k := range render.Filters() {
		i := &line.Item{Word: k.Name, Help: k.Help, Tag: filter(k.Name)}
		if k.Pattern {
			i.Next = func() []*line.Item { return []*line.Item{patternItem()} }
		} else {
			i.End, i.Next = true, morePipe
		}
		items = append(items, i)
	}
	return append(items, &line.Item{Word: "no-more", Help: "Do not stop at each page", Tag: noMore{}, End: true, Next: morePipe})
}

// patternItem is one word of a regular expression; several words are joined by a blank.
func patternItem() *line.Item {
	i := &line.Item{Type: argType{oper.Arg{Name: "pattern"}}, Help: "Regular expression", Tag: pattern{}, End: true}
	i.Next = func() []*line.Item { return append(morePipe(), patternItem()) }
	return i
}

func morePipe() []*line.Item {
	return []*line.Item{{Word: "|", Help: "Filter once more", Next: func() []*line.Item {
		return append(filters(), &line.Item{Word: "json",
			Refusal: "json must be the first filter: it is made of the answer's values, and here only lines are left"})
	}}}
}
