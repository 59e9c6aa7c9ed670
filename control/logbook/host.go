package logbook

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"vbng/control/clock"
)

// Host is a syslog server.
type Host struct {
	Address   string // with port
	VRF       string // whose way leads there; empty: the default one
	Transport string // "udp" or "tcp"
	Least     slog.Level
}

// Dial connects in a VRF.
type Dial func(ctx context.Context, vrf, network, address string) (net.Conn, error)

// HostState tells how it goes with a server.
type HostState struct {
	Address   string `show:"Server"`
	VRF       string `show:"VRF"`
	Transport string `show:"Transport"`
	Up        bool   `show:"Connected"`
	Sent      uint64 `show:"Sent"`
	Dropped   uint64 `show:"Dropped"`
	Error     string `show:"Last error"`
}

// message is a record on its way to a server.
type message struct {
	Record
	name string
}

const (
	queueLength  = 1024
	redialPause  = 5 * time.Second
	writeTimeout = 5 * time.Second
)

// host is a server with its queue.
type host struct {
	Host
	queue chan message
	stop  context.CancelFunc

	mu    sync.Mutex
	state HostState
}

// SetHosts makes these the servers. What was queued for one that goes is lost.
func (b *Book) SetHosts(wanted []Host, dial Dial) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var kept []*host
	for _, h := range b.hosts {
		if slices.Contains(wanted, h.Host) {
			kept = append(kept, h)
		} else {
			h.stop()
		}
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(kept, func(h *host) bool { return h.Host == w }) {
			kept = append(kept, begin(w, dial, b.clock))
		}
	}
	b.hosts = kept
}

// Hosts tells how it goes with the servers.
func (b *Book) Hosts() []HostState {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []HostState
	for _, h := range b.hosts {
		h.mu.Lock()
		all = append(all, h.state)
		h.mu.Unlock()
	}
	return all
}

func begin(w Host, dial Dial, c clock.Clock) *host {
	ctx, stop := context.WithCancel(context.Background())
	h := &host{Host: w, queue: make(chan message, queueLength), stop: stop,
		state: HostState{Address: w.Address, VRF: w.VRF, Transport: w.Transport}}
	go h.run(ctx, dial, c)
	return h
}

// offer queues a message, or drops it: the log waits for nobody.
func (h *host) offer(m message) {
	if m.Level < h.Least {
		return
	}
	select {
	case h.queue <- m:
	default:
		h.update(func(s *HostState) { s.Dropped++ })
	}
}

func (h *host) update(f func(*HostState)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.state)
}

// run sends until ctx ends. A message whose sending fails is dropped and counted.
func (h *host) run(ctx context.Context, dial Dial, c clock.Clock) {
	for ctx.Err() == nil {
		conn, err := dial(ctx, h.VRF, h.Transport, h.Address)
		if err == nil {
			h.update(func(s *HostState) { s.Up, s.Error = true, "" })
			err = h.send(ctx, conn)
			conn.Close()
		}
		if err != nil {
			h.update(func(s *HostState) { s.Up, s.Error = false, err.Error() })
		}
		rest(ctx, c)
	}
}

// send writes what is queued until that fails or ctx ends.
func (h *host) send(ctx context.Context, conn net.Conn) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-h.queue:
			text := m.format()
			if h.Transport == "tcp" {
				text = framed(text)
			}
			err := conn.SetWriteDeadline(time.Now().Add(writeTimeout))
			if err == nil {
				_, err = conn.Write([]byte(text))
			}
			if err != nil {
				h.update(func(s *HostState) { s.Dropped++ })
				return err
			}
			h.update(func(s *HostState) { s.Sent++ })
		}
	}
}

// rest waits for the pause between two connections.
func rest(ctx context.Context, c clock.Clock) {
	over := make(chan struct{})
	t := c.AfterFunc(redialPause, func() { close(over) })
	defer t.Stop()
	select {
	case <-over:
	case <-ctx.Done():
	}
}
