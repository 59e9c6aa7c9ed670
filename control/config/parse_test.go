package config

import (
	"errors"
	"strings"
	"testing"

	"vbng/control/config/sample"
	"vbng/control/schema"
)

func sampleSchema(t testing.TB) *schema.Node {
	t.Helper()
	root, err := sample.Schema()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// good parses text that must have no faults.
func good(t testing.TB, text string) *Tree {
	t.Helper()
	tree, faults := Parse(sampleSchema(t), text)
	for _, f := range faults {
		t.Errorf("unexpected fault: %v", f)
	}
	return tree
}

func TestSampleParses(t *testing.T) {
	tree := good(t, sample.Text)
	if got := tree.Entry("pppoe profile", "residential").Words("authentication"); len(got) != 2 || got[0] != "chap" {
		t.Errorf("authentication %q", got)
	}
	if got := tree.Entry("user", "alice").Text("password"); got != "wonderland" {
		t.Errorf("password %q", got)
	}
	if tree.Entry("ip route", "0.0.0.0/0", "198.51.100.2") == nil {
		t.Error("no default route")
	}
	if got := tree.Entry("interface", "core0").Prefix("ip address").String(); got != "198.51.100.1/24" {
		t.Errorf("address %s", got)
	}
	if got := tree.Entry("interface", "access0").Text("description"); got != "Subscribers, floor 2" {
		t.Errorf("description %q", got)
	}
}

func TestPrintParsePrint(t *testing.T) {
	for _, text := range []string{
		sample.Text,
		"user \"a b\"\n password \"say \\\"hi\\\" \\\\ | ! ?\"\n",
		"user !x\n password !y\n",
		"ip route 10.0.0.0/8 192.0.2.1 name a long text\nip route 10.0.0.0/8 192.0.2.2 tag 1 2 discard distance 5\n",
		"interface b10\ninterface b9\ninterface b9\n vlan 7\n  description x\n vlan 4\n",
		"ip ttl initial 64\nip ttl expire silent\n",
	} {
		tree := good(t, text)
		printed := Print(tree, Clear)
		if again := Print(good(t, printed), Clear); again != printed {
			t.Errorf("printed once:\n%s\nprinted twice:\n%s", printed, again)
		}
	}
}

func TestPrintIsStable(t *testing.T) {
	const want = `hostname a
!
interface b9
 vlan 4
 !
 vlan 7
  description x
 !
!
interface b10
!
ip route 10.0.0.0/8 192.0.2.1 distance 9
`
	text := "ip route 10.0.0.0/8 192.0.2.1 dist 9\nint b10\nint b9\nvlan 7\ndesc x\n!\nvlan 4\nexit\nend\nhost a\n"
	if got := Print(good(t, text), Clear); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestModeEndsAtALineOfAnOuterMode(t *testing.T) {
	tree := good(t, "interface a\ndescription x\nvlan 5\nhostname h\ninterface b\nshutdown\n")
	if tree.Text("hostname") != "h" || !tree.Entry("interface", "b").Flag("shutdown") {
		t.Error(Print(tree, Clear))
	}
	if tree.Entry("interface", "a").Entry("vlan", "5") == nil {
		t.Error("VLAN is not there")
	}
}

func TestInnerModeWinsOverOuter(t *testing.T) {
	tree := good(t, "ip pool p\n!\npppoe profile x\n ip pool p\n")
	if tree.Entry("pppoe profile", "x").Text("ip pool") != "p" {
		t.Error(Print(tree, Clear))
	}
}

// fault is what a test expects of one fault: its line, column and a part of its text.
type fault struct {
	line, column int
	text         string
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, text, left string
		faults           []fault
	}{
		{"unknown word", "hostname a\nfoo bar\n", "hostname a\n", []fault{{2, 0, `found "foo"`}}},
		{"value out of range", "engine\n workers 65\n", "", []fault{{2, 9, "a number from 1 to 64"}}},
		{"ambiguous", "interface a\n ip address 1.2.3.4/8\n!\np x\nh b\nu\n", "hostname b\n!\ninterface a\n ip address 1.2.3.4/8\n!\n",
			[]fault{{4, 2, "expected profile"}, {6, 1, "incomplete, expected NAME"}}},
		{"host bits", "ip route 10.0.0.1/8 1.1.1.1", "", []fault{{1, 9, "host bits set; the prefix is 10.0.0.0/8"}}},
		{"incomplete", "interface\nhostname h", "hostname h\n", []fault{{1, 9, "incomplete, expected NAME"}}},
		{"too much", "hostname a b", "", []fault{{1, 11, `nothing may follow here, found "b"`}}},
		{"twice", "pppoe profile p\n dns 1.1.1.1 1.1.1.1", "pppoe profile p\n!\n", []fault{{2, 13, `"1.1.1.1" is there twice`}}},
		{"open quote", "interface \"a\n", "", []fault{{1, 10, "not closed"}}},
		{"a mode whose key is bad takes its lines along", "interface -bad\n shutdown\n vlan 5\n  description x\nhostname h\n", "hostname h\n",
			[]fault{{1, 10, "NAME matching"}, {2, 0, "belongs to line 1"}, {3, 0, "belongs to line 1"}, {4, 0, "belongs to line 1"}}},
		{"an unknown mode takes its lines along", "bgp 65000\n hostname x\n!\ninterface a\n bogus\n  shutdown\n !\n description d\n", "interface a\n description d\n!\n",
			[]fault{{1, 0, `found "bgp"`}, {2, 1, "belongs to line 1"}, {5, 1, `found "bogus"`}, {6, 2, "belongs to line 5"}}},
		{"secret mask refused", "user a\n password <hidden>", "user a\n!\n", []fault{{2, 10, "type the secret itself"}}},
		{"nothing to remove", "no hostname", "", []fault{{1, 0, "nothing to remove"}}},
		{"control character", "hostname a\x01", "", []fault{{1, 9, "control characters"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, faults := Parse(sampleSchema(t), c.text)
			compareFaults(t, faults, c.faults)
			if got := Print(tree, Clear); got != c.left {
				t.Errorf("left:\n%s\nwant:\n%s", got, c.left)
			}
		})
	}
}

func compareFaults(t *testing.T, got []error, want []fault) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("faults %v, want %d", got, len(want))
	}
	for i, f := range got {
		var e *Error
		if !errors.As(f, &e) || e.Line != want[i].line || e.Column != want[i].column || !strings.Contains(e.Text, want[i].text) {
			t.Errorf("fault %d: %+v, want %+v", i, e, want[i])
		}
	}
}

