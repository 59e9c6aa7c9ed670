package process

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vbng/forwarding"
	"vbng/forwarding/entry"
	"vbng/forwarding/port"
	"vbng/forwarding/remote"
)

func smallConfig() Config {
	limits := forwarding.Limits{Sessions: 64, Routes: 1024, Routes6: 256, Neighbors: 64, Interfaces: 64, Ports: 8, VRFs: 8, Groups: 8, Buffers: 1024}
	return Config{Limits: limits, Workers: 1, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

// capture writes a capture file of frames.
func capture(t *testing.T, frames ...[]byte) string {
	t.Helper()
	var b bytes.Buffer
	w, err := port.NewCaptureWriter(&b)
	for _, f := range frames {
		if err == nil {
			err = w.Write(f)
		}
	}
	name := filepath.Join(t.TempDir(), "in.pcap")
	if err == nil {
		err = os.WriteFile(name, b.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// A file with a PADI goes through the real engine and comes up in control; an injected frame goes out. All
// of it passes the codec, the rings and the shared memory.
func TestLocalEngine(t *testing.T) {
	padi := append(bytes.Repeat([]byte{0xff}, 6), 2, 0, 0, 0, 0, 9, 0x88, 0x63, 0x11, 0x09, 0, 0, 0, 4, 1, 1, 0, 0)
	padi = append(padi, make([]byte, 40)...)
	punts := make(punted, 10)
	states := make(chan entry.Event, 10)
	l, err := NewLocal(smallConfig(), remote.ClientConfig{
		Log:       slog.New(slog.NewTextHandler(io.Discard, nil)),
		Receivers: map[entry.Class]entry.Receiver{entry.ClassPPPoEDiscovery: punts},
		Events:    func(e entry.Event) { states <- e },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Chdir(filepath.Dir(capture(t, padi))) // device names are short
	b := &entry.Batch{}
	own := entry.MAC{2, 0, 0, 0, 0, 1}
	b.Put(
		entry.VRF{ID: 0},
		entry.Port{ID: 1, Driver: entry.DriverPCAP, Device: "in.pcap,o", MAC: own, PPPoE: true},
	)
	applied := make(chan entry.Result, 1)
	l.Apply(b, func(r entry.Result) { applied <- r })
	if r := receive(t, applied); r.Err != nil {
		t.Fatal(r.Err)
	}
	if p := receive(t, punts); p.Port != 1 || !bytes.Equal(p.Data, padi) || p.Payload != 14 {
		t.Errorf("punted %+v", p)
	}
	if s := receive(t, states); s.(entry.PortState).MAC != own {
		t.Errorf("port state %+v", s)
	}
	injected := bytes.Repeat([]byte{2}, 60)
	if !l.Inject(1, injected) {
		t.Error("inject refused")
	}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if written, _ := os.ReadFile("o"); bytes.Contains(written, injected) {
			return
		}
	}
	t.Error("the injected frame did not come out")
}

type punted chan entry.Punt

// Punt implements entry.Receiver.
func (c punted) Punt(p entry.Punt) {
	p.Data = bytes.Clone(p.Data)
	c <- p
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case x := <-c:
		return x
	case <-time.After(5 * time.Second):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}
