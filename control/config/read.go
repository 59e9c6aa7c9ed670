package config

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Reading a tree. All methods accept a nil Tree, which is empty: a subsystem may walk into a
// container that is not configured. Values were checked against the schema when they were set, so
// the typed readers return the zero value where there is neither a value nor a default.

// Text returns a leaf's or key's canonical text, or its default.
func (t *Tree) Text(name string) string {
	text, _ := t.Lookup(name)
	return text
}

// Flag reports whether a flag is set.
func (t *Tree) Flag(name string) bool {
	_, set := t.Lookup(name)
	return set
}

// Uint returns a number.
func (t *Tree) Uint(name string) uint64 {
	n, _ := strconv.ParseUint(t.Text(name), 10, 64)
	return n
}

// Seconds returns a number of seconds as a duration.
func (t *Tree) Seconds(name string) time.Duration {
	return time.Duration(t.Uint(name)) * time.Second
}

// Addr returns an address.
func (t *Tree) Addr(name string) netip.Addr {
	a, _ := netip.ParseAddr(t.Text(name))
	return a
}

// Prefix returns a prefix; host bits are kept (an interface address is one).
func (t *Tree) Prefix(name string) netip.Prefix {
	p, _ := netip.ParsePrefix(t.Text(name))
	return p
}

// Words returns the words of a leaf that holds several.
func (t *Tree) Words(name string) []string { return strings.Fields(t.Text(name)) }

// Addrs returns the addresses of a leaf that holds several.
func (t *Tree) Addrs(name string) []netip.Addr {
	var addrs []netip.Addr
	for _, w := range t.Words(name) {
		if a, err := netip.ParseAddr(w); err == nil {
			addrs = append(addrs, a)
		}
	}
	return addrs
}

// MAC returns an Ethernet address; ok is false when there is none.
func (t *Tree) MAC(name string) (mac [6]byte, ok bool) {
	n, err := strconv.ParseUint(strings.ReplaceAll(t.Text(name), ":", ""), 16, 64)
	if err != nil {
		return mac, false
	}
	for i := range mac {
		mac[i] = byte(n >> (40 - 8*i))
	}
	return mac, true
}
