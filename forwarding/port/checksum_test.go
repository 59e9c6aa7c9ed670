package port

import (
	"bytes"
	"testing"

	"vbng/forwarding/wire"
)

var sourceIPv4, destinationIPv4 = [4]byte{10, 0, 0, 1}, [4]byte{10, 0, 0, 2}

// datagram returns an IPv4 packet with a right UDP checksum.
func datagram(payload []byte) []byte {
	b := make([]byte, wire.IPv4Length+wire.UDPLength+len(payload))
	copy(b[wire.IPv4Length+wire.UDPLength:], payload)
	wire.PutIPv4(b, sourceIPv4, destinationIPv4, wire.IPProtocolUDP, 64, 1, wire.UDPLength+len(payload))
	wire.PutUDP(b[wire.IPv4Length:], sourceIPv4, destinationIPv4, 1, 2, len(payload))
	return b
}

// spoil writes nonsense into a checksum field and returns the frame with it.
func spoil(frame []byte, at int) []byte {
	f := bytes.Clone(frame)
	f[at], f[at+1] = 0xab, 0xcd
	return f
}

func TestCompleteChecksum(t *testing.T) {
	addresses := make([]byte, 12)
	ip := datagram([]byte("odd"))
	const field = wire.IPv4Length + 6
	headers := map[string][]byte{
		"untagged": {0x08, 0x00},
		"QinQ":     {0x88, 0xa8, 0, 5, 0x81, 0x00, 0, 6, 0x08, 0x00},
		"PPPoE":    {0x88, 0x64, 0x11, 0, 0, 1, 0, byte(len(ip) + 2), 0x00, 0x21},
	}
	for name, header := range headers {
		want := append(append(bytes.Clone(addresses), header...), append(bytes.Clone(ip), 0, 0, 0)...) // padded
		got := spoil(want, len(addresses)+len(header)+field)
		completeChecksum(got)
		if !bytes.Equal(got, want) {
			t.Errorf("%s:\ngot  %x\nwant %x", name, got, want)
		}
	}
}

func TestCompleteChecksumOfTCPOverIPv6(t *testing.T) {
	p := make([]byte, 40+21)
	p[0], p[5], p[6] = 0x60, 21, wire.IPProtocolTCP
	p[8], p[24], p[23], p[39] = 0xfd, 0xfd, 1, 2
	p[60] = 'x'
	completeIPv6(p)
	// Over bytes with their own right checksum the sum is all ones.
	if sum := wire.Sum(p[8:], uint32(wire.IPProtocolTCP)+21); sum != 0xffff {
		t.Errorf("sum %#x", sum)
	}
}

// What has no checksum that a device could have been left with stays as it is.
func TestCompleteChecksumLeavesOthersAlone(t *testing.T) {
	fragment := datagram([]byte("x"))
	fragment[6] = 0x20 // more fragments
	icmp := datagram([]byte("x"))
	icmp[9] = wire.IPProtocolICMP
	for _, ip := range [][]byte{fragment, icmp, datagram(nil)[:15], {}} {
		want := append(append(make([]byte, 12), 0x08, 0x00), ip...)
		got := bytes.Clone(want)
		completeChecksum(got)
		if !bytes.Equal(got, want) {
			t.Errorf("%x became %x", want, got)
		}
	}
}

func FuzzCompleteChecksum(f *testing.F) {
	f.Add(append(append(make([]byte, 12), 0x08, 0x00), datagram([]byte("x"))...))
	f.Add(append(make([]byte, 12), 0x88, 0x64, 0x11, 0, 0, 1, 0, 2, 0x00, 0x57))
	f.Fuzz(func(t *testing.T, frame []byte) { completeChecksum(frame) })
}
