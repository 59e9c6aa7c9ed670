package punt

import (
	"encoding/binary"

	"vbng/forwarding/entry"
)

// A copy for a capture has more to tell than its header holds; it stands between header and frame:
//
//	capture u32, lost u32, UnixNanos u64, length on the wire u32, output u8, unused
const captureBytes = 24

// captureShare is the part of a ring that copies may fill, one of so many: what control needs to work finds room
// whatever is captured.
const captureShare = 4

func putCapture(b []byte, p *entry.Punt) {
	binary.LittleEndian.PutUint32(b[0:], uint32(p.Capture))
	binary.LittleEndian.PutUint32(b[4:], p.Lost)
	binary.LittleEndian.PutUint64(b[8:], uint64(p.UnixNanos))
	binary.LittleEndian.PutUint32(b[16:], uint32(p.Length))
	clear(b[20:captureBytes])
	if p.Output {
		b[20] = 1
	}
}

func getCapture(b []byte, p *entry.Punt) {
	p.Capture = entry.CaptureID(binary.LittleEndian.Uint32(b[0:]))
	p.Lost = binary.LittleEndian.Uint32(b[4:])
	p.UnixNanos = int64(binary.LittleEndian.Uint64(b[8:]))
	p.Length = max(int(binary.LittleEndian.Uint32(b[16:])), len(p.Data)) // not less than what is there
	p.Output = b[20] != 0
}
