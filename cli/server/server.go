// Package server lets operators' shells into the router: a Unix socket, a session for each shell.
//
// Whoever may open the socket is an operator; its mode and group decide. Who it is, is told by the
// kernel, and by the shell itself only if it runs as root (sudo, SSH).
package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"vbng/cli/shell"
)

// maxSessions bounds the shells that are connected at once.
const maxSessions = 64

// Server accepts shells.
type Server struct {
	path    string
	options shell.Options
	logger  *slog.Logger
}

// New returns a server for the socket at a path.
func New(path string, options shell.Options) *Server {
	logger := options.Logger
	if logger == nil {
		logger = slog.Default()
	}
	return &Server{path: path, options: options, logger: logger}
}

// Listen makes the socket, mode 0660. A socket that a dead router left is replaced; one that answers
// is not.
func (s *Server) Listen() (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return nil, fmt.Errorf("create socket directory: %w", err)
	}
	if c, err := net.DialTimeout("unix", s.path, time.Second); err == nil {
		c.Close()
		return nil, fmt.Errorf("listen on %s: another router answers there", s.path)
	}
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	l, err := net.Listen("unix", s.path)
	if err != nil {
		return nil, fmt.Errorf("listen for shells: %w", err)
	}
	if err := os.Chmod(s.path, 0o660); err != nil {
		l.Close()
		return nil, fmt.Errorf("set mode of socket: %w", err)
	}
	return l, nil
}

// Run serves shells until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	l, err := s.Listen()
	if err != nil {
		return err
	}
	return s.Serve(ctx, l)
}

// Serve serves the shells that come to a listener until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	defer l.Close()
	var sessions sync.WaitGroup
	defer sessions.Wait()
	places := make(chan struct{}, maxSessions)
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("accept shell: %w", err)
		}
		select {
		case places <- struct{}{}:
		default:
			s.logger.Warn("shell refused, too many are connected", "limit", maxSessions)
			c.Close()
			continue
		}
		sessions.Go(func() {
			defer func() { <-places }()
			newConversation(s, c).run(ctx)
		})
	}
}

// peerName returns the name of the user at the other end, and whether it is root.
func peerName(c net.Conn) (name string, root bool) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return "unknown", false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return "unknown", false
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err != nil || credErr != nil {
		return "unknown", false
	}
	id := strconv.FormatUint(uint64(cred.Uid), 10)
	if known, err := user.LookupId(id); err == nil {
		return known.Username, cred.Uid == 0
	}
	return "uid-" + id, cred.Uid == 0
}
