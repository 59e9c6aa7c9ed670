package table

import (
	"math/rand"
	"testing"
)

type route struct {
	address uint32
	length  int
}

func maskOf(length int) uint32 { return uint32(^uint64(0) << (32 - length)) }

// longest is the linear model: it tries every length.
func longest(m map[route]Target, address uint32, below int) (Target, int) {
	for l := below; l >= 0; l-- {
		if target, ok := m[route{address & maskOf(l), l}]; ok {
			return target, l
		}
	}
	return 0, 0
}

func newFIB(t testing.TB, groups int) *FIB {
	t.Helper()
	var f *FIB
	g, err := NewGroups(groups, func() {})
	if err != nil {
		t.Fatal(err)
	}
	if f, err = NewFIB(g); err != nil {
		t.Fatal(err)
	}
	return f
}

// somePrefix draws from a narrow space, so that prefixes nest deeply.
// Those shorter than shortest are left out, except the default route.
func somePrefix(r *rand.Rand, shortest int) route {
	length := shortest + r.Intn(33-shortest)
	if r.Intn(50) == 0 {
		length = 0
	}
	address := 10<<24 | r.Uint32()&0x0003_0F0F
	if r.Intn(4) == 0 {
		length = 25 + r.Intn(8)
	}
	return route{address & maskOf(length), length}
}

func check(t *testing.T, f *FIB, model map[route]Target, r *rand.Rand) {
	t.Helper()
	for range 200 {
		a := 10<<24 | r.Uint32()&0x0003_0F0F
		if r.Intn(10) == 0 {
			a = r.Uint32()
		}
		want, _ := longest(model, a, 32)
		if got := f.Lookup(a); got != want {
			t.Fatalf("%08x: %06x, want %06x", a, got, want)
		}
	}
}

func churn(t *testing.T, f *FIB, model map[route]Target, r *rand.Rand, steps, shortest int) {
	t.Helper()
	for step := range steps {
		p := somePrefix(r, shortest)
		_, there := model[p]
		if there && r.Intn(2) == 0 {
			delete(model, p)
			cover, length := longest(model, p.address, p.length-1)
			f.Delete(p.address, p.length, length, cover)
		} else {
			target := NewTarget(1+uint32(r.Intn(5)), r.Uint32())
			if err := f.Put(p.address, p.length, target, !there); err != nil {
				t.Fatal(err)
			}
			model[p] = target
		}
		if step%100 == 0 {
			check(t, f, model, r)
			f.groups.Reclaim()
		}
	}
}

func TestFIBAgainstLinearSearch(t *testing.T) {
	for seed := int64(1); seed <= 2; seed++ {
		r := rand.New(rand.NewSource(seed))
		f, model := newFIB(t, 20_000), map[route]Target{}
		churn(t, f, model, r, 4000, 6)
		empty(t, f, model, r)
	}
}

// empty deletes everything, in random (map) order, and expects all groups back.
func empty(t *testing.T, f *FIB, model map[route]Target, r *rand.Rand) {
	t.Helper()
	for p := range model {
		delete(model, p)
		cover, length := longest(model, p.address, p.length-1)
		f.Delete(p.address, p.length, length, cover)
	}
	check(t, f, model, r)
	f.groups.Reclaim()
	if f.Len() != 0 || f.groups.Used() != 0 {
		t.Fatalf("%d routes, %d groups left", f.Len(), f.groups.Used())
	}
}

// TestFIBPromotion goes over the threshold and compares before, on the way, and after.
func TestFIBPromotion(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	f, model := newFIB(t, 40_000), map[route]Target{}
	churn(t, f, model, r, 2000, 14)
	for f.routes <= promoteAt+500 {
		length := 14 + r.Intn(19)
		p := route{r.Uint32() & maskOf(length), length}
		if _, there := model[p]; there {
			continue
		}
		model[p] = NewTarget(KindNeighbor, r.Uint32())
		if err := f.Put(p.address, p.length, model[p], true); err != nil {
			t.Fatal(err)
		}
		if f.routes%500 == 0 {
			check(t, f, model, r)
		}
	}
	if f.tree.Load().rootBits != largeRootBits {
		t.Fatal("not promoted")
	}
	f.Reclaim()
	f.groups.Reclaim()
	churn(t, f, model, r, 2000, 14)
	for p, want := range model {
		if got, _ := longest(model, p.address, 32); f.Lookup(p.address) != got {
			t.Fatalf("%08x/%d: want %06x", p.address, p.length, want)
		}
	}
	empty(t, f, model, r)
}

// TestFIBGroupsUnderPressure has hardly more groups than routes need, so that take must wait for resting
// ones.
func TestFIBGroupsUnderPressure(t *testing.T) {
	waited := 0
	g, err := NewGroups(8, func() { waited++ })
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFIB(g)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(100) {
		a := 10<<24 | i<<8 | 1
		if err := f.Put(a, 32, NewTarget(KindSession, i), true); err != nil {
			t.Fatal(err)
		}
		if got := f.Lookup(a); got != NewTarget(KindSession, i) {
			t.Fatalf("step %d: %06x", i, got)
		}
		f.Delete(a, 32, 0, 0)
	}
	if waited == 0 {
		t.Fatal("never waited: the test proves nothing")
	}
}
