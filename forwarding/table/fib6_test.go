package table

import (
	"math/rand"
	"testing"

	"vbng/forwarding/packet"
)

type route6 struct {
	address Address6
	length  int
}

// longest6 is the linear model: it tries every length.
func longest6(m map[route6]Target, a Address6, below int) (Target, int) {
	for l := below; l >= 0; l-- {
		if target, ok := m[route6{a.Mask(l), l}]; ok {
			return target, l
		}
	}
	return 0, 0
}

func smallTables(t testing.TB, routes6 int) *Tables {
	t.Helper()
	l := Limits{Sessions: 4, Routes: 4, Routes6: routes6, Neighbors: 4, Interfaces: 4, VRFs: 2, Groups: 4}
	tables, err := New(l, 42, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func newFIB6(t testing.TB, tables *Tables) *FIB6 {
	t.Helper()
	f, err := NewFIB6(tables)
	if err != nil {
		t.Fatal(err)
	}
	tables.VRFs[1].Store(&VRF{FIB: newFIB(t, 1), FIB6: f})
	return f
}

// narrow draws from a few thousand addresses that differ in all parts, so that prefixes nest deeply.
func narrow(r *rand.Rand) Address6 {
	return Address6{
		High: 0x2001_0db8_0000_0000 | r.Uint64()&0x0001_0001_0000_0101,
		Low:  r.Uint64() & 0x8000_0000_0100_0007,
	}
}

// prefix6 draws a prefix of any length.
func prefix6(r *rand.Rand) route6 {
	length := r.Intn(129)
	switch r.Intn(4) {
	case 0:
		length = 120 + r.Intn(9)
	case 1:
		length = []int{16, 17, 32, 48, 56, 63, 64, 65, 72, 96, 126, 127, 128}[r.Intn(13)]
	}
	return route6{narrow(r).Mask(length), length}
}

// check6 compares single and batched lookup with the model.
func check6(t *testing.T, tables *Tables, f *FIB6, model map[route6]Target, r *rand.Rand) {
	t.Helper()
	var c packet.Columns
	var l packet.List
	l.All(packet.VectorSize)
	for range 10 {
		for i := range packet.VectorSize {
			a := narrow(r)
			if r.Intn(10) == 0 {
				a = Address6{r.Uint64(), r.Uint64()}
			}
			c.DestHigh[i], c.DestLow[i], c.VRF[i] = a.High, a.Low, 1
			if r.Intn(20) == 0 {
				c.VRF[i] = 0 // not there
			}
		}
		tables.Prefetch6(&c, &l)
		tables.Lookup6(&c, &l)
		for i := range packet.VectorSize {
			a := Address6{c.DestHigh[i], c.DestLow[i]}
			want, length := longest6(model, a, 128)
			if got := f.Lookup(a); got != want {
				t.Fatalf("%x: %06x, want %06x (/%d)", a, got, want, length)
			}
			if c.VRF[i] == 0 {
				want = 0
			}
			if got := Target(c.Target[i]); got != want {
				t.Fatalf("%x in a vector: %06x, want %06x (/%d)", a, got, want, length)
			}
		}
	}
}

func TestFIB6AgainstLinearSearch(t *testing.T) {
	for seed := int64(1); seed <= 3; seed++ {
		r := rand.New(rand.NewSource(seed))
		tables := smallTables(t, 8000)
		f, model := newFIB6(t, tables), map[route6]Target{}
		for step := range 6000 {
			p := prefix6(r)
			if _, there := model[p]; there && r.Intn(2) == 0 {
				delete6(f, model, p)
			} else {
				model[p] = NewTarget(1+uint32(r.Intn(6)), r.Uint32())
				f.Put(p.address, p.length, model[p], !there)
			}
			if step%100 == 0 {
				check6(t, tables, f, model, r)
				tables.Reclaim()
			}
		}
		for p := range model {
			delete6(f, model, p)
			if len(model)%500 == 0 {
				check6(t, tables, f, model, r)
			}
		}
		tables.Reclaim()
		if f.Len() != 0 || tables.Groups6.Used() != 0 || tables.deeps.used() != 0 || tables.deeps.hosts.Len() != 0 {
			t.Fatalf("%d routes, %d groups, %d records left", f.Len(), tables.Groups6.Used(), tables.deeps.used())
		}
		f.Free()
	}
}

func delete6(f *FIB6, model map[route6]Target, p route6) {
	delete(model, p)
	cover, length := longest6(model, p.address, p.length-1)
	f.Delete(p.address, p.length, length, cover)
}

// TestFIB6Lengths has one prefix of each length over one address, put and deleted in both orders.
func TestFIB6Lengths(t *testing.T) {
	tables := smallTables(t, 200)
	f, model := newFIB6(t, tables), map[route6]Target{}
	a := Address6{0x2001_0db8_1234_5678, 0}
	put := func(l int) {
		model[route6{a.Mask(l), l}] = NewTarget(KindNeighbor, uint32(l))
		f.Put(a.Mask(l), l, NewTarget(KindNeighbor, uint32(l)), true)
	}
	check := func() {
		t.Helper()
		for bit := range 128 {
			b := a
			if bit < 64 {
				b.High ^= 1 << (63 - bit)
			} else {
				b.Low ^= 1 << (127 - bit)
			}
			if want, _ := longest6(model, b, 128); f.Lookup(b) != want {
				t.Fatalf("bit %d: %06x, want %06x", bit, f.Lookup(b), want)
			}
		}
		if want, _ := longest6(model, a, 128); f.Lookup(a) != want {
			t.Fatalf("%06x, want %06x", f.Lookup(a), want)
		}
	}
	for l := 128; l >= 0; l-- {
		put(l)
		check()
	}
	for l := 128; l >= 0; l-- {
		delete6(f, model, route6{a.Mask(l), l})
		check()
	}
	for l := 0; l <= 128; l++ {
		put(l)
		check()
	}
	for l := 0; l <= 128; l++ {
		delete6(f, model, route6{a.Mask(l), l})
		check()
	}
}

// TestGroupsOf6 measures what a lone prefix takes.
func TestGroupsOf6(t *testing.T) {
	for length := range 129 {
		tables := smallTables(t, 40)
		f := newFIB6(t, tables)
		f.Put(Address6{0x2001_0db8_0102_0304, 0x0506_0708_090a_0b0c}.Mask(length), length, NewTarget(KindDrop, 0), true)
		if got := tables.Groups6.Used(); got != GroupsOf6(length) {
			t.Errorf("/%d takes %d groups, want %d", length, got, GroupsOf6(length))
		}
	}
}
