package schema

import "testing"

func TestIPv6Types(t *testing.T) {
	for _, c := range []struct {
		of         Type
		word, want string // want empty: refused
	}{
		{Addr6(), "2001:DB8:0:0::1", "2001:db8::1"}, {Addr6(), "192.0.2.1", ""}, {Addr6(), "::ffff:192.0.2.1", ""}, {Addr6(), "fe80::1%eth0", ""},
		{Prefix6(), "2001:db8::/32", "2001:db8::/32"}, {Prefix6(), "2001:db8::1/32", ""}, {Prefix6(), "192.0.2.0/24", ""},
		{InterfacePrefix6(), "2001:db8::1/64", "2001:db8::1/64"}, {InterfacePrefix6(), "2001:db8::1", ""},
	} {
		got, err := c.of.Parse(c.word)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, error %v, want %q", c.word, got, err, c.want)
		}
	}
}
