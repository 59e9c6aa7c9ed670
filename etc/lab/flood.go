//go:build lab

package lab

import (
	"encoding/binary"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"vbng/cmd/vbng-sim/dhcp"
	"vbng/cmd/vbng-sim/frame"
	"vbng/control/netns"
)

// Flood sends frames at a rate until it is stopped.
type Flood struct {
	stop, done chan struct{}
	sent       uint64 // after done
}

// Flood begins to send on a device of a namespace; frame makes the n-th frame.
func (l *Lab) Flood(ns, device string, perSecond int, frame func(n uint32) []byte) *Flood {
	l.t.Helper()
	there, err := netns.Open(l.NS(ns))
	if err != nil {
		l.t.Fatal(err)
	}
	defer there.Close()
	var socket int
	var to unix.SockaddrLinklayer
	err = netns.Do(there, func() error {
		i, err := net.InterfaceByName(device)
		if err != nil {
			return err
		}
		to.Ifindex = i.Index
		socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0) // 0: receives nothing
		return err
	})
	if err != nil {
		l.t.Fatalf("flood on %s: %v", device, err)
	}
	f := &Flood{stop: make(chan struct{}), done: make(chan struct{})}
	go f.run(socket, &to, perSecond, frame)
	l.t.Cleanup(func() { f.Stop() })
	return f
}

func (f *Flood) run(socket int, to *unix.SockaddrLinklayer, perSecond int, frame func(n uint32) []byte) {
	defer close(f.done)
	defer unix.Close(socket)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for begun, n := time.Now(), 0; ; {
		select {
		case <-f.stop:
			return
		case <-tick.C:
		}
		for due := int(time.Since(begun).Seconds() * float64(perSecond)); n < due; n++ {
			if unix.Sendto(socket, frame(uint32(n)), 0, to) == nil {
				f.sent++
			}
		}
	}
}

// Stop ends the flood and returns how many frames were sent.
func (f *Flood) Stop() uint64 {
	select {
	case <-f.stop:
	default:
		close(f.stop)
	}
	<-f.done
	return f.sent
}

// flooder is the one MAC address that floods; RADIUS would refuse it.
var (
	flooder     = frame.MAC{0x06, 0, 0, 0, 0xf1, 0x0d}
	flooderTags = frame.Tags{TPID: frame.TypeVLAN, Outer: 900, Inner: 1}
)

func floodPADI(n uint32) []byte {
	tags := frame.AppendDiscoveryTag(nil, frame.TagServiceName, nil)
	tags = frame.AppendDiscoveryTag(tags, frame.TagHostUniq, binary.BigEndian.AppendUint32(nil, n))
	b := frame.AppendEthernet(nil, frame.Broadcast, flooder, flooderTags, frame.TypeDiscovery)
	b = frame.AppendPPPoE(b, frame.CodePADI, 0, len(tags))
	return frame.Pad(append(b, tags...))
}

func floodDiscover(n uint32) []byte {
	message := dhcp.V4{Operation: dhcp.BootRequest, XID: n, MAC: flooder, Type: dhcp.Discover}.Append(nil)
	all := frame.Addr{255, 255, 255, 255}
	udp := frame.AppendUDP(nil, frame.Addr{}, all, frame.Datagram{SrcPort: dhcp.ClientPort, DstPort: dhcp.ServerPort, Payload: message})
	b := frame.AppendEthernet(nil, frame.Broadcast, flooder, flooderTags, frame.TypeIPv4)
	b = frame.AppendIPv4(b, frame.IPv4{Dst: all, Protocol: frame.UDP, TTL: 64}, len(udp))
	return append(b, udp...)
}

// floodSubscriberARP asks for the gateway as a subscriber that has no session.
func floodSubscriberARP(n uint32) []byte {
	b := frame.AppendEthernet(nil, frame.Broadcast, flooder, flooderTags, frame.TypeARP)
	return frame.Pad(frame.AppendARP(b, frame.ARP{Operation: frame.ARPRequest, SenderMAC: flooder,
		SenderAddr: frame.Addr{100, 64, 200, byte(n)}, TargetAddr: frame.Addr{100, 64, 0, 1}}))
}

// floodCoreARP announces one address after the other of the prefix on the Internet side.
func floodCoreARP(n uint32) []byte {
	own := frame.Addr{198, 51, 100, byte(100 + n%100)}
	b := frame.AppendEthernet(nil, frame.Broadcast, flooder, frame.Tags{}, frame.TypeARP)
	return frame.Pad(frame.AppendARP(b, frame.ARP{Operation: frame.ARPReply, SenderMAC: flooder, SenderAddr: own, TargetAddr: own}))
}

func floodSolicit(n uint32) []byte {
	source := netip.AddrFrom16([16]byte{0: 0xfe, 1: 0x80, 12: byte(n >> 24), 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)})
	b := frame.AppendEthernet(nil, frame.GroupMAC(frame.AllRouters()), flooder, flooderTags, frame.TypeIPv6)
	return append(b, frame.RouterSolicitation(source, flooder)...)
}
