package forwarding

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n got %x\nwant %x", what, got, want)
	}
}

// TestPPPoEBothWays compares whole frames for every kind of tagging.
func TestPPPoEBothWays(t *testing.T) {
	for i, tags := range []struct{ tpid, outer, inner uint16 }{
		{0, 0, 0}, {0x8100, 10, 0}, {0x88a8, 10, 0}, {0x8100, 10, 20}, {0x88a8, 10, 20}, {0x9100, 10, 20}, {0x9100, 4094, 4094},
	} {
		t.Run(fmt.Sprintf("%04x-%d-%d", tags.tpid, tags.outer, tags.inner), func(t *testing.T) {
			r := newRig(t).base()
			s := r.subscribe(subscriber(i, tags.tpid, tags.outer, tags.inner))

			up := ipPacket(s.IPv4, farIP, 64, 100)
			got := r.through(accessPort, pppoeFrame(s, wire.ProtocolIPv4, up), corePort)
			same(t, "upstream", got, etherFrame(routerMAC, coreMAC, wire.TypeIPv4, ipPacket(s.IPv4, farIP, 63, 100)))

			down := ipPacket(farIP, s.IPv4, 64, 60)
			got = r.through(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv4, down), accessPort)
			want := pppoeFrame(s, wire.ProtocolIPv4, ipPacket(farIP, s.IPv4, 63, 60))
			copy(want[0:6], s.PeerMAC[:])
			copy(want[6:12], s.OwnMAC[:])
			same(t, "downstream", got, want)

			slot, _ := r.e.directory.session(s.ID)
			if c := r.counters.Session(slot); c != (entry.SessionCounters{InputPackets: 1, InputBytes: 128, OutputPackets: 1, OutputBytes: 88}) {
				t.Errorf("counters: %+v", c)
			}
			r.balanced()
		})
	}
}

// TestGoldenBytes fixes one frame of each direction as bytes written by hand.
func TestGoldenBytes(t *testing.T) {
	r := newRig(t).base()
	s := subscriber(5, 0x88a8, 100, 7)
	r.subscribe(s)
	up := "0200000000a1" + "020100000005" + "88a80064" + "81000007" + "8864" + // Ethernet, tags
		"11000105001e" + "0021" + // PPPoE session 0x105, 30 bytes; PPP IPv4
		"4500001c004d00004011" + "b92f" + "64400005" + "cb007109" + // IPv4 TTL 64
		"03e807d00008" + "0000" + "000000000000" // UDP; Ethernet padding
	frame, err := hex.DecodeString(up)
	if err != nil {
		t.Fatal(err)
	}
	sum := wire.Checksum(append(append(append([]byte{}, frame[30:40]...), 0, 0), frame[42:50]...))
	frame[40], frame[41] = byte(sum>>8), byte(sum)
	got := r.through(accessPort, frame, corePort)
	want := "0200000000ee" + "0200000000c1" + "0800" + "4500001c004d00003f11" +
		fmt.Sprintf("%04x", wire.UpdateChecksum(sum, 0x4011, 0x3f11)) + "64400005" + "cb007109" + "03e807d00008" + "0000"
	if hex.EncodeToString(got) != want {
		t.Errorf("got  %x\nwant %s", got, want)
	}
}

func TestUpstreamPaddingIsCut(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0, 0, 0))
	up := ipPacket(s.IPv4, farIP, 9, 0)
	got := r.through(accessPort, append(pppoeFrame(s, wire.ProtocolIPv4, up), make([]byte, 20)...), corePort)
	same(t, "padded frame", got, etherFrame(routerMAC, coreMAC, wire.TypeIPv4, ipPacket(s.IPv4, farIP, 8, 0)))
}

func TestSubscriberToSubscriber(t *testing.T) {
	r := newRig(t).base()
	a, b := r.subscribe(subscriber(1, 0x8100, 10, 0)), r.subscribe(subscriber(2, 0x88a8, 11, 3))
	got := r.through(accessPort, pppoeFrame(a, wire.ProtocolIPv4, ipPacket(a.IPv4, b.IPv4, 64, 10)), accessPort)
	want := pppoeFrame(b, wire.ProtocolIPv4, ipPacket(a.IPv4, b.IPv4, 63, 10))
	copy(want[0:6], b.PeerMAC[:])
	copy(want[6:12], b.OwnMAC[:])
	same(t, "hairpin", got, want)
	r.balanced()
}

