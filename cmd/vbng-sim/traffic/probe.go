package traffic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net/netip"

	"vbng/cmd/vbng-sim/frame"
)

// Direction is which way a packet goes.
type Direction uint8

// The directions, as seen from the subscriber.
const (
	Upstream Direction = iota
	Downstream
)

// Flow is which of a subscriber's addresses a packet comes from or goes to.
type Flow uint8

// The flows.
const (
	IPv4      Flow = iota
	SLAAC          // the address made from the advertised prefix
	Assigned       // the address by DHCPv6
	Delegated      // an address of the delegated prefix
	Flows     = iota
)

var flowNames = [Flows]string{"ipv4", "ipv6_slaac", "ipv6_na", "ipv6_pd"}

// String names the flow as reports do.
func (f Flow) String() string { return flowNames[f] }

// String names the direction.
func (d Direction) String() string {
	if d == Upstream {
		return "up"
	}
	return "down"
}

const (
	sentTTL       = 64
	arrivedTTL    = sentTTL - 1 // one router between
	probeBytes    = 28          // of payload before the filler
	checkOffset   = 24
	magic         = 0x76626e67 // "vbng"
	sequencesMask = 0xffff
	flowShift     = 8 // of the flow in the direction word

	// MinBytes is the shortest probe, as an IP packet.
	MinBytes = frame.IPv4Bytes + frame.UDPBytes + probeBytes
	// MinBytes6 is the shortest in IPv6.
	MinBytes6 = frame.IPv6Bytes + frame.UDPBytes + probeBytes
	// MaxBytes is the longest, in jumbo frames.
	MaxBytes = 9000

	subscriberPort = 40000
	internetPort   = 40001
)

// ErrNotProbe says that a packet is somebody else's, and no harm.
var ErrNotProbe = errors.New("not a probe of this simulator")

