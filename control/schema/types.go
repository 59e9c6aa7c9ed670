package schema

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden stands where a secret would be in anything that is shown. Secret refuses it as a value, so
// shown text that is fed back cannot replace a secret by its mask.
const Hidden = "<hidden>"

// plain gives a type the answers that most types have: no alternatives, not secret.
type plain struct{}

func (plain) Words() []string { return nil }
func (plain) Secret() bool    { return false }

// wrong is the one form of a value error: what was expected, what was found.
func wrong(expected, found string) error {
	return fmt.Errorf("expected %s, found %q", expected, found)
}

// Uint is a decimal number from minimum to maximum. The unit ("seconds") is told in help and errors
// and is not typed; it may be empty.
func Uint(minimum, maximum uint64, unit string) Type {
	return uintType{minimum: minimum, maximum: maximum, unit: unit}
}

type uintType struct {
	plain
	minimum, maximum uint64
	unit             string
}

func (t uintType) Parse(word string) (string, error) {
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil || n < t.minimum || n > t.maximum {
		expected := fmt.Sprintf("a number from %d to %d", t.minimum, t.maximum)
		if t.unit != "" {
			expected += " (" + t.unit + ")"
		}
		return "", wrong(expected, word)
	}
	return strconv.FormatUint(n, 10), nil
}

func (t uintType) Hint() string {
	if t.unit != "" {
		return fmt.Sprintf("<%d-%d %s>", t.minimum, t.maximum, t.unit)
	}
	return fmt.Sprintf("<%d-%d>", t.minimum, t.maximum)
}

// VLAN is an IEEE 802.1Q VLAN identifier, 1 to 4094.
func VLAN() Type { return Uint(1, 4094, "") }

// String is a word of at most maxBytes bytes. A pattern, when not empty, must match all of it; hint
// is the placeholder in help and the expectation in errors ("HOSTNAME").
func String(maxBytes int, pattern, hint string) Type {
	t := stringType{maxBytes: maxBytes, hint: hint}
	if pattern != "" {
		t.pattern = regexp.MustCompile(`^(?:` + pattern + `)$`)
	}
	return t
}

type stringType struct {
	plain
	maxBytes int
	pattern  *regexp.Regexp
	hint     string
}

func (t stringType) Parse(word string) (string, error) {
	if err := printable(word); err != nil {
		return "", err
	}
	if word == "" {
		return "", wrong(t.hint, word)
	}
	if len(word) > t.maxBytes {
		return "", fmt.Errorf("expected %s of at most %d bytes, found %d bytes", t.hint, t.maxBytes, len(word))
	}
	if t.pattern != nil && !t.pattern.MatchString(word) {
		return "", wrong(t.hint+" matching "+t.pattern.String(), word)
	}
	return word, nil
}

func (t stringType) Hint() string { return t.hint }

// Name is the name of something that the configuration defines: letters, digits and ". _ - : / @",
// 64 bytes at most, beginning with a letter, a digit or an underscore.
func Name() Type { return String(64, `[A-Za-z0-9_][A-Za-z0-9._:/@-]*`, "NAME") }

// Text is free text to the end of the line (a description). It is printed in quotes when it has
// blanks, and may be typed with or without them.
func Text() Type { return textType{} }

type textType struct{ plain }

const maxTextBytes = 255

func (textType) Parse(text string) (string, error) {
	if err := printable(text); err != nil {
		return "", err
	}
	if text == "" {
		return "", wrong("text", text)
	}
	if len(text) > maxTextBytes {
		return "", fmt.Errorf("expected text of at most %d bytes, found %d bytes", maxTextBytes, len(text))
	}
	return text, nil
}

func (textType) Hint() string             { return "TEXT" }
func (textType) Count() (least, most int) { return 1, 0 }
func (t textType) Element() Type          { return t }
func (textType) Separate() bool           { return false }

// Secret is a password or shared key: one word, in quotes when it has blanks.
func Secret() Type { return secretType{} }

type secretType struct{}

const maxSecretBytes = 128

