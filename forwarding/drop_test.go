package forwarding

import (
	"net/netip"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

func addr(s string) netip.Addr     { return netip.MustParseAddr(s) }
func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// TestDropsHaveNames sends one frame for each reason.
func TestDropsHaveNames(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0x8100, 10, 0))
	noIP := subscriber(2, 0x8100, 10, 0)
	noIP.IPv4 = netip.Addr{}
	r.put(noIP, entry.Route{Prefix: prefix("192.0.2.0/24"), Target: entry.Target{Kind: entry.TargetDrop}})
	up := func(mutate func(ip []byte)) []byte {
		ip := ipPacket(s.IPv4, farIP, 64, 10)
		mutate(ip)
		return pppoeFrame(s, wire.ProtocolIPv4, ip)
	}
	frame := func(mutate func(f []byte)) []byte {
		f := pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 10))
		mutate(f)
		return f
	}
	to := func(d string) []byte {
		return pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, addr(d), 64, 10))
	}
	core := func(ip []byte) []byte { return etherFrame(coreMAC, routerMAC, wire.TypeIPv4, ip) }
	const pppoe = 18 // offset of the PPPoE header
	for _, c := range []struct {
		in    entry.PortID
		frame []byte
		name  string
	}{
		{accessPort, frame(func([]byte) {})[:13], "ethernet-input/frame-too-short"},
		{accessPort, frame(func([]byte) {})[:16], "ethernet-input/frame-too-short"},
		{accessPort, frame(func(f []byte) { copy(f[16:], []byte{0x81, 0, 0, 1, 0x81, 0}) }), "ethernet-input/too-many-tags"},
		{accessPort, frame(func(f []byte) { f[0] |= 1 }), "ethernet-input/multicast"},
		{accessPort, frame(func(f []byte) { f[5]++ }), "ethernet-input/destination-not-ours"},
		{accessPort, etherFrame(accessMAC, routerMAC, wire.TypeIPv4, ipPacket(farIP, s.IPv4, 9, 0)), "ethernet-input/no-interface"},
		{corePort, etherFrame(coreMAC, routerMAC, wire.TypePPPoEDiscovery, make([]byte, 46)), "ethernet-input/pppoe-not-enabled"},
		{corePort, etherFrame(coreMAC, routerMAC, wire.TypePPPoESession, make([]byte, 46)), "pppoe-input/pppoe-not-enabled"},
		{corePort, etherFrame(coreMAC, routerMAC, 0x1234, make([]byte, 46)), "ethernet-input/unknown-ethertype"},
		{accessPort, frame(func(f []byte) { f[pppoe] = 0x12 }), "pppoe-input/bad-version"},
		{accessPort, frame(func(f []byte) { f[pppoe+1] = 9 }), "pppoe-input/bad-code"},
		{accessPort, frame(func(f []byte) { f[pppoe+4] = 9 }), "pppoe-input/bad-length"},
		{accessPort, frame(func(f []byte) { f[pppoe+7] = 0x20 }), "pppoe-input/bad-protocol-field"},
		{accessPort, frame(func(f []byte) { f[pppoe+2], f[pppoe+3] = 0, 0 }), "pppoe-input/bad-session-id"},
		{accessPort, pppoeFrame(s, wire.ProtocolIPv4, make([]byte, 19)), "ip4-input/packet-too-short"},
		{accessPort, up(func(ip []byte) { ip[0] = 0x65 }), "ip4-input/bad-version"},
		{accessPort, up(func(ip []byte) { ip[0] = 0x44 }), "ip4-input/bad-header-length"},
		{accessPort, up(func(ip []byte) { ip[2] = 9 }), "ip4-input/bad-total-length"},
		{accessPort, up(func(ip []byte) { ip[10]++ }), "ip4-input/bad-checksum"},
		{accessPort, to("127.0.0.1"), "ip4-input/martian-destination"},
		{accessPort, to("239.1.1.1"), "ip4-input/martian-destination"},
		{corePort, core(ipPacket(addr("127.0.0.1"), s.IPv4, 9, 0)), "ip4-input/martian-source"},
		{accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(farIP, ownIP, 64, 10)), "source-check/source-not-assigned"},
		{accessPort, pppoeFrame(noIP, wire.ProtocolIPv4, ipPacket(farIP, ownIP, 64, 10)), "source-check/no-ipv4-yet"},
		{accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 1, 10)), "ip4-lookup/ttl-expired"},
		{accessPort, to("192.0.2.1"), "ip4-lookup/discard-route"},
		{corePort, core(dontFragment(ipPacket(farIP, s.IPv4, 64, 1492-27))), "subscriber-output/mtu-exceeded"},
		{accessPort, pppoeFrame(s, wire.ProtocolIPv4, dontFragment(ipPacket(s.IPv4, farIP, 64, 1500-27))), "adjacency/mtu-exceeded"},
		{tunPort, make([]byte, 0), "local-origin/not-ip"},
		{tunPort, []byte{0x50, 0, 0, 0}, "local-origin/not-ip"},
	} {
		r.dropped(c.in, c.frame, c.name)
	}
	r.balanced()
}

