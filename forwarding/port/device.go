package port

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
)

// device is a kernel network device, asked by ioctl over any socket.
type device struct {
	name   string
	socket int
}

// deviceFacts is what a device is at the moment.
type deviceFacts struct {
	index int
	mac   entry.MAC
	mtu   int
	up    bool // administratively up, with carrier
}

// deviceRequest is struct ifreq.
type deviceRequest struct {
	name [unix.IFNAMSIZ]byte
	data [24]byte
}

// ethtoolRequest is an ifreq whose data is a pointer to a struct ethtool_value.
type ethtoolRequest struct {
	name  [unix.IFNAMSIZ]byte
	value *ethtoolValue
	_     [16]byte
}

type ethtoolValue struct{ command, data uint32 }

func checkDeviceName(name string) error {
	if name == "" || len(name) >= unix.IFNAMSIZ {
		return fmt.Errorf("device name %q: kernel device names have 1 to %d bytes", name, unix.IFNAMSIZ-1)
	}
	return nil
}

func (d device) call(request uint, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.socket), uintptr(request), uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}

func (d device) ask(request uint) (deviceRequest, error) {
	r := deviceRequest{}
	copy(r.name[:unix.IFNAMSIZ-1], d.name)
	err := d.call(request, unsafe.Pointer(&r))
	return r, err
}

func (d device) set(request uint, value uint32) error {
	r := deviceRequest{}
	copy(r.name[:unix.IFNAMSIZ-1], d.name)
	binary.NativeEndian.PutUint32(r.data[:], value)
	return d.call(request, unsafe.Pointer(&r))
}

// facts asks everything at once.
func (d device) facts() (deviceFacts, error) {
	f := deviceFacts{}
	index, err := d.ask(unix.SIOCGIFINDEX)
	if err != nil {
		return f, fmt.Errorf("find device %s: %w", d.name, err)
	}
	mtu, err := d.ask(unix.SIOCGIFMTU)
	if err != nil {
		return f, fmt.Errorf("read MTU of %s: %w", d.name, err)
	}
	address, err := d.ask(unix.SIOCGIFHWADDR)
	if err != nil {
		return f, fmt.Errorf("read MAC address of %s: %w", d.name, err)
	}
	flags, err := d.flags()
	if err != nil {
		return f, err
	}
	f.index = int(binary.NativeEndian.Uint32(index.data[:]))
	f.mtu = int(binary.NativeEndian.Uint32(mtu.data[:]))
	f.mac = entry.MAC(address.data[2:8]) // behind the address family
	f.up = flags&unix.IFF_UP != 0 && flags&unix.IFF_RUNNING != 0
	return f, nil
}

func (d device) flags() (uint16, error) {
	r, err := d.ask(unix.SIOCGIFFLAGS)
	if err != nil {
		return 0, fmt.Errorf("read flags of %s: %w", d.name, err)
	}
	return binary.NativeEndian.Uint16(r.data[:]), nil
}

// bringUp sets the device administratively up, if it is not.
func (d device) bringUp() error {
	flags, err := d.flags()
	if err != nil || flags&unix.IFF_UP != 0 {
		return err
	}
	if err := d.set(unix.SIOCSIFFLAGS, uint32(flags|unix.IFF_UP)); err != nil {
		return fmt.Errorf("set %s up: %w", d.name, err)
	}
	return nil
}

// setMTU changes the device's MTU.
func (d device) setMTU(mtu int) error {
	if err := d.set(unix.SIOCSIFMTU, uint32(mtu)); err != nil {
		return fmt.Errorf("set MTU of %s to %d: %w", d.name, mtu, err)
	}
	return nil
}

// noReceiveOffloads asks the device not to merge received frames (GRO, LRO): merged ones are longer than a
// buffer. Devices without the feature refuse, which is as good.
func (d device) noReceiveOffloads() {
	_, _ = d.ethtool(unix.ETHTOOL_SGRO, 0)
	if flags, err := d.ethtool(unix.ETHTOOL_GFLAGS, 0); err == nil && flags&ethtoolFlagLRO != 0 {
		_, _ = d.ethtool(unix.ETHTOOL_SFLAGS, flags&^ethtoolFlagLRO)
	}
}

// ethtoolChannels is struct ethtool_channels; what lies between are limits and the channels for sending.
type ethtoolChannels struct {
	command uint32
	_       [4]uint32
	receive uint32
	_       [2]uint32
	common  uint32 // for receiving and sending
}

// receiveQueues returns how many there are; a device that does not tell has one.
func (d device) receiveQueues() int {
	channels := ethtoolChannels{command: unix.ETHTOOL_GCHANNELS}
	r := struct {
		name     [unix.IFNAMSIZ]byte
		channels *ethtoolChannels
		_        [16]byte
	}{channels: &channels}
	copy(r.name[:unix.IFNAMSIZ-1], d.name)
	if err := d.call(unix.SIOCETHTOOL, unsafe.Pointer(&r)); err != nil {
		return 1
	}
	return max(int(channels.receive+channels.common), 1)
}

const ethtoolFlagLRO = 1 << 15

// ethtool carries a command out and returns its value.
func (d device) ethtool(command, data uint32) (uint32, error) {
	value := ethtoolValue{command, data}
	r := ethtoolRequest{value: &value}
	copy(r.name[:unix.IFNAMSIZ-1], d.name)
	err := d.call(unix.SIOCETHTOOL, unsafe.Pointer(&r))
	return value.data, err
}

// state tells of a port what the device is at the moment; index is the device's when the port was opened.
func (d device) state(e entry.Port, index int) entry.PortState {
	s := entry.PortState{Port: e.ID, MAC: e.MAC}
	facts, err := d.facts()
	if err == nil && facts.index != index {
		err = fmt.Errorf("device %s was replaced by another of its name", d.name)
	}
	if err != nil {
		s.Err = err.Error()
		return s
	}
	s.Up, s.MTU = facts.up, portMTU(e.MTU, facts.mtu)
	if s.MAC == (entry.MAC{}) {
		s.MAC = facts.mac
	}
	return s
}

// portMTU is what a port with a configured MTU (0: none) offers on a device.
func portMTU(configured uint16, deviceMTU int) uint16 {
	mtu := min(deviceMTU, 65535)
	if configured != 0 {
		mtu = min(mtu, int(configured))
	}
	return uint16(mtu)
}
