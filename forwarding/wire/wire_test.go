package wire

import (
	"bytes"
	"encoding/hex"
	"math/rand"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// slowSum adds 16-bit words with end-around carry, as RFC 1071 section 1 defines it.
func slowSum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		word := uint32(b[i]) << 8
		if i+1 < len(b) {
			word |= uint32(b[i+1])
		}
		sum += word
		if sum > 0xFFFF {
			sum -= 0xFFFF
		}
	}
	return uint16(sum)
}

func TestSumAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for i := 0; i < 5000; i++ {
		b := make([]byte, r.Intn(80))
		r.Read(b)
		if got, want := Sum(b, 0), slowSum(b); got != want {
			t.Fatalf("sum of %x: %04x, want %04x", b, got, want)
		}
	}
}

func TestSumRFC1071Example(t *testing.T) {
	// RFC 1071 section 3: 0001 f203 f4f5 f6f7 sums to ddf2.
	if got := Sum(unhex(t, "0001f203f4f5f6f7"), 0); got != 0xddf2 {
		t.Fatalf("got %04x", got)
	}
}

func TestUpdateChecksumRFC1624Example(t *testing.T) {
	// RFC 1624 section 4: HC dd2f, m 5555, m' 3285 gives 0000.
	if got := UpdateChecksum(0xdd2f, 0x5555, 0x3285); got != 0 {
		t.Fatalf("got %04x", got)
	}
}

func TestDecrementTTLKeepsChecksum(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	p := make(IPv4, 20)
	for i := 0; i < 20000; i++ {
		var source, destination [4]byte
		r.Read(source[:])
		r.Read(destination[:])
		PutIPv4(p, source, destination, uint8(r.Intn(256)), uint8(1+r.Intn(255)), uint16(r.Uint32()), 0)
		p.DecrementTTL()
		if !p.ChecksumOK() {
			t.Fatalf("checksum wrong: %x", []byte(p))
		}
	}
}

func TestIPv4KnownHeader(t *testing.T) {
	p := IPv4(unhex(t, "45000073000040004011b861c0a80001c0a800c7"))
	if p.Valid() {
		t.Fatal("total length beyond the bytes at hand must not be valid")
	}
	if !p.ChecksumOK() || p.TTL() != 64 || p.Protocol() != 17 || p.Source() != [4]byte{192, 168, 0, 1} ||
		p.Destination() != [4]byte{192, 168, 0, 199} || !p.DontFragment() || p.Fragment() {
		t.Fatalf("read wrongly: %x", []byte(p))
	}
}

func TestTagsRoundTrip(t *testing.T) {
	for _, tpid := range []uint16{0, TypeVLAN, TypeProvider, TypeLegacyProvider} {
		for _, inner := range []uint16{0, 7} {
			if tpid == 0 && inner != 0 {
				continue
			}
			b := make([]byte, 64)
			n := PutTagged(b, [6]byte{1}, [6]byte{2}, tpid, 100, inner, TypePPPoESession)
			got, ok := ReadTags(b)
			want := Tagged{OuterTPID: tpid, OuterVLAN: 100, InnerVLAN: inner, Type: TypePPPoESession, Offset: n}
			if tpid == 0 {
				want.OuterVLAN = 0
			}
			if !ok || got != want {
				t.Errorf("tpid %04x inner %d: %+v, want %+v", tpid, inner, got, want)
			}
			if _, ok := ReadTags(b[:n-1]); ok {
				t.Errorf("tpid %04x inner %d: cut header read as whole", tpid, inner)
			}
		}
	}
}

func TestPPPoEPadding(t *testing.T) {
	b := make([]byte, 46)
	n := PutPPPoE(b, CodeSession, 0x1234, 10)
	n += PutPPP(b[n:], ProtocolLCP)
	PutControl(b[n:], CodeEchoRequest, 5, 4)
	p := PPPoE(b)
	if !p.Valid() || p.Session() != 0x1234 || len(p.Payload()) != 10 {
		t.Fatalf("read wrongly: %x", b)
	}
	c := Control(PPP(p.Payload()).Information())
	if !c.Valid() || c.Code() != CodeEchoRequest || c.Identifier() != 5 || len(c.Data()) != 4 {
		t.Fatalf("control read wrongly: %x", []byte(c))
	}
	b[5] = 41
	if PPPoE(b).Valid() {
		t.Fatal("length beyond the frame must not be valid")
	}
}

func TestUDPAndICMPChecksums(t *testing.T) {
	source, destination := [4]byte{10, 0, 0, 1}, [4]byte{10, 0, 0, 2}
	b := append(make([]byte, UDPLength), "odd"...)
	PutUDP(b, source, destination, 1000, 2000, 3)
	if u := UDP(b); !u.Valid() || !u.ChecksumOK(source, destination) || string(u.Payload()) != "odd" {
		t.Fatalf("udp: %x", b)
	}
	b[9] ^= 1
	if UDP(b).ChecksumOK(source, destination) {
		t.Fatal("udp: changed payload went unnoticed")
	}
	m := append(make([]byte, ICMPLength), "ping"...)
	PutICMPEcho(m, ICMPEchoRequest, 7, 9, 4)
	if i := ICMP(m); !i.Valid() || !i.ChecksumOK() || i.Identifier() != 7 || i.Sequence() != 9 {
		t.Fatalf("icmp: %x", m)
	}
}

