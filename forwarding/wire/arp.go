package wire

import "encoding/binary"

// ARP operations (RFC 826).
const (
	ARPRequest = 1
	ARPReply   = 2
)

// arpFixed are the first six bytes of ARP for IPv4 over Ethernet: hardware type 1, protocol 0x0800,
// address lengths 6 and 4.
var arpFixed = [6]byte{0, 1, 8, 0, 6, 4}

// ARP is an ARP packet for IPv4 over Ethernet.
type ARP []byte

// Valid reports whether the packet is whole and for IPv4 over Ethernet.
func (a ARP) Valid() bool { return len(a) >= ARPLength && [6]byte(a[0:6]) == arpFixed }

// Operation returns the operation.
func (a ARP) Operation() uint16 { return binary.BigEndian.Uint16(a[6:8]) }

// SenderMAC returns the sender's hardware address.
func (a ARP) SenderMAC() [6]byte { return [6]byte(a[8:14]) }

// SenderIP returns the sender's protocol address.
func (a ARP) SenderIP() [4]byte { return [4]byte(a[14:18]) }

// TargetMAC returns the target's hardware address.
func (a ARP) TargetMAC() [6]byte { return [6]byte(a[18:24]) }

// TargetIP returns the target's protocol address.
func (a ARP) TargetIP() [4]byte { return [4]byte(a[24:28]) }

// PutARP writes a packet and returns its length.
func PutARP(b []byte, operation uint16, senderMAC [6]byte, senderIP [4]byte, targetMAC [6]byte, targetIP [4]byte) int {
	copy(b[0:6], arpFixed[:])
	binary.BigEndian.PutUint16(b[6:8], operation)
	copy(b[8:14], senderMAC[:])
	copy(b[14:18], senderIP[:])
	copy(b[18:24], targetMAC[:])
	copy(b[24:28], targetIP[:])
	return ARPLength
}
