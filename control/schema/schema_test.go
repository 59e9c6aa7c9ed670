package schema

import (
	"strings"
	"testing"
)

func TestTypes(t *testing.T) {
	vlans := Words(VLAN(), 1, 2)
	for _, c := range []struct {
		of          Type
		word, want  string // want empty: a fault
		fault, hint string
	}{
		{Uint(1, 10, "seconds"), "007", "7", "", "<1-10 seconds>"},
		{Uint(1, 10, "seconds"), "11", "", `expected a number from 1 to 10 (seconds), found "11"`, ""},
		{Uint(0, 10, ""), "-1", "", "from 0 to 10", "<0-10>"},
		{Uint(0, 10, ""), "1e1", "", "from 0 to 10", ""},
		{VLAN(), "4095", "", "from 1 to 4094", "<1-4094>"},
		{Name(), "ge-0/0/1.7", "ge-0/0/1.7", "", "NAME"},
		{Name(), "-x", "", "NAME matching", ""},
		{Name(), strings.Repeat("x", 65), "", "at most 64 bytes, found 65", ""},
		{String(9, "", "WORD"), "a\tb", "", "control character U+0009", ""},
		{String(9, "", "WORD"), "a\xff", "", "not valid UTF-8", ""},
		{String(9, "", "WORD"), "", "", "expected WORD", ""},
		{Text(), "some text", "some text", "", "TEXT"},
		{Secret(), "s", "s", "", "SECRET"},
		{Secret(), Hidden, "", "stands for a secret", ""},
		{Enum("chap", "pap", "path"), "c", "chap", "", "chap|pap|path"},
		{Enum("chap", "pap", "path"), "pap", "pap", "", ""},
		{Enum("chap", "pap", "path"), "p", "", `"p" is ambiguous: pap, path`, ""},
		{Enum("chap", "pap"), "eap", "", `expected one of chap, pap, found "eap"`, ""},
		{Addr4(), "192.0.2.1", "192.0.2.1", "", "A.B.C.D"},
		{Addr4(), "2001:db8::1", "", "IPv4 address", ""},
		{Addr4(), "192.0.2.01", "", "IPv4 address", ""},
		{Addr(), "2001:DB8:0::1", "2001:db8::1", "", ""},
		{Addr(), "fe80::1%eth0", "", "IP address", ""},
		{Addr(), "::ffff:192.0.2.1", "", "IP address", ""},
		{Prefix4(), "10.0.0.0/8", "10.0.0.0/8", "", "A.B.C.D/LEN"},
		{Prefix4(), "10.0.0.1/8", "", "the prefix is 10.0.0.0/8", ""},
		{Prefix4(), "10.0.0.0", "", "IPv4 prefix", ""},
		{InterfacePrefix4(), "10.0.0.1/8", "10.0.0.1/8", "", ""},
		{MAC(), "AA-BB-cc-00-01-02", "aa:bb:cc:00:01:02", "", ""},
		{MAC(), "aabb.cc00.0102", "aa:bb:cc:00:01:02", "", ""},
		{MAC(), "aabb:cc00:0102", "", "MAC address", ""},
		{MAC(), "gg:bb:cc:00:01:02", "", "MAC address", ""},
		{MAC(), "+1:bb:cc:00:01:02", "", "MAC address", ""},
		{vlans, "7  08", "7 8", "", "<1-4094> ..."},
		{vlans, "7 8 9", "", "expected 1 to 2 values, found 3", ""},
		{vlans, "7 07", "", `"7" is there twice`, ""},
	} {
		got, err := c.of.Parse(c.word)
		if got != c.want || (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%T %q: %q, %v; want %q, %q", c.of, c.word, got, err, c.want, c.fault)
		}
		if c.hint != "" && c.of.Hint() != c.hint {
			t.Errorf("%T: hint %q, want %q", c.of, c.of.Hint(), c.hint)
		}
		if again, err := c.of.Parse(got); c.fault == "" && (err != nil || again != got) {
			t.Errorf("%T: canonical %q is read as %q, %v", c.of, got, again, err)
		}
	}
}

func leaf(name string, of Type) *Node { return &Node{Name: name, Kind: Leaf, Help: "help", Type: of} }

func TestMergeJoinsContainers(t *testing.T) {
	list := func(children ...*Node) []*Node {
		return []*Node{{Name: "interface", Kind: List, Mode: "config-if", Help: "help", Keys: []*Node{leaf("name", Name())}, Children: children}}
	}
	first := list(leaf("a", Name()))
	root, err := Merge(first, list(leaf("b", Name())))
	if err != nil {
		t.Fatal(err)
	}
	if n := root.Child("interface"); n.Child("a") == nil || n.Child("b") == nil {
		t.Error("children are not joined")
	}
	if len(first[0].Children) != 1 {
		t.Error("Merge changed what it was given")
	}
	if _, err := Merge(list(leaf("a", Name())), list(leaf("a", Name()))); err == nil || !strings.Contains(err.Error(), "/interface/a: leaf or flag declared twice") {
		t.Errorf("error %v", err)
	}
	if _, err := Merge([]*Node{leaf("x", Name())}, []*Node{{Name: "x", Kind: Flag, Help: "help"}}); err == nil || !strings.Contains(err.Error(), "two kinds") {
		t.Errorf("error %v", err)
	}
}

func TestValidate(t *testing.T) {
	for want, n := range map[string]*Node{
		"needs help":                            {Name: "x", Kind: Flag},
		"needs keys":                            {Name: "x", Kind: List, Mode: "m", Help: "help"},
		"needs a type":                          {Name: "x", Kind: Leaf, Help: "help"},
		"default: expected a number":            {Name: "x", Kind: Leaf, Help: "help", Type: VLAN(), Default: "0"},
		`default "07" is not canonical`:         {Name: "x", Kind: Leaf, Help: "help", Type: VLAN(), Default: "07"},
		"one blank":                             {Name: "x  y", Kind: Flag, Help: "help"},
		"unknown kind":                          {Name: "x", Help: "help"},
		`refers to "nothing"`:                   {Name: "x", Kind: Leaf, Help: "help", Type: Name(), Ref: "nothing"},
		"needs children":                        {Name: "x", Kind: Container, Help: "help"},
		"must be one word":                      {Name: "x", Kind: List, Help: "help", Keys: []*Node{leaf("k", Text())}},
		"must be the last leaf":                 {Name: "x", Kind: List, Help: "help", Keys: []*Node{leaf("k", Name())}, Children: []*Node{leaf("a", Text()), leaf("b", Name())}},
		"leaves and flags only":                 {Name: "x", Kind: List, Help: "help", Keys: []*Node{leaf("k", Name())}, Children: []*Node{{Name: "c", Kind: Container, Help: "help", Children: []*Node{leaf("a", Name())}}}},
		"the name is declared twice":            {Name: "x", Kind: List, Mode: "m", Help: "help", Keys: []*Node{leaf("k", Name())}, Children: []*Node{leaf("k", Name())}},
		`its value may be "b", which begins "a`: {Name: "x", Kind: Container, Help: "help", Children: []*Node{leaf("a", Name()), leaf("a b c", Name())}},
	} {
		root, err := Merge([]*Node{n})
		if err != nil {
			t.Fatal(err)
		}
		faults := Validate(root)
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), want) {
			t.Errorf("%q: %v", want, faults)
		}
	}
}
