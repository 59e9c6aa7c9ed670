package radius

import (
	"context"
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
	Close() error
}

// Sink takes what a socket hears. Its functions are called on the socket's own goroutine and must
// not block.
type Sink struct {
	Received func(from netip.AddrPort, payload []byte) // the payload is the callee's
	Refused  func()                                    // ICMP said that nobody listens or can be reached
}

// Opener opens a socket on local (invalid: any address) for talking to one server.
type Opener func(local netip.Addr, server netip.AddrPort, sink Sink) (Socket, error)

// receiveBufferBytes holds the answers to some thousand requests.
const receiveBufferBytes = 1 << 20

// udpSocket is not connected, so that an answer from a wrong address (a server with several) can be
// counted; IP_RECVERR brings the ICMP errors that only a connected socket would get otherwise.
type udpSocket struct {
	conn *net.UDPConn
	raw  syscall.RawConn
}

// OpenUDP is the Opener of real sockets.
func OpenUDP(local netip.Addr, server netip.AddrPort, sink Sink) (Socket, error) {
	network := "udp4"
	if server.Addr().Is6() {
		network = "udp6"
	}
	address := ":0"
	if local.IsValid() {
		address = netip.AddrPortFrom(local, 0).String()
	}
	config := net.ListenConfig{Control: reportErrors}
	conn, err := config.ListenPacket(context.Background(), network, address)
	if err != nil {
		return nil, fmt.Errorf("open RADIUS socket for %v: %w", server, err)
	}
	udp := conn.(*net.UDPConn)
	udp.SetReadBuffer(receiveBufferBytes) // the kernel's limit may give less: only more loss under a burst
	raw, err := udp.SyscallConn()
	if err != nil {
		udp.Close()
		return nil, fmt.Errorf("open RADIUS socket for %v: %w", server, err)
	}
	s := &udpSocket{conn: udp, raw: raw}
	go s.read(sink)
	return s, nil
}

func reportErrors(network, _ string, raw syscall.RawConn) error {
	level, option := unix.IPPROTO_IP, unix.IP_RECVERR
	if network == "udp6" {
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

// Close implements Socket.
func (s *udpSocket) Close() error { return s.conn.Close() }

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}
