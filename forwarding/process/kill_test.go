package process

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/remote"
)

// forwarderSocket makes this test binary a forwarder on the socket it names.
const forwarderSocket = "VBNG_TEST_FORWARDER_SOCKET"

// TestForwarder is the child's body; run as a test of its own it does nothing.
func TestForwarder(t *testing.T) {
	path := os.Getenv(forwarderSocket)
	if path == "" {
		return
	}
	c := smallConfig()
	c.Path = path
	if err := Serve(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// spawn starts a child as a forwarder. Its output goes into a file: a test's output pipe would stay open.
func spawn(t *testing.T, path string) func() error {
	t.Setenv(forwarderSocket, path)
	return remote.Spawn("/bin/sh", "-c", `exec "$0" -test.run='^TestForwarder$' >>"$1.log" 2>&1`, os.Args[0], path)
}

type controlProcess struct {
	*remote.Client
	states chan entry.Event
	stop   func()
}

func startControl(t *testing.T, path string, start func() error) *controlProcess {
	t.Helper()
	c := &controlProcess{states: make(chan entry.Event, 100)}
	c.Client = remote.NewClient(remote.ClientConfig{
		Path: path, Start: start, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Events: func(e entry.Event) {
			if _, ok := e.(entry.ForwarderState); ok {
				c.states <- e
			}
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	c.stop = func() {
		cancel()
		<-over
	}
	return c
}

func (c *controlProcess) apply(t *testing.T, b *entry.Batch) entry.Result {
	t.Helper()
	answer := make(chan entry.Result, 1)
	c.Apply(b, func(r entry.Result) { answer <- r })
	return receive(t, answer)
}

func (c *controlProcess) await(t *testing.T, want entry.ForwarderState) {
	t.Helper()
	if got := receive(t, c.states); got != want {
		t.Fatalf("told %+v, want %+v", got, want)
	}
}

// A forwarder process is started, killed, and the next one programmed; a control that ends leaves it alone,
// and the next control attaches to it.
func TestKilledProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "forwarder.sock")
	first := startControl(t, path, spawn(t, path))
	b := &entry.Batch{}
	b.Put(entry.VRF{ID: 0}, entry.Port{ID: 1, Driver: entry.DriverPCAP, Device: ","},
		entry.Session{ID: 1, Port: 1, PeerMAC: entry.MAC{2}, PPPoE: 1, MTU: 1492},
		entry.Session{ID: 2, Port: 1, PeerMAC: entry.MAC{4}, PPPoE: 2, MTU: 1492})
	if r := first.apply(t, b); r.Err != nil {
		t.Fatal(r.Err)
	}
	first.Synced()
	first.await(t, entry.ForwarderState{Up: true})
	killed := first.Status().PID
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	first.await(t, entry.ForwarderState{Up: false})
	first.await(t, entry.ForwarderState{Up: true})
	pid := first.Status().PID
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	if pid == killed {
		t.Fatal("the forwarder is the one that was killed")
	}
	gone := &entry.Batch{}
	gone.Delete(entry.Session{ID: 2})
	if r := first.apply(t, gone); r.Err != nil || len(r.Finals) != 1 {
		t.Errorf("the new forwarder does not know the session: %+v", r)
	}
	first.stop()

	second := startControl(t, path, nil) // must find it alive
	second.Synced()
	second.await(t, entry.ForwarderState{Up: true})
	if got := second.Status().PID; got != pid {
		t.Errorf("attached to %d, want %d", got, pid)
	}
	second.stop()
}
