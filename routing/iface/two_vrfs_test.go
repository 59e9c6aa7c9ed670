package iface

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"vbng/control/netns"
	"vbng/routing/vrf"
)

// world is two VRFs, default and red, in one namespace. Behind the TUN of each is a peer in a namespace of its
// own; both have the same addresses, and so have we.
type world struct {
	*host
	kernel  *Kernel
	sockets *vrf.Sockets
	peers   map[string]*netns.Namespace // by VRF
}

const patience = 3 * time.Second

func newWorld(t *testing.T) *world {
	t.Helper()
	h := &host{t: t}
	w := &world{host: h, peers: map[string]*netns.Namespace{}}
	home, err := netns.Current()
	h.must(err)
	w.kernel, err = NewKernel(KernelOptions{Host: home}) // as if the ports were elsewhere
	h.must(err)
	table := vrf.NewTable(indexes{})
	w.sockets = vrf.NewSockets(table, nil)
	var state HostState
	for _, name := range []string{"", "red"} {
		v := HostVRF{ID: table.ID(name), TUN: vrf.Device(table.ID(name)), Open: true, MTU: 1500,
			Addresses: []netip.Addr{addr("10.0.0.1"), addr("2001:db8::1")}, Source4: addr("10.0.0.1"), Source6: addr("2001:db8::1")}
		if name == "" { // what is local here is a peer's address there
			v.Addresses = append(v.Addresses, addr("10.9.9.9"))
		}
		state.VRFs = append(state.VRFs, v)
		ours := openTUN(t, v.TUN)
		w.peers[name] = newPeer(t, ours)
	}
	err = w.kernel.Configure(state)
	if errors.Is(err, unix.EPERM) { // the program that marks packets is for the kernel's real root
		t.Skipf("not root: %v", err)
	}
	h.must(err)
	h.must(w.kernel.Configure(state)) // idempotent
	return w
}

func openTUN(t *testing.T, name string) int {
	t.Helper()
	tun, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no TUN devices for this user: %v", err)
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(tun, unix.TUNSETIFF, request)
	}
	if err != nil {
		t.Skipf("this kernel makes no TUN device: %v", err)
	}
	return tun
}

// newPeer makes a namespace with a TUN whose far end is joined with ours.
func newPeer(t *testing.T, ours int) *netns.Namespace {
	t.Helper()
	made := make(chan *netns.Namespace)
	go func() {
		defer close(made)
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Error(err)
			return
		}
		n, err := netns.Current()
		if err != nil {
			t.Error(err)
		}
		made <- n
	}()
	n := <-made
	err := netns.Do(n, func() error {
		theirs := openTUN(t, "peer")
		go carry(ours, theirs)
		go carry(theirs, ours)
		link, err := netlink.LinkByName("peer")
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(link); err != nil {
			return err
		}
		for _, a := range []string{"10.0.0.2", "10.9.9.9", "2001:db8::2"} {
			address := &netlink.Addr{IPNet: single(addr(a)), Flags: unix.IFA_F_NODAD}
			if err := netlink.AddrReplace(link, address); err != nil {
				return fmt.Errorf("add %s: %w", a, err)
			}
		}
		for _, family := range families {
			r := &netlink.Route{LinkIndex: link.Attrs().Index, Dst: everywhere(family), Family: family}
			if err := netlink.RouteReplace(r); err != nil {
				return fmt.Errorf("add route: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func carry(from, to int) {
	b := make([]byte, 9000)
	for {
		n, err := unix.Read(from, b)
		if err != nil {
			return
		}
		_, _ = unix.Write(to, b[:n])
	}
}

// serve says a name to everyone who connects.
func serve(l net.Listener, name string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		fmt.Fprint(c, name)
		_ = c.Close()
	}
}

func said(c net.Conn) string {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	text, err := io.ReadAll(c)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// TestTwoVRFsWithTheSameAddresses: TCP in both directions and ping in both families, each in its own VRF.
func TestTwoVRFsWithTheSameAddresses(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	w := newWorld(t)
	for name, peer := range w.peers {
		l, err := w.sockets.ListenTCP(name, netip.AddrPortFrom(netip.Addr{}, 1790))
		w.must(err)
		go serve(l, "router "+name)
		w.must(netns.Do(peer, func() error {
			l, err := net.Listen("tcp", "[::]:1791")
			if err == nil {
				go serve(l, "peer "+name)
			}
			return err
		}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	for name, peer := range w.peers {
		for _, a := range []string{"10.0.0.1:1790", "[2001:db8::1]:1790"} {
			w.must(netns.Do(peer, func() error {
				c, err := net.DialTimeout("tcp", a, patience)
				if err != nil {
					return err
				}
				if got, want := said(c), "router "+name; got != want {
					t.Errorf("the peer in VRF %q connects to %s and reaches %q", name, a, got)
				}
				return nil
			}))
		}
		targets := []string{"10.0.0.2:1791", "[2001:db8::2]:1791"}
		if name == "red" {
			targets = append(targets, "10.9.9.9:1791")
		}
		for _, a := range targets {
			c, err := w.sockets.DialTCP(ctx, name, netip.AddrPort{}, netip.MustParseAddrPort(a))
			if err != nil {
				t.Errorf("VRF %q: %v", name, err)
				continue
			}
			if got, want := said(c), "peer "+name; got != want {
				t.Errorf("VRF %q: %s answers %q, want %q", name, a, got, want)
			}
		}
	}
}
