package packet

import "testing"

func TestSlabIsZeroAndWritable(t *testing.T) {
	s, err := NewSlab[[3]uint64](10_000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s {
		if s[i] != [3]uint64{} {
			t.Fatal("not zero")
		}
		s[i][2] = uint64(i)
	}
	if s[9_999][2] != 9_999 {
		t.Fatal("lost a write")
	}
	FreeSlab(s)
}

func TestPoolIsLIFOAndBounded(t *testing.T) {
	memory, err := NewSlab[byte](4 * Stride)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPool(NewArena(memory, 4), 0, 4)
	for want := uint32(0); want < 4; want++ {
		if got, ok := p.Take(); !ok || got != want {
			t.Fatalf("got %d %v", got, ok)
		}
	}
	if _, ok := p.Take(); ok {
		t.Fatal("took from an empty pool")
	}
	p.Give(2)
	if got, _ := p.Take(); got != 2 {
		t.Fatalf("got %d, want the one freed last", got)
	}
	p.GiveAll([]uint32{0, 2, 3})
	indices := make([]uint32, 5)
	if n := p.TakeAll(indices[:2]); n != 2 || indices[0] != 2 || indices[1] != 3 {
		t.Fatalf("took %d: %v", n, indices)
	}
	if n := p.TakeAll(indices); n != 1 || indices[0] != 0 || p.Free() != 0 {
		t.Fatalf("took %d: %v", n, indices)
	}
}

func TestPrefetchTakesAnything(t *testing.T) {
	memory, err := NewSlab[byte](Stride)
	if err != nil {
		t.Fatal(err)
	}
	a := NewArena(memory, 1)
	c, l := &Columns{}, &List{}
	a.PrefetchHeaders(c, l)
	l.All(VectorSize)
	for i := range c.Offset {
		c.Offset[i] = ^uint32(i)
	}
	a.PrefetchHeaders(c, l)
}

func TestListAppend(t *testing.T) {
	a, b := &List{}, &List{}
	a.Add(3)
	b.All(5)
	a.Append(b)
	if a.N != 6 || a.Slot[0] != 3 || a.Slot[5] != 4 {
		t.Fatalf("%+v", a)
	}
}
