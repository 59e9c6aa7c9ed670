package line

import "vbng/control/schema"

// Item is one thing that may stand at a place of a line: a literal word, or a value.
type Item struct {
	Word string      // the literal; empty: a value
	Type schema.Type // of a value
	Help string
	// Refusal tells why the word may not stand here although people will try it. The item is not
	// offered, and matching it is a fault with this text.
	Refusal string
	// Complete returns the names that exist now and could be the value; may be nil.
	Complete func() []string
	// Tails returns what a word that is typed so far could become, where that depends on it; may be nil.
	Tails func(typed string) []string
	// Eager values are taken before an abbreviated literal at the same place (configuration);
	// others after it (arguments of commands).
	Eager bool
	// End tells that the line may end after this item.
	End bool
	// Next returns what may follow; nil: nothing.
	Next func() []*Item
	// Tag is what the item means to whoever made it.
	Tag any
}

// following returns what may stand after the item.
func (i *Item) following() []*Item {
	if i.Next == nil {
		return nil
	}
	return i.Next()
}

// Token is one matched word.
type Token struct {
	Item   *Item
	Text   string // canonical
	Column int    // byte offset of the word in the line
}

// Error is a fault of a line at a column (byte offset).
type Error struct {
	Column int
	Text   string
}

// Error implements error.
func (e *Error) Error() string { return e.Text }
