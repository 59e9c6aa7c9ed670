package grammar

import (
	"sort"
	"strings"

	"vbng/control/line"
	"vbng/control/oper"
)

// Commands returns what a line may begin with, given the commands of a mode.
func Commands(commands []*oper.Command) []*line.Item {
	root := &branch{}
	for _, c := range commands {
		root.add(strings.Fields(c.Words), c)
	}
	return root.items()
}

// branch is a place in the tree of the commands' words.
type branch struct {
	word    string
	command *oper.Command // ends here, may be nil
	below   []*branch
}

func (b *branch) add(words []string, c *oper.Command) {
	if len(words) == 0 {
		b.command = c
		return
	}
	at := sort.Search(len(b.below), func(i int) bool { return b.below[i].word >= words[0] })
	if at == len(b.below) || b.below[at].word != words[0] {
		b.below = append(b.below, nil)
		copy(b.below[at+1:], b.below[at:])
		b.below[at] = &branch{word: words[0]}
	}
	b.below[at].add(words[1:], c)
}

func (b *branch) items() []*line.Item {
	items := make([]*line.Item, 0, len(b.below))
	for _, c := range b.below {
		items = append(items, c.item())
	}
	return items
}

func (b *branch) item() *line.Item {
	i := &line.Item{Word: b.word, Help: b.help()}
	longer := b.items()
	if b.command == nil {
		i.Next = func() []*line.Item { return longer }
		return i
	}
	after := arguments(b.command, b.command.Arguments())
	i.Tag, i.End = b.command, after.end
	i.Next = func() []*line.Item { return append(append([]*line.Item{}, longer...), after.items()...) }
	return i
}

// verbs explain the first words that many commands share.
func verbs() map[string]string {
	return map[string]string{
		"show":     "Show what is going on",
		"clear":    "End or reset something",
		"debug":    "Follow one thing closely",
		"test":     "Try something out",
		"load":     "Read configuration into the candidate",
		"monitor":  "Watch what passes by",
		"terminal": "Settings of this terminal",
		"rollback": "Go back to an older configuration",
	}
}

func (b *branch) help() string {
	if b.command != nil {
		return b.command.Help
	}
	if help, ok := verbs()[b.word]; ok {
		return help
	}
	words := make([]string, len(b.below))
	for i, c := range b.below {
		words[i] = c.word
	}
	return strings.Join(words, ", ")
}