func TestSecretsAreNotShownInFaults(t *testing.T) {
	for text, want := range map[string]int{
		"user a\n password wonder land\n":              1,
		"user a\n password \"wonder land\n":            1,
		"user a\n passwort wonder land\n":              1,
		"usr a\n password wonder land\n":               2,
		"user \x7f\n password wonderland\n":            2,
		"user \"\" \n pass wonderland\n!\n":            2,
		"user a\n!\nno user a password wonderland\n":   1,
		"user a\n password land\n no password wonder":  1,
		"user a b\n password wonderland\nhostname a\n": 2,
	} {
		_, faults := Parse(sampleSchema(t), text)
		if len(faults) != want {
			t.Errorf("%q: %v", text, faults)
		}
		for _, f := range faults {
			var e *Error
			errors.As(f, &e)
			if d := e.Detail(); strings.Contains(d, "wonder") || strings.Contains(d, "land") {
				t.Errorf("%q: %s", text, d)
			}
		}
	}
}

func TestDetailPointsAtTheColumn(t *testing.T) {
	_, faults := Parse(sampleSchema(t), "engine\n workers 65\n")
	var e *Error
	errors.As(faults[0], &e)
	const want = "line 2: engine: expected a number from 1 to 64, found \"65\"\n   workers 65\n           ^"
	if e.Detail() != want {
		t.Errorf("got\n%s\nwant\n%s", e.Detail(), want)
	}
}

func TestParseWithoutDropsLinesAndTheirModes(t *testing.T) {
	tree, faults := ParseWithout(sampleSchema(t), sample.Text, map[int]*Error{7: {Text: "no such device"}})
	if len(faults) != 3 || tree.Entry("interface", "access0") != nil || tree.Entry("interface", "core0") == nil {
		t.Errorf("faults %v\n%s", faults, Print(tree, Clear))
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample.Text)
	f.Add("user \"a b\"\n password \"\\\"\"\nno user x\n!\n end\n")
	f.Add("ip route 10.0.0.0/8 192.0.2.1 tag 1 2 name x y\nbogus\n  sub\n!\n")
	root := sampleSchema(f)
	f.Fuzz(func(t *testing.T, text string) {
		tree, _ := Parse(root, text)
		printed := Print(tree, Clear)
		again, faults := Parse(root, printed)
		if len(faults) > 0 {
			t.Fatalf("printed text has faults %v:\n%s", faults, printed)
		}
		if twice := Print(again, Clear); twice != printed {
			t.Fatalf("printed once:\n%s\nprinted twice:\n%s", printed, twice)
		}
		if d := Diff(tree, again); d != "" {
			t.Fatalf("difference:\n%s", d)
		}
	})
}

// FuzzLoad merges text onto a configuration with secrets: the result prints and parses, and a hidden secret is
// never taken for one.
func FuzzLoad(f *testing.F) {
	root := sampleSchema(f)
	known, _ := Parse(root, sample.Text)
	f.Add("user alice\n password <hidden>\n!\nno interface access0\n")
	f.Add("radius server r\n secret \"<hidden>\"\n!\nuser alice\n no password\n password <hidden>\n")
	f.Add("ip route 10.0.0.0/8 192.0.2.1 name <hidden>\nend\n\x04\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, onto := range []*Tree{known, New(root)} {
			tree, _, _ := Merge(onto, text, known)
			printed := Print(tree, Clear)
			again, faults := Parse(root, printed)
			if len(faults) > 0 || Print(again, Clear) != printed {
				t.Fatalf("faults %v of\n%s", faults, printed)
			}
			if strings.Contains(printed, standIn) && !strings.Contains(text, standIn) || strings.Contains(printed, "password <hidden>") {
				t.Fatalf("a mask became a secret:\n%s", printed)
			}
			if got := Print(tree, Hide); strings.Contains(got, "wonderland") && !strings.Contains(text, "wonderland") {
				t.Fatalf("a secret is shown:\n%s", got)
			}
			Explain(tree, Check(tree))
			ExplainText(tree, text, Check(tree))
		}
	})
}
