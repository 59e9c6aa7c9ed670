package remote

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Local is both ends of the border in one process, for tests and benchmarks: the same server and client,
// codec, rings and memory files, over a socket pair.
type Local struct {
	*Client
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// NewLocal starts an engine and a client for it. Path and Start are not used.
func NewLocal(server ServeConfig, client ClientConfig) *Local {
	ctx, cancel := context.WithCancel(context.Background())
	accepted := make(chan *net.UnixConn)
	client.Start = nil
	client.dial = func() (*net.UnixConn, error) { return dialPair(ctx, accepted) }
	l := &Local{Client: NewClient(client), cancel: cancel}
	l.done.Go(func() {
		if err := serve(ctx, server, accepted); err != nil {
			server.Log.Error("forwarder", "error", err)
		}
	})
	l.done.Go(func() {
		if err := l.Run(ctx); err != nil {
			client.Log.Error("control's end of the border", "error", err)
		}
	})
	return l
}

// Close ends both.
func (l *Local) Close() {
	l.cancel()
	l.done.Wait()
}

// dialPair makes a socket pair and hands one end to the server.
func dialPair(ctx context.Context, accepted chan<- *net.UnixConn) (*net.UnixConn, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make socket pair: %w", err)
	}
	theirs, err := connOf(pair[0])
	if err != nil {
		_ = unix.Close(pair[1])
		return nil, err
	}
	ours, err := connOf(pair[1])
	if err != nil {
		_ = theirs.Close()
		return nil, err
	}
	select {
	case accepted <- theirs:
		return ours, nil
	case <-ctx.Done():
		_ = theirs.Close()
		_ = ours.Close()
		return nil, ctx.Err()
	}
}

func connOf(descriptor int) (*net.UnixConn, error) {
	file := os.NewFile(uintptr(descriptor), "forwarder")
	defer file.Close() // FileConn duplicates
	c, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("use socket pair: %w", err)
	}
	return c.(*net.UnixConn), nil
}
