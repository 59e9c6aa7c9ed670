package vrf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"

	"vbng/control/netns"
)

// Sockets makes sockets in VRFs. A VRF is named; the empty name is the default one, Management the
// host's own stack. Its methods may be called from any goroutine.
//
// A VRF's TUN is there when the forwarder has opened it. Until then, and for a VRF that is not
// configured, making a socket fails; who needs one tries again later.
type Sockets struct {
	table *Table
	host  *netns.Namespace
}

// NewSockets returns the maker of sockets; host is where those of the management VRF are made, nil: where
// the process is.
func NewSockets(t *Table, host *netns.Namespace) *Sockets { return &Sockets{table: t, host: host} }

// Do runs f where sockets of a VRF must be made: for Management on a thread in the host's namespace. f must
// make the socket on its own goroutine.
func (s *Sockets) Do(vrf string, f func() error) error {
	if vrf == Management {
		return netns.Do(s.host, f)
	}
	return f()
}

// Control returns what binds a socket to a VRF before it is used: for net.Dialer and net.ListenConfig. A
// socket of Management must be made inside of Do besides.
func (s *Sockets) Control(vrf string) func(network, address string, c syscall.RawConn) error {
	if vrf == Management {
		return func(string, string, syscall.RawConn) error { return nil }
	}
	return func(_, _ string, c syscall.RawConn) error {
		id, ok := s.table.Lookup(vrf)
		if !ok {
			return fmt.Errorf("there is no VRF %q", vrf)
		}
		device := Device(id)
		var err error
		failed := c.Control(func(fd uintptr) { err = bindToDevice(int(fd), device) })
		return errors.Join(failed, err)
	}
}

func bindToDevice(fd int, device string) error {
	if err := unix.BindToDevice(fd, device); err != nil {
		return fmt.Errorf("bind socket to %s: %w", device, err)
	}
	return nil
}

// ListenUDP returns a UDP socket. local may be not valid, or of an unspecified address or port 0: as usual.
func (s *Sockets) ListenUDP(vrf string, local netip.AddrPort) (*net.UDPConn, error) {
	c, err := listen(s, vrf, func(config *net.ListenConfig) (net.PacketConn, error) {
		return config.ListenPacket(context.Background(), network("udp", local), text(local))
	})
	if err != nil {
		return nil, fmt.Errorf("open UDP socket in VRF %s: %w", shown(vrf), err)
	}
	return c.(*net.UDPConn), nil
}

// ListenTCP returns a TCP socket that takes connections.
func (s *Sockets) ListenTCP(vrf string, local netip.AddrPort) (*net.TCPListener, error) {
	l, err := listen(s, vrf, func(config *net.ListenConfig) (net.Listener, error) {
		return config.Listen(context.Background(), network("tcp", local), text(local))
	})
	if err != nil {
		return nil, fmt.Errorf("listen on TCP in VRF %s: %w", shown(vrf), err)
	}
	return l.(*net.TCPListener), nil
}

func listen[T any](s *Sockets, vrf string, open func(*net.ListenConfig) (T, error)) (opened T, err error) {
	config := &net.ListenConfig{Control: s.Control(vrf)}
	err = s.Do(vrf, func() (err error) { opened, err = open(config); return err })
	return opened, err
}

// DialTCP connects. local may be not valid: the kernel chooses.
func (s *Sockets) DialTCP(ctx context.Context, vrf string, local, remote netip.AddrPort) (*net.TCPConn, error) {
	d := net.Dialer{Control: s.Control(vrf)}
	if local.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(local)
	}
	var c net.Conn
	err := s.Do(vrf, func() (err error) {
		c, err = d.DialContext(ctx, network("tcp", remote), remote.String())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("connect in VRF %s: %w", shown(vrf), err)
	}
	return c.(*net.TCPConn), nil
}

// network names the protocol of an address's family.
func network(protocol string, a netip.AddrPort) string {
	switch {
	case !a.Addr().IsValid():
		return protocol
	case a.Addr().Is4():
		return protocol + "4"
	}
	return protocol + "6"
}

func text(a netip.AddrPort) string {
	if !a.Addr().IsValid() {
		return fmt.Sprintf(":%d", a.Port())
	}
	return a.String()
}

func shown(vrf string) string {
	if vrf == "" {
		return Default
	}
	return vrf
}
