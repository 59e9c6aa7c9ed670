package forwarding

import (
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

var everybody = entry.MAC{255, 255, 255, 255, 255, 255}

func dhcpPacket(source, destination string) []byte {
	ip := ipPacket(addr(source), addr(destination), 64, 240)
	wire.PutUDP(ip[20:], addr(source).As4(), addr(destination).As4(), 68, 67, 240)
	return ip
}

func TestDHCPv4GoesUp(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(overIPoE(subscriber(1, 0x88a8, 10, 20))))
	stranger := overIPoE(subscriber(2, 0x88a8, 10, 20))
	for _, who := range []struct {
		s  entry.Session
		id entry.SessionID
	}{{s, s.ID}, {stranger, 0}} {
		discover := towards(everybody, lineFrame(who.s, dhcpPacket("0.0.0.0", "255.255.255.255")))
		r.expectPunt(accessPort, discover, entry.ClassDHCPv4, who.id, 22)
		renew := lineFrame(who.s, dhcpPacket("100.64.0.1", "198.51.100.1"))
		r.expectPunt(accessPort, renew, entry.ClassDHCPv4, who.id, 22)
	}
	fragment := dhcpPacket("100.64.0.1", "203.0.113.9")
	fragment[7], fragment[10], fragment[11] = 9, 0, 0 // a later one: no ports
	sum := wire.Checksum(fragment[:20])
	fragment[10], fragment[11] = byte(sum>>8), byte(sum)
	if r.through(accessPort, lineFrame(s, fragment), corePort) == nil {
		t.Error("a later fragment was taken for DHCP")
	}
	r.balanced()
}

// TestStrangersOnAnIPoEPort expects what a client sends before it has a session up in control, and nothing else.
func TestStrangersOnAnIPoEPort(t *testing.T) {
	r := newRig(t).base6()
	s := overIPoE(subscriber(1, 0x8100, 10, 0))
	rs := icmp6(peerLL, addr("ff02::2"), []byte{wire.ICMPv6RouterSolicitation, 0, 0, 0, 0, 0, 0, 0})
	r.expectPunt(accessPort, towards(entry.MAC{0x33, 0x33, 0, 0, 0, 2}, lineFrame(s, rs)), entry.ClassSubscriberND, 0, 18)
	group, mac := solicitedNode(lineLL)
	r.expectPunt(accessPort, towards(mac, lineFrame(s, solicit(peerLL, group, lineLL, s.PeerMAC))), entry.ClassSubscriberND, 0, 18)
	dhcp := udp6(peerLL, addr("ff02::1:2"), 1, 546, 547, 40)
	r.expectPunt(accessPort, towards(entry.MAC{0x33, 0x33, 0, 1, 0, 2}, lineFrame(s, dhcp)), entry.ClassDHCPv6, 0, 18)
	r.put(entry.Port{ID: accessPort, Driver: entry.DriverMemory, Device: "access", PPPoE: true})
	r.dropped(accessPort, lineFrame(s, rs), "ethernet-input/no-interface")
	r.balanced()
}

func TestProxyARP(t *testing.T) {
	r := newRig(t).base6()
	s := r.subscribe6(dualStack(overIPoE(subscriber(1, 0x8100, 10, 20))))
	ask := func(operation uint16, sender, target string) []byte {
		arp := make([]byte, wire.ARPLength)
		wire.PutARP(arp, operation, s.PeerMAC, addr(sender).As4(), [6]byte{}, addr(target).As4())
		return towards(everybody, ipoeFrame(s, wire.TypeARP, arp))
	}
	own := s.IPv4.String()
	for _, target := range []string{"100.64.9.1", "100.64.0.99"} {
		arp := make([]byte, wire.ARPLength)
		wire.PutARP(arp, wire.ARPReply, s.OwnMAC, addr(target).As4(), s.PeerMAC, s.IPv4.As4())
		same(t, target, r.through(accessPort, ask(wire.ARPRequest, own, target), accessPort), toPeer(s, ipoeFrame(s, wire.TypeARP, arp)))
	}
	r.dropped(accessPort, ask(wire.ARPRequest, "0.0.0.0", own), "ipoe-input/arp-not-answered")
	r.dropped(accessPort, ask(wire.ARPRequest, own, own), "ipoe-input/arp-not-answered")
	r.dropped(accessPort, ask(wire.ARPReply, own, "100.64.9.1"), "ipoe-input/arp-not-answered")
	s.PeerMAC[5]++
	r.dropped(accessPort, ask(wire.ARPRequest, own, "100.64.9.1"), "ipoe-input/unknown-subscriber")
	r.balanced()
}

// TestPPPoEAndIPoEOfOneClient has both kinds of session with the same MAC address and tags.
func TestPPPoEAndIPoEOfOneClient(t *testing.T) {
	r := newRig(t).base6()
	a := dualStack(subscriber(1, 0x8100, 10, 0))
	b := dualStack(overIPoE(subscriber(2, 0x8100, 10, 0)))
	b.PeerMAC = a.PeerMAC
	r.subscribe6(a)
	r.subscribe6(b)
	if r.through(accessPort, lineFrame(a, ipPacket(a.IPv4, farIP, 9, 1)), corePort) == nil ||
		r.through(accessPort, lineFrame(b, ipPacket(b.IPv4, farIP, 9, 1)), corePort) == nil {
		t.Error("did not pass")
	}
	r.dropped(accessPort, lineFrame(b, ipPacket(a.IPv4, farIP, 9, 1)), "source-check/source-not-assigned")
	wrong := lineFrame(a, ipPacket(b.IPv4, farIP, 9, 1))
	wrong[20], wrong[21] = 0, 0 // PPPoE session id
	r.dropped(accessPort, wrong, "pppoe-input/bad-session-id")
	batch := puts(entry.Echo{Session: b.ID, IntervalSeconds: 1})
	r.refused(batch, 0, "has no PPP")
	r.balanced()
}
