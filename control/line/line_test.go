package line

import (
	"errors"
	"strings"
	"testing"

	"vbng/control/schema"
)

func TestSplitAndQuote(t *testing.T) {
	for text, want := range map[string]string{
		` a  b `:         "a|b",
		`"a b" c`:        "a b|c",
		`"say \"x\" \\"`: `say "x" \`,
		`a"b`:            `a"b`,
		`""`:             "",
	} {
		words, err := Split(text)
		var got, again []string
		for _, w := range words {
			got = append(got, w.Text)
			again = append(again, Quote(w.Text))
		}
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		twice, err := Split(strings.Join(again, " "))
		if err != nil || len(twice) != len(words) {
			t.Errorf("%q: quoted as %q", text, again)
		}
	}
	for text, column := range map[string]int{`a "b`: 2, `a "b"c`: 5, "a b\x01": 2} {
		_, err := Split(text)
		var e *Error
		if !errors.As(err, &e) || e.Column != column {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func word(text string, end bool, next ...*Item) *Item {
	return &Item{Word: text, End: end, Next: func() []*Item { return next }}
}

func TestMatch(t *testing.T) {
	eager := &Item{Type: schema.Name(), Eager: true, End: true}
	patient := &Item{Type: schema.Name(), End: true}
	number := &Item{Type: schema.Uint(1, 9, ""), End: true}
	start := []*Item{
		word("show", false, word("interfaces", true), word("ip", true)),
		word("shutdown", true),
		word("eager", false, word("detail", true), eager),
		word("patient", false, word("detail", true), patient),
		word("number", false, number),
	}
	for _, c := range []struct {
		text, want string
		column     int // of the fault; want is then a part of it
	}{
		{"show ip", "show ip", -1},
		{"sho int", "show interfaces", -1},
		{"eager det", "eager det", -1},
		{"eager detail", "eager detail", -1},
		{`eager "detail"`, "eager detail", -1},
		{"patient det", "patient detail", -1},
		{"patient other", "patient other", -1},
		{"sh ip", `"sh" is ambiguous: show or shutdown`, 0},
		{"show i", `"i" is ambiguous: interfaces or ip`, 5},
		{"show", "incomplete, expected interfaces or ip", 4},
		{"shutdown now", `nothing may follow here, found "now"`, 9},
		{"number 10", `expected a number from 1 to 9, found "10"`, 7},
		{`"show" ip`, `expected show, shutdown, eager, patient or number, found "show"`, 0},
	} {
		words, err := Split(c.text)
		if err != nil {
			t.Fatal(err)
		}
		tokens, err := Match(start, words)
		var e *Error
		if errors.As(err, &e) {
			if e.Column != c.column || !strings.Contains(e.Text, c.want) {
				t.Errorf("%s: column %d, %s", c.text, e.Column, e.Text)
			}
			continue
		}
		var got []string
		for _, k := range tokens {
			got = append(got, k.Text)
		}
		if strings.Join(got, " ") != c.want || c.column >= 0 {
			t.Errorf("%s: %q", c.text, got)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add(`a "b \" c" d`)
	f.Fuzz(func(t *testing.T, text string) {
		words, err := Split(text)
		if err != nil {
			return
		}
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, Quote(w.Text))
		}
		again, err := Split(strings.Join(quoted, " "))
		if err != nil || len(again) != len(words) {
			t.Fatalf("%q: %q, %v", text, quoted, err)
		}
		for i := range words {
			if again[i].Text != words[i].Text {
				t.Fatalf("%q became %q", words[i].Text, again[i].Text)
			}
		}
	})
}
