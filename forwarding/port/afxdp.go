package port

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// AFXDP is an Ethernet device of the kernel whose frames pass the kernel by: an XDP program hands them to
// sockets that share the arena (Linux AF_XDP), one for each receive queue. The kernel copies each frame once
// (zero-copy is not asked for). The device must leave VLAN tags in the frames; those it keeps beside them are
// not seen here, so a device that insists on it is refused.
type AFXDP struct {
	entry    entry.Port
	device   device
	socket   int // of AF_PACKET: for asking about the device, and for its group addresses
	index    int // of the device when opened
	memory   *xdpMemory
	program  xdpProgram
	mode     entry.XDPMode
	queues   []*xdpQueue
	poll     int    // epoll instance of several queues, or -1
	maxFrame uint32 // that the device sends

	parts                            [packet.MaxChain][]byte // scratch
	tally                            tally
	overlong, tooLongForDevice, busy atomic.Uint64
}

// maxQueues bounds what one worker looks after.
const maxQueues = 64

// openAFXDP opens the device that e names.
func openAFXDP(e entry.Port, m *xdpMemory, log *slog.Logger) (*AFXDP, error) {
	if err := checkDeviceName(e.Device); err != nil {
		return nil, err
	}
	p := &AFXDP{entry: e, memory: m, socket: -1, poll: -1}
	if err := p.open(); err != nil {
		_ = p.Close()
		return nil, err
	}
	log.Info("AF_XDP port opened", "device", e.Device, "mode", p.mode, "copy", true, "queues", len(p.queues), "jumbo", p.queues[0].gathers)
	return p, nil
}

func (p *AFXDP) open() (err error) {
	if p.socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open packet socket for %s: %w", p.entry.Device, err)
	}
	p.device = device{p.entry.Device, p.socket}
	facts, err := p.prepareDevice()
	if err != nil {
		return err
	}
	p.index, p.maxFrame = facts.index, uint32(facts.mtu)+linkHeaderBytes
	count := p.device.receiveQueues()
	if count > maxQueues {
		return fmt.Errorf("device %s has %d receive queues, of which at most %d can be served: lower them (ethtool -L)", p.entry.Device, count, maxQueues)
	}
	if err := p.program.load(count); err != nil {
		return fmt.Errorf("open %s: %w", p.entry.Device, err)
	}
	if p.mode, err = p.program.attach(p.index, p.entry.XDP); err != nil {
		return attachError(p.entry, facts.mtu, err)
	}
	return p.openQueues(count, facts.mtu)
}

// linkHeaderBytes is what a device sends beyond its MTU: an Ethernet header and one tag.
const linkHeaderBytes = 18

// attachError says what an operator can do.
func attachError(e entry.Port, mtu int, err error) error {
	hint := ""
	switch {
	case errors.Is(err, unix.ERANGE), errors.Is(err, unix.EINVAL):
		hint = fmt.Sprintf(" (its MTU of %d is more than its driver takes with XDP, or another feature of it forbids XDP)", mtu)
	case errors.Is(err, unix.EBUSY), errors.Is(err, unix.EEXIST):
		hint = " (another program holds the device)"
	case errors.Is(err, unix.EOPNOTSUPP):
		hint = " (its driver has no XDP: use xdp-mode generic)"
	}
	return fmt.Errorf("attach XDP program to %s%s: %w", e.Device, hint, err)
}

// prepareDevice gives the device the state that a port needs.
func (p *AFXDP) prepareDevice() (deviceFacts, error) {
	facts, err := p.device.facts()
	if err != nil {
		return facts, err
	}
	if int(p.entry.MTU) > facts.mtu {
		if err := p.device.setMTU(int(p.entry.MTU)); err != nil {
			return facts, err
		}
		facts.mtu = int(p.entry.MTU)
	}
	p.device.noReceiveOffloads()
	if err := p.device.noTagOffloads(); err != nil {
		return facts, err
	}
	membership := &unix.PacketMreq{Ifindex: int32(facts.index), Type: unix.PACKET_MR_ALLMULTI} // neighbour discovery's groups
	if p.entry.MAC != (entry.MAC{}) && p.entry.MAC != facts.mac {
		membership.Type = unix.PACKET_MR_PROMISC
	}
	if err := unix.SetsockoptPacketMreq(p.socket, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, membership); err != nil {
		return facts, fmt.Errorf("receive all groups of %s: %w", p.entry.Device, err)
	}
	return facts, p.device.bringUp()
}

