package remote

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// scriptedListener gives out errors, then connections.
type scriptedListener struct {
	errors []error
	conn   *net.UnixConn
	closed chan struct{}
}

func (l *scriptedListener) AcceptUnix() (*net.UnixConn, error) {
	if len(l.errors) > 0 {
		err := l.errors[0]
		l.errors = l.errors[1:]
		return nil, err
	}
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *scriptedListener) Close() error {
	close(l.closed)
	return nil
}

// A forwarder that is out of descriptors for a moment still takes the next control.
func TestAcceptGoesOnAfterAnError(t *testing.T) {
	l := &scriptedListener{errors: []error{unix.EMFILE}, conn: &net.UnixConn{}, closed: make(chan struct{})}
	accepted := make(chan *net.UnixConn, 1)
	go accept(t.Context(), l, accepted, quiet())
	if <-accepted == nil {
		t.Error("no connection")
	}
}

// The end of a control process is nobody's error, however it shows.
func TestEndOfControlIsNoError(t *testing.T) {
	for _, errno := range []unix.Errno{unix.EPIPE, unix.ECONNRESET, unix.EBADF} {
		var text bytes.Buffer
		s := newServer(nil, nil, nil, slog.New(slog.NewTextHandler(&text, nil)), 1)
		s.client = &peer{conn: newConn(&net.UnixConn{}), pid: 7, gone: make(chan struct{})}
		s.lose(&net.OpError{Op: "write", Err: os.NewSyscallError("write", errno)})
		if got, want := strings.Contains(text.String(), "ERROR"), errno == unix.EBADF; got != want {
			t.Errorf("%v: logged as an error: %v\n%s", errno, got, text.String())
		}
	}
}

// A forwarder whose memory cannot be used is tried again and again: nothing of it may stay open.
func TestFailedAttachClosesDescriptors(t *testing.T) {
	const workers = 2
	var descriptors []int
	for i := range 2 + 3*workers {
		d, err := unix.MemfdCreate(fmt.Sprint("unsealed", i), unix.MFD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		descriptors = append(descriptors, d)
	}
	if _, err := attachSharedMemory(hello{Layout: fakeLayout}, descriptors); err == nil {
		t.Fatal("memory that is not sealed was taken")
	}
	for i, d := range descriptors {
		if _, err := unix.FcntlInt(uintptr(d), unix.F_GETFD, 0); err != unix.EBADF {
			t.Errorf("descriptor %d of hello is still open", i)
			_ = unix.Close(d)
		}
	}
}
