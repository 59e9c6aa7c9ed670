package vrf

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ICMP is a raw socket for ICMP or ICMPv6 messages in a VRF. It gets every message of its family that
// reaches the VRF.
type ICMP struct {
	conn *net.IPConn
	raw  syscall.RawConn
	four bool
}

// OpenICMP returns a socket for messages to an address. They go out from source, if it is valid, and are not
// fragmented anywhere if dontFragment; else they are where they must be.
func (s *Sockets) OpenICMP(vrf string, to, source netip.Addr, dontFragment bool) (*ICMP, error) {
	c := &ICMP{four: to.Is4()}
	network, local := "ip6:ipv6-icmp", "::"
	if c.four {
		network, local = "ip4:icmp", "0.0.0.0"
	}
	if source.IsValid() {
		local = source.String()
	}
	opened, err := listen(s, vrf, func(config *net.ListenConfig) (net.PacketConn, error) {
		return config.ListenPacket(context.Background(), network, local)
	})
	if err != nil {
		return nil, fmt.Errorf("open ICMP socket in VRF %s: %w", shown(vrf), err)
	}
	c.conn = opened.(*net.IPConn)
	if c.raw, err = c.conn.SyscallConn(); err == nil {
		err = c.discoverMTU(dontFragment)
	}
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("set ICMP socket up: %w", err)
	}
	return c, nil
}

// discoverMTU chooses whether packets may be fragmented. What the kernel knows of the path is not asked: the
// asker wants to see what the path does.
func (c *ICMP) discoverMTU(dontFragment bool) error {
	mode := unix.IP_PMTUDISC_DONT
	if dontFragment {
		mode = unix.IP_PMTUDISC_PROBE
	}
	if c.four {
		return c.set(unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, mode)
	}
	if dontFragment {
		if err := c.set(unix.IPPROTO_IPV6, unix.IPV6_DONTFRAG, 1); err != nil {
			return err
		}
	}
	return c.set(unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, mode)
}

func (c *ICMP) set(level, option, value int) error {
	var err error
	failed := c.raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), level, option, value) })
	return errors.Join(failed, err)
}

// Send sends a message, from its ICMP header on; hops is the TTL or hop limit. The checksum of an ICMPv6
// message is the kernel's business.
func (c *ICMP) Send(message []byte, to netip.Addr, hops int) error {
	level, option := unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS
	if c.four {
		level, option = unix.IPPROTO_IP, unix.IP_TTL
	}
	if err := c.set(level, option, hops); err != nil {
		return fmt.Errorf("set TTL: %w", err)
	}
	_, err := c.conn.WriteToIP(message, &net.IPAddr{IP: to.AsSlice(), Zone: to.Zone()})
	return err
}

// Receive returns the next message, from its ICMP header on, and its sender. At the deadline the error is
// os.ErrDeadlineExceeded.
func (c *ICMP) Receive(b []byte, deadline time.Time) (n int, from netip.Addr, err error) {
	if err := c.conn.SetReadDeadline(deadline); err != nil {
		return 0, from, err
	}
	n, sender, err := c.conn.ReadFromIP(b)
	if sender != nil {
		from, _ = netip.AddrFromSlice(sender.IP)
		from = from.Unmap()
	}
	return n, from, err
}

// Close closes the socket.
func (c *ICMP) Close() error { return c.conn.Close() }
