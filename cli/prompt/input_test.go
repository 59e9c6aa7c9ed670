package prompt

import (
	"slices"
	"testing"
)

func TestKeysAreTakenOneByOne(t *testing.T) {
	for _, c := range []struct {
		in   string
		keys []string
	}{
		{"show sub\rexit\r", []string{"show sub", "\r", "exit", "\r"}},
		{"sh?\t", []string{"sh", "?", "\t"}},
		{"\x1b[A\x1b[1;5Cx\x1bOHy", []string{"\x1b[A", "\x1b[1;5C", "x", "\x1bOH", "y"}},
		{"\x1b", []string{"\x1b"}},
		{"\x1bf", []string{"\x1bf"}},
		{"\x1b[", []string{"\x1b["}},
		{"grüße\x03", []string{"grüße", "\x03"}},
	} {
		var keys []string
		for b := []byte(c.in); len(b) > 0; {
			n := keyLength(b)
			keys = append(keys, string(b[:n]))
			b = b[n:]
		}
		if !slices.Equal(keys, c.keys) {
			t.Errorf("%q: %q", c.in, keys)
		}
	}
}

func FuzzKeyLength(f *testing.F) {
	f.Add([]byte("a\x1b[1;5C?\r"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n := keyLength(b); n > len(b) || n == 0 && len(b) > 0 {
			t.Fatalf("%q: %d", b, n)
		}
	})
}

func TestInQuotes(t *testing.T) {
	for text, want := range map[string]bool{"": false, `a "b`: true, `a "b"`: false, `a"b`: false, `a "b\"`: true, `"`: true} {
		if got := inQuotes(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCommonPrefix(t *testing.T) {
	if got := commonPrefix([]string{"startup-config", "subscribers"}); got != "s" {
		t.Errorf("%q", got)
	}
}
