package radius

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// Socket sends datagrams and is closed when its endpoint is no longer configured.
type Socket interface {
	// Send transmits without waiting; a full send buffer is an error.
	Send(payload []byte, to netip.AddrPort) error
	// Local returns the address that the socket is bound to; unspecified or invalid: any.
	Local() netip.Addr
	Close() error
}

// Sink takes what a socket hears. Its functions are called on the socket's own goroutine and must
// not block.
type Sink struct {
	Received func(from netip.AddrPort, payload []byte) // the payload is the callee's
	Refused  func()                                    // ICMP said that nobody listens or can be reached
}

// Opener opens a socket in a VRF on local (invalid: any address) for talking to one server.
type Opener func(vrf string, local netip.Addr, server netip.AddrPort, sink Sink) (Socket, error)

// Sockets makes sockets in VRFs. The empty name is the default VRF's.
type Sockets interface {
	ListenUDP(vrf string, local netip.AddrPort) (*net.UDPConn, error)
}

// receiveBufferBytes holds the answers to some thousand requests.
const receiveBufferBytes = 1 << 20

// udpSocket is not connected, so that an answer from a wrong address (a server with several) can be
// counted; IP_RECVERR brings the ICMP errors that only a connected socket would get otherwise.
type udpSocket struct {
	conn  *net.UDPConn
	raw   syscall.RawConn
	local netip.Addr
}

// hostOnly makes sockets in the network namespace of the process. It is for a process that has no VRFs,
// and stands for the default and the management one alike.
type hostOnly struct{}

// ListenUDP implements Sockets.
func (hostOnly) ListenUDP(vrf string, local netip.AddrPort) (*net.UDPConn, error) {
	if vrf != "" && vrf != "default" && vrf != "management" {
		return nil, fmt.Errorf("VRF %s has no sockets here", vrf)
	}
	network := "udp4"
	if local.Addr().Is6() {
		network = "udp6"
	}
	return net.ListenUDP(network, net.UDPAddrFromAddrPort(local))
}

// OpenVia is the Opener of real sockets, made by sockets.
func OpenVia(sockets Sockets) Opener {
	return func(vrf string, local netip.Addr, server netip.AddrPort, sink Sink) (Socket, error) {
		if !local.IsValid() {
			local = unspecified(server.Addr())
		}
		conn, err := sockets.ListenUDP(vrf, netip.AddrPortFrom(local, 0))
		if err != nil {
			return nil, fmt.Errorf("open RADIUS socket for %v: %w", server, err)
		}
		s, err := newUDPSocket(conn, server.Addr().Is6())
		if err != nil {
			conn.Close()
			return nil, fmt.Errorf("open RADIUS socket for %v: %w", server, err)
		}
		s.local = local
		go s.read(sink)
		return s, nil
	}
}

func unspecified(like netip.Addr) netip.Addr {
	if like.Is6() {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}

func newUDPSocket(conn *net.UDPConn, six bool) (*udpSocket, error) {
	conn.SetReadBuffer(receiveBufferBytes) // the kernel's limit may give less: only more loss under a burst
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &udpSocket{conn: conn, raw: raw}, reportErrors(raw, six)
}

func reportErrors(raw syscall.RawConn, six bool) error {
	level, option := unix.IPPROTO_IP, unix.IP_RECVERR
	if six {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_RECVERR
	}
	var err error
	if failed := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), level, option, 1) }); failed != nil {
		return failed
	}
	return err
}

func (s *udpSocket) read(sink Sink) {
	buffer := make([]byte, 65536)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(buffer)
		switch {
		case err == nil:
			from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
			sink.Received(from, append([]byte(nil), buffer[:n]...))
		case errors.Is(err, net.ErrClosed):
			return
		default:
			s.emptyErrorQueue()
			sink.Refused()
		}
	}
}

// emptyErrorQueue throws away the details of ICMP errors, which would otherwise fill the receive
// buffer. The socket serves one server, so the details say nothing new.
func (s *udpSocket) emptyErrorQueue() {
	var payload, control [512]byte
	s.raw.Control(func(fd uintptr) {
		for {
			_, _, _, _, err := unix.Recvmsg(int(fd), payload[:], control[:], unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT)
			if err != nil {
				return
			}
		}
	})
}

// Send implements Socket. It goes around the net package, whose writes wait for buffer space.
func (s *udpSocket) Send(payload []byte, to netip.AddrPort) error {
	var err error
	failed := s.raw.Write(func(fd uintptr) bool {
		err = unix.Sendto(int(fd), payload, unix.MSG_DONTWAIT, sockaddr(to))
		return true
	})
	if failed != nil {
		return failed
	}
	return err
}

// Local implements Socket.
func (s *udpSocket) Local() netip.Addr { return s.local }

// Close implements Socket.
func (s *udpSocket) Close() error { return s.conn.Close() }

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}
