package prompt

import (
	"fmt"
	"strings"

	goprompt "github.com/c-bata/go-prompt"
	"golang.org/x/term"
)

// question shows help for what stands before the cursor. In an open quote it is a character like others.
func (t *Terminal) question(b *goprompt.Buffer) {
	before := b.Document().TextBeforeCursor()
	if inQuotes(before) || t.shell.Loading() {
		b.InsertText("?", false, true)
		return
	}
	t.menu = false
	help := strings.ReplaceAll(t.shell.Help(before), "\n", "\r\n")
	// go-prompt goes up by the rows that the line takes and draws it there: they must be empty.
	fmt.Fprintf(t.out, "?\r\n%s%s", help, strings.Repeat("\r\n", t.rows(before)))
}

func inQuotes(text string) bool {
	open := false
	for i := 0; i < len(text); i++ {
		switch {
		case open && text[i] == '\\':
			i++
		case text[i] == '"' && (open || i == 0 || text[i-1] == ' '):
			open = !open
		}
	}
	return open
}

// tab completes as far as there is one way, and opens the menu where there are several.
func (t *Terminal) tab(b *goprompt.Buffer) {
	if t.menu {
		return // go-prompt walks through the menu
	}
	if t.shell.Loading() {
		b.InsertText(" ", false, true)
		return
	}
	before := b.Document().TextBeforeCursor()
	start, words := t.words(before)
	if len(words) == 0 {
		return
	}
	typed := before[start:]
	if add, ok := strings.CutPrefix(commonPrefix(words), typed); ok && add != "" {
		b.InsertText(add, false, true)
	}
	if len(words) == 1 {
		b.InsertText(" ", false, true)
		return
	}
	t.menu = true
}

// suggest is the menu, which only TAB opens and any other key closes.
func (t *Terminal) suggest(d goprompt.Document) []goprompt.Suggest {
	key := d.LastKeyStroke()
	if !t.menu || key != goprompt.Tab && key != goprompt.BackTab && key != goprompt.Up && key != goprompt.Down {
		t.menu = false
		return nil
	}
	_, choices := t.shell.Complete(d.TextBeforeCursor())
	var all []goprompt.Suggest
	for _, c := range choices {
		if !c.Hint {
			all = append(all, goprompt.Suggest{Text: c.Text, Description: c.Help})
		}
	}
	return all
}

// words returns the choices that can be typed.
func (t *Terminal) words(text string) (start int, words []string) {
	start, choices := t.shell.Complete(text)
	for _, c := range choices {
		if !c.Hint {
			words = append(words, c.Text)
		}
	}
	return start, words
}

func commonPrefix(words []string) string {
	common := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, common) {
			common = common[:len(common)-1]
		}
	}
	return common
}

// rowsBelow returns how many rows below its first one a text takes on the screen.
func rowsBelow(text string, fd int) int {
	columns, _, err := term.GetSize(fd)
	if err != nil || columns <= 0 {
		return 0
	}
	return len([]rune(text)) / columns
}
