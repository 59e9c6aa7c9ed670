package config

import (
	"strings"

	"vbng/control/line"
	"vbng/control/schema"
)

// join makes the canonical value of a leaf from the words of a line.
func join(t schema.Type, words []string) (string, error) {
	if _, several := t.(schema.Several); several {
		return t.Parse(strings.Join(words, " "))
	}
	return words[0], nil
}

// split makes the words of a line from a canonical value, in quotes where needed.
func split(t schema.Type, value string) string {
	if s, several := t.(schema.Several); several && s.Separate() {
		words := strings.Fields(value)
		for i, w := range words {
			words[i] = line.Quote(w)
		}
		return strings.Join(words, " ")
	}
	return line.Quote(value)
}

// compareKeys orders list entries: runs of digits by their number, the rest by bytes, so that
// access2 stands before access10 and 10.0.0.0/8 behind 9.0.0.0/8.
func compareKeys(a, b []string) int {
	for i := range min(len(a), len(b)) {
		if c := compareNatural(a[i], b[i]); c != 0 {
			return c
		}
	}
	return len(a) - len(b)
}

func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return int(x[0]) - int(y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		if c := compareNumber(x[:m], y[:n]); c != 0 {
			return c
		}
		x, y = x[m:], y[n:]
	}
	if len(x) != len(y) {
		return len(x) - len(y)
	}
	return strings.Compare(a, b) // "01" and "1" are equal numbers and different names
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func compareNumber(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
