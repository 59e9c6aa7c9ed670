package remote

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/punt"
)

// startPunts hands what comes out of the punt rings to receivers, on one goroutine, until stop is called,
// which waits for that.
func (c *Client) startPunts(m *sharedMemory) (stop func(), err error) {
	// A duplicate: the file below closes its descriptor, and the bell belongs to the memory.
	descriptor, err := unix.FcntlInt(uintptr(m.puntBell), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("duplicate punt bell: %w", err)
	}
	bell := os.NewFile(uintptr(descriptor), "punt bell")
	stopping, over := &atomic.Bool{}, make(chan struct{})
	go func() {
		defer close(over)
		c.receivePunts(stopping, bell, m.puntRings())
	}()
	return func() {
		stopping.Store(true)
		_ = bell.Close()
		<-over
	}, nil
}

// receivePunts sleeps on the bell and empties the rings, until it is to stop and the bell is closed.
func (c *Client) receivePunts(stopping *atomic.Bool, bell *os.File, rings []*punt.Ring) {
	var p entry.Punt
	var e entry.Event
	var count [8]byte
	for !stopping.Load() {
		if c.emptyRings(rings, &p, &e) || !allSleep(rings) {
			continue
		}
		if _, err := bell.Read(count[:]); errors.Is(err, os.ErrClosed) {
			return
		}
		for _, r := range rings {
			r.Awake()
		}
	}
}

// emptyRings takes at most a burst from each ring, so that none starves another.
func (c *Client) emptyRings(rings []*punt.Ring, p *entry.Punt, e *entry.Event) (any bool) {
	const burst = 64
	for _, r := range rings {
		for range burst {
			item := r.Pop(p, e)
			if item == punt.Nothing {
				break
			}
			any = true
			if item == punt.Event {
				c.config.Events(*e)
			} else {
				c.dispatch(p)
			}
		}
	}
	return any
}

// allSleep announces sleep on every ring, or on none.
func allSleep(rings []*punt.Ring) bool {
	for i, r := range rings {
		if !r.Sleep() {
			for _, earlier := range rings[:i] {
				earlier.Awake()
			}
			return false
		}
	}
	return true
}

func (c *Client) dispatch(p *entry.Punt) {
	r := c.config.Receivers[p.Class]
	if r == nil {
		c.puntLost.Add(1)
		return
	}
	r.Punt(*p)
}

func (c *Client) openInject(m *sharedMemory) {
	c.injectMu.Lock()
	defer c.injectMu.Unlock()
	c.inject = m.injectRings()
}

func (c *Client) closeInject() {
	c.injectMu.Lock()
	defer c.injectMu.Unlock()
	c.inject = nil
}

// Inject implements entry.Programmer. Frames of one port keep their order. What was applied and answered
// is in force when the frame goes out.
func (c *Client) Inject(port entry.PortID, frame []byte) bool {
	c.injectMu.Lock()
	defer c.injectMu.Unlock()
	if len(c.inject) > 0 {
		ring := c.inject[int(port)%len(c.inject)]
		if ring.Push(&entry.Punt{Port: port, Data: frame}) {
			return true
		}
	}
	c.injectLost.Add(1)
	return false
}