func (p *AFXDP) openQueues(count, mtu int) error {
	for i := range count {
		q, err := openQueue(p.memory, p.index, i)
		if err != nil {
			return fmt.Errorf("open %s: %w", p.entry.Device, err)
		}
		p.queues = append(p.queues, q)
		if err := p.program.sockets.Put(uint32(i), uint32(q.socket)); err != nil {
			return fmt.Errorf("hand queue %d of %s to its socket: %w", i, p.entry.Device, err)
		}
	}
	if mtu+linkHeaderBytes > packet.MaxFrame && !p.queues[0].gathers {
		return fmt.Errorf("device %s has MTU %d, but this kernel's XDP sockets take frames up to %d bytes: lower the MTU or use driver af-packet",
			p.entry.Device, mtu, packet.MaxFrame)
	}
	if count == 1 {
		return nil
	}
	var err error
	if p.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return fmt.Errorf("make epoll instance for %s: %w", p.entry.Device, err)
	}
	for _, q := range p.queues {
		if err := unix.EpollCtl(p.poll, unix.EPOLL_CTL_ADD, q.socket, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(q.socket)}); err != nil {
			return fmt.Errorf("watch a queue of %s: %w", p.entry.Device, err)
		}
	}
	return nil
}

// Descriptor implements Port.
func (p *AFXDP) Descriptor() int {
	if p.poll >= 0 {
		return p.poll
	}
	return p.queues[0].socket
}

// State implements Port.
func (p *AFXDP) State() entry.PortState {
	return p.device.state(p.entry, p.index)
}

// SetMTU implements Resizer, as far as the device's own MTU allows: that one holds for the program and the sockets.
func (p *AFXDP) SetMTU(mtu uint16) error {
	facts, err := p.device.facts()
	if err != nil {
		return err
	}
	if int(mtu) > facts.mtu {
		return errNotResizable
	}
	p.entry.MTU = mtu
	return nil
}

// Counters implements Port.
func (p *AFXDP) Counters() entry.PortCounters {
	c := p.tally.read()
	s := p.statistics()
	c.InputDrops += s.Rx_dropped + s.Rx_ring_full
	return c
}

// Drops implements Dropper.
func (p *AFXDP) Drops() []Drop {
	s := p.statistics()
	return []Drop{
		{"received-overlong", "lower the MTU of the device and of its peer", p.overlong.Load()},
		{"receive-ring-full", "the worker does not keep up", s.Rx_ring_full},
		{"dropped-by-kernel", "too long for the buffers, or none was free", s.Rx_dropped},
		{"too-long-for-device", "raise the device's MTU: tags and PPPoE need up to 16 bytes more", p.tooLongForDevice.Load()},
		{"device-busy", "the device's queue is full or it is down", p.busy.Load()},
	}
}

// statistics asks the kernel, over all queues.
func (p *AFXDP) statistics() (sum unix.XDPStatistics) {
	for _, q := range p.queues {
		var s unix.XDPStatistics
		length := uint32(unsafe.Sizeof(s))
		if _, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(q.socket), unix.SOL_XDP, unix.XDP_STATISTICS,
			uintptr(unsafe.Pointer(&s)), uintptr(unsafe.Pointer(&length)), 0); errno == 0 {
			sum.Rx_dropped += s.Rx_dropped
			sum.Rx_ring_full += s.Rx_ring_full
		}
	}
	return sum
}

// Close implements Port.
func (p *AFXDP) Close() error {
	p.program.close()
	for _, q := range p.queues {
		q.close()
	}
	for _, descriptor := range []int{p.socket, p.poll} {
		if descriptor >= 0 {
			_ = unix.Close(descriptor)
		}
	}
	p.socket, p.poll = -1, -1
	return nil
}
