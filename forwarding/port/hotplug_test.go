package port

import (
	"errors"
	"log/slog"
	"testing"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// toyDevice is a port whose device tests take away.
type toyDevice struct {
	descriptor int
	missing    bool
	closed     bool
	inside     func() // called in Receive
	counters   entry.PortCounters
}

func (d *toyDevice) Receive(*packet.Pool, *packet.Vector) int {
	d.counters.InputPackets++
	if d.inside != nil {
		d.inside()
	}
	return 0
}

func (d *toyDevice) Transmit(pool *packet.Pool, v *packet.Vector) {
	for i := range v.N {
		pool.Give(v.Index[i])
	}
}

func (d *toyDevice) Descriptor() int              { return d.descriptor }
func (d *toyDevice) Counters() entry.PortCounters { return d.counters }

func (d *toyDevice) Close() error {
	d.closed = true
	return unix.Close(d.descriptor)
}

func (d *toyDevice) State() entry.PortState {
	if d.missing {
		return entry.PortState{Port: 1, Err: "gone"}
	}
	return entry.PortState{Port: 1, Up: true}
}

func newToyDevice(t *testing.T) *toyDevice {
	t.Helper()
	descriptor, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	return &toyDevice{descriptor: descriptor}
}

// A device that vanishes while a worker is in it is not closed under the worker's feet.
func TestHotPlugClosesBehindTheWorker(t *testing.T) {
	first, second := newToyDevice(t), newToyDevice(t)
	devices := []Port{first, second}
	h, err := NewHotPlug(entry.Port{ID: 1}, func(entry.Port) (Port, error) {
		if len(devices) == 0 {
			return nil, errors.New("no such device")
		}
		d := devices[0]
		devices = devices[1:]
		return d, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	b := newBench()
	first.inside = func() {
		first.missing = true
		if !h.Watch() || first.closed {
			t.Error("the device was closed while a worker was in it, or its loss not seen")
		}
		h.Watch()
		if len(devices) != 1 {
			t.Error("the next device was opened before the first was closed")
		}
	}
	h.Receive(b.pool, &packet.Vector{})
	if s := h.State(); s.Err != "gone" {
		t.Errorf("state %+v", s)
	}
	if !h.Watch() || !first.closed || !h.State().Up {
		t.Errorf("the second device is not in use: %+v", h.State())
	}
	h.Receive(b.pool, &packet.Vector{})
	if c := h.Counters(); c.InputPackets != 2 {
		t.Errorf("counters over both devices %+v", c)
	}
}

// resizable is a device whose MTU can be changed, up to 1600.
type resizable struct {
	*toyDevice
	mtu uint16
}

func (d *resizable) SetMTU(mtu uint16) error {
	if mtu > 1600 {
		return errNotResizable
	}
	d.mtu = mtu
	return nil
}

func (d *resizable) State() entry.PortState { return entry.PortState{Port: 1, Up: true, MTU: d.mtu} }

func TestHotPlugSetsMTU(t *testing.T) {
	for name, c := range map[string]struct {
		device Port
		able   bool
	}{
		"a device that can":    {&resizable{newToyDevice(t), 1500}, true},
		"a device that cannot": {newToyDevice(t), false},
	} {
		h, err := NewHotPlug(entry.Port{ID: 1, MTU: 1500}, func(entry.Port) (Port, error) { return c.device, nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := h.SetMTU(1600); (err == nil) != c.able {
			t.Errorf("%s: %v", name, err)
		}
		if c.able && h.State().MTU != 1600 {
			t.Errorf("%s: state %+v", name, h.State())
		}
		if err := h.SetMTU(9000); err == nil {
			t.Errorf("%s took 9000 bytes", name)
		}
		h.Close()
	}
	opened := entry.Port{}
	h, err := NewHotPlug(entry.Port{ID: 1}, func(e entry.Port) (Port, error) { opened = e; return nil, errors.New("none") })
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.SetMTU(1400); err != nil {
		t.Error(err)
	}
	if h.Watch(); opened.MTU != 1400 {
		t.Errorf("the device that appears later is opened as %+v", opened)
	}
}

func TestHotPlugWithoutDeviceGivesBuffersBack(t *testing.T) {
	h, err := NewHotPlug(entry.Port{ID: 1}, func(entry.Port) (Port, error) { return nil, errors.New("none") })
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	b := newBench()
	b.send(t, h, ethernet(0, 46), ethernet(1, 46))
	if c := h.Counters(); c.OutputDrops != 2 || b.pool.Free() != 256 {
		t.Errorf("counters %+v, %d buffers free", c, b.pool.Free())
	}
	if d := h.Drops(); len(d) != 1 || d[0].Reason != "no-device" || d[0].Count != 2 {
		t.Errorf("drops %+v", d)
	}
}

func TestOpenRefusesWhatHasNoOutside(t *testing.T) {
	if _, err := NewOpener(slog.Default()).Open(entry.Port{ID: 1, Driver: entry.DriverMemory, Device: "a"}); err == nil {
		t.Error("a memory port was opened")
	}
	p, err := NewOpener(slog.Default()).Open(entry.Port{ID: 1, Driver: entry.DriverTUN, Device: "a-name-of-sixteen"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if s := p.State(); s.Up || s.Err == "" {
		t.Errorf("state %+v", s)
	}
}
