package port

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// captureFile makes a capture of the given byte order and magic number.
func captureFile(order binary.AppendByteOrder, magic uint32, link uint32, frames ...[]byte) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = order.AppendUint32(b, 65535)
	b = order.AppendUint32(b, link)
	for _, f := range frames {
		b = append(b, make([]byte, 8)...)
		b = order.AppendUint32(b, uint32(len(f)))
		b = order.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

func readAll(file []byte) (frames [][]byte, err error) {
	r, err := NewCaptureReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	for {
		b := make([]byte, packet.MaxFrame)
		n, err := r.Next(b)
		if errors.Is(err, errFrameTooLong) {
			continue
		}
		if err != nil {
			return frames, err
		}
		frames = append(frames, b[:n])
	}
}

func TestCaptureOfEitherOrder(t *testing.T) {
	want := [][]byte{{1, 2, 3}, make([]byte, packet.MaxFrame), {}}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, magic := range []uint32{magicMicroseconds, magicNanoseconds} {
			tooLong := make([]byte, packet.MaxFrame+1)
			got, err := readAll(captureFile(order, magic, 1, want[0], want[1], tooLong, want[2]))
			if err != io.EOF || len(got) != 3 || !bytes.Equal(got[0], want[0]) || !bytes.Equal(got[1], want[1]) {
				t.Errorf("%v %x: %d frames, %v", order, magic, len(got), err)
			}
		}
	}
}

func TestDamagedCaptures(t *testing.T) {
	whole := captureFile(binary.LittleEndian, magicMicroseconds, 1, []byte{1, 2, 3})
	damaged := bytes.Clone(whole)
	damaged[captureHeaderBytes+11] = 0xff
	tests := []struct {
		name string
		file []byte
		want error
	}{
		{"empty", nil, io.EOF},
		{"other format", make([]byte, 24), errNoCapture},
		{"cut in a record", whole[:len(whole)-1], io.ErrUnexpectedEOF},
		{"cut in a record's header", whole[:captureHeaderBytes+5], io.ErrUnexpectedEOF},
		{"length is damaged", damaged, errDamaged},
	}
	for _, tt := range tests {
		if _, err := readAll(tt.file); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := readAll(captureFile(binary.BigEndian, magicMicroseconds, 101)); err == nil || !strings.Contains(err.Error(), "link type 101") {
		t.Errorf("raw IP capture: got %v", err)
	}
}

// What one port writes, another reads.
func TestPCAPThereAndBack(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // device names are short
	out, err := NewOpener(slog.Default()).Open(entry.Port{ID: 1, Driver: entry.DriverPCAP, Device: ",a.pcap"})
	if err != nil {
		t.Fatal(err)
	}
	b, frames := newBench(), [][]byte{ethernet(0, 46), ethernet(1, 1000)}
	b.send(t, out, frames...)
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	in, err := NewOpener(slog.Default()).Open(entry.Port{ID: 1, Driver: entry.DriverPCAP, Device: "a.pcap"})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for i, got := range b.receive(t, in, 2, func([]byte) bool { return true }) {
		if !bytes.Equal(got, frames[i]) {
			t.Errorf("frame %d is %x", i, got)
		}
	}
	ready, _ := unix.Poll([]unix.PollFd{{Fd: int32(in.Descriptor()), Events: unix.POLLIN}}, 0)
	if ready != 0 && in.Receive(b.pool, &packet.Vector{}) == 0 {
		ready, _ = unix.Poll([]unix.PollFd{{Fd: int32(in.Descriptor()), Events: unix.POLLIN}}, 0)
	}
	if ready != 0 {
		t.Error("the descriptor polls readable behind the end")
	}
	b.send(t, in, frames[0]) // there is no output
	if c := in.Counters(); c.InputPackets != 2 || c.OutputDrops != 1 || c.OutputPackets != 0 {
		t.Errorf("counters %+v", c)
	}
	if b.pool.Free() != 256 {
		t.Errorf("%d buffers are free, want all", b.pool.Free())
	}
}

func TestPCAPTellsDamage(t *testing.T) {
	t.Chdir(t.TempDir())
	file := captureFile(binary.LittleEndian, magicMicroseconds, 1, []byte{1, 2, 3})
	if err := os.WriteFile("cut.pcap", file[:len(file)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := OpenPCAP(entry.Port{ID: 1, Device: "cut.pcap"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	newBench().receive(t, p, 0, nil)
	p.Receive(newBench().pool, &packet.Vector{})
	if s := p.State(); !strings.Contains(s.Err, "unexpected EOF") {
		t.Errorf("state %+v", s)
	}
	if _, err := OpenPCAP(entry.Port{ID: 1, Device: filepath.Join("none", "x")}); err == nil {
		t.Error("a missing file was opened")
	}
}

func FuzzCapture(f *testing.F) {
	f.Add(captureFile(binary.LittleEndian, magicMicroseconds, 1, []byte{1, 2, 3}, make([]byte, 2000)))
	f.Add(captureFile(binary.BigEndian, magicNanoseconds, 1, []byte{1}))
	f.Fuzz(func(t *testing.T, file []byte) {
		frames, _ := readAll(file)
		total := 0
		for _, frame := range frames {
			total += len(frame) + recordHeaderBytes
		}
		if total > len(file) {
			t.Errorf("%d bytes of frames out of %d", total, len(file))
		}
	})
}
