package port

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// PCAP receives the frames of one capture file and writes what it transmits into another. The device's
// name is "IN", "IN,OUT" or ",OUT".
type PCAP struct {
	entry  entry.Port
	input  *os.File
	output *os.File
	reader *CaptureReader
	writer *CaptureWriter
	buffer *bufio.Writer
	bell   int // event descriptor, readable until the input's end
	tally  tally
	broken atomic.Pointer[string]
	frame  []byte // in one piece
}

// OpenPCAP opens the files that e names.
func OpenPCAP(e entry.Port) (*PCAP, error) {
	p := &PCAP{entry: e, bell: -1}
	in, out, _ := strings.Cut(e.Device, ",")
	err := p.openInput(in)
	if err == nil {
		err = p.openOutput(out)
	}
	if err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

func (p *PCAP) openInput(name string) (err error) {
	if name == "" {
		return nil
	}
	if p.input, err = os.Open(name); err != nil {
		return fmt.Errorf("open capture: %w", err)
	}
	if p.reader, err = NewCaptureReader(bufio.NewReader(p.input)); err != nil {
		return fmt.Errorf("read capture %s: %w", name, err)
	}
	if p.bell, err = unix.Eventfd(1, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return fmt.Errorf("make event descriptor for capture %s: %w", name, err)
	}
	return nil
}

func (p *PCAP) openOutput(name string) (err error) {
	if name == "" {
		return nil
	}
	if p.output, err = os.Create(name); err != nil {
		return fmt.Errorf("create capture: %w", err)
	}
	p.buffer = bufio.NewWriter(p.output)
	if p.writer, err = NewCaptureWriter(p.buffer); err != nil {
		return fmt.Errorf("write capture %s: %w", name, err)
	}
	return nil
}

// Receive implements Port. A capture that breaks off or is damaged ends there; State tells.
func (p *PCAP) Receive(pool *packet.Pool, v *packet.Vector) int {
	packets, bytes := 0, 0
	for p.reader != nil && v.N < packet.VectorSize {
		buffer, ok := pool.Take()
		if !ok {
			break
		}
		start := int(buffer)*packet.Stride + packet.Headroom
		n, err := p.reader.Next(pool.Arena.Memory[start : start+packet.MaxFrame])
		if err != nil {
			pool.Give(buffer)
			if errors.Is(err, errFrameTooLong) {
				p.tally.inputDrops.Add(1)
				continue
			}
			p.finish(err)
			break
		}
		v.Index[v.N], v.Offset[v.N], v.Length[v.N] = buffer, uint32(start), uint32(n)
		v.N++
		packets, bytes = packets+1, bytes+n
	}
	p.tally.input(packets, bytes)
	return packets
}

// finish ends the input.
func (p *PCAP) finish(err error) {
	p.reader = nil
	if !errors.Is(err, io.EOF) {
		text := fmt.Sprintf("read capture %s: %v", p.input.Name(), err)
		p.broken.Store(&text)
	}
	var count [8]byte
	_, _ = unix.Read(p.bell, count[:])
}

// Transmit implements Port.
func (p *PCAP) Transmit(pool *packet.Pool, v *packet.Vector) {
	for i := range v.N {
		p.frame = pool.Arena.Append(p.frame[:0], v.Index[i], v.Offset[i], v.Length[i])
		p.write(p.frame)
		pool.Give(v.Index[i])
	}
	if p.buffer != nil {
		_ = p.buffer.Flush() // an error stays with the buffer: the next write reports it
	}
}

func (p *PCAP) write(frame []byte) {
	if p.writer == nil || p.writer.Write(frame) != nil {
		p.tally.outputDrops.Add(1)
		return
	}
	p.tally.output(1, len(frame))
}

// Descriptor implements Port.
func (p *PCAP) Descriptor() int { return p.bell }

// State implements Port.
func (p *PCAP) State() entry.PortState {
	s := entry.PortState{Port: p.entry.ID, Up: true, MAC: p.entry.MAC, MTU: p.entry.MTU}
	if s.MTU == 0 {
		s.MTU = packet.MaxFrame - 14
	}
	if text := p.broken.Load(); text != nil {
		s.Err = *text
	}
	return s
}

// Counters implements Port.
func (p *PCAP) Counters() entry.PortCounters { return p.tally.read() }

// Close implements Port.
func (p *PCAP) Close() error {
	var err error
	if p.input != nil {
		err = p.input.Close()
	}
	if p.output != nil {
		err = errors.Join(err, p.buffer.Flush(), p.output.Close())
	}
	if p.bell >= 0 {
		_ = unix.Close(p.bell)
	}
	return err
}