func TestTaggedInterface(t *testing.T) {
	r := newRig(t).base()
	vlanMAC := entry.MAC{2, 9, 9, 9, 9, 9}
	r.put(
		entry.Interface{ID: vlanInterface, Port: corePort, OuterTPID: 0x8100, OuterVLAN: 42, VRF: defaultVRF, MAC: vlanMAC, MTU: 1400},
		entry.Local{Interface: vlanInterface, Addr: addr("10.9.9.1")},
		entry.Neighbor{Interface: vlanInterface, Addr: addr("10.9.9.2"), MAC: routerMAC, Resolved: true},
		entry.Route{Prefix: prefix("10.9.0.0/16"), Target: entry.Target{Kind: entry.TargetNeighbor, Interface: vlanInterface, Addr: addr("10.9.9.2")}},
	)
	s := r.subscribe(subscriber(1, 0, 0, 0))
	got := r.through(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, addr("10.9.1.1"), 64, 10)), corePort)
	want := make([]byte, 18)
	wire.PutTagged(want, routerMAC, vlanMAC, 0x8100, 42, 0, wire.TypeIPv4)
	same(t, "tagged out", got, append(want, ipPacket(s.IPv4, addr("10.9.1.1"), 63, 10)...))

	in := make([]byte, 18)
	wire.PutTagged(in, vlanMAC, routerMAC, 0x8100, 42, 0, wire.TypeIPv4)
	if got := r.through(corePort, append(in, ipPacket(farIP, s.IPv4, 64, 10)...), accessPort); got == nil {
		t.Error("frame to the interface's own address did not pass")
	}
	r.dropped(accessPort, pppoeFrame(s, wire.ProtocolIPv4, dontFragment(ipPacket(s.IPv4, addr("10.9.1.1"), 64, 1400))), "adjacency/mtu-exceeded")
}

func TestARPAnswer(t *testing.T) {
	r := newRig(t).base()
	request := make([]byte, wire.ARPLength+18) // padded
	wire.PutARP(request, wire.ARPRequest, routerMAC, routerIP.As4(), [6]byte{}, ownIP.As4())
	got := r.through(corePort, etherFrame(entry.MAC{255, 255, 255, 255, 255, 255}, routerMAC, wire.TypeARP, request), corePort)
	reply := make([]byte, wire.ARPLength)
	wire.PutARP(reply, wire.ARPReply, coreMAC, ownIP.As4(), routerMAC, routerIP.As4())
	same(t, "reply", got, etherFrame(routerMAC, coreMAC, wire.TypeARP, reply))
	if p, ok := r.punted(); !ok || p.Class != entry.ClassARP || p.Interface != coreInterface || !bytes.Equal(p.Data[p.Payload:][:wire.ARPLength], request[:wire.ARPLength]) {
		t.Errorf("a stranger's request was punted as %+v, %v", p, ok)
	}
	r.put(entry.Route{Prefix: netip.PrefixFrom(routerIP, 32), Target: entry.Target{Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: routerIP}})
	r.through(corePort, etherFrame(entry.MAC{255, 255, 255, 255, 255, 255}, routerMAC, wire.TypeARP, request), corePort)
	if p, ok := r.punted(); ok {
		t.Errorf("a known neighbour's request was punted as %+v", p)
	}

	wire.PutARP(request, wire.ARPRequest, routerMAC, routerIP.As4(), [6]byte{}, farIP.As4())
	r.dropped(corePort, etherFrame(entry.MAC{255, 255, 255, 255, 255, 255}, routerMAC, wire.TypeARP, request), "arp-input/not-our-address")

	wire.PutARP(request, wire.ARPRequest, routerMAC, routerIP.As4(), [6]byte{}, routerIP.As4())
	r.send(corePort, etherFrame(entry.MAC{255, 255, 255, 255, 255, 255}, routerMAC, wire.TypeARP, request))
	r.round()
	if p, ok := r.punted(); !ok || p.Class != entry.ClassARP {
		t.Errorf("announcement punted as %+v", p)
	}

	wire.PutARP(request, wire.ARPReply, routerMAC, routerIP.As4(), coreMAC, ownIP.As4())
	r.send(corePort, etherFrame(coreMAC, routerMAC, wire.TypeARP, request))
	r.round()
	p, ok := r.punted()
	if !ok || p.Class != entry.ClassARP || p.Interface != coreInterface || p.Port != corePort || p.Payload != wire.EthernetLength {
		t.Errorf("reply punted as %+v", p)
	}
	r.balanced()
}

func echoPacket(code, id uint8, magic uint32, data int) []byte {
	b := make([]byte, wire.ControlLength+4+data)
	wire.PutControl(b, code, id, 4+data)
	b[4], b[5], b[6], b[7] = byte(magic>>24), byte(magic>>16), byte(magic>>8), byte(magic)
	return b
}

