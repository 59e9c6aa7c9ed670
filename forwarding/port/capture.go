package port

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The classic capture file format of libpcap.
const (
	magicMicroseconds  = 0xa1b2c3d4
	magicNanoseconds   = 0xa1b23c4d
	captureHeaderBytes = 24
	recordHeaderBytes  = 16
	linkTypeEthernet   = 1
	maxCapturedBytes   = 256 << 10 // a length over this is damage, not a frame
)

var (
	errNoCapture    = errors.New("no capture file: its first bytes are of another format")
	errFrameTooLong = errors.New("frame does not fit its buffer")
	errDamaged      = errors.New("record length makes no sense")
)

// CaptureReader reads the frames of a capture file of either byte order and resolution.
type CaptureReader struct {
	from   io.Reader
	order  binary.ByteOrder
	header [captureHeaderBytes]byte
}

// NewCaptureReader reads the file's header. Only Ethernet captures are taken.
func NewCaptureReader(from io.Reader) (*CaptureReader, error) {
	r := &CaptureReader{from: from}
	if _, err := io.ReadFull(from, r.header[:]); err != nil {
		return nil, fmt.Errorf("capture header: %w", err)
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if magic := order.Uint32(r.header[:]); magic == magicMicroseconds || magic == magicNanoseconds {
			r.order = order
		}
	}
	if r.order == nil {
		return nil, errNoCapture
	}
	if link := r.order.Uint32(r.header[20:]) & 0xffff; link != linkTypeEthernet {
		return nil, fmt.Errorf("capture of link type %d, only Ethernet (%d) is taken", link, linkTypeEthernet)
	}
	return r, nil
}

// Next reads the next frame into b. A frame longer than b is skipped with an error; io.EOF is the end,
// io.ErrUnexpectedEOF a file that was cut off.
func (r *CaptureReader) Next(b []byte) (length int, err error) {
	header := r.header[:recordHeaderBytes]
	if _, err := io.ReadFull(r.from, header); err != nil {
		return 0, err
	}
	captured := r.order.Uint32(header[8:])
	switch {
	case captured > maxCapturedBytes:
		return 0, errDamaged
	case int(captured) > len(b):
		return 0, r.skip(int(captured), b)
	}
	if _, err := io.ReadFull(r.from, b[:captured]); err != nil {
		return 0, cutOff(err)
	}
	return int(captured), nil
}

func (r *CaptureReader) skip(n int, scratch []byte) error {
	for n > 0 && len(scratch) > 0 {
		part := scratch[:min(n, len(scratch))]
		if _, err := io.ReadFull(r.from, part); err != nil {
			return cutOff(err)
		}
		n -= len(part)
	}
	return errFrameTooLong
}

// cutOff names an end inside of a record.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// CaptureWriter writes a capture file. A frame's time stamp is its ordinal in microseconds, so that the
// files of two runs compare byte for byte.
type CaptureWriter struct {
	to     io.Writer
	frames uint32
	header [recordHeaderBytes]byte
}

// NewCaptureWriter writes the file's header.
func NewCaptureWriter(to io.Writer) (*CaptureWriter, error) {
	h := [captureHeaderBytes]byte{}
	binary.LittleEndian.PutUint32(h[0:], magicMicroseconds)
	binary.LittleEndian.PutUint16(h[4:], 2) // version 2.4
	binary.LittleEndian.PutUint16(h[6:], 4)
	binary.LittleEndian.PutUint32(h[16:], maxCapturedBytes)
	binary.LittleEndian.PutUint32(h[20:], linkTypeEthernet)
	_, err := to.Write(h[:])
	return &CaptureWriter{to: to}, err
}

// Write appends a frame.
func (w *CaptureWriter) Write(frame []byte) error {
	binary.LittleEndian.PutUint32(w.header[0:], w.frames/1e6)
	binary.LittleEndian.PutUint32(w.header[4:], w.frames%1e6)
	binary.LittleEndian.PutUint32(w.header[8:], uint32(len(frame)))
	binary.LittleEndian.PutUint32(w.header[12:], uint32(len(frame)))
	w.frames++
	if _, err := w.to.Write(w.header[:]); err != nil {
		return err
	}
	_, err := w.to.Write(frame)
	return err
}
