package sessions

import (
	"fmt"
	"net/netip"
	"strconv"

	"vbng/control/schema"
)

// plainType is what types of one unconstrained word have in common.
type plainType struct{}

// Words implements schema.Type.
func (plainType) Words() []string { return nil }

// Secret implements schema.Type.
func (plainType) Secret() bool { return false }

// addr6Type is an IPv6 address.
type addr6Type struct{ plainType }

// Parse implements schema.Type.
func (addr6Type) Parse(word string) (string, error) {
	a, err := netip.ParseAddr(word)
	if err != nil || !a.Is6() || a.Is4In6() || a.Zone() != "" {
		return "", fmt.Errorf("expected an IPv6 address, found %q", word)
	}
	return a.String(), nil
}

// Hint implements schema.Type.
func (addr6Type) Hint() string { return "X:X::X" }

// prefix6Type is an IPv6 prefix without host bits.
type prefix6Type struct{ plainType }

// Parse implements schema.Type.
func (prefix6Type) Parse(word string) (string, error) {
	p, err := netip.ParsePrefix(word)
	switch {
	case err != nil || !p.Addr().Is6() || p.Addr().Is4In6():
		return "", fmt.Errorf("expected an IPv6 prefix, found %q", word)
	case p.Masked() != p:
		return "", fmt.Errorf("expected a prefix without bits behind its length, such as %s, found %q", p.Masked(), word)
	}
	return p.String(), nil
}

// Hint implements schema.Type.
func (prefix6Type) Hint() string { return "X:X::/LEN" }

// mssType is a bound of the MSS: 0, or at least what every host takes (RFC 9293 3.7.1).
type mssType struct{ schema.Type }

// Parse implements schema.Type.
func (t mssType) Parse(word string) (string, error) {
	canonical, err := t.Type.Parse(word)
	if n, _ := strconv.Atoi(canonical); err == nil && n != 0 && n < minMSS {
		err = fmt.Errorf("expected 0, or %d to %d bytes, found %q", minMSS, maxMSS, word)
	}
	return canonical, err
}
