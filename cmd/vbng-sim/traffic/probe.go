package traffic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"vbng/cmd/vbng-sim/frame"
)

// Direction is which way a packet goes.
type Direction uint8

// The directions, as seen from the subscriber.
const (
	Upstream Direction = iota
	Downstream
)

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
	headerBytes   = frame.IPv4Bytes + frame.UDPBytes
	probeBytes    = 28 // of payload before the filler
	checkOffset   = 24
	magic         = 0x76626e67 // "vbng"
	sequencesMask = 0xffff

	// MinBytes is the shortest probe, as an IP packet.
	MinBytes = headerBytes + probeBytes
	// MaxBytes is the longest that PPPoE carries (RFC 2516 section 7).
	MaxBytes = 1492

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
	Sequence  uint64 // counts from 0 in its flow
	Src, Dst  frame.Addr
	Bytes     int // of the IP packet
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append writes the probe as an IP packet. Bytes must be between MinBytes and MaxBytes.
func (p Probe) Append(b []byte) []byte {
	var space [MaxBytes]byte
	payload := space[:p.Bytes-headerBytes]
	binary.BigEndian.PutUint32(payload[0:], magic)
	binary.BigEndian.PutUint32(payload[4:], p.Run)
	binary.BigEndian.PutUint32(payload[8:], p.Session)
	binary.BigEndian.PutUint32(payload[12:], uint32(p.Direction))
	binary.BigEndian.PutUint64(payload[16:], p.Sequence)
	for i := probeBytes; i < len(payload); i++ {
		payload[i] = byte(uint64(i) + p.Sequence)
	}
	binary.BigEndian.PutUint32(payload[checkOffset:], p.check(payload))
	header := frame.IPv4{Src: p.Src, Dst: p.Dst, TTL: sentTTL, Protocol: frame.UDP, ID: uint16(p.Sequence & sequencesMask)}
	b = frame.AppendIPv4(b, header, len(payload)+frame.UDPBytes)
	return frame.AppendUDP(b, p.Src, p.Dst, p.ports(payload))
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
	sum := crc32.Update(0, castagnoli, p.Src[:])
	sum = crc32.Update(sum, castagnoli, p.Dst[:])
	sum = crc32.Update(sum, castagnoli, payload[:checkOffset])
	return crc32.Update(sum, castagnoli, payload[probeBytes:])
}

// Parse reads an arrived IP packet. The error is ErrNotProbe for other people's packets; any other
// error means that a packet was damaged on its way.
func Parse(b []byte, run uint32) (Probe, error) {
	ip, err := frame.ParseIPv4(b)
	if err != nil {
		return Probe{}, err
	}
	if !mayBeProbe(ip) {
		return Probe{}, ErrNotProbe
	}
	datagram, err := frame.ParseUDP(ip)
	if err != nil {
		return Probe{}, err
	}
	payload := datagram.Payload
	if len(payload) < probeBytes || binary.BigEndian.Uint32(payload) != magic ||
		binary.BigEndian.Uint32(payload[4:]) != run {
		return Probe{}, ErrNotProbe
	}
	p := Probe{
		Run: run, Session: binary.BigEndian.Uint32(payload[8:]),
		Direction: Direction(binary.BigEndian.Uint32(payload[12:])),
		Sequence:  binary.BigEndian.Uint64(payload[16:]),
		Src:       ip.Src, Dst: ip.Dst, Bytes: ip.TotalBytes,
	}
	return p, p.verify(ip, datagram)
}

// mayBeProbe looks at the ports before any checksum is judged: a kernel at the other end of a veth
// leaves the checksums of its own datagrams unfinished, and that is not the router's fault.
func mayBeProbe(ip frame.IPv4) bool {
	if ip.Protocol != frame.UDP || ip.Fragment || len(ip.Payload) < frame.UDPBytes {
		return false
	}
	src, dst := binary.BigEndian.Uint16(ip.Payload), binary.BigEndian.Uint16(ip.Payload[2:])
	return src == subscriberPort && dst == internetPort || src == internetPort && dst == subscriberPort
}

// verify compares what arrived with what must have been sent.
func (p Probe) verify(ip frame.IPv4, d frame.Datagram) error {
	want := p.ports(nil)
	switch {
	case binary.BigEndian.Uint32(d.Payload[checkOffset:]) != p.check(d.Payload):
		return fmt.Errorf("check word: %w", frame.ErrChecksum)
	case d.SrcPort != want.SrcPort || d.DstPort != want.DstPort:
		return fmt.Errorf("ports %d to %d: %w", d.SrcPort, d.DstPort, frame.ErrMalformed)
	case ip.TTL != arrivedTTL:
		return fmt.Errorf("TTL %d, want %d: %w", ip.TTL, arrivedTTL, frame.ErrMalformed)
	case ip.ID != uint16(p.Sequence&sequencesMask):
		return fmt.Errorf("identification %d: %w", ip.ID, frame.ErrMalformed)
	}
	return nil
}
