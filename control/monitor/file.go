package monitor

import (
	"bufio"
	"fmt"
	"os"

	"vbng/forwarding/entry"
)

// maxFileBytes bounds a file. With maxFiles it bounds the folder.
const maxFileBytes = 64 << 20

// file writes the packets of a capture.
type file struct {
	capture *capture
	path    string
	name    string
	handle  *os.File
	buffer  *bufio.Writer
	bytes   int64
	left    int // packets
	full    bool
}

func (f *file) take(p *entry.Punt) (bool, error) {
	size := int64(pcapRecordBytes + len(p.Data))
	if f.bytes+size > maxFileBytes {
		f.full = true
		return false, nil
	}
	if err := writeRecord(f.buffer, p); err != nil {
		return false, fmt.Errorf("write capture: %w", err)
	}
	f.bytes += size
	f.left--
	f.capture.bytes.Store(uint64(f.bytes))
	if len(f.capture.queue) == 0 { // so that a reader, or a crash, finds what there is
		if err := f.buffer.Flush(); err != nil {
			return false, fmt.Errorf("write capture: %w", err)
		}
	}
	return f.left > 0, nil
}

func (f *file) close() (string, error) {
	err := f.buffer.Flush()
	if closing := f.handle.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", fmt.Errorf("write capture: %w", err)
	}
	text := fmt.Sprintf("%d packets, %d bytes, in %s.", f.capture.packets.Load(), f.bytes, f.path)
	if f.full {
		text += fmt.Sprintf(" The file is full: it may have %d bytes.", maxFileBytes)
	}
	return text, nil
}

// abandon removes a file whose capture did not begin.
func (f *file) abandon() {
	if f == nil {
		return
	}
	_ = f.handle.Close()
	_ = os.Remove(f.path)
}