func TestEchoAnswer(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0x88a8, 10, 20))
	echo := entry.Echo{Session: s.ID, LocalMagic: 0x11111111, PeerMagic: 0x22222222, PeerMRU: 100}

	request := pppoeFrame(s, wire.ProtocolLCP, echoPacket(wire.CodeEchoRequest, 9, 0x22222222, 12))
	r.send(accessPort, request)
	r.round()
	if p, ok := r.punted(); !ok || p.Class != entry.ClassPPPControl || p.Session != s.ID {
		t.Errorf("without an echo entry the request must go to control, got %+v", p)
	}

	r.put(echo)
	answer := func(data int) []byte {
		b := pppoeFrame(s, wire.ProtocolLCP, echoPacket(wire.CodeEchoReply, 9, 0x11111111, data))
		copy(b[0:6], s.PeerMAC[:])
		copy(b[6:12], s.OwnMAC[:])
		return b
	}
	same(t, "answer", r.through(accessPort, request, accessPort), answer(12))
	long := pppoeFrame(s, wire.ProtocolLCP, echoPacket(wire.CodeEchoRequest, 9, 0x22222222, 300))
	same(t, "answer no longer than the peer's MRU", r.through(accessPort, long, accessPort), answer(92))

	looped := pppoeFrame(s, wire.ProtocolLCP, echoPacket(wire.CodeEchoRequest, 9, 0x11111111, 0))
	r.send(accessPort, looped)
	r.round()
	if p, ok := r.punted(); !ok || p.Class != entry.ClassPPPControl {
		t.Error("our own magic number must go to control")
	}
	r.dropped(accessPort, pppoeFrame(s, wire.ProtocolLCP, echoPacket(wire.CodeEchoReply, 1, 0x22222222, 0)), "lcp-echo/reply-consumed")
	r.balanced()
}

func TestGleanOncePerSecond(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0, 0, 0))
	silent := addr("198.51.100.77")
	frame := pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, silent, 64, 10))
	gleans := func() (n int) {
		for range 5 {
			r.send(accessPort, frame)
		}
		r.round()
		for {
			p, ok := r.punted()
			if !ok {
				return n
			}
			ip := wire.IPv4(p.Data[p.Payload:])
			if p.Class != entry.ClassGlean || p.Interface != coreInterface || ip.Destination() != silent.As4() {
				t.Errorf("punted %+v", p)
			}
			n++
		}
	}
	if n := gleans(); n != 1 {
		t.Errorf("%d gleans at once, want 1", n)
	}
	r.now += 2e9
	if n := gleans(); n != 1 {
		t.Errorf("%d gleans two seconds later, want 1", n)
	}
	r.put(entry.Neighbor{Interface: coreInterface, Addr: routerIP}) // unresolved
	r.send(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 10)))
	r.round()
	if p, ok := r.punted(); !ok || p.Class != entry.ClassGlean {
		t.Error("no glean for an unresolved next hop")
	}
	r.put(entry.Neighbor{Interface: coreInterface, Addr: routerIP, MAC: routerMAC, Resolved: true})
	if r.through(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 10)), corePort) == nil {
		t.Error("resolved, and nothing passes")
	}
	r.balanced()
}

func TestLocalDeliveryAndOrigin(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0, 0, 0))
	ping := ipPacket(s.IPv4, ownIP, 1, 10) // a TTL of 1 is enough to reach us
	same(t, "to the TUN", r.through(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ping), tunPort), ping)

	own := ipPacket(ownIP, farIP, 1, 10) // and to leave us
	same(t, "from the TUN", r.through(tunPort, own, corePort), etherFrame(routerMAC, coreMAC, wire.TypeIPv4, own))

	r.put(entry.VRF{ID: defaultVRF})
	r.send(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ping))
	r.round()
	if p, ok := r.punted(); !ok || p.Class != entry.ClassLocal {
		t.Error("without a TUN local packets go to control")
	}
	r.dropped(tunPort, own, "local-origin/no-vrf")
	r.balanced()
}

func TestInject(t *testing.T) {
	r := newRig(t).base()
	frame := etherFrame(routerMAC, coreMAC, wire.TypeARP, make([]byte, 46))
	r.inject.Push(&entry.Punt{Port: corePort, Data: frame})
	r.inject.Push(&entry.Punt{Port: 99, Data: frame})
	r.round()
	same(t, "injected", r.take(corePort), frame)
	if r.word(wordInject) != 1 || r.word(wordInjectNoPort) != 1 {
		t.Error("not counted")
	}
	r.balanced()
}
