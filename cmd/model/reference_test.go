package model

import (
	"flag"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vbng/cli/shell"
	"vbng/control/commit"
	"vbng/control/oper"
	"vbng/control/schema"
	"vbng/forwarding"
	"vbng/forwarding/process"
	"vbng/forwarding/remote"
)

var update = flag.Bool("update", false, "write the reference pages of docs anew")

func TestReferencePagesAreTrue(t *testing.T) {
	for _, p := range Pages() {
		want, err := p.Text()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("../../docs", p.Name+".md")
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("docs/%s.md is not what the router understands now: go test ./cmd/model -update", p.Name)
		}
	}
}

// TestEverythingHasHelp walks the schema and the commands: what "?" shows must say something.
func TestEverythingHasHelp(t *testing.T) {
	root, err := commit.MergeSchema(Subsystems())
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *schema.Node, path string)
	walk = func(n *schema.Node, path string) {
		for _, c := range slices.Concat(n.Keys, n.Children) {
			at := path + " / " + c.Name
			if strings.TrimSpace(c.Help) == "" || strings.HasSuffix(c.Help, ".") {
				t.Errorf("%s: the help text %q is empty or ends with a full stop", at, c.Help)
			}
			walk(c, at)
		}
	}
	walk(root, "")
	commands, err := Commands()
	if err != nil {
		t.Fatal(err)
	}
	exec, config := shell.Builtin()
	for _, c := range slices.Concat(commands, exec, config) {
		helpful(t, c)
	}
}

func helpful(t *testing.T, c *oper.Command) {
	t.Helper()
	if strings.TrimSpace(c.Help) == "" || (c.Run == nil) == (c.Stream == nil) {
		t.Errorf("command %q has no help or nothing to run", c.Words)
	}
	for _, a := range c.Args {
		if strings.TrimSpace(a.Help) == "" {
			t.Errorf("command %q: argument %s has no help", c.Words, a.Name)
		}
	}
}

// TestEveryCounterIsExplained starts a forwarder in this process and asks for the names of its counters.
func TestEveryCounterIsExplained(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	limits := forwarding.Limits{Sessions: 64, Routes: 1024, Routes6: 256, Neighbors: 64, Interfaces: 64, Ports: 8, VRFs: 8, Groups: 8, Buffers: 1024}
	local, err := process.NewLocal(process.Config{Limits: limits, Workers: 1, Log: quiet}, remote.ClientConfig{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	var there []string
	for deadline := time.Now().Add(10 * time.Second); len(there) == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for _, w := range local.Words() {
			there = append(there, w.Name)
		}
	}
	var explained []string
	for _, m := range meanings {
		explained = append(explained, m.name)
		if !slices.Contains(there, m.name) {
			t.Errorf("%s is explained, but no forwarder counts it", m.name)
		}
	}
	for _, name := range there {
		if _, what, _ := strings.Cut(name, "/"); what != "packets" && what != "vectors" && !slices.Contains(explained, name) {
			t.Errorf("%s is not explained in meanings.go", name)
		}
	}
}
