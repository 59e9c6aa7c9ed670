package shell

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"vbng/cli/render"
	"vbng/control/line"
)

// Choice is something that may stand at a place of a line.
type Choice struct {
	Text string // a word that can be typed, or the placeholder of a value
	Help string
	// Hint marks a placeholder: it explains and cannot be typed.
	Hint bool
}

// Completion answers what may stand at the end of a text.
type Completion struct {
	Start   int // byte offset in the text of the word that is being typed
	Choices []Choice
	End     bool   // the line may also end here
	Error   string // why nothing may stand there
	Column  int    // of the fault
}

// maxChoices bounds what one answer offers: a router may have ten thousands of users.
const maxChoices = 200

// Complete tells what may stand at the end of the text: what completes its last word, or, behind a
// blank, the next one.
func (s *Session) Complete(text string) Completion {
	words, err := line.Split(text)
	if err != nil {
		return failed(err)
	}
	partial := line.Word{Column: len(text)}
	if n := len(words); n > 0 && !strings.HasSuffix(text, " ") {
		words, partial = words[:n-1], words[n-1]
	}
	items, end, err := s.expect(words)
	if err != nil {
		return failed(err)
	}
	c := Completion{Start: partial.Column, End: end && partial.Text == "" && len(words) > 0, Column: -1}
	for _, i := range items {
		c.Choices = append(c.Choices, choices(i, partial)...)
	}
	if len(c.Choices) > maxChoices {
		rest := fmt.Sprintf("%d more, type the beginning", len(c.Choices)-maxChoices)
		c.Choices = append(c.Choices[:maxChoices:maxChoices], Choice{Text: "...", Help: rest, Hint: true})
	}
	if partial.Text != "" && len(c.Choices) == 0 {
		return s.noSuch(append(words, partial))
	}
	return c
}

func failed(err error) Completion {
	r := failure(err)
	return Completion{Error: r.Error, Column: r.Column}
}

// noSuch explains why nothing begins with the last word.
func (s *Session) noSuch(words []line.Word) Completion {
	if _, _, err := s.expect(words); err != nil {
		return failed(err)
	}
	return Completion{Column: -1, Start: words[len(words)-1].Column}
}

// expect returns what may come after the words, in the present mode or an outer one.
func (s *Session) expect(words []line.Word) (items []*line.Item, end bool, err error) {
	items, end, err = line.Expect(s.items(), words)
	for depth := len(s.modes) - 2; err != nil && depth >= 0; depth-- {
		outer, outerEnd, fault := line.Expect(s.grammar.Set(s.modes[depth].node), words)
		if fault == nil {
			return outer, outerEnd, nil
		}
		err = deeper(err, fault)
	}
	return items, end, err
}

// choices are the words that an item can be and that begin with what was typed.
func choices(i *line.Item, partial line.Word) []Choice {
	if i.Word != "" {
		if i.Refusal != "" || partial.Quoted || !strings.HasPrefix(i.Word, partial.Text) {
			return nil
		}
		return []Choice{{Text: i.Word, Help: i.Help}}
	}
	var all []Choice
	names := slices.Clone(i.Type.Words())
	enumerated := len(names) > 0
	if i.Complete != nil {
		names = append(names, i.Complete()...)
	}
	if i.Tails != nil {
		names = append(names, i.Tails(partial.Text)...)
	}
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		// A name that subscribers chose may have characters that no line can have, and no terminal should get.
		if strings.HasPrefix(n, partial.Text) && render.Printable(n) == n {
			all = append(all, Choice{Text: line.Quote(n), Help: i.Help})
		}
	}
	if !enumerated {
		all = append(all, Choice{Text: i.Type.Hint(), Help: i.Help, Hint: true})
	}
	return all
}

// Help is the text that "?" shows at the end of the text.
func (s *Session) Help(text string) string {
	c := s.Complete(text)
	if c.Error != "" {
		return "% " + c.Error + "\n"
	}
	rows := c.Choices
	if c.End {
		rows = append(slices.Clone(rows), Choice{Text: "<cr>", Help: "Run the line"})
	}
	if len(rows) == 0 {
		return "Nothing may follow here.\n"
	}
	longest := 0
	for _, r := range rows {
		longest = max(longest, utf8.RuneCountInString(r.Text))
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "  %s%s  %s\n", r.Text, strings.Repeat(" ", longest-utf8.RuneCountInString(r.Text)), r.Help)
	}
	return b.String()
}
