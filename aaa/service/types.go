package service

import (
	"fmt"
	"net/netip"
)

// word is what types of one word without fixed choices have in common.
type word struct{}

// Words implements schema.Type.
func (word) Words() []string { return nil }

// Secret implements schema.Type.
func (word) Secret() bool { return false }

// addr6Type is a subscriber's IPv6 address.
type addr6Type struct{ word }

// Parse implements schema.Type.
func (addr6Type) Parse(text string) (string, error) {
	a, err := netip.ParseAddr(text)
	if err != nil || !a.Is6() || a.Is4In6() || a.Zone() != "" {
		return "", fmt.Errorf("expected an IPv6 address, found %q", text)
	}
	return a.String(), nil
}

// Hint implements schema.Type.
func (addr6Type) Hint() string { return "X:X::X" }

// prefix6Type is an IPv6 prefix between two lengths, without host bits.
type prefix6Type struct {
	word
	least, most int
}

// Parse implements schema.Type.
func (t prefix6Type) Parse(text string) (string, error) {
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil || !p.Addr().Is6() || p.Addr().Is4In6():
		return "", fmt.Errorf("expected an IPv6 prefix, found %q", text)
	case p.Bits() < t.least || p.Bits() > t.most:
		return "", fmt.Errorf("expected %s, found %q", t.lengths(), text)
	case p.Masked() != p:
		return "", fmt.Errorf("expected a prefix without bits behind its length, such as %s, found %q", p.Masked(), text)
	}
	return p.String(), nil
}

func (t prefix6Type) lengths() string {
	if t.least == t.most {
		return fmt.Sprintf("a prefix of length %d", t.most)
	}
	return fmt.Sprintf("a prefix of length %d to %d", t.least, t.most)
}

// Hint implements schema.Type.
func (t prefix6Type) Hint() string {
	if t.least == t.most {
		return fmt.Sprintf("X:X::/%d", t.most)
	}
	return "X:X::/LEN"
}
