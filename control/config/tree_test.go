package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vbng/control/config/sample"
)

func TestReaders(t *testing.T) {
	tree := good(t, sample.Text+"interface core0\n mac 02:00:00:00:00:0a\n")
	profile := tree.Entry("pppoe profile", "residential")
	if got := profile.Seconds("echo-interval"); got != 10*time.Second {
		t.Errorf("echo-interval %v", got)
	}
	if got := profile.Uint("echo-misses"); got != 3 || profile.Configured("echo-misses") {
		t.Errorf("default echo-misses %d", got)
	}
	if got := profile.Addrs("dns"); len(got) != 2 || got[1].String() != "149.112.112.112" {
		t.Errorf("dns %v", got)
	}
	if mac, ok := tree.Entry("interface", "core0").MAC("mac"); !ok || mac != [6]byte{2, 0, 0, 0, 0, 10} {
		t.Errorf("mac %v %v", mac, ok)
	}
	if got := profile.LineOf("dns"); got == 0 || !strings.Contains(strings.Split(sample.Text, "\n")[got-1], "dns") {
		t.Errorf("line of dns %d", got)
	}
	var none *Tree
	if none.Text("x") != "" || none.Flag("x") || none.Container("x") != nil || none.List("x") != nil || none.Entry("x") != nil || !none.Empty() {
		t.Error("a nil tree is not empty")
	}
}