func TestARPGolden(t *testing.T) {
	b := make([]byte, ARPLength)
	PutARP(b, ARPRequest, [6]byte{2, 0, 0, 0, 0, 1}, [4]byte{10, 0, 0, 1}, [6]byte{}, [4]byte{10, 0, 0, 2})
	want := unhex(t, "0001080006040001"+"020000000001"+"0a000001"+"000000000000"+"0a000002")
	if !bytes.Equal(b, want) {
		t.Fatalf("got %x", b)
	}
	if a := ARP(b); !a.Valid() || a.Operation() != ARPRequest || a.TargetIP() != [4]byte{10, 0, 0, 2} {
		t.Fatal("read wrongly")
	}
}

// solicitation is an IPv6 packet with a neighbour solicitation and its source link-layer option.
func solicitation() []byte {
	source, target := [16]byte{0xfe, 0x80, 15: 2}, [16]byte{0x20, 1, 15: 1}
	b := make([]byte, IPv6Length+NeighborLength+NDLinkLayerLength)
	PutIPv6(b, source, target, NextICMPv6, NDHopLimit, NeighborLength+NDLinkLayerLength)
	PutNeighborSolicitation(b[IPv6Length:], target)
	PutLinkLayer(b[IPv6Length+NeighborLength:], NDSourceLinkLayer, [6]byte{2, 0, 0, 0, 0, 9})
	ICMPv6(b[IPv6Length:]).PutChecksum(source, target)
	return b
}

func TestNeighborSolicitation(t *testing.T) {
	p := IPv6(solicitation())
	if !p.Valid() || p.NextHeader() != NextICMPv6 || p.HopLimit() != 255 || len(p.Payload()) != 32 {
		t.Fatalf("header read wrongly: %x", []byte(p))
	}
	n := Neighbor(p.Payload())
	if mac, ok := n.LinkLayer(NDSourceLinkLayer); !n.Valid() || !ok || mac[5] != 9 || n.Target() != p.Destination() {
		t.Fatalf("message read wrongly: %x", []byte(n))
	}
	if !ICMPv6(n).ChecksumOK(p.Source(), p.Destination()) {
		t.Fatal("checksum")
	}
	n[NeighborLength+1] = 0 // option length 0
	if n.Valid() || ICMPv6(n).ChecksumOK(p.Source(), p.Destination()) {
		t.Fatal("a broken option went unnoticed")
	}
}

// TestUDP6Checksum adds the words by hand.
func TestUDP6Checksum(t *testing.T) {
	source, destination := [16]byte{0x20, 1, 15: 1}, [16]byte{0x20, 1, 15: 2}
	b := append(make([]byte, UDPLength), "odd"...)
	PutUDP6(b, source, destination, 546, 547, 3)
	// By hand: 2*0x2001 + 3 + 17 + 2*11 + 546 + 547 + 0x6f64 + 0x6400, folded and inverted.
	want := ^slowFold(2*0x2001 + 3 + 17 + 2*11 + 546 + 547 + 0x6f64 + 0x6400)
	if u := UDP(b); u.Checksum() != want || !u.ChecksumOK6(source, destination) {
		t.Fatalf("got %04x, want %04x", u.Checksum(), want)
	}
	b[9] ^= 1
	if UDP(b).ChecksumOK6(source, destination) {
		t.Fatal("changed payload went unnoticed")
	}
}

func slowFold(sum uint32) uint16 { return uint16(sum>>16 + sum&0xFFFF) }

// FuzzHeaders walks a random frame through every header as a reader would; nothing may panic.
func FuzzHeaders(f *testing.F) {
	f.Add(unhex(f, "ffffffffffff020000000001"+"88a80064"+"81000007"+"8864"+"110012340006"+"c021"+"09050004"))
	f.Add(unhex(f, "020000000001020000000002"+"0800"+"450000200000000040110000"+"0a0000010a000002"+"03e807d0000c0000"+"00000000"))
	f.Add(unhex(f, "ffffffffffff020000000001"+"0806"+"0001080006040001"+"0200000000010a000001"+"0000000000000a000002"))
	f.Add(append(unhex(f, "333300000001020000000002"+"86dd"), solicitation()...))
	f.Fuzz(func(t *testing.T, frame []byte) {
		tags, ok := ReadTags(frame)
		if !ok {
			return
		}
		rest := frame[tags.Offset:]
		if p := PPPoE(rest); p.Valid() {
			if q := PPP(p.Payload()); q.Valid() {
				if c := Control(q.Information()); c.Valid() {
					_ = c.Data()
				}
				rest = q.Information()
			}
		}
		if a := ARP(rest); a.Valid() {
			_, _ = a.SenderMAC(), a.TargetIP()
		}
		if p := IPv6(rest); p.Valid() {
			_, _ = p.FlowLabel(), p.TrafficClass()
			if n := Neighbor(p.Payload()); n.Valid() {
				_, _ = n.LinkLayer(NDSourceLinkLayer)
			}
			if m := ICMPv6(p.Payload()); m.Valid() {
				_ = m.ChecksumOK(p.Source(), p.Destination())
			}
			if u := UDP(p.Payload()); u.Valid() {
				_ = u.ChecksumOK6(p.Source(), p.Destination())
			}
		}
		p := IPv4(rest)
		if !p.Valid() {
			return
		}
		_ = p.ChecksumOK()
		if u := UDP(p.Payload()); u.Valid() {
			_, _ = u.Payload(), u.ChecksumOK(p.Source(), p.Destination())
		}
		if m := ICMP(p.Payload()); m.Valid() {
			_, _ = m.Payload(), m.ChecksumOK()
		}
	})
}
