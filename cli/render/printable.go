package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Printable keeps a text, whoever wrote it, from telling the terminal what to do: lines and tabs stay, every other
// character that is not printed stands as a Go string literal has it.
func Printable(text string) string {
	return escaped(text, func(r rune) string {
		quoted := strconv.QuoteRune(r)
		return quoted[1 : len(quoted)-1]
	})
}

// printableJSON is Printable for JSON, which escapes control characters of one byte by itself and no others.
func printableJSON(text string) string {
	return escaped(text, func(r rune) string {
		var b strings.Builder
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
		return b.String()
	})
}

func escaped(text string, escape func(rune) string) string {
	if !strings.ContainsFunc(text, unprintable) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unprintable(r) {
			b.WriteString(escape(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unprintable(r rune) bool { return r != '\n' && r != '\t' && !strconv.IsPrint(r) }