func TestOldTreesStayAsTheyWere(t *testing.T) {
	old := good(t, sample.Text)
	before := Print(old, Clear)
	b := old.Edit()
	for _, c := range []Change{
		{Action: Set, Path: Path{{Name: "interface", Keys: []string{"core0"}}}, Settings: []Setting{{"shutdown", ""}}},
		{Action: Enter, Path: Path{{Name: "interface", Keys: []string{"core1"}}}},
		{Action: Delete, Path: Path{{Name: "user", Keys: []string{"alice"}}}},
		{Action: Delete, Path: Path{{Name: "aaa"}}, Settings: []Setting{{"authentication", ""}}},
	} {
		if err := b.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	middle := b.Tree()
	printed := Print(middle, Clear)
	if err := b.Apply(Change{Action: Delete}); err != nil {
		t.Fatal(err)
	}
	if Print(old, Clear) != before || Print(middle, Clear) != printed || !b.Tree().Empty() {
		t.Error("an edit changed a tree that was handed out")
	}
	if middle.Container("aaa") != nil {
		t.Error("an empty container is still there")
	}
	if old.Entry("pppoe profile", "residential") != middle.Entry("pppoe profile", "residential") {
		t.Error("what did not change is not shared")
	}
}

func TestOneLineEntryIsReplacedWhole(t *testing.T) {
	tree := good(t, "ip route 10.0.0.0/8 192.0.2.1 distance 5 discard\nip route 10.0.0.0/8 192.0.2.1 tag 3\n")
	if got := Print(tree, Clear); got != "ip route 10.0.0.0/8 192.0.2.1 tag 3\n" {
		t.Error(got)
	}
}

func TestRemove(t *testing.T) {
	const text = "hostname h\ninterface a\n shutdown\n description x y\n!\nip route 10.0.0.0/8 192.0.2.1 distance 5\nip ttl initial 7\nuser u\n password p\n"
	for line, want := range map[string]string{ // want empty: done
		"no hostname":                      "",
		"no hostname h":                    "",
		"no hostname i":                    `hostname: is "h", not "i"`,
		"no interface a":                   "",
		"no interface b":                   "interface b: is not configured",
		"no ip ttl":                        "",
		"no ip ttl initial":                "",
		"no ip ttl expire silent":          "not configured",
		"no engine":                        "engine: is not configured",
		"no ip route 10.0.0.0/8 192.0.2.1": "",
		"no ip route 10.0.0.0/8 192.0.2.1 distance 5": "",
		"interface a\nno description":                 "",
		"interface a\nno description x y":             "",
		"interface a\nno shut":                        "",
		"user u\nno password q":                       "the secret is another one",
	} {
		tree := good(t, text)
		changed, _, faults := Merge(tree, line, nil)
		switch {
		case want == "" && (len(faults) > 0 || Diff(tree, changed) == "" || strings.Contains(Diff(tree, changed), "+ ")):
			t.Errorf("%s: %v\n%s", line, faults, Diff(tree, changed))
		case want != "" && (len(faults) != 1 || !strings.Contains(faults[0].Error(), want)):
			t.Errorf("%s: %v", line, faults)
		}
	}
}

func TestDiff(t *testing.T) {
	old := good(t, "hostname h\ninterface a\n description x\n vlan 5\n!\ninterface b\nip pool p\n range 1.1.1.1 1.1.1.2\n range 2.2.2.1 2.2.2.2\n!\nuser u\n password p\n")
	new := good(t, "hostname i\ninterface a\n vlan 5\n  description y\n!\n!\ninterface c\n shutdown\nip pool p\n range 2.2.2.1 2.2.2.2\n range 1.1.1.1 1.1.1.2\n!\nuser u\n password q\n")
	const want = `- hostname h
+ hostname i
  interface a
-  description x
   vlan 5
+   description y
   !
  !
- interface b
- !
+ interface c
+  shutdown
+ !
  ip pool p
-  range 1.1.1.1 1.1.1.2
   range 2.2.2.1 2.2.2.2
+  range 1.1.1.1 1.1.1.2
  !
  user u
-  password <hidden>
+  password <hidden>
  !
`
	// The line that did not move is no difference and is not printed.
	if got := Diff(old, new); got != strings.Replace(want, "   range 2.2.2.1 2.2.2.2\n", "", 1) {
		t.Errorf("got\n%s", got)
	}
	if Diff(old, old) != "" || Diff(nil, nil) != "" {
		t.Error("equal trees differ")
	}
}

func TestCheck(t *testing.T) {
	tree := good(t, "interface a\n pppoe profile p\n!\npppoe profile q\n ip pool r\n ip unnumbered a\n!\nuser u\n ip address 1.1.1.1\n!\n")
	var got []string
	for _, f := range Check(tree) {
		got = append(got, f.Error())
	}
	want := []string{
		`line 2: interface a / pppoe profile: pppoe profile "p" is not defined (defined: q)`,
		`line 5: pppoe profile q / ip pool: ip pool "r" is not defined`,
		`line 8: user u: password must be set`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestLocate(t *testing.T) {
	tree := good(t, sample.Text)
	for path, part := range map[string]string{
		"interface access0 / pppoe profile": "pppoe profile residential", "interface core0": "interface core0",
		"interface core0 / mtu": "interface core0", "nothing": "",
	} {
		line := Locate(tree, path)
		if got := strings.Split("\n"+sample.Text, "\n")[line]; !strings.Contains(got, part) || (line == 0) != (part == "") {
			t.Errorf("%s: line %d, %q", path, line, got)
		}
	}
}

func TestKeysSortNaturally(t *testing.T) {
	names := []string{"a10", "a2", "a02", "10.0.0.0/8", "9.0.0.0/8", "b", "a", "9.0.0.0/16"}
	slices.SortFunc(names, compareNatural)
	if want := []string{"9.0.0.0/8", "9.0.0.0/16", "10.0.0.0/8", "a", "a02", "a2", "a10", "b"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
}

func TestLargeConfigurationIsNotQuadratic(t *testing.T) {
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "user u%d\n password p\n!\n", i)
	}
	tree := good(t, b.String())
	if len(tree.List("user")) != 20000 || tree.Entry("user", "u19999") == nil {
		t.Error("users are missing")
	}
}

// Equal goes by the nodes, not by the text; it must say what comparing the text would.
func TestEqualIsThatOfTheText(t *testing.T) {
	full := good(t, sample.Text)
	trees := []*Tree{nil, New(full.Node()), full, good(t, sample.Text)}
	for _, c := range []Change{
		{Action: Enter, Path: Path{{Name: "aaa"}}},
		{Action: Enter, Path: Path{{Name: "interface", Keys: []string{"core1"}}}},
		{Action: Set, Path: Path{{Name: "user", Keys: []string{"alice"}}}, Settings: []Setting{{"password", "another"}}},
		{Action: Set, Path: Path{{Name: "interface", Keys: []string{"core0"}}}, Settings: []Setting{{"shutdown", ""}}},
		{Action: Delete, Path: Path{{Name: "user", Keys: []string{"alice"}}}},
		{Action: Delete, Path: Path{{Name: "aaa"}}},
	} {
		for _, from := range []*Tree{trees[1], full} {
			if tree, err := from.With(c); err == nil {
				trees = append(trees, tree)
			}
		}
	}
	for i, a := range trees {
		for j, b := range trees {
			if got, want := Equal(a, b), Print(a, Clear) == Print(b, Clear); got != want {
				t.Errorf("trees %d and %d: equal %v, want %v", i, j, got, want)
			}
		}
	}
}

// An operator pastes thousands of lines, and after each one the shell asks whether there are edits.
func TestEqualPassesOverWhatIsShared(t *testing.T) {
	large := New(good(t, sample.Text).Node())
	var err error
	for i := range 2000 {
		name := fmt.Sprintf("user%d", i)
		if large, err = large.With(Change{Action: Enter, Path: Path{{Name: "user", Keys: []string{name}}}}); err != nil {
			t.Fatal(err)
		}
	}
	edited, err := large.With(Change{Action: Enter, Path: Path{{Name: "user", Keys: []string{"user7"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() { Equal(large, edited) }); n > 100 {
		t.Errorf("%v allocations to compare two trees that share 1999 of 2000 entries", n)
	}
}
