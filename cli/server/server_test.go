package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vbng/cli/client"
	"vbng/cli/protocol"
	"vbng/cli/shell"
	"vbng/control/commit"
	"vbng/control/config/sample"
	"vbng/control/oper"
)

// start serves a router of the sample language and returns its socket's path.
func start(t *testing.T) string {
	t.Helper()
	root, err := sample.Schema()
	if err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	dir := t.TempDir()
	m, err := commit.New(commit.Options{StateDir: filepath.Join(dir, "state"), Schema: root, Logger: quiet})
	if err == nil {
		err = m.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := oper.NewRegistry()
	err = r.Add(&oper.Command{Words: "show slow", Help: "Waits", Run: func(ctx context.Context, _ oper.Call) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}, &oper.Command{Words: "show who", Help: "Asks who asks", Run: func(_ context.Context, c oper.Call) (any, error) { return c.User, nil }})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sock")
	s := New(path, shell.Options{Manager: m, Registry: r, Logger: quiet})
	l, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return path
}

func dial(t *testing.T, path string) *client.Client {
	t.Helper()
	c, err := client.Dial(path, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestConversation(t *testing.T) {
	path := start(t)
	c := dial(t, path)
	if c.Prompt() != "vbng# " {
		t.Errorf("prompt %q", c.Prompt())
	}
	for _, line := range []string{"configure", "hostname x1", "commit"} {
		if a, err := c.Line(line); err != nil || a.Error != "" {
			t.Fatalf("%s: %+v %v", line, a, err)
		}
	}
	if c.Prompt() != "x1(config)# " || c.Dirty() {
		t.Errorf("prompt %q", c.Prompt())
	}
	if a, err := c.Line("hostname _"); err != nil || a.Column != 9 || a.Error == "" || c.Dirty() {
		t.Errorf("%+v %v", a, err)
	}
	if a, err := c.Complete("hos"); err != nil || len(a.Choices) != 1 || a.Choices[0].Text != "hostname" || a.Start != 0 {
		t.Errorf("%+v %v", a, err)
	}
	if help, err := c.Help("engine "); err != nil || !strings.Contains(help, "<cr>") {
		t.Errorf("%q %v", help, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("%v %v", info, err)
	}
}

func TestCancelStopsALine(t *testing.T) {
	c := dial(t, start(t))
	answers := make(chan protocol.Answer)
	go func() {
		a, err := c.Line("show slow")
		if err != nil {
			t.Error(err)
		}
		answers <- a
	}()
	for { // a Cancel that comes before the line has begun is not for it
		if err := c.Cancel(); err != nil {
			t.Fatal(err)
		}
		select {
		case a := <-answers:
			if a.Error != "interrupted" {
				t.Errorf("%+v", a)
			}
			return
		default:
		}
	}
}

func TestSessionEnds(t *testing.T) {
	c := dial(t, start(t))
	if a, err := c.Line("exit"); err != nil || !a.Leave {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := c.Line("show who"); err == nil {
		t.Error("the session goes on")
	}
}

func TestVersionIsChecked(t *testing.T) {
	conn, err := net.Dial("unix", start(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(protocol.Request{Op: protocol.Hello, Version: 99}); err != nil {
		t.Fatal(err)
	}
	var a protocol.Answer
	if err := json.NewDecoder(conn).Decode(&a); err != nil || !strings.Contains(a.Error, "protocol 99, the router 1") {
		t.Errorf("%+v %v", a, err)
	}
}

func TestSecondRouterIsRefused(t *testing.T) {
	path := start(t)
	if _, err := New(path, shell.Options{}).Listen(); err == nil || !strings.Contains(err.Error(), "another router") {
		t.Errorf("error %v", err)
	}
}

func TestDeadSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	addr := &net.UnixAddr{Name: path, Net: "unix"}
	dead, err := net.ListenUnix("unix", addr)
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	l, err := New(path, shell.Options{}).Listen()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"op":"line","text":"show who"}`))
	f.Add([]byte(`{"op":"hello","version":1,"user":"x"}`))
	f.Add([]byte(`{"op":7}`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if r, err := Decode(b); err == nil {
			validName(r.User)
		}
	})
}
