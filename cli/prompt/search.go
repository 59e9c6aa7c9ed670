package prompt

import (
	"strings"

	goprompt "github.com/c-bata/go-prompt"
)

// search is where Ctrl-R stands in the history.
type search struct {
	wanted string // what was typed when it began
	found  string // what it has put into the line
	at     int    // index of found in the history
}

// searchBack puts the newest earlier line into the buffer that holds what was typed; pressed again it goes further
// back. Without another one the line stays.
func (t *Terminal) searchBack(b *goprompt.Buffer) {
	text := b.Text()
	if text == "" || text != t.search.found {
		t.search = search{wanted: text, at: len(t.history)}
	}
	line, at, ok := earlier(t.history, t.search.at, t.search.wanted, text)
	if !ok {
		return
	}
	b.CursorRight(len([]rune(text)))
	b.DeleteBeforeCursor(len([]rune(text)))
	b.InsertText(line, false, true)
	t.search.found, t.search.at = line, at
}

// earlier returns the last line before a place in the history that holds the wanted text and is another one than
// what is shown.
func earlier(history []string, before int, wanted, shown string) (line string, at int, ok bool) {
	for at = before - 1; at >= 0; at-- {
		if h := history[at]; h != shown && strings.Contains(h, wanted) {
			return h, at, true
		}
	}
	return "", 0, false
}
