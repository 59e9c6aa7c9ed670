package port

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// TUN is a TUN or TAP device of the kernel, made by us and set up: what we transmit, the kernel receives.
// A frame of a TUN begins with the IP header.
type TUN struct {
	entry      entry.Port
	device     device
	descriptor int
	socket     int // for asking about the device
	tally      tally
	refused    atomic.Uint64 // by the kernel
	overlong   atomic.Uint64
	long       [packet.MaxChained]byte // what does not fit a buffer, or a frame of several in one piece
	pieces     [2][]byte
}

// OpenTUN makes the device that e names, or takes up a persistent one.
func OpenTUN(e entry.Port) (*TUN, error) {
	if err := checkDeviceName(e.Device); err != nil {
		return nil, err
	}
	mode := uint16(unix.IFF_TUN)
	if e.Driver == entry.DriverTAP {
		mode = unix.IFF_TAP
		if e.MAC == (entry.MAC{}) {
			return nil, fmt.Errorf("tap port %s: our end needs a MAC address of its own", e.Device)
		}
	}
	t := &TUN{entry: e, descriptor: -1, socket: -1}
	if err := withinNamespace(e.Namespace, func() error { return t.open(mode | unix.IFF_NO_PI) }); err != nil {
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

func (t *TUN) open(mode uint16) (err error) {
	t.descriptor, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open /dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(t.entry.Device)
	if err != nil {
		return fmt.Errorf("name tun device %s: %w", t.entry.Device, err)
	}
	request.SetUint16(mode)
	if err := unix.IoctlIfreq(t.descriptor, unix.TUNSETIFF, request); err != nil {
		return fmt.Errorf("make tun device %s: %w", t.entry.Device, err)
	}
	if t.entry.Namespace != "" {
		// Sockets are bound to the device: it must outlive a forwarder. Control, whose namespace that is,
		// takes it away.
		if err := unix.IoctlSetInt(t.descriptor, unix.TUNSETPERSIST, 1); err != nil {
			return fmt.Errorf("make tun device %s persistent: %w", t.entry.Device, err)
		}
	}
	t.socket, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket to set %s up: %w", t.entry.Device, err)
	}
	t.device = device{t.entry.Device, t.socket}
	if t.entry.MTU != 0 {
		if err := t.device.setMTU(int(t.entry.MTU)); err != nil {
			return err
		}
	}
	return t.device.bringUp()
}

// Receive implements Port.
func (t *TUN) Receive(pool *packet.Pool, v *packet.Vector) int {
	packets, bytes := 0, 0
	for v.N < packet.VectorSize {
		buffer, n, ok := t.read(pool)
		if !ok {
			break
		}
		if n > packet.MaxChained { // cut off: the device's MTU is higher than we can take
			pool.Give(buffer)
			t.overlong.Add(1)
			t.tally.inputDrops.Add(1)
			continue
		}
		v.Index[v.N], v.Offset[v.N], v.Length[v.N] = buffer, packet.Start(buffer), uint32(n)
		v.N++
		packets, bytes = packets+1, bytes+n
	}
	t.tally.input(packets, bytes)
	return packets
}

// read takes a frame into a buffer; what does not fit there goes by way of a scratch into the buffers that
// continue it. ok is false when there is no frame or no buffer. A frame that was cut off is longer than
// packet.MaxChained by one byte.
func (t *TUN) read(pool *packet.Pool) (buffer uint32, n int, ok bool) {
	buffer, ok = pool.Take()
	if !ok {
		return 0, 0, false
	}
	start := packet.Start(buffer)
	t.pieces[0], t.pieces[1] = pool.Arena.Memory[start:start+packet.MaxFrame], t.long[:packet.MaxChained-packet.MaxFrame+1]
	n, err := unix.Readv(t.descriptor, t.pieces[:])
	if err != nil || n <= 0 {
		pool.Give(buffer)
		return 0, 0, false // EAGAIN: no more; EIO: the device is down or gone, which State tells
	}
	if n > packet.MaxFrame && n <= packet.MaxChained {
		rest, ok := pool.TakeChain(n - packet.MaxFrame)
		if !ok {
			pool.Give(buffer)
			t.overlong.Add(1)
			t.tally.inputDrops.Add(1)
			return 0, 0, false
		}
		pool.Arena.Fill(rest, t.long[:n-packet.MaxFrame], nil)
		pool.Arena.Link(buffer, rest)
	}
	return buffer, n, true
}

// Transmit implements Port.
func (t *TUN) Transmit(pool *packet.Pool, v *packet.Vector) {
	packets, bytes := 0, 0
	for i := range v.N {
		length := v.Length[i]
		if err := t.write(pool.Arena, v.Index[i], v.Offset[i], length); err != nil {
			t.refused.Add(1)
			t.tally.outputDrops.Add(1)
		} else {
			packets, bytes = packets+1, bytes+int(length)
		}
		pool.Give(v.Index[i])
	}
	t.tally.output(packets, bytes)
}

// write hands a frame to the kernel; one that lies in a chain is brought into one piece first.
func (t *TUN) write(a *packet.Arena, index, offset, length uint32) error {
	frame := a.Head(index, offset, length)
	if len(frame) < int(length) {
		frame = a.Append(t.long[:0], index, offset, length)
	}
	_, err := unix.Write(t.descriptor, frame)
	return err
}

// Descriptor implements Port.
func (t *TUN) Descriptor() int { return t.descriptor }

// State implements Port.
func (t *TUN) State() entry.PortState {
	s := entry.PortState{Port: t.entry.ID, MAC: t.entry.MAC}
	facts, err := t.device.facts()
	if err != nil {
		s.Err = err.Error()
		return s
	}
	s.Up, s.MTU = facts.up, portMTU(t.entry.MTU, facts.mtu)
	return s
}

// Counters implements Port.
func (t *TUN) Counters() entry.PortCounters { return t.tally.read() }

// Drops implements Dropper.
func (t *TUN) Drops() []Drop {
	return []Drop{
		{"received-overlong", "lower the device's MTU", t.overlong.Load()},
		{"refused-by-kernel", "the device is down, or its queue is full", t.refused.Load()},
	}
}

// Close implements Port. A device that is not persistent goes with it.
func (t *TUN) Close() error {
	for _, descriptor := range []int{t.descriptor, t.socket} {
		if descriptor >= 0 {
			_ = unix.Close(descriptor)
		}
	}
	t.descriptor, t.socket = -1, -1
	return nil
}
