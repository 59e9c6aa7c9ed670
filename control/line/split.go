package line

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word is one word of a line.
type Word struct {
	Text   string // without quotes
	Column int    // byte offset in the line
	Quoted bool
}

// Split cuts a line at its blanks. A word that begins with a double quote runs to the next one; in it
// \" and \\ stand for the character itself.
func Split(text string) ([]Word, error) {
	if !utf8.ValidString(text) {
		return nil, &Error{Text: "the line is not valid UTF-8"}
	}
	var words []Word
	for at := 0; at < len(text); {
		switch {
		case text[at] == ' ' || text[at] == '\t' || text[at] == '\r':
			at++
		case text[at] == '"':
			w, end, err := quoted(text, at)
			if err != nil {
				return words, err
			}
			words = append(words, w)
			at = end
		default:
			end := at + strings.IndexAny(text[at:]+" ", " \t\r")
			words = append(words, Word{Text: text[at:end], Column: at})
			at = end
		}
	}
	return words, controlCharacter(words)
}

// quoted reads the quoted word that begins at the offset start and returns the offset behind it.
func quoted(text string, start int) (Word, int, error) {
	var b strings.Builder
	for at := start + 1; at < len(text); at++ {
		switch c := text[at]; {
		case c == '\\' && at+1 < len(text) && (text[at+1] == '"' || text[at+1] == '\\'):
			at++
			b.WriteByte(text[at])
		case c == '"':
			end := at + 1
			if end < len(text) && text[end] != ' ' && text[end] != '\t' && text[end] != '\r' {
				return Word{}, 0, &Error{Column: end, Text: "expected a blank after the closing quote"}
			}
			return Word{Text: b.String(), Column: start, Quoted: true}, end, nil
		default:
			b.WriteByte(c)
		}
	}
	return Word{}, 0, &Error{Column: start, Text: "the quote is not closed"}
}

func controlCharacter(words []Word) error {
	for _, w := range words {
		if strings.ContainsFunc(w.Text, unicode.IsControl) {
			return &Error{Column: w.Column, Text: "control characters are not permitted"}
		}
	}
	return nil
}

// Quote returns the word as it must stand in a line to be read as itself.
func Quote(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\"\\|?") && word[0] != '!' {
		return word
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}
