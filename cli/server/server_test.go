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
func start(t *testing.T) string { path, _ := startStreaming(t); return path }

// startStreaming also returns what is closed when "monitor clock", which runs once, has ended.
func startStreaming(t *testing.T) (path string, ended <-chan struct{}) {
	t.Helper()
	stopped := make(chan struct{})
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
	}}, &oper.Command{Words: "show who", Help: "Asks who asks", Run: func(_ context.Context, c oper.Call) (any, error) { return c.User, nil }},
		&oper.Command{Words: "monitor clock", Help: "Ticks", Stream: func(ctx context.Context, _ oper.Call, emit func(any) bool) error {
			defer close(stopped)
			for emit("tick") {
			}
			return ctx.Err()
		}})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "sock")
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
	return path, stopped
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
		if a, err := c.Line(line, io.Discard); err != nil || a.Error != "" {
			t.Fatalf("%s: %+v %v", line, a, err)
		}
	}
	if c.Prompt() != "x1(config)# " || c.Dirty() {
		t.Errorf("prompt %q", c.Prompt())
	}
	if a, err := c.Line("hostname _", io.Discard); err != nil || a.Column != 9 || a.Error == "" || c.Dirty() {
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
		a, err := c.Line("show slow", io.Discard)
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

// canceler stops the line when its first output comes.
type canceler struct{ c *client.Client }

func (x canceler) Write(b []byte) (int, error) { return len(b), x.c.Cancel() }

func TestStreamIsStopped(t *testing.T) {
	path, ended := startStreaming(t)
	c := dial(t, path)
	a, err := c.Line("monitor clock count 100000", canceler{c})
	if err != nil || a.Error != "" || !strings.Contains(a.Output, "pieces") {
		t.Errorf("%+v %v", a, err)
	}
	<-ended
	if a, err := c.Line("show who", io.Discard); err != nil || a.Output == "" {
		t.Errorf("after the stream: %+v %v", a, err)
	}
}

// hangingUp is a shell that dies at the first output.
type hangingUp struct{ c *client.Client }

func (x hangingUp) Write(b []byte) (int, error) { return len(b), x.c.Close() }

func TestDeadShellEndsStream(t *testing.T) {
	path, ended := startStreaming(t)
	c := dial(t, path)
	if _, err := c.Line("monitor clock count 100000", hangingUp{c}); err == nil {
		t.Error("a dead shell got an answer")
	}
	<-ended
}

func TestSessionEnds(t *testing.T) {
	c := dial(t, start(t))
	if a, err := c.Line("exit", io.Discard); err != nil || !a.Leave {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := c.Line("show who", io.Discard); err == nil {
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
	if err := json.NewDecoder(conn).Decode(&a); err != nil || !strings.Contains(a.Error, "protocol 99, the router 2") {
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
