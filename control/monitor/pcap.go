package monitor

import (
	"encoding/binary"
	"io"

	"vbng/forwarding/entry"
)

// The pcap format with nanoseconds, little endian, version 2.4.
const (
	pcapMagic        = 0xa1b23c4d
	pcapHeaderBytes  = 24
	pcapRecordBytes  = 16
	pcapEthernet     = 1
	pcapSnapBytes    = 262144 // as much as readers take
	nanosPerSecond   = 1e9
	pcapVersionMajor = 2
	pcapVersionMinor = 4
)

func writeHeader(to io.Writer) error {
	h := [pcapHeaderBytes]byte{}
	binary.LittleEndian.PutUint32(h[0:], pcapMagic)
	binary.LittleEndian.PutUint16(h[4:], pcapVersionMajor)
	binary.LittleEndian.PutUint16(h[6:], pcapVersionMinor)
	binary.LittleEndian.PutUint32(h[16:], pcapSnapBytes)
	binary.LittleEndian.PutUint32(h[20:], pcapEthernet)
	_, err := to.Write(h[:])
	return err
}

// writeRecord writes a frame, with the time and the length that it had.
func writeRecord(to io.Writer, p *entry.Punt) error {
	h := [pcapRecordBytes]byte{}
	binary.LittleEndian.PutUint32(h[0:], uint32(p.UnixNanos/nanosPerSecond))
	binary.LittleEndian.PutUint32(h[4:], uint32(p.UnixNanos%nanosPerSecond))
	binary.LittleEndian.PutUint32(h[8:], uint32(len(p.Data)))
	binary.LittleEndian.PutUint32(h[12:], uint32(max(p.Length, len(p.Data))))
	if _, err := to.Write(h[:]); err != nil {
		return err
	}
	_, err := to.Write(p.Data)
	return err
}
