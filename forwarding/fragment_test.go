package forwarding

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// TestFragmentsByHand compares the fragments of a packet with options with what RFC 791 section 3.2 asks: the first one
// has all options, the others those with the copy flag; and the subscriber is charged for what is sent.
func TestFragmentsByHand(t *testing.T) {
	r := newRig(t).base()
	s := subscriber(1, 0x88a8, 10, 20)
	s.MTU = 100
	r.subscribe(s)
	options := []byte{
		1,                   // no operation
		7, 7, 4, 0, 0, 0, 0, // record route: not copied
		0x94, 4, 0, 0, // router alert: copied
		0x88, 4, 1, 2, // stream id: copied
	}
	whole := ipPacket(farIP, s.IPv4, 9, 152) // 160 bytes behind the header
	ip := append(append(append([]byte{}, whole[:20]...), options...), whole[20:]...)
	ip[0] = 0x49
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	r.send(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv4, again(ip)))
	r.round()
	fragment := func(header []byte, offset, more uint16, payload []byte) []byte {
		f := append(append([]byte{}, header...), payload...)
		binary.BigEndian.PutUint16(f[2:], uint16(len(f)))
		binary.BigEndian.PutUint16(f[6:], more<<13|offset)
		f[0], f[8] = 0x40|byte(len(header)/4), 8
		return toPeer(s, pppoeFrame(s, wire.ProtocolIPv4, again(f)))
	}
	first := ip[:36]
	others := append(append([]byte{}, ip[:20]...), options[8:]...)
	same(t, "first", r.take(accessPort), fragment(first, 0, 1, ip[36:100]))
	same(t, "second", r.take(accessPort), fragment(others, 8, 1, ip[100:172]))
	same(t, "last", r.take(accessPort), fragment(others, 17, 0, ip[172:]))
	if r.take(accessPort) != nil {
		t.Error("more than three")
	}
	slot, _ := r.e.directory.session(s.ID)
	if c := r.counters.Session(slot); c.OutputPackets != 3 || c.OutputBytes != 100+100+52 {
		t.Errorf("charged for %+v", c)
	}
	r.balanced()
}

// TestReassembly fragments random packets, and the fragments once more, and puts them together again.
func TestReassembly(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for n := range 60 {
		r := newRig(t).base()
		s := subscriber(1, 0, 0, 0)
		s.MTU = uint16(68 + random.Intn(3000))
		r.subscribe(s)
		narrow := 68 + random.Intn(1500)
		r.put(entry.Interface{ID: coreInterface, Port: corePort, VRF: defaultVRF, MTU: uint16(narrow)})
		ip := ipPacket(farIP, s.IPv4, 64, 100+random.Intn(8800))
		random.Read(ip[28:])
		wire.PutUDP(ip[20:], farIP.As4(), s.IPv4.As4(), 1, 2, len(ip)-28)
		r.send(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv4, again(ip)))
		r.round()
		var parts [][]byte
		for f := r.take(accessPort); f != nil; f = r.take(accessPort) {
			parts = append(parts, f[22:])
		}
		if n%2 == 0 { // fragments of fragments: up again, to where less fits
			var smaller [][]byte
			for _, p := range parts {
				copy(p[12:16], s.IPv4.AsSlice())
				copy(p[16:20], farIP.AsSlice())
				r.send(accessPort, pppoeFrame(s, wire.ProtocolIPv4, again(p)))
				r.round()
				for f := r.take(corePort); f != nil; f = r.take(corePort) {
					smaller = append(smaller, f[14:])
				}
			}
			parts = smaller
		}
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		limit := int(s.MTU)
		if n%2 == 0 {
			limit = max(narrow, limit)
		}
		if got := reassemble(t, parts, limit); !bytes.Equal(got, ip[20:]) {
			t.Fatalf("%d bytes by MTU %d and %d: another packet comes together (%d bytes of %d fragments)", len(ip), s.MTU, narrow, len(got), len(parts))
		}
		r.balanced()
	}
}

// reassemble puts fragments together as RFC 791 section 3.2 says, and returns what is behind the header.
func reassemble(t *testing.T, parts [][]byte, mtu int) []byte {
	t.Helper()
	whole, have, total := make([]byte, 70000), 0, -1
	for _, p := range parts {
		ip := wire.IPv4(p)
		if !ip.Valid() || !ip.ChecksumOK() || int(ip.TotalLength()) > mtu {
			t.Fatalf("fragment of %d bytes, MTU %d: %x", ip.TotalLength(), mtu, p[:20])
		}
		at := int(ip.FragmentOffset()) * 8
		if ip.MoreFragments() && len(ip.Payload())%8 != 0 {
			t.Fatalf("a fragment of %d bytes in the middle", len(ip.Payload()))
		}
		copy(whole[at:], ip.Payload())
		have += len(ip.Payload())
		if !ip.MoreFragments() {
			total = at + len(ip.Payload())
		}
	}
	if have != total {
		t.Fatalf("%d bytes of %d", have, total)
	}
	return whole[:total]
}

// TestFragmentsHaveLimits counts what cannot be cut, and never sends half of a packet.
func TestFragmentsHaveLimits(t *testing.T) {
	r := newRig(t).base()
	s := subscriber(1, 0, 0, 0)
	s.MTU = 27
	r.subscribe(s)
	core := func(payload int) []byte {
		return etherFrame(coreMAC, routerMAC, wire.TypeIPv4, ipPacket(farIP, s.IPv4, 9, payload))
	}
	r.dropped(corePort, core(100), "ip4-fragment/mtu-too-small")
	s.MTU = 28
	r.put(s)
	r.dropped(corePort, core(5000), "ip4-fragment/queue-full")
	r.send(corePort, core(400))
	r.send(corePort, core(2000))
	r.send(corePort, core(2000)) // no room for its 251 fragments behind those of the others
	r.round()
	if n := r.word("ip4-fragment/fragments"); n != 51+251 {
		t.Errorf("%d fragments", n)
	}
	for r.take(accessPort) != nil {
	}
	r.balanced()
}
