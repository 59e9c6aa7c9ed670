package check

import (
	"strings"
	"testing"

	"vbng/control/config"
	"vbng/control/config/sample"
)

func TestReport(t *testing.T) {
	root, err := sample.Schema()
	if err != nil {
		t.Fatal(err)
	}
	s := Schema{Root: root, Checks: []Check{func(_, new *config.Tree) []error {
		if new.Text("hostname") == "bad" {
			return []error{&config.Error{Path: "hostname", Text: "is bad"}}
		}
		return nil
	}}}
	for _, c := range []struct{ text, want string }{
		{sample.Text, ""},
		{"engine\n workers 65\n", "f:2:10: engine: expected a number from 1 to 64, found \"65\"\n   workers 65\n           ^\n"},
		{"interface a\n pppoe profile p\n", "f:2:16: interface a / pppoe profile: pppoe profile \"p\" is not defined\n  interface a\n   pppoe profile p\n                 ^\n"},
		{"hostname bad\npppoe profile q\n ip pool nix\n!\nengine\n workers 65\n!\nip pool\ninterface a\n pppoe profile q\n!\n",
			"f:1:10: hostname: is bad\n  hostname bad\n           ^\n" +
				"f:3:10: pppoe profile q / ip pool: ip pool \"nix\" is not defined\n  pppoe profile q\n   ip pool nix\n           ^\n" +
				"f:6:10: engine: expected a number from 1 to 64, found \"65\"\n   workers 65\n           ^\n" +
				"f:8:8: the line is incomplete, expected NAME\n  ip pool\n         ^\n"},
		{"user u\n pasword x\n!\nip poool x\n!\npppoe profile p\n ip pool x\n!\n",
			"f:2:2: user u: expected password or ip, found \"pasword\"\n   pasword ...\n   ^\n" +
				"f:4:4: expected ttl, route or pool, found \"poool\"\n  ip poool ...\n     ^\n"},
		{"\nhostname bad\n", "f:2:10: hostname: is bad\n  hostname bad\n           ^\n"},
	} {
		var b strings.Builder
		Report(&b, "f", Text(s, c.text))
		if b.String() != c.want {
			t.Errorf("got\n%s\nwant\n%s", b.String(), c.want)
		}
	}
}