// Probe is one packet of a flow.
type Probe struct {
	Run       uint32 // tells this run from others on the same wire
	Session   uint32
	Direction Direction
	Flow      Flow
	Sequence  uint64 // counts from 0 in its flow
	Src, Dst  netip.Addr
	Bytes     int // of the IP packet; IPv6 makes it MinBytes6 at least
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append writes the probe as an IP packet. Bytes must be between MinBytes and MaxBytes.
func (p Probe) Append(b []byte) []byte {
	var space [MaxBytes]byte
	if p.Src.Is4() {
		payload := space[:p.Bytes-frame.IPv4Bytes-frame.UDPBytes]
		p.fill(payload)
		src, dst := frame.Addr(p.Src.As4()), frame.Addr(p.Dst.As4())
		header := frame.IPv4{Src: src, Dst: dst, TTL: sentTTL, Protocol: frame.UDP, ID: uint16(p.Sequence & sequencesMask)}
		b = frame.AppendIPv4(b, header, len(payload)+frame.UDPBytes)
		return frame.AppendUDP(b, src, dst, p.ports(payload))
	}
	payload := space[:max(p.Bytes, MinBytes6)-frame.IPv6Bytes-frame.UDPBytes]
	p.fill(payload)
	header := frame.IPv6{
		Src: p.Src, Dst: p.Dst, HopLimit: sentTTL, NextHeader: frame.UDP, FlowLabel: uint32(p.Sequence & sequencesMask),
	}
	b = frame.AppendIPv6(b, header, len(payload)+frame.UDPBytes)
	return frame.AppendUDP6(b, p.Src, p.Dst, p.ports(payload))
}

// fill writes what stands behind the UDP header.
func (p Probe) fill(payload []byte) {
	binary.BigEndian.PutUint32(payload[0:], magic)
	binary.BigEndian.PutUint32(payload[4:], p.Run)
	binary.BigEndian.PutUint32(payload[8:], p.Session)
	binary.BigEndian.PutUint32(payload[12:], uint32(p.Direction)|uint32(p.Flow)<<flowShift)
	binary.BigEndian.PutUint64(payload[16:], p.Sequence)
	for i := probeBytes; i < len(payload); i++ {
		payload[i] = byte(uint64(i) + p.Sequence)
	}
	binary.BigEndian.PutUint32(payload[checkOffset:], p.check(payload))
}

func (p Probe) ports(payload []byte) frame.Datagram {
	if p.Direction == Upstream {
		return frame.Datagram{SrcPort: subscriberPort, DstPort: internetPort, Payload: payload}
	}
	return frame.Datagram{SrcPort: internetPort, DstPort: subscriberPort, Payload: payload}
}

// check covers the payload but itself, the addresses, and thereby the length. It is there beside the
// UDP checksum, because a router that rewrote a packet wrongly could have repaired that one.
func (p Probe) check(payload []byte) uint32 {
	src, dst := p.Src.As16(), p.Dst.As16()
	sum := crc32.Update(0, castagnoli, src[:])
	sum = crc32.Update(sum, castagnoli, dst[:])
	sum = crc32.Update(sum, castagnoli, payload[:checkOffset])
	return crc32.Update(sum, castagnoli, payload[probeBytes:])
}

// arrived is what both families' headers say of a packet that may be a probe.
type arrived struct {
	src, dst netip.Addr
	bytes    int
	ttl      byte   // or hop limit
	mark     uint32 // identification or flow label, in which the sequence number stands
	udp      []byte
}

func (a arrived) datagram() (frame.Datagram, error) {
	if a.src.Is4() {
		return frame.ParseUDP(frame.IPv4{Src: a.src.As4(), Dst: a.dst.As4(), Payload: a.udp})
	}
	return frame.ParseUDP6(frame.IPv6{Src: a.src, Dst: a.dst, Payload: a.udp})
}

// Parse reads an arrived IP packet. The error is ErrNotProbe for other people's packets; any other
// error means that a packet was damaged on its way.
func Parse(b []byte, run uint32) (Probe, error) {
	a, err := parseHeader(b)
	if err != nil {
		return Probe{}, err
	}
	if !mayBeProbe(a.udp) {
		return Probe{}, ErrNotProbe
	}
	datagram, err := a.datagram()
	if err != nil {
		return Probe{}, err
	}
	payload := datagram.Payload
	if len(payload) < probeBytes || binary.BigEndian.Uint32(payload) != magic ||
		binary.BigEndian.Uint32(payload[4:]) != run {
		return Probe{}, ErrNotProbe
	}
	word := binary.BigEndian.Uint32(payload[12:])
	p := Probe{
		Run: run, Session: binary.BigEndian.Uint32(payload[8:]),
		Direction: Direction(word), Flow: Flow(min(word>>flowShift, Flows-1)),
		Sequence: binary.BigEndian.Uint64(payload[16:]),
		Src:      a.src, Dst: a.dst, Bytes: a.bytes,
	}
	return p, p.verify(a, datagram)
}

func parseHeader(b []byte) (arrived, error) {
	if len(b) > 0 && b[0]>>4 == 6 {
		return parseHeader6(b)
	}
	ip, err := frame.ParseIPv4(b)
	if err != nil {
		return arrived{}, err
	}
	if ip.Protocol != frame.UDP || ip.Fragment {
		return arrived{}, ErrNotProbe
	}
	return arrived{
		src: netip.AddrFrom4(ip.Src), dst: netip.AddrFrom4(ip.Dst), bytes: ip.TotalBytes, ttl: ip.TTL,
		mark: uint32(ip.ID), udp: ip.Payload,
	}, nil
}

func parseHeader6(b []byte) (arrived, error) {
	ip, err := frame.ParseIPv6(b)
	if err != nil {
		return arrived{}, err
	}
	if ip.NextHeader != frame.UDP {
		return arrived{}, ErrNotProbe
	}
	return arrived{
		src: ip.Src, dst: ip.Dst, bytes: ip.TotalBytes, ttl: ip.HopLimit,
		mark: ip.FlowLabel, udp: ip.Payload,
	}, nil
}

// mayBeProbe looks at the ports before any checksum is judged: a kernel at the other end of a veth
// leaves the checksums of its own datagrams unfinished, and that is not the router's fault.
func mayBeProbe(udp []byte) bool {
	if len(udp) < frame.UDPBytes {
		return false
	}
	src, dst := binary.BigEndian.Uint16(udp), binary.BigEndian.Uint16(udp[2:])
	return src == subscriberPort && dst == internetPort || src == internetPort && dst == subscriberPort
}

// verify compares what arrived with what must have been sent.
func (p Probe) verify(a arrived, d frame.Datagram) error {
	want := p.ports(nil)
	switch {
	case binary.BigEndian.Uint32(d.Payload[checkOffset:]) != p.check(d.Payload):
		return fmt.Errorf("check word: %w", frame.ErrChecksum)
	case d.SrcPort != want.SrcPort || d.DstPort != want.DstPort:
		return fmt.Errorf("ports %d to %d: %w", d.SrcPort, d.DstPort, frame.ErrMalformed)
	case a.ttl != arrivedTTL:
		return fmt.Errorf("TTL %d, want %d: %w", a.ttl, arrivedTTL, frame.ErrMalformed)
	case a.mark != uint32(p.Sequence&sequencesMask):
		return fmt.Errorf("identification or flow label %d: %w", a.mark, frame.ErrMalformed)
	}
	return nil
}
