package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"vbng/forwarding/counter"

	"vbng/forwarding/entry"
)

const (
	firstBackOff = 50 * time.Millisecond
	maxBackOff   = 5 * time.Second
	// steadyAfter is how long a forwarder must have lived for its loss not to count as a failed start.
	steadyAfter = 10 * time.Second
	// startTimeout bounds the wait for a started forwarder to accept.
	startTimeout = 5 * time.Second
	startPoll    = 10 * time.Millisecond
	// foreignPoll is how often we look whether a forwarder of another format has gone. It adds to the
	// outage of its restart.
	foreignPoll = 50 * time.Millisecond
)

// link is an attached forwarder.
type link struct {
	conn   *conn
	hello  hello
	memory *sharedMemory
	since  time.Time
}

// Run attaches to a forwarder, starts one when there is none, programs it, and does so again whenever it
// is lost, until ctx ends (nil) or another control takes the forwarder over (ErrReplaced). A forwarder
// that speaks another entry format, as after an upgrade, is left alone: it goes on moving packets, and
// what control wants programmed waits until the operator has restarted it.
func (c *Client) Run(ctx context.Context) error {
	defer c.stop()
	backOff := firstBackOff
	lostAt := time.Time{}
	for ctx.Err() == nil {
		l, err := c.attach(ctx)
		if err == nil {
			err = c.serve(ctx, l, lostAt)
			lostAt = c.config.Clock.Now()
			if lostAt.Sub(l.since) >= steadyAfter {
				backOff = firstBackOff
			}
		}
		var foreign *VersionError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrReplaced):
			return err
		case errors.As(err, &foreign):
			lostAt = c.outlive(ctx, foreign)
			continue
		}
		c.config.Log.Error("no forwarder", "error", err, "next_try", backOff)
		c.wait(ctx, backOff)
		backOff = min(2*backOff, maxBackOff)
	}
	return nil
}

// outlive waits until the forwarder of another format has gone, and returns when that was.
func (c *Client) outlive(ctx context.Context, foreign *VersionError) time.Time {
	c.config.Log.Error("the forwarder goes on as it was programmed before; new sessions and changes wait until it is restarted",
		"format", foreign.Forwarder, "control_format", foreign.Control, "command", "restart forwarder")
	c.status.Store(&Status{Foreign: foreign.Forwarder})
	defer c.status.Store(&Status{})
	for ctx.Err() == nil {
		c.wait(ctx, foreignPoll)
		socket, err := c.dial()
		if err != nil {
			break
		}
		c.status.Store(&Status{Foreign: foreign.Forwarder, PID: peerPID(socket)})
		_ = socket.Close()
	}
	return c.config.Clock.Now()
}

// peerPID asks the kernel who listens at the other end; 0: it does not tell.
func peerPID(socket *net.UnixConn) int {
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}

func (c *Client) stop() {
	c.queue.stop()
	c.counters.close()
}

// wait lets d pass, or ctx end.
func (c *Client) wait(ctx context.Context, d time.Duration) {
	over := make(chan struct{})
	timer := c.config.Clock.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

func (c *Client) attach(ctx context.Context) (*link, error) {
	socket, err := c.reach(ctx)
	if err != nil {
		return nil, err
	}
	l, err := c.exchangeHellos(newConn(socket))
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	return l, nil
}

// reach connects to the forwarder, and starts one if nothing accepts.
func (c *Client) reach(ctx context.Context) (*net.UnixConn, error) {
	socket, err := c.dial()
	if err == nil || c.config.Start == nil {
		return socket, err
	}
	c.config.Log.Info("no forwarder accepts, starting one", "socket", c.config.Path)
	if err := c.config.Start(); err != nil {
		return nil, fmt.Errorf("start forwarder: %w", err)
	}
	for waited := time.Duration(0); waited < startTimeout && ctx.Err() == nil; waited += startPoll {
		if socket, err = c.dial(); err == nil {
			return socket, nil
		}
		c.wait(ctx, startPoll)
	}
	return nil, fmt.Errorf("started a forwarder, which does not accept: %w", err)
}

func (c *Client) dial() (*net.UnixConn, error) {
	if c.config.dial != nil {
		return c.config.dial()
	}
	socket, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: c.config.Path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("connect to forwarder: %w", err)
	}
	return socket, nil
}

func (c *Client) exchangeHellos(conn *conn) (*link, error) {
	mine := hello{Magic: magic, Version: entry.FormatVersion, PID: os.Getpid()}
	if err := conn.send(appendJSON(conn.begin(kindHello), mine)); err != nil {
		return nil, fmt.Errorf("greet forwarder: %w", err)
	}
	_ = conn.socket.SetReadDeadline(time.Now().Add(helloTimeout))
	k, body, descriptors, err := conn.receiveWithDescriptors()
	if err != nil {
		return nil, fmt.Errorf("read forwarder's hello: %w", err)
	}
	if k == kindGoodbye {
		closeAll(descriptors)
		return nil, parseGoodbye(body)
	}
	theirs, err := parseHello(body)
	if err == nil && (k != kindHello || theirs.Version != entry.FormatVersion) {
		err = &VersionError{Control: entry.FormatVersion, Forwarder: theirs.Version}
	}
	if err != nil {
		closeAll(descriptors)
		return nil, err
	}
	memory, err := attachSharedMemory(theirs, descriptors)
	if err != nil {
		return nil, err
	}
	_ = conn.socket.SetReadDeadline(time.Time{})
	return &link{conn, theirs, memory, c.config.Clock.Now()}, nil
}

// serve works with an attached forwarder until it is lost; lostAt is when the one before was.
func (c *Client) serve(ctx context.Context, l *link, lostAt time.Time) error {
	defer l.conn.socket.Close()
	view, err := counter.Map(l.memory.counters.bytes, l.hello.Layout)
	if err != nil {
		l.memory.close()
		return fmt.Errorf("attach to forwarder: %w", err)
	}
	c.counters.switchTo(view, l.memory, l.hello.Instance)
	c.generation = max(c.generation, l.hello.Generation) + 1
	c.config.Log.Info("attached to forwarder", "pid", l.hello.PID, "workers", l.hello.Layout.Workers, "generation", c.generation)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopClosing := context.AfterFunc(ctx, func() { _ = l.conn.socket.Close() })
	defer stopClosing()
	stopPunts, err := c.startPunts(l.memory)
	if err != nil {
		return err
	}
	c.setStatus(l, true, false)
	c.openInject(l.memory)
	err = c.work(ctx, l, lostAt)
	c.closeInject()
	stopPunts()
	c.setStatus(l, false, false)
	c.queue.rewind(c.synced.Load())
	if ctx.Err() == nil {
		c.config.Log.Error("forwarder lost", "pid", l.hello.PID, "error", err)
		c.config.Events(entry.ForwarderState{Up: false})
	}
	return err
}
