package policy

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"vbng/control/schema"
)

const (
	permit = "permit"
	deny   = "deny"
)

// plain answers for types that have no alternatives and are no secrets.
type plain struct{}

func (plain) Words() []string { return nil }
func (plain) Secret() bool    { return false }

// PrefixType is the type of an IPv6 prefix, or of one of either family, whose host bits are zero.
func PrefixType(six bool) schema.Type { return prefixType{six: six} }

type prefixType struct {
	plain
	six bool // IPv6 only
}

func (t prefixType) Parse(word string) (string, error) {
	p, err := netip.ParsePrefix(word)
	if err != nil || p.Addr().Is4In6() || t.six && p.Addr().Is4() {
		return "", fmt.Errorf("expected a prefix (%s), found %q", t.Hint(), word)
	}
	if p != p.Masked() {
		return "", fmt.Errorf("%s has host bits set; the prefix is %s", word, p.Masked())
	}
	return p.String(), nil
}

func (t prefixType) Hint() string {
	if t.six {
		return "X:X::X:X/LEN"
	}
	return "A.B.C.D/LEN|X:X::X:X/LEN"
}

// communityType is a community as AS:NUMBER (RFC 1997) or one of its well-known names.
type communityType struct{ plain }

func (communityType) Parse(word string) (string, error) {
	switch word {
	case "no-export", "no-advertise":
		return word, nil
	}
	high, low, found := strings.Cut(word, ":")
	a, err1 := strconv.ParseUint(high, 10, 16)
	b, err2 := strconv.ParseUint(low, 10, 16)
	if !found || err1 != nil || err2 != nil {
		return "", fmt.Errorf("expected a community (AS:NUMBER, no-export or no-advertise), found %q", word)
	}
	return fmt.Sprintf("%d:%d", a, b), nil
}

func (communityType) Hint() string { return "AS:NUMBER" }

// regexpType is a regular expression for AS paths.
type regexpType struct{ plain }

const maxRegexpBytes = 200

func (regexpType) Parse(word string) (string, error) {
	if _, err := regexp.Compile(word); err != nil || word == "" || len(word) > maxRegexpBytes {
		return "", fmt.Errorf("expected a regular expression of at most %d bytes, found %q", maxRegexpBytes, word)
	}
	return word, nil
}

func (regexpType) Hint() string { return "REGEXP" }

// prependType is an AS number, as often as it is to be prepended.
type prependType struct{ plain }

const maxPrepend = 10

func (t prependType) Parse(text string) (string, error) {
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > maxPrepend {
		return "", fmt.Errorf("expected 1 to %d AS numbers, found %d", maxPrepend, len(words))
	}
	for i, w := range words {
		canonical, err := t.Element().Parse(w)
		if err != nil {
			return "", err
		}
		if words[i] = canonical; canonical != words[0] {
			return "", fmt.Errorf("expected one AS number, repeated; found %s and %s", words[0], canonical)
		}
	}
	return strings.Join(words, " "), nil
}

func (prependType) Hint() string             { return "AS ..." }
func (prependType) Count() (least, most int) { return 1, maxPrepend }
func (prependType) Element() schema.Type     { return ASNumber() }
func (prependType) Separate() bool           { return true }

// ASNumber is the type of an AS number of four octets (RFC 6793), in plain decimal.
func ASNumber() schema.Type { return schema.Uint(1, 4294967294, "") }
