package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"vbng/forwarding/counter"
	"vbng/forwarding/entry"
	"vbng/forwarding/port"
	"vbng/forwarding/punt"
)

// ServeConfig says what the forwarder's side needs.
type ServeConfig struct {
	// Path is the socket. Beside it lies PATH.lock, held for the process's life.
	Path string
	// Layout is that of the engine's counters.
	Layout counter.Layout
	// RingDataBytes is the room of each ring; 0: 8 MB.
	RingDataBytes int
	// OpenPort opens what the engine is told to; nil: a port.Opener's Open, which knows no arena.
	OpenPort func(entry.Port) (port.Port, error)
	// Build makes the engine over what it shares with control. Close is called after the engine has
	// answered its last call.
	Build func(Shared) (Engine, error)
	Close func(Engine)
	Log   *slog.Logger
}

// Shared is the forwarder's view of what both processes map, and its way to ports.
type Shared struct {
	Counters     []byte
	Punt, Inject []*punt.Ring // one of each per worker
	OpenPort     func(entry.Port) (port.Port, error)
}

// defaultRingDataBytes holds the bursts of all punt classes.
const defaultRingDataBytes = 8 << 20

// Serve is the body of a forwarder process: it makes the shared memory and the engine, and serves one
// control after the other until ctx ends. A socket file that a dead forwarder left is replaced; a forwarder
// that lives is an error.
func Serve(ctx context.Context, config ServeConfig) error {
	// The log may be a pipe whose reader, control, is gone: that must not kill us.
	signal.Ignore(unix.SIGPIPE)
	listener, release, err := listen(config.Path)
	if err != nil {
		return err
	}
	defer release()
	accepted := make(chan *net.UnixConn)
	go accept(ctx, listener, accepted, config.Log)
	return serve(ctx, config, accepted)
}

// serve makes the engine and serves the connections that come out of accepted.
func serve(ctx context.Context, config ServeConfig, accepted <-chan *net.UnixConn) error {
	if config.RingDataBytes == 0 {
		config.RingDataBytes = defaultRingDataBytes
	}
	if config.OpenPort == nil {
		config.OpenPort = port.NewOpener(config.Log).Open
	}
	memory, err := makeSharedMemory(config.Layout, config.RingDataBytes)
	if err != nil {
		return fmt.Errorf("start forwarder: %w", err)
	}
	defer memory.close()
	ports := newPorts(config.OpenPort, config.Log)
	engine, err := config.Build(Shared{
		Counters: memory.counters.bytes, Punt: memory.puntRings(), Inject: memory.injectRings(), OpenPort: ports.Open,
	})
	if err != nil {
		return fmt.Errorf("start forwarder: %w", err)
	}
	if config.Close != nil {
		defer config.Close(engine)
	}
	config.Log.Info("forwarder runs", "pid", os.Getpid(), "workers", config.Layout.Workers)
	newServer(engine, memory, ports, config.Log, rand.Uint64()|1).run(ctx, accepted)
	return nil
}

// listen takes the lock, then the socket: whoever has the lock knows that a socket file is stale.
func listen(path string) (listener *net.UnixListener, release func(), err error) {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open forwarder's lock: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, nil, fmt.Errorf("another forwarder serves %s: %w", path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		_ = lock.Close()
		return nil, nil, fmt.Errorf("remove stale socket: %w", err)
	}
	listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		_ = lock.Close()
		return nil, nil, fmt.Errorf("listen for control: %w", err)
	}
	return listener, func() {
		_ = listener.Close()
		_ = lock.Close()
	}, nil
}

// acceptPause follows a failed accept: it fails for want of descriptors or memory, which may come back.
const acceptPause = 100 * time.Millisecond

// accept hands connections over until ctx ends. Nothing else may end it: no control would get in any more.
func accept(ctx context.Context, listener acceptor, accepted chan<- *net.UnixConn, log *slog.Logger) {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for ctx.Err() == nil {
		socket, err := listener.AcceptUnix()
		if err != nil {
			if ctx.Err() == nil {
				log.Error("control cannot connect", "error", err)
				time.Sleep(acceptPause)
			}
			continue
		}
		select {
		case accepted <- socket:
		case <-ctx.Done():
			_ = socket.Close()
		}
	}
}

// acceptor is a *net.UnixListener.
type acceptor interface {
	AcceptUnix() (*net.UnixConn, error)
	Close() error
}
