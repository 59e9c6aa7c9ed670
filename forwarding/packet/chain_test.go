package packet

import (
	"bytes"
	"testing"
)

// A frame of any length goes in and comes out again, headers may be taken and put in front, and every buffer
// comes back.
func TestChain(t *testing.T) {
	const buffers = 8
	p := NewPool(NewArena(make([]byte, buffers*Stride), buffers), 0, buffers)
	for _, length := range []int{1, 60, MaxFrame - 1, MaxFrame, MaxFrame + 1, 2 * MaxFrame, 9030, MaxChained} {
		frame := make([]byte, length)
		for i := range frame {
			frame[i] = byte(i * 7)
		}
		index, ok := p.TakeChain(length)
		if !ok {
			t.Fatalf("no chain for %d bytes", length)
		}
		p.Arena.Fill(index, frame[:length/3], frame[length/3:])
		if got := p.Arena.Append(nil, index, Start(index), uint32(length)); !bytes.Equal(got, frame) {
			t.Errorf("%d bytes: another frame comes out", length)
		}
		taken := min(14, length-1)
		if got := p.Arena.Append(nil, index, Start(index)+uint32(taken), uint32(length-taken)); !bytes.Equal(got, frame[taken:]) {
			t.Errorf("%d bytes: without its header another frame comes out", length)
		}
		copy(p.Arena.Memory[Start(index)-4:], "head")
		if got := p.Arena.Append(nil, index, Start(index)-4, uint32(length+4)); !bytes.Equal(got, append([]byte("head"), frame...)) {
			t.Errorf("%d bytes: with a header more another frame comes out", length)
		}
		if got := p.Arena.Head(index, Start(index), uint32(length)); len(got) != min(length, MaxFrame) {
			t.Errorf("%d bytes: head of %d", length, len(got))
		}
		p.Give(index)
		if p.Free() != buffers {
			t.Fatalf("%d bytes: %d of %d buffers came back", length, p.Free(), buffers)
		}
	}
}

func TestChainThatCannotBe(t *testing.T) {
	const buffers = 3
	p := NewPool(NewArena(make([]byte, buffers*Stride), buffers), 0, buffers)
	if _, ok := p.TakeChain(MaxChained + 1); ok {
		t.Error("a frame longer than the longest")
	}
	if _, ok := p.TakeChain(3*MaxFrame + 1); ok {
		t.Error("more buffers than there are")
	}
	if p.Free() != buffers {
		t.Errorf("%d of %d buffers are left", p.Free(), buffers)
	}
}
