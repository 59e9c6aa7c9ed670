package schema

import (
	"fmt"
	"strings"
)

// Several is a Type whose value takes several words of the line. The value in the tree is the words
// joined by one blank.
type Several interface {
	Type
	// Count returns how many words belong to the value; most 0 means to the end of the line.
	Count() (least, most int)
	// Element is the type of each word, for help and for errors that point at the word.
	Element() Type
	// Separate tells how the value is printed: as separate words, or as one (quoted) word.
	Separate() bool
}

// Words is least to most words of the type element, none twice ("authentication chap pap"); most 0
// means any number. Read them from a tree with Tree.Words.
func Words(element Type, least, most int) Type {
	return wordsType{element: element, least: least, most: most}
}

type wordsType struct {
	element     Type
	least, most int
}

func (t wordsType) Parse(text string) (string, error) {
	words := strings.Fields(text)
	if len(words) < t.least || t.most > 0 && len(words) > t.most {
		return "", fmt.Errorf("expected %s, found %d", t.expectation(), len(words))
	}
	seen := map[string]bool{}
	for i, w := range words {
		canonical, err := t.element.Parse(w)
		if err != nil {
			return "", err
		}
		if seen[canonical] {
			return "", fmt.Errorf("%q is there twice", canonical)
		}
		seen[canonical] = true
		words[i] = canonical
	}
	return strings.Join(words, " "), nil
}

func (t wordsType) expectation() string {
	switch {
	case t.most == 0:
		return fmt.Sprintf("at least %d values", t.least)
	case t.least == t.most:
		return fmt.Sprintf("%d values", t.least)
	}
	return fmt.Sprintf("%d to %d values", t.least, t.most)
}

func (t wordsType) Hint() string             { return t.element.Hint() + " ..." }
func (t wordsType) Words() []string          { return t.element.Words() }
func (t wordsType) Secret() bool             { return t.element.Secret() }
func (t wordsType) Count() (least, most int) { return t.least, t.most }
func (t wordsType) Element() Type            { return t.element }
func (t wordsType) Separate() bool           { return true }