func TestNoRoute(t *testing.T) {
	r := newRig(t)
	r.put(
		entry.Port{ID: accessPort, Driver: entry.DriverMemory, Device: "access", PPPoE: true},
		entry.VRF{ID: defaultVRF},
	)
	s := r.subscribe(subscriber(1, 0, 0, 0))
	r.dropped(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 10)), "ip4-lookup/no-route")
	r.balanced()
}

// TestSourceOfRoutedPrefix lets a subscriber send from a prefix that is routed to it.
func TestSourceOfRoutedPrefix(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0, 0, 0))
	other := r.subscribe(subscriber(2, 0, 0, 0))
	r.put(entry.Route{Prefix: prefix("10.1.0.0/16"), Target: entry.Target{Kind: entry.TargetSession, Session: s.ID}})
	framed := ipPacket(addr("10.1.2.3"), farIP, 64, 10)
	if r.through(accessPort, pppoeFrame(s, wire.ProtocolIPv4, framed), corePort) == nil {
		t.Error("framed route's source did not pass")
	}
	r.dropped(accessPort, pppoeFrame(other, wire.ProtocolIPv4, framed), "source-check/source-not-assigned")
	other.SourceAny = true
	r.put(other)
	if r.through(accessPort, pppoeFrame(other, wire.ProtocolIPv4, framed), corePort) == nil {
		t.Error("any source is allowed, and it did not pass")
	}
	r.balanced()
}

func TestUnknownSessionIsPuntedUnderPolicer(t *testing.T) {
	r := newRig(t).base()
	s := subscriber(1, 0, 0, 0)
	frame := pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 10))
	for range 10 {
		r.send(accessPort, frame)
	}
	r.round()
	p, ok := r.punted()
	if !ok || p.Class != entry.ClassPPPoEUnknown || p.Payload != wire.EthernetLength || len(p.Data) != len(frame) {
		t.Errorf("punted %+v", p)
	}
	if n := r.word("punt/policed-pppoe-unknown"); n != 9 {
		t.Errorf("%d policed, want 9", n)
	}
	r.balanced()
}

func TestFullPuntRingIsCounted(t *testing.T) {
	r := newRig(t).base()
	r.put(entry.Policer{Class: entry.ClassPPPoEDiscovery, PacketsPerSecond: 1e6, Burst: 1e6})
	for range 20 {
		for range 10 {
			r.send(accessPort, etherFrame(accessMAC, routerMAC, wire.TypePPPoEDiscovery, make([]byte, 1400)))
		}
		r.round()
	}
	if r.word("punt/ring-full") == 0 {
		t.Error("no full ring counted")
	}
	r.balanced()
}

func TestOptionsPass(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0, 0, 0))
	ip := ipPacket(s.IPv4, farIP, 64, 10)
	with := append(append(append([]byte{}, ip[:20]...), 1, 1, 1, 0), ip[20:]...) // NOP, NOP, NOP, end
	with[0], with[3] = 0x46, byte(len(with))
	with[10], with[11] = 0, 0
	sum := wire.Checksum(with[:24])
	with[10], with[11] = byte(sum>>8), byte(sum)
	if r.through(accessPort, pppoeFrame(s, wire.ProtocolIPv4, with), corePort) == nil {
		t.Error("packet with options did not pass")
	}
	with[21]++
	r.dropped(accessPort, pppoeFrame(s, wire.ProtocolIPv4, with), "ip4-input/bad-checksum")
}
