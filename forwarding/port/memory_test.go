package port

import (
	"bytes"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/packet"
)

func TestMemoryPortBothWays(t *testing.T) {
	p := NewMemory(entry.PortState{Port: 7}, 4)
	memory := make([]byte, 8*packet.Stride)
	pool := packet.NewPool(packet.NewArena(memory, 8), 0, 8)
	for i := range 4 {
		if !p.Send([]byte{1, 2, byte(i)}) {
			t.Fatal("full too early")
		}
	}
	if p.Send([]byte{9}) {
		t.Fatal("a fifth frame fits into four places")
	}
	if p.Send(make([]byte, packet.MaxFrame+1)) {
		t.Fatal("overlong frame accepted")
	}
	v := &packet.Vector{}
	if n := p.Receive(pool, v); n != 4 || v.N != 4 || v.Offset[1] != packet.Start(v.Index[1]) || v.Length[1] != 3 {
		t.Fatalf("received %d: %+v", n, v)
	}
	p.Transmit(pool, v)
	for i := range 4 {
		if f, ok := p.Take(nil); !ok || !bytes.Equal(f, []byte{1, 2, byte(i)}) {
			t.Fatalf("frame %d: %x %v", i, f, ok)
		}
	}
	if _, ok := p.Take(nil); ok || pool.Free() != 8 {
		t.Fatalf("%d buffers free", pool.Free())
	}
	want := entry.PortCounters{InputPackets: 4, InputBytes: 12, OutputPackets: 4, OutputBytes: 12}
	if p.Counters() != want || !p.State().Up {
		t.Fatalf("counters %+v", p.Counters())
	}
}
