package schema

import (
	"fmt"
	"net/netip"
)

// Addr6 is an IPv6 address, without zone, in the form of RFC 5952.
func Addr6() Type { return addr6Type{} }

type addr6Type struct{ plain }

func (addr6Type) Parse(word string) (string, error) {
	a, err := netip.ParseAddr(word)
	if err != nil || a.Zone() != "" || a.Is4() || a.Is4In6() {
		return "", wrong("an IPv6 address (X:X::X:X)", word)
	}
	return a.String(), nil
}

func (addr6Type) Hint() string { return "X:X::X:X" }

// Prefix6 is an IPv6 prefix whose host bits are zero.
func Prefix6() Type { return prefix6Type{} }

// InterfacePrefix6 is an IPv6 address with its prefix length; the host bits are kept.
func InterfacePrefix6() Type { return prefix6Type{host: true} }

type prefix6Type struct {
	plain
	host bool
}

func (t prefix6Type) Parse(word string) (string, error) {
	p, err := netip.ParsePrefix(word)
	if err != nil || p.Addr().Is4() || p.Addr().Is4In6() {
		return "", wrong("an IPv6 prefix (X:X::X:X/LEN)", word)
	}
	if !t.host && p != p.Masked() {
		return "", fmt.Errorf("%s has host bits set; the prefix is %s", word, p.Masked())
	}
	return p.String(), nil
}

func (prefix6Type) Hint() string { return "X:X::X:X/LEN" }
