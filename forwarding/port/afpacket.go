package port

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// The receive ring of an AF_PACKET socket, 32 MB a port: blocks which the kernel fills with frames of any
// length and hands over when full or when their time is up. At low rates the time rules: each tick uses up
// a block, however few frames are in it. So there are many small blocks, and a worker that is held up
// loses nothing for ringBlocks ticks, a second, below about 90 frames of 256 bytes a tick; above that for
// as long as 32 MB last: 90 ms at 1 Mpps of 256 bytes, 20 ms at 1 Mpps of 1,500 bytes.
const (
	ringBlockBytes   = 32 << 10
	ringBlocks       = 1024
	ringFrameBytes   = 2048 // only bounds the number of frames that the kernel accounts for
	ringRetireMillis = 1    // a tick; at least one of the kernel's
	// sendBufferBytes bounds what waits in the device. The system's default holds fewer frames than two
	// vectors, and what does not fit is lost.
	sendBufferBytes = 8 << 20
)

// AFPacket is an Ethernet device of the kernel: a TPACKET_V3 ring in, sendmmsg past the queueing
// discipline out. The device is set up if it was down; it is put into promiscuous mode only when the
// port has an address other than the device's. Nothing is received until the port is open as a whole.
type AFPacket struct {
	entry  entry.Port
	device device
	index  int // of the device when opened

	receiver    int // socket
	receive     packetRing
	long        [packet.MaxChained]byte // a frame that is longer than a buffer, on its way into a chain
	transmitter int                     // socket
	send        sendBatch

	tally                  tally
	overlong               atomic.Uint64 // received, longer than a chain of buffers
	tooLongForDevice, busy atomic.Uint64 // to be sent
	kernelDrops            atomic.Uint64 // the receive ring was full
}

// OpenAFPacket opens the device that e names.
func OpenAFPacket(e entry.Port) (*AFPacket, error) {
	if err := checkDeviceName(e.Device); err != nil {
		return nil, err
	}
	p := &AFPacket{entry: e, receiver: -1, transmitter: -1}
	if err := withinNamespace(e.Namespace, p.open); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

func (p *AFPacket) open() (err error) {
	// Protocol 0: no frame is taken before bind.
	p.receiver, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("open packet socket for %s: %w", p.entry.Device, err)
	}
	p.device = device{p.entry.Device, p.receiver}
	facts, err := p.prepareDevice()
	if err != nil {
		return err
	}
	p.index = facts.index
	if err := p.openTransmitter(); err != nil {
		return err
	}
	return p.openReceiver(facts)
}

// prepareDevice gives the device the state that a port needs.
func (p *AFPacket) prepareDevice() (deviceFacts, error) {
	facts, err := p.device.facts()
	if err != nil {
		return facts, err
	}
	if int(p.entry.MTU) > facts.mtu {
		if err := p.device.setMTU(int(p.entry.MTU)); err != nil {
			return facts, err
		}
	}
	p.device.noReceiveOffloads()
	return facts, p.device.bringUp()
}

func (p *AFPacket) openTransmitter() (err error) {
	p.transmitter, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("open packet socket for sending on %s: %w", p.entry.Device, err)
	}
	if err := unix.SetsockoptInt(p.transmitter, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1); err != nil {
		return fmt.Errorf("bypass queueing of %s: %w", p.entry.Device, err)
	}
	if unix.SetsockoptInt(p.transmitter, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sendBufferBytes) != nil {
		// Not the administrator of the host: as much as the system allows.
		_ = unix.SetsockoptInt(p.transmitter, unix.SOL_SOCKET, unix.SO_SNDBUF, sendBufferBytes)
	}
	return p.bind(p.transmitter, 0)
}

func (p *AFPacket) join(facts deviceFacts, membership uint16) error {
	return unix.SetsockoptPacketMreq(p.receiver, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP,
		&unix.PacketMreq{Ifindex: int32(facts.index), Type: membership})
}

func (p *AFPacket) openReceiver(facts deviceFacts) error {
	// Kernels before 4.20 lack it; Receive skips what we sent ourselves in any case.
	_ = unix.SetsockoptInt(p.receiver, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	if err := p.receive.open(p.receiver); err != nil {
		return fmt.Errorf("make receive ring of %s: %w", p.entry.Device, err)
	}
	// Group addresses are those of neighbour discovery and DHCPv6 (33:33:...); which ones is not the port's business.
	if err := p.join(facts, unix.PACKET_MR_ALLMULTI); err != nil {
		return fmt.Errorf("receive group addresses on %s: %w", p.entry.Device, err)
	}
	if p.entry.MAC != (entry.MAC{}) && p.entry.MAC != facts.mac {
		if err := p.join(facts, unix.PACKET_MR_PROMISC); err != nil {
			return fmt.Errorf("make %s promiscuous: %w", p.entry.Device, err)
		}
	}
	return p.bind(p.receiver, unix.ETH_P_ALL)
}

func (p *AFPacket) bind(socket int, protocol uint16) error {
	address := &unix.SockaddrLinklayer{Ifindex: p.index, Protocol: protocol<<8 | protocol>>8}
	if err := unix.Bind(socket, address); err != nil {
		return fmt.Errorf("bind packet socket to %s: %w", p.entry.Device, err)
	}
	return nil
}

// Descriptor implements Port.
func (p *AFPacket) Descriptor() int { return p.receiver }

// State implements Port.
func (p *AFPacket) State() entry.PortState {
	p.readKernelDrops()
	// A device that goes down leaves an error on the socket, which nothing but asking takes off: the
	// descriptor polls readable until then, and its worker would never sleep again.
	_, _ = unix.GetsockoptInt(p.receiver, unix.SOL_SOCKET, unix.SO_ERROR)
	return p.device.state(p.entry, p.index)
}

// SetMTU implements Resizer. Frames are cut to no size here, so only the device needs to know.
func (p *AFPacket) SetMTU(mtu uint16) error {
	facts, err := p.device.facts()
	if err != nil {
		return err
	}
	if int(mtu) > facts.mtu {
		if err := p.device.setMTU(int(mtu)); err != nil {
			return err
		}
	}
	p.entry.MTU = mtu
	return nil
}

// Counters implements Port. What the kernel dropped is as State or Drops saw it last.
func (p *AFPacket) Counters() entry.PortCounters {
	c := p.tally.read()
	c.InputDrops += p.kernelDrops.Load()
	return c
}

// Drops implements Dropper.
func (p *AFPacket) Drops() []Drop {
	p.readKernelDrops()
	return []Drop{
		{"received-overlong", "the device or its peer merges frames: switch off GRO, LRO, and the peer's TSO and GSO", p.overlong.Load()},
		{"receive-ring-full", "the worker does not keep up", p.kernelDrops.Load()},
		{"too-long-for-device", "raise the device's MTU: tags and PPPoE need up to 16 bytes more", p.tooLongForDevice.Load()},
		{"device-busy", "the device's queue is full or it is down", p.busy.Load()},
	}
}

// readKernelDrops adds up a count that the kernel resets at each read.
func (p *AFPacket) readKernelDrops() {
	if s, err := unix.GetsockoptTpacketStatsV3(p.receiver, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
		p.kernelDrops.Add(uint64(s.Drops))
	}
}

// Close implements Port.
func (p *AFPacket) Close() error {
	p.receive.close()
	for _, socket := range []int{p.receiver, p.transmitter} {
		if socket >= 0 {
			_ = unix.Close(socket)
		}
	}
	p.receiver, p.transmitter = -1, -1
	return nil
}
