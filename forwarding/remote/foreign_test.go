package remote

import (
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"vbng/forwarding/entry"
)

// A forwarder of another entry format is left alone, and what was applied meanwhile is programmed into the
// one that follows it.
func TestForeignForwarderIsLeftAlone(t *testing.T) {
	path := socketPath(t)
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	leave := sync.OnceFunc(func() { old.Close() })
	t.Cleanup(leave)
	go turnAwayAll(old, VersionError{Control: entry.FormatVersion, Forwarder: 1})

	var next sync.Once
	c := startControl(t, path, func() error {
		next.Do(func() { startForwarder(t, path) })
		return nil
	})
	until(t, "the forwarder is known as foreign", func() bool { return c.Status().Foreign == 1 })
	until(t, "its process is known", func() bool { return c.Status().PID == os.Getpid() })
	applied := make(chan entry.Result, 1)
	c.Apply(put(accessPort), func(r entry.Result) { applied <- r })
	if c.Pending() == 0 {
		t.Error("a batch does not wait for the next forwarder")
	}
	leave()
	if r := <-applied; r.Err != nil {
		t.Errorf("applied to the next forwarder: %v", r.Err)
	}
	if s := c.Status(); s.Foreign != 0 || !s.Attached {
		t.Errorf("status %+v", s)
	}
}

// turnAwayAll answers every hello as a forwarder of another format does.
func turnAwayAll(l *net.UnixListener, v VersionError) {
	for {
		socket, err := l.AcceptUnix()
		if err != nil {
			return
		}
		conn := newConn(socket)
		if _, _, err := conn.receive(); err == nil {
			_ = conn.send(appendJSON(conn.begin(kindGoodbye), goodbye{Text: v.Error(), Version: &v}))
		}
		_ = socket.Close()
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("not within 10 s: %s", what)
}
