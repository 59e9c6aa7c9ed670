package vbng

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "vbng/"

// vocabulary packages import only each other; everyone may import them (ARCHITECTURE.md section 3).
var vocabulary = []string{
	"forwarding/wire", "forwarding/packet", "forwarding/entry", "qos", "aaa", "control/schema", "control/clock",
}

// layers says what the packages of a folder may import besides the vocabulary. A name with a trailing
// "/" is that package and everything below, one without is just the package. The first matching line holds.
var layers = []struct{ folder, may string }{
	{"cmd/vbng-sim/bench", "*"},
	{"cmd/vbng-sim/", "cmd/vbng-sim/ forwarding/port"},
	{"cmd/", "*"},
	{"plugins/host", "*"},
	{"plugins/", "plugins forwarding/graph forwarding/table qos/meter qos/sched control/loop control/store control/oper"},
	{"cli/", "cli/ control/"},
	{"routing/", "routing/ control/"},
	{"sessions/", "sessions/ control/"},
	{"aaa/", "aaa/ control/"},
	{"control/", "control/"},
	{"forwarding/", "forwarding/ qos/"},
	{"qos/", "qos/"},
	{"etc/lab/", "etc/lab/ cmd/vbng-sim/ control/netns"}, // never the router itself: it is tested from outside
}

type goPackage struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImportsFollowTheLayers(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < 10 {
		t.Fatalf("go list found only %d packages", len(packages))
	}
	for _, p := range packages {
		from := strings.TrimPrefix(p.ImportPath, module)
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			to, ours := strings.CutPrefix(imported, module)
			if ours && !mayImport(from, to) {
				t.Errorf("%s imports %s: forbidden by ARCHITECTURE.md section 3", from, to)
			}
		}
	}
}

func TestLayerRulesRefuse(t *testing.T) {
	for _, edge := range [][2]string{
		{"sessions", "aaa/radius"}, {"routing/rib", "sessions"}, {"aaa/coa", "routing/rib"}, {"forwarding/node", "control/loop"},
		{"control/commit", "forwarding"}, {"cli/grammar", "sessions"}, {"cmd/vbng-sim/pppoe", "sessions/ppp"},
		{"forwarding/entry", "forwarding/table"}, {"plugins/upf", "plugins/ipsec"}, {"sessions/pool", "forwarding"},
	} {
		if mayImport(edge[0], edge[1]) {
			t.Errorf("%s may import %s: the rules lost their teeth", edge[0], edge[1])
		}
	}
}

func mayImport(from, to string) bool {
	if from == to || slices.Contains(vocabulary, to) {
		return true
	}
	if slices.Contains(vocabulary, from) {
		return false
	}
	for _, l := range layers {
		if !under(from, l.folder) {
			continue
		}
		if l.may == "*" {
			return true
		}
		return slices.ContainsFunc(strings.Fields(l.may), func(allowed string) bool { return under(to, allowed) })
	}
	return false
}

// under reports whether a package is covered by a name of the table.
func under(pkg, name string) bool {
	folder, whole := strings.CutSuffix(name, "/")
	return pkg == folder || whole && strings.HasPrefix(pkg, folder+"/")
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-tags", "lab", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("decode go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// maxFileLines is the hard limit of ARCHITECTURE.md section 7.
const maxFileLines = 600

var forbiddenNames = []string{"util", "utils", "common", "helper", "helpers", "base", "misc"}

// TestHouseRules keeps what a reader relies on: short files, packages named for their reason, a
// package comment in each, and no work hidden in init functions.
func TestHouseRules(t *testing.T) {
	documented := map[string]bool{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(name, ".") || name == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		checkFile(t, name, documented)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, ok := range documented {
		if !ok {
			t.Errorf("%s: no package comment", folder)
		}
		if slices.Contains(forbiddenNames, path.Base(folder)) {
			t.Errorf("%s: a package is named for its reason to exist", folder)
		}
	}
}

func checkFile(t *testing.T, name string, documented map[string]bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(name)
	if !strings.HasSuffix(name, "_test.go") {
		documented[folder] = documented[folder] || file.Doc != nil
	}
	if lines := bytes.Count(text, []byte("\n")); lines > maxFileLines {
		t.Errorf("%s: %d lines, the limit is %d: split it by reason", name, lines, maxFileLines)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			t.Errorf("%s: has an init function", name)
		}
	}
}
