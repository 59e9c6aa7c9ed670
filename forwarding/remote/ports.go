package remote

import (
	"errors"
	"log/slog"
	"sync"

	"vbng/forwarding/entry"
	"vbng/forwarding/port"
)

// ports knows the ports that the engine has open. It looks after their devices, and remembers which
// states control was told.
type ports struct {
	opener func(entry.Port) (port.Port, error)
	log    *slog.Logger

	mu   sync.Mutex // the engine may close a port on any of its goroutines
	open map[entry.PortID]*watchedPort
}

// watchedPort is a port in the engine's hands.
type watchedPort struct {
	port.Port
	owner *ports
	entry entry.Port
	seen  entry.PortState // by watch
	told  *entry.PortState
	drops map[string]uint64 // already logged
}

func newPorts(opener func(entry.Port) (port.Port, error), log *slog.Logger) *ports {
	return &ports{opener: opener, log: log, open: map[entry.PortID]*watchedPort{}}
}

// Open opens a port for the engine.
func (r *ports) Open(e entry.Port) (port.Port, error) {
	p, err := r.opener(e)
	if err != nil {
		return nil, err
	}
	w := &watchedPort{Port: p, owner: r, entry: e, seen: p.State(), drops: map[string]uint64{}}
	r.mu.Lock()
	r.open[e.ID] = w
	r.mu.Unlock()
	return w, nil
}

// SetMTU implements port.Resizer. That the state is another now is found by watch.
func (w *watchedPort) SetMTU(mtu uint16) error {
	r, ok := w.Port.(port.Resizer)
	if !ok {
		return errors.New("this kind of port has its MTU for good")
	}
	return r.SetMTU(mtu)
}

// Close implements port.Port.
func (w *watchedPort) Close() error {
	w.owner.mu.Lock()
	if w.owner.open[w.entry.ID] == w {
		delete(w.owner.open, w.entry.ID)
	}
	w.owner.mu.Unlock()
	return w.Port.Close()
}

// watch lets every port look after its device, and returns the states that changed.
func (r *ports) watch() (changed []entry.PortState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.open {
		if h, ok := w.Port.(*port.HotPlug); ok {
			h.Watch()
		}
		if state := w.State(); state != w.seen {
			w.seen = state
			changed = append(changed, state)
		}
		w.logDrops(r.log)
	}
	return changed
}

// logDrops tells of drops that have a remedy, once per second at most.
func (w *watchedPort) logDrops(log *slog.Logger) {
	d, ok := w.Port.(port.Dropper)
	if !ok {
		return
	}
	for _, drop := range d.Drops() {
		if more := drop.Count - w.drops[drop.Reason]; more > 0 {
			log.Warn("port drops frames", "port", w.entry.Device, "reason", drop.Reason, "frames", more, "hint", drop.Hint)
			w.drops[drop.Reason] = drop.Count
		}
	}
}

// news returns the states that control does not know yet, and takes them for told.
func (r *ports) news() (states []entry.PortState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.open {
		if w.told == nil || *w.told != w.seen {
			told := w.seen
			w.told = &told
			states = append(states, told)
		}
	}
	return states
}

// forget makes every state news: there is a new control.
func (r *ports) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.open {
		w.told = nil
	}
}
