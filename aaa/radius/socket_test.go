package radius

import (
	"net"
	"net/netip"
	"testing"
	"time"
)

// patience only bounds a failing test.
const patience = 10 * time.Second

func TestUDPSocket(t *testing.T) {
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	at := server.LocalAddr().(*net.UDPAddr).AddrPort()
	got := make(chan string, 1)
	s, err := OpenVia(hostOnly{})("", netip.MustParseAddr("127.0.0.1"), at, Sink{
		Received: func(from netip.AddrPort, payload []byte) { got <- from.String() + " " + string(payload) },
		Refused:  func() {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Send([]byte("request"), at); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 100)
	server.SetReadDeadline(time.Now().Add(patience))
	n, from, err := server.ReadFromUDPAddrPort(buffer)
	if err != nil || string(buffer[:n]) != "request" {
		t.Fatalf("%q, %v", buffer[:n], err)
	}
	server.WriteToUDPAddrPort([]byte("answer"), from)
	select {
	case text := <-got:
		if text != at.String()+" answer" {
			t.Errorf("received %q", text)
		}
	case <-time.After(patience):
		t.Error("nothing received")
	}
}

// Nobody listens: the kernel says so, also on a socket that is not connected, and more than once.
func TestUDPSocketRefused(t *testing.T) {
	server, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	at := server.LocalAddr().(*net.UDPAddr).AddrPort()
	server.Close()
	refused := make(chan struct{}, 10)
	s, err := OpenVia(hostOnly{})("", netip.Addr{}, at, Sink{
		Received: func(netip.AddrPort, []byte) {},
		Refused:  func() { refused <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 3 {
		s.Send([]byte("request"), at) // may itself report the error before
		select {
		case <-refused:
		case <-time.After(patience):
			t.Fatalf("refusal %d was not told", i)
		}
	}
}

func TestUDPSocketOnForeignAddress(t *testing.T) {
	_, err := OpenVia(hostOnly{})("", netip.MustParseAddr("192.0.2.77"), netip.MustParseAddrPort("192.0.2.1:1812"), Sink{})
	if err == nil {
		t.Error("a socket was opened on an address that is not ours")
	}
}