func (secretType) Parse(word string) (string, error) {
	switch {
	case word == Hidden:
		return "", fmt.Errorf("%s stands for a secret that is not shown; type the secret itself", Hidden)
	case word == "":
		return "", fmt.Errorf("expected a secret, found nothing")
	case len(word) > maxSecretBytes:
		return "", fmt.Errorf("expected a secret of at most %d bytes, found %d bytes", maxSecretBytes, len(word))
	}
	return word, printable(word)
}

func (secretType) Hint() string    { return "SECRET" }
func (secretType) Words() []string { return nil }
func (secretType) Secret() bool    { return true }

// Enum is one of several literal words; they may be abbreviated.
func Enum(words ...string) Type { return enumType{words: words} }

type enumType struct {
	plain
	words []string
}

func (t enumType) Parse(word string) (string, error) {
	var begun []string
	for _, w := range t.words {
		if w == word {
			return w, nil
		}
		if word != "" && strings.HasPrefix(w, word) {
			begun = append(begun, w)
		}
	}
	switch len(begun) {
	case 1:
		return begun[0], nil
	case 0:
		return "", wrong("one of "+strings.Join(t.words, ", "), word)
	}
	return "", fmt.Errorf("%q is ambiguous: %s", word, strings.Join(begun, ", "))
}

func (t enumType) Hint() string    { return strings.Join(t.words, "|") }
func (t enumType) Words() []string { return t.words }

// Addr4 is an IPv4 address.
func Addr4() Type { return addrType{four: true} }

// Addr is an IPv4 or IPv6 address, without zone.
func Addr() Type { return addrType{} }

type addrType struct {
	plain
	four bool
}

func (t addrType) Parse(word string) (string, error) {
	a, err := netip.ParseAddr(word)
	if err != nil || a.Zone() != "" || a.Is4In6() || t.four && !a.Is4() {
		expected := "an IP address"
		if t.four {
			expected = "an IPv4 address (A.B.C.D)"
		}
		return "", wrong(expected, word)
	}
	return a.String(), nil
}

func (t addrType) Hint() string {
	if t.four {
		return "A.B.C.D"
	}
	return "A.B.C.D|X:X::X:X"
}

// Prefix4 is an IPv4 prefix whose host bits are zero.
func Prefix4() Type { return prefix4Type{} }

// InterfacePrefix4 is an IPv4 address with its prefix length; the host bits are kept.
func InterfacePrefix4() Type { return prefix4Type{host: true} }

type prefix4Type struct {
	plain
	host bool
}

func (t prefix4Type) Parse(word string) (string, error) {
	p, err := netip.ParsePrefix(word)
	if err != nil || !p.Addr().Is4() {
		return "", wrong("an IPv4 prefix (A.B.C.D/LEN)", word)
	}
	if !t.host && p != p.Masked() {
		return "", fmt.Errorf("%s has host bits set; the prefix is %s", word, p.Masked())
	}
	return p.String(), nil
}

func (prefix4Type) Hint() string { return "A.B.C.D/LEN" }

// MAC is an Ethernet address; "aa:bb:cc:00:01:02", "aa-bb-..." and "aabb.cc00.0102" are accepted, the
// first is canonical.
func MAC() Type { return macType{} }

type macType struct{ plain }

func (macType) Parse(word string) (string, error) {
	digits := macDigits(word)
	if len(digits) != 12 {
		return "", wrong("a MAC address (aa:bb:cc:dd:ee:ff)", word)
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return "", wrong("a MAC address (aa:bb:cc:dd:ee:ff)", word)
	}
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x",
		byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n)), nil
}

func (macType) Hint() string { return "aa:bb:cc:dd:ee:ff" }

// macDigits returns the hexadecimal digits of a well grouped MAC address, "" otherwise.
func macDigits(word string) string {
	for _, form := range []struct {
		separator string
		groups    int
	}{{":", 6}, {"-", 6}, {".", 3}} {
		groups := strings.Split(word, form.separator)
		if len(groups) != form.groups {
			continue
		}
		for _, g := range groups {
			if len(g) != 12/form.groups {
				return ""
			}
		}
		return strings.Join(groups, "")
	}
	return ""
}

// printable refuses what would break a line of text.
func printable(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("text is not valid UTF-8")
	}
	for _, r := range text {
		if unicode.IsControl(r) {
			return fmt.Errorf("control character %U is not permitted", r)
		}
	}
	return nil
}
