package port

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

// inOwnNetwork runs the calling test once more in a network namespace of its own, as root: programs of the
// kernel are for its real root only. Outside it returns false.
func inOwnNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideNamespace) != "" {
		return true
	}
	if os.Getuid() != 0 {
		t.Skip("AF_XDP needs root")
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), insideNamespace+"=1")
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("inside the namespace: %v\n%s", err, output)
	} else if bytes.Contains(output, []byte("--- SKIP")) {
		t.Skipf("inside the namespace:\n%s", output)
	}
	return false
}

// xdpBench is a bench whose arena the kernel can share.
func newXDPBench(t *testing.T) (*bench, *Opener) {
	t.Helper()
	const buffers = 1024
	memory, err := packet.NewSlab[byte](buffers * packet.Stride)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{pool: packet.NewPool(packet.NewArena(memory, buffers), 0, buffers)}
	o := NewOpener(slog.New(slog.NewTextHandler(io.Discard, nil)))
	o.Use(b.pool.Arena)
	return b, o
}

func openXDP(t *testing.T, b *bench, o *Opener, device string, mode entry.XDPMode) *AFXDP {
	t.Helper()
	p, err := openAFXDP(entry.Port{ID: 1, Driver: entry.DriverAFXDP, Device: device, XDP: mode}, &o.xdp, o.log)
	if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.ENOSYS) {
		t.Skipf("this kernel has no AF_XDP: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Receive(b.pool, &packet.Vector{}) // gives the kernel buffers
	return p
}

// Frames with every kind of tag, of every length up to the device's, pass in both modes and both directions,
// and every buffer comes back.
func TestAFXDP(t *testing.T) {
	if !inOwnNetwork(t) {
		return
	}
	tags := map[string][]uint16{
		"untagged": nil, "0x8100": {0x8100, 100}, "0x88a8": {0x88a8, 100}, "0x9100": {0x9100, 100}, "QinQ": {0x88a8, 100, 0x8100, 7},
	}
	for _, mode := range []entry.XDPMode{entry.XDPNative, entry.XDPGeneric} {
		for _, mtu := range []int{1600, 9100} {
			t.Run(fmt.Sprintf("%v mtu %d", mode, mtu), func(t *testing.T) {
				addVeth(t, "left", "right", mtu)
				defer removeDevice(t, "left")
				far := openAFPacket(t, entry.Port{ID: 2, Device: "right"})
				b, o := newXDPBench(t)
				near := openXDP(t, b, o, "left", mode)
				if near.mode != mode {
					t.Fatalf("attached in mode %v", near.mode)
				}
				for name, tags := range tags {
					for _, payload := range []int{50, 1530 - 34, mtu - 40} {
						frame := ethernet(byte(payload), payload, tags...)
						for i := range payload {
							frame[len(frame)-payload+i] = byte(i * 13)
						}
						b.sendLong(t, far, frame)
						if got := b.receiveLong(t, near); !bytes.Equal(got, frame) {
							t.Errorf("%s, %d bytes in: got %d bytes, another frame", name, len(frame), len(got))
						}
						b.sendLong(t, near, frame)
						if got := b.receiveLong(t, far); !bytes.Equal(got, frame) {
							t.Errorf("%s, %d bytes out: got %d bytes, another frame", name, len(frame), len(got))
						}
					}
				}
				if err := near.Close(); err != nil {
					t.Error(err)
				}
				o.xdp.adopt(b.pool)
				if free := b.pool.Free(); free != b.pool.Arena.Count {
					t.Errorf("%d of %d buffers came back", free, b.pool.Arena.Count)
				}
			})
		}
	}
}

// Two ports share the arena: what one received the other sends, and after the first has closed the second
// still works and a third can be opened.
func TestAFXDPShareTheArena(t *testing.T) {
	if !inOwnNetwork(t) {
		return
	}
	addVeth(t, "left0", "right0", 1600)
	addVeth(t, "left1", "right1", 1600)
	far0, far1 := openAFPacket(t, entry.Port{ID: 3, Device: "right0"}), openAFPacket(t, entry.Port{ID: 4, Device: "right1"})
	b, o := newXDPBench(t)
	near0, near1 := openXDP(t, b, o, "left0", entry.XDPAny), openXDP(t, b, o, "left1", entry.XDPAny)
	for i := range 500 {
		frame := ethernet(byte(i), 1000, 0x8100, uint16(i))
		b.sendLong(t, far0, frame)
		v := b.receiveVector(t, near0)
		near1.Transmit(b.pool, v)
		if got := b.receiveLong(t, far1); !bytes.Equal(got, frame) {
			t.Fatalf("frame %d: another one comes out", i)
		}
	}
	if err := near0.Close(); err != nil {
		t.Fatal(err)
	}
	near0 = openXDP(t, b, o, "left0", entry.XDPAny)
	frame := ethernet(1, 100)
	b.sendLong(t, far0, frame)
	near1.Transmit(b.pool, b.receiveVector(t, near0))
	if got := b.receiveLong(t, far1); !bytes.Equal(got, frame) {
		t.Error("after a port was opened again another frame comes out")
	}
	_, _ = near0.Close(), near1.Close()
	o.xdp.adopt(b.pool)
	if free := b.pool.Free(); free != b.pool.Arena.Count {
		t.Errorf("%d of %d buffers came back", free, b.pool.Arena.Count)
	}
}

// A device that has a program already, and one without XDP, are refused with a reason.
func TestAFXDPRefuses(t *testing.T) {
	if !inOwnNetwork(t) {
		return
	}
	addVeth(t, "left", "right", 1600)
	b, o := newXDPBench(t)
	first := openXDP(t, b, o, "left", entry.XDPNative)
	defer first.Close()
	_, err := openAFXDP(entry.Port{ID: 2, Driver: entry.DriverAFXDP, Device: "left", XDP: entry.XDPNative}, &o.xdp, o.log)
	if err == nil || !strings.Contains(err.Error(), "another program holds the device") {
		t.Errorf("second port on a device: %v", err)
	}
	if _, err := openAFXDP(entry.Port{ID: 2, Driver: entry.DriverAFXDP, Device: "none"}, &o.xdp, o.log); err == nil {
		t.Error("a device that does not exist was opened")
	}
}

func (b *bench) sendLong(t *testing.T, p Port, frame []byte) {
	t.Helper()
	index, ok := b.pool.TakeChain(len(frame))
	if !ok {
		t.Fatal("no buffers")
	}
	b.pool.Arena.Fill(index, frame, nil)
	v := &packet.Vector{N: 1}
	v.Index[0], v.Offset[0], v.Length[0] = index, packet.Start(index), uint32(len(frame))
	p.Transmit(b.pool, v)
}

// receiveVector waits for the next test frame.
func (b *bench) receiveVector(t *testing.T, p Port) *packet.Vector {
	t.Helper()
	for range 200 {
		v := &packet.Vector{}
		p.Receive(b.pool, v)
		one := &packet.Vector{}
		for i := range v.N {
			if one.N == 0 && ours(b.pool.Arena.Head(v.Index[i], v.Offset[i], v.Length[i])) {
				one.N, one.Index[0], one.Offset[0], one.Length[0] = 1, v.Index[i], v.Offset[i], v.Length[i]
			} else {
				b.pool.Give(v.Index[i])
			}
		}
		if one.N == 1 {
			return one
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(p.Descriptor()), Events: unix.POLLIN}}, 10)
	}
	t.Fatalf("no frame came; counters %+v, drops %+v", p.Counters(), p.(Dropper).Drops())
	return nil
}

func (b *bench) receiveLong(t *testing.T, p Port) []byte {
	t.Helper()
	v := b.receiveVector(t, p)
	frame := b.pool.Arena.Append(nil, v.Index[0], v.Offset[0], v.Length[0])
	b.pool.Give(v.Index[0])
	return frame
}
