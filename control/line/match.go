package line

import (
	"fmt"
	"strings"
)

// Match reads all words from the place start. It returns the tokens up to the first fault, and an
// *Error for it.
func Match(start []*Item, words []Word) ([]Token, error) {
	tokens, last, err := walk(start, words)
	if err != nil {
		return tokens, err
	}
	if last == nil || !last.End {
		return tokens, &Error{Column: lineEnd(words), Text: "the line is incomplete, expected " + list(next(start, last))}
	}
	return tokens, nil
}

// Expect reads all words and returns what may stand next; end tells whether the line may end there.
func Expect(start []*Item, words []Word) (items []*Item, end bool, err error) {
	_, last, err := walk(start, words)
	if err != nil {
		return nil, false, err
	}
	return next(start, last), last != nil && last.End, nil
}

func walk(start []*Item, words []Word) (tokens []Token, last *Item, err error) {
	items := start
	for _, w := range words {
		item, text, err := step(items, w)
		if err != nil && behindSecret(tokens) {
			err = &Error{Column: w.Column, Text: "a secret ends the line; put it in quotes when it has blanks"}
		}
		if err != nil {
			return tokens, last, err
		}
		tokens = append(tokens, Token{Item: item, Text: text, Column: w.Column})
		last = item
		items = item.following()
	}
	return tokens, last, nil
}

// behindSecret tells whether the next word may be a part of a secret, which no error may repeat.
func behindSecret(tokens []Token) bool {
	if len(tokens) == 0 {
		return false
	}
	last := tokens[len(tokens)-1].Item
	return last.Type != nil && last.Type.Secret()
}

func next(start []*Item, last *Item) []*Item {
	if last == nil {
		return start
	}
	return last.following()
}

// step finds the item that the word is: a literal in full, else an eager value, else the only literal
// that begins so, else any value.
func step(items []*Item, w Word) (*Item, string, error) {
	exact, begun, value := sort(items, w)
	if refused := refusal(exact, begun); refused != "" {
		return nil, "", &Error{Column: w.Column, Text: refused}
	}
	if exact != nil {
		return exact, exact.Word, nil
	}
	var fault error
	if value != nil {
		text, err := value.Type.Parse(w.Text)
		if err == nil && (value.Eager || len(begun) != 1) {
			return value, text, nil
		}
		fault = err
	}
	switch {
	case len(begun) == 1:
		return begun[0], begun[0].Word, nil
	case len(begun) > 1:
		return nil, "", &Error{Column: w.Column, Text: fmt.Sprintf("%q is ambiguous: %s", w.Text, list(begun))}
	case fault != nil && len(items) == 1:
		return nil, "", &Error{Column: w.Column, Text: fault.Error()}
	case len(items) == 0:
		return nil, "", &Error{Column: w.Column, Text: fmt.Sprintf("nothing may follow here, found %q", w.Text)}
	}
	return nil, "", &Error{Column: w.Column, Text: fmt.Sprintf("expected %s, found %q", list(items), w.Text)}
}

func refusal(exact *Item, begun []*Item) string {
	switch {
	case exact != nil:
		return exact.Refusal
	case len(begun) == 1:
		return begun[0].Refusal
	}
	return ""
}

// sort parts the items into the literal that the word is, the literals that begin with it, and the value.
func sort(items []*Item, w Word) (exact *Item, begun []*Item, value *Item) {
	for _, i := range items {
		switch {
		case i.Word == "":
			value = i
		case w.Quoted:
		case i.Word == w.Text:
			exact = i
		case strings.HasPrefix(i.Word, w.Text):
			begun = append(begun, i)
		}
	}
	return exact, begun, value
}

// maxListed bounds how many alternatives an error names.
const maxListed = 12

// list names the items as an error does.
func list(items []*Item) string {
	if len(items) == 0 {
		return "nothing"
	}
	var names []string
	for _, i := range items {
		if i.Refusal == "" {
			names = append(names, i.Name())
		}
	}
	if len(names) == 0 {
		return "nothing"
	}
	if len(names) > maxListed {
		names = append(names[:maxListed], "...")
	}
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Name is the literal, or the placeholder of the value.
func (i *Item) Name() string {
	if i.Word != "" {
		return i.Word
	}
	return i.Type.Hint()
}

func lineEnd(words []Word) int {
	if len(words) == 0 {
		return 0
	}
	w := words[len(words)-1]
	end := w.Column + len(w.Text)
	if w.Quoted {
		end += 2
	}
	return end
}
