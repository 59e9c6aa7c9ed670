package forwarding

import (
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// FuzzFrames sends random frames to all ports: nothing may panic, and every packet and buffer must be
// accounted for.
func FuzzFrames(f *testing.F) {
	s := subscriber(1, 0x88a8, 10, 20)
	f.Add(uint8(0), pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 8)))
	f.Add(uint8(0), pppoeFrame(s, wire.ProtocolLCP, echoPacket(wire.CodeEchoRequest, 1, 2, 4)))
	f.Add(uint8(0), pppoeFrame(s, wire.ProtocolIPCP, []byte{1, 1, 0, 4}))
	f.Add(uint8(0), etherFrame(entry.MAC{255, 255, 255, 255, 255, 255}, routerMAC, wire.TypePPPoEDiscovery, []byte{0x11, 9, 0, 0, 0, 0}))
	f.Add(uint8(1), etherFrame(coreMAC, routerMAC, wire.TypeIPv4, ipPacket(farIP, s.IPv4, 64, 8)))
	arp := make([]byte, wire.ARPLength)
	wire.PutARP(arp, wire.ARPRequest, routerMAC, routerIP.As4(), [6]byte{}, ownIP.As4())
	f.Add(uint8(1), etherFrame(entry.MAC{255, 255, 255, 255, 255, 255}, routerMAC, wire.TypeARP, arp))
	f.Add(uint8(2), ipPacket(ownIP, s.IPv4, 64, 8))
	s = dualStack(s)
	i := dualStack(overIPoE(subscriber(2, 0x8100, 30, 0)))
	for _, line := range []entry.Session{s, i} {
		f.Add(uint8(0), lineFrame(line, ip6Packet(host6(line), farIP6, 64, 8)))
		f.Add(uint8(0), lineFrame(line, solicit(peerLL, lineLL, lineLL, line.PeerMAC)))
		f.Add(uint8(0), lineFrame(line, udp6(peerLL, addr("ff02::1:2"), 1, 546, 547, 20)))
		f.Add(uint8(0), lineFrame(line, dhcpPacket("0.0.0.0", "255.255.255.255")))
	}
	group, mac := solicitedNode(ownIP6)
	f.Add(uint8(1), etherFrame(mac, routerMAC, wire.TypeIPv6, solicit(peerLL, group, ownIP6, routerMAC)))
	f.Add(uint8(1), etherFrame(mac, routerMAC, wire.TypeIPv6, solicit(addr("::"), group, ownIP6, entry.MAC{})))
	f.Add(uint8(1), etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ip6Packet(farIP6, host6(i), 64, 8)))
	f.Add(uint8(0), ipoeFrame(i, wire.TypeARP, arp))
	f.Add(uint8(2), ip6Packet(ownIP6, host6(s), 64, 8))
	s.MSS = 1000
	for _, ttl := range []uint8{1, 9} { // errors, fragments, openings
		f.Add(uint8(0), lineFrame(s, ipPacket(s.IPv4, farIP, ttl, 1500)))
		f.Add(uint8(0), lineFrame(s, dontFragment(ipPacket(s.IPv4, farIP, ttl, 1500))))
		f.Add(uint8(0), lineFrame(s, ip6Packet(host6(s), farIP6, ttl, 1500)))
		f.Add(uint8(0), lineFrame(s, tcpPacket(ipPacket(s.IPv4, farIP, ttl, 0), 2, mssOption(1460))))
		f.Add(uint8(0), lineFrame(s, tcpPacket(ip6Packet(host6(s), farIP6, ttl, 0), 2, mssOption(1460), wire.IPProtocolTCP, 0, 1, 4, 0, 0, 0, 0)))
		f.Add(uint8(1), etherFrame(coreMAC, routerMAC, wire.TypeIPv4, ipPacket(farIP, s.IPv4, ttl, 4000)))
		f.Add(uint8(1), etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ip6Packet(farIP6, host6(s), ttl, 4000)))
	}
	r := newRig(f).base6().sources()
	r.subscribe6(s)
	r.subscribe6(i)
	entries, _ := hops(4)
	r.put(entries...)
	r.put(overGroup...)
	r.put(entry.Echo{Session: s.ID, LocalMagic: 1, PeerMRU: 64})
	f.Fuzz(func(t *testing.T, in uint8, frame []byte) {
		r.t = t
		id := accessPort + entry.PortID(in%3)
		if !r.ports[id].Send(frame) {
			return
		}
		r.now += 1e6
		r.round()
		for out := range r.ports {
			for r.take(out) != nil {
			}
		}
		for _, ok := r.punted(); ok; _, ok = r.punted() {
		}
		if r.word(wordPanic) != 0 {
			t.Fatal("a node panicked")
		}
		r.balanced()
	})
}

// FuzzBatches applies random bytes: refused or applied, never a panic.
func FuzzBatches(f *testing.F) {
	b := puts(subscriber(1, 0x8100, 1, 0), sessionRoute(subscriber(1, 0x8100, 1, 0)), entry.Echo{Session: 1001, IntervalSeconds: 1})
	b.Delete(entry.Neighbor{Interface: coreInterface, Addr: routerIP})
	f.Add(encode(&b))
	c := puts(entry.Port{ID: 9, Driver: entry.DriverMemory, Device: "x"}, entry.VRF{ID: 1}, entry.Interface{ID: 5, Port: 9, VRF: 1})
	f.Add(encode(&c))
	entries, g := hops(3)
	d := puts(entries...)
	d.Put(overGroup...)
	d.Put(dualStack(overIPoE(subscriber(3, 0, 0, 0))), entry.Local{Interface: coreInterface, Addr: ownIP6},
		entry.Route{Prefix: prefix("2001:db8::1/128"), Target: entry.Target{Kind: entry.TargetDrop}})
	d.Delete(entry.Route{Prefix: prefix("2001:db8::1/128")}, overGroup[0], overGroup[1], g)
	f.Add(encode(&d))
	r := newRig(f).base()
	f.Fuzz(func(t *testing.T, encoded []byte) {
		r.t = t
		before := r.image()
		if a := r.e.Apply(encoded); a.Refused != nil && r.image() != before {
			t.Fatal("a refused batch left a trace")
		}
		r.round()
	})
}
