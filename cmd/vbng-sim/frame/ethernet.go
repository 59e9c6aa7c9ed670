package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
)

// Errors of the decoders; they are wrapped with what was found.
var (
	ErrTruncated = errors.New("truncated")
	ErrMalformed = errors.New("malformed")
	ErrChecksum  = errors.New("wrong checksum")
)

// Ethertypes.
const (
	TypeIPv4      = 0x0800
	TypeARP       = 0x0806
	TypeVLAN      = 0x8100
	TypeIPv6      = 0x86dd
	TypeDiscovery = 0x8863
	TypeSession   = 0x8864
	TypeProvider  = 0x88a8
	TypeOldQinQ   = 0x9100
)

const (
	ethernetBytes = 14
	tagBytes      = 4
	vlanMask      = 0x0fff
	minimumBytes  = 60 // without FCS
)

// MAC is an Ethernet address.
type MAC [6]byte

// Broadcast is every station.
var Broadcast = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// String writes the address with colons.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// Uint64 returns the address as a number, so that ranges of addresses can be counted through.
func (m MAC) Uint64() uint64 {
	return uint64(binary.BigEndian.Uint16(m[:]))<<32 | uint64(binary.BigEndian.Uint32(m[2:]))
}

// Group reports whether the address is that of several stations.
func (m MAC) Group() bool { return m[0]&1 != 0 }

// MACFrom is the reverse of Uint64.
func MACFrom(n uint64) MAC {
	var m MAC
	binary.BigEndian.PutUint16(m[:], uint16(n>>32))
	binary.BigEndian.PutUint32(m[2:], uint32(n))
	return m
}

// Tags are the VLAN tags of a frame. The zero value is untagged.
type Tags struct {
	TPID  uint16 // of the first tag; 0: untagged
	Outer uint16
	Inner uint16 // 0: one tag; the TPID of the second is always 0x8100
}

// String writes the tags as the options spell them: none, 100, 100.7.
func (t Tags) String() string {
	switch {
	case t.TPID == 0:
		return "none"
	case t.Inner == 0:
		return fmt.Sprint(t.Outer)
	}
	return fmt.Sprintf("%d.%d", t.Outer, t.Inner)
}

// Ethernet is a decoded frame. Payload aliases the frame.
type Ethernet struct {
	Dst, Src MAC
	Tags     Tags
	Type     uint16
	Payload  []byte
}

// ParseEthernet decodes a frame with up to two VLAN tags.
func ParseEthernet(b []byte) (Ethernet, error) {
	if len(b) < ethernetBytes {
		return Ethernet{}, fmt.Errorf("ethernet header: %w", ErrTruncated)
	}
	e := Ethernet{Dst: MAC(b[0:6]), Src: MAC(b[6:12])}
	e.Type, b = binary.BigEndian.Uint16(b[12:]), b[ethernetBytes:]
	for depth := 0; depth < 2 && isTag(e.Type, depth); depth++ {
		if len(b) < tagBytes {
			return Ethernet{}, fmt.Errorf("VLAN tag: %w", ErrTruncated)
		}
		vlan := binary.BigEndian.Uint16(b) & vlanMask
		if depth == 0 {
			e.Tags.TPID, e.Tags.Outer = e.Type, vlan
		} else {
			e.Tags.Inner = vlan
		}
		e.Type, b = binary.BigEndian.Uint16(b[2:]), b[tagBytes:]
	}
	e.Payload = b
	return e, nil
}

func isTag(ethertype uint16, depth int) bool {
	return ethertype == TypeVLAN || depth == 0 && (ethertype == TypeProvider || ethertype == TypeOldQinQ)
}

// AppendEthernet appends a header with its tags.
func AppendEthernet(b []byte, dst, src MAC, tags Tags, ethertype uint16) []byte {
	b = append(b, dst[:]...)
	b = append(b, src[:]...)
	if tags.TPID != 0 {
		b = binary.BigEndian.AppendUint16(b, tags.TPID)
		b = binary.BigEndian.AppendUint16(b, tags.Outer)
		if tags.Inner != 0 {
			b = binary.BigEndian.AppendUint16(b, TypeVLAN)
			b = binary.BigEndian.AppendUint16(b, tags.Inner)
		}
	}
	return binary.BigEndian.AppendUint16(b, ethertype)
}

// Pad appends zeros up to the shortest frame that Ethernet allows.
func Pad(b []byte) []byte {
	for len(b) < minimumBytes {
		b = append(b, 0)
	}
	return b
}
