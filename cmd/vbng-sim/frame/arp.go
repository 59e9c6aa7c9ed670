package frame

import (
	"encoding/binary"
	"fmt"
)

// ARP operations.
const (
	ARPRequest = 1
	ARPReply   = 2
)

const arpBytes = 28

// ARP is a decoded packet for Ethernet and IPv4 (RFC 826).
type ARP struct {
	Operation  uint16
	SenderMAC  MAC
	SenderAddr Addr
	TargetMAC  MAC
	TargetAddr Addr
}

// arpKind is hardware Ethernet, protocol IPv4, lengths 6 and 4.
const arpKind = 0x0001_0800_0604

// ParseARP decodes what follows ethertype 0x0806.
func ParseARP(b []byte) (ARP, error) {
	if len(b) < arpBytes {
		return ARP{}, fmt.Errorf("ARP packet: %w", ErrTruncated)
	}
	if binary.BigEndian.Uint64(b)>>16 != arpKind {
		return ARP{}, fmt.Errorf("ARP hardware and protocol: %w", ErrMalformed)
	}
	return ARP{
		Operation: binary.BigEndian.Uint16(b[6:]),
		SenderMAC: MAC(b[8:14]), SenderAddr: Addr(b[14:18]),
		TargetMAC: MAC(b[18:24]), TargetAddr: Addr(b[24:28]),
	}, nil
}

// AppendARP appends a packet.
func AppendARP(b []byte, a ARP) []byte {
	b = binary.BigEndian.AppendUint64(b, arpKind<<16|uint64(a.Operation))
	b = append(b, a.SenderMAC[:]...)
	b = append(b, a.SenderAddr[:]...)
	b = append(b, a.TargetMAC[:]...)
	return append(b, a.TargetAddr[:]...)
}
