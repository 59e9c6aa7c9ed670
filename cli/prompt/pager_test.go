package prompt

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// paged runs a text through a pager of 4 rows and 10 columns with the keys that an operator presses.
func paged(text, keys string, length int) (shown string, asked int) {
	var out strings.Builder
	p := Pager{out: &out, size: func() (int, int) { return 4, 10 }, key: func() (byte, error) {
		if asked++; asked > len(keys) {
			return 0, errors.New("no more keys")
		}
		return keys[asked-1], nil
	}}
	if err := p.Show(text, length); err != nil {
		return fmt.Sprint(err), asked
	}
	question := more + "\r" + strings.Repeat(" ", len(more)) + "\r"
	return strings.ReplaceAll(out.String(), question, "<more>"), asked
}

func TestPager(t *testing.T) {
	const text = "1\n2\n3\n4\n5\n6\n7\n"
	for _, c := range []struct {
		text, keys string
		length     int
		want       string
	}{
		{"1\n2\n3\n", "", 0, "1\n2\n3\n"},
		{text, "  ", 0, "1\n2\n3\n<more>4\n5\n6\n<more>7\n"},
		{text, "\r ", 0, "1\n2\n3\n<more>4\n<more>5\n6\n7\n"},
		{text, "xq", 0, "1\n2\n3\n<more>"},
		{text, "\x03", 0, "1\n2\n3\n<more>"},
		{text, " ", 6, "1\n2\n3\n4\n5\n<more>6\n7\n"},
		{"a row and a half\nb\nc\n", " ", 0, "a row and a half\nb\n<more>c\n"},
		{"", "", 0, ""},
	} {
		if got, asked := paged(c.text, c.keys, c.length); got != c.want || asked != len(c.keys) {
			t.Errorf("%q, %q, %d: %q after %d keys", c.text, c.keys, c.length, got, asked)
		}
	}
}

func TestSearchBack(t *testing.T) {
	history := []string{"show arp", "configure", "show ip route", "show ip route"}
	line, at, ok := earlier(history, len(history), "ip", "ip")
	if line != "show ip route" || at != 3 || !ok {
		t.Errorf("%q %d %v", line, at, ok)
	}
	if line, at, ok = earlier(history, len(history), "show", "show ip route"); line != "show arp" || at != 0 || !ok {
		t.Errorf("%q %d %v", line, at, ok)
	}
	if _, _, ok = earlier(history, 0, "show", "show arp"); ok {
		t.Error("found before the first line")
	}
}
