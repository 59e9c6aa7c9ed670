package port

import (
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// HotPlug is a port whose device may be missing, appear, and vanish. Without a device nothing is received
// and everything to be sent is dropped. Watch, called once per second by the forwarder's control thread,
// looks after the device; workers find it through an atomic pointer.
//
// Its descriptor is that of an epoll instance and stays the same for the port's life, so that a worker that
// sleeps on it notices a device that appeared meanwhile.
type HotPlug struct {
	entry   entry.Port
	open    func(entry.Port) (Port, error)
	poll    int // epoll instance
	current atomic.Pointer[plugged]

	mu     sync.Mutex // Watch and Close; workers never take it
	state  entry.PortState
	gone   *plugged                           // unplugged, perhaps still in a worker's hands
	before entry.PortCounters                 // of devices that are gone
	drops  map[string]Drop                    // of devices that are gone
	last   atomic.Pointer[entry.PortCounters] // told
	absent atomic.Uint64                      // sent while there was no device
	inside [2]atomic.Bool                     // a worker is in Receive, in Transmit
}

// plugged is a device of the moment.
type plugged struct{ port Port }

const (
	receiving = iota
	transmitting
)

// NewHotPlug returns a port that opens its device by open, now if it can.
func NewHotPlug(e entry.Port, open func(entry.Port) (Port, error)) (*HotPlug, error) {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make epoll instance for port %d: %w", e.ID, err)
	}
	h := &HotPlug{entry: e, open: open, poll: poll, drops: map[string]Drop{}}
	h.last.Store(&entry.PortCounters{})
	h.Watch()
	return h, nil
}

// Receive implements Port.
func (h *HotPlug) Receive(pool *packet.Pool, v *packet.Vector) int {
	h.inside[receiving].Store(true)
	n := 0
	if p := h.current.Load(); p != nil {
		n = p.port.Receive(pool, v)
	}
	h.inside[receiving].Store(false)
	return n
}

// Transmit implements Port.
func (h *HotPlug) Transmit(pool *packet.Pool, v *packet.Vector) {
	h.inside[transmitting].Store(true)
	if p := h.current.Load(); p != nil {
		p.port.Transmit(pool, v)
	} else {
		h.absent.Add(uint64(v.N))
		for i := range v.N {
			pool.Give(v.Index[i])
		}
	}
	h.inside[transmitting].Store(false)
}

// Watch opens the device if it is missing, and lets go of one that vanished. It reports whether the
// port's state changed.
func (h *HotPlug) Watch() (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.state
	h.bury()
	if p := h.current.Load(); p != nil {
		h.state = p.port.State()
		if h.state.Err != "" {
			h.unplug(p)
		}
	} else if h.gone == nil {
		h.plug()
	}
	return h.state != before
}

func (h *HotPlug) plug() {
	p, err := h.open(h.entry)
	if err == nil {
		err = h.listen(p)
	}
	if err != nil {
		h.state = entry.PortState{Port: h.entry.ID, MAC: h.entry.MAC, Err: err.Error()}
		return
	}
	h.state = p.State()
	h.current.Store(&plugged{p})
}

// listen lets the port's descriptor wake who sleeps on ours; it goes out of the instance by being closed.
func (h *HotPlug) listen(p Port) error {
	descriptor := p.Descriptor()
	if descriptor < 0 {
		return nil
	}
	event := &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(descriptor)}
	if err := unix.EpollCtl(h.poll, unix.EPOLL_CTL_ADD, descriptor, event); err != nil {
		_ = p.Close()
		return fmt.Errorf("watch descriptor of %s: %w", h.entry.Device, err)
	}
	return nil
}

// unplug takes a device away from the workers. A dead device's descriptor polls readable for ever, so it
// stops waking them at once; the device itself is closed when no worker is inside any more.
func (h *HotPlug) unplug(p *plugged) {
	h.current.Store(nil)
	if d := p.port.Descriptor(); d >= 0 {
		_ = unix.EpollCtl(h.poll, unix.EPOLL_CTL_DEL, d, nil)
	}
	h.gone = p
	h.bury()
}

// bury closes the device that was unplugged, unless a worker may still hold it: one that entered before
// the pointer was cleared has raised its flag before it read the pointer.
func (h *HotPlug) bury() {
	if h.gone == nil || h.inside[receiving].Load() || h.inside[transmitting].Load() {
		return
	}
	h.before = h.before.Add(h.gone.port.Counters())
	if d, ok := h.gone.port.(Dropper); ok {
		h.keepDrops(d.Drops())
	}
	_ = h.gone.port.Close()
	h.gone = nil
}

func (h *HotPlug) keepDrops(drops []Drop) {
	for _, d := range drops {
		d.Count += h.drops[d.Reason].Count
		h.drops[d.Reason] = d
	}
}

// Descriptor implements Port.
func (h *HotPlug) Descriptor() int { return h.poll }

// State implements Port: what Watch saw last.
func (h *HotPlug) State() entry.PortState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// SetMTU implements Resizer.
func (h *HotPlug) SetMTU(mtu uint16) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.current.Load(); p != nil {
		r, ok := p.port.(Resizer)
		if !ok {
			return errNotResizable
		}
		if err := r.SetMTU(mtu); err != nil {
			return err
		}
		h.state = p.port.State()
	}
	h.entry.MTU = mtu // of a device that appears later
	return nil
}

// Counters implements Port.
func (h *HotPlug) Counters() entry.PortCounters {
	if !h.mu.TryLock() { // Watch may be opening a device: a worker that asks must not wait for that
		return *h.last.Load()
	}
	defer h.mu.Unlock()
	c := h.before
	if p := h.held(); p != nil {
		c = c.Add(p.port.Counters())
	}
	c.OutputDrops += h.absent.Load()
	h.last.Store(&c)
	return c
}

// Drops implements Dropper.
func (h *HotPlug) Drops() []Drop {
	h.mu.Lock()
	defer h.mu.Unlock()
	drops := []Drop{{"no-device", "the device does not exist", h.absent.Load()}}
	p := h.held()
	if p == nil {
		return drops
	}
	if d, ok := p.port.(Dropper); ok {
		for _, drop := range d.Drops() {
			drop.Count += h.drops[drop.Reason].Count
			drops = append(drops, drop)
		}
	}
	return drops
}

// held returns the device that counts at the moment, nil if there is none.
func (h *HotPlug) held() *plugged {
	if h.gone != nil {
		return h.gone
	}
	return h.current.Load()
}

// Close implements Port. No worker may use the port any more.
func (h *HotPlug) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	for _, p := range []*plugged{h.current.Swap(nil), h.gone} {
		if p != nil {
			err = p.port.Close()
		}
	}
	h.gone = nil
	_ = unix.Close(h.poll)
	return err
}
