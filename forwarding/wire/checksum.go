package wire

import "encoding/binary"

// Sum returns the folded one's complement sum of b, an odd last byte padded with zero, on top of
// start (RFC 1071). Over bytes that contain their own right checksum it is 0xFFFF.
func Sum(b []byte, start uint32) uint16 {
	// One's complement addition is associative over any word size: add 32-bit words into 64 bits.
	sum := uint64(start)
	for len(b) >= 4 {
		sum += uint64(binary.BigEndian.Uint32(b))
		b = b[4:]
	}
	if len(b) >= 2 {
		sum += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	sum = sum>>32 + sum&0xFFFFFFFF
	sum = sum>>16 + sum&0xFFFF
	sum = sum>>16 + sum&0xFFFF
	return uint16(sum>>16 + sum&0xFFFF)
}

// Checksum returns the Internet checksum of b, whose checksum field must be zero.
func Checksum(b []byte) uint16 { return ^Sum(b, 0) }

// UpdateChecksum returns the checksum after one 16-bit word changed from before to after: RFC 1624
// equation 3, HC' = ~(~HC + ~m + m').
func UpdateChecksum(checksum, before, after uint16) uint16 {
	sum := uint32(^checksum) + uint32(^before) + uint32(after)
	sum = sum>>16 + sum&0xFFFF
	return ^uint16(sum>>16 + sum)
}
