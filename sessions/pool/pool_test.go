package pool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
)

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func ranges(firstLast ...string) []Range {
	var all []Range
	for i := 0; i < len(firstLast); i += 2 {
		all = append(all, Range{First: addr(firstLast[i]), Last: addr(firstLast[i+1])})
	}
	return all
}

func configured(own []netip.Addr, pools ...Config) *Set {
	s := NewSet()
	s.Configure(pools, own)
	return s
}

func mustAllocate(t *testing.T, s *Set, name string, owner Owner) netip.Addr {
	t.Helper()
	a, err := s.Allocate(name, owner)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestEveryAddressOfEveryRangeIsUsable(t *testing.T) {
	r := ranges("10.0.0.0", "10.0.1.255", "192.0.2.7", "192.0.2.7", "10.9.0.0", "10.10.255.255")
	s := configured(nil, Config{Name: "p", Ranges: r})
	seen := map[netip.Addr]bool{}
	want := 0
	for _, each := range r {
		want += int(each.Size())
	}
	for i := range want {
		a := mustAllocate(t, s, "p", Owner(i))
		if seen[a] {
			t.Fatalf("%s given twice", a)
		}
		seen[a] = true
	}
	if _, err := s.Allocate("p", 1); !errors.Is(err, ErrExhausted) {
		t.Fatalf("error %v", err)
	}
	for a := range seen {
		if s.find(a) == nil {
			t.Fatalf("%s is of no range", a)
		}
	}
	if first := mustAllocateAfterRelease(t, s, "192.0.2.7"); first != addr("192.0.2.7") {
		t.Fatalf("got %s", first)
	}
}

func mustAllocateAfterRelease(t *testing.T, s *Set, a string) netip.Addr {
	t.Helper()
	s.Release(addr(a), s.held[addr(a)])
	return mustAllocate(t, s, "p", 1)
}

func TestFreedAddressRests(t *testing.T) {
	s := configured(nil, Config{Name: "p", Ranges: ranges("10.0.0.1", "10.0.0.3", "10.1.0.1", "10.1.0.2")})
	var got string
	for range 7 {
		a := mustAllocate(t, s, "p", 1)
		s.Release(a, 1)
		got += a.String() + " "
	}
	if want := "10.0.0.1 10.0.0.2 10.0.0.3 10.1.0.1 10.1.0.2 10.0.0.1 10.0.0.2 "; got != want {
		t.Fatalf("order %s, want %s", got, want)
	}
}

func TestFixedAddresses(t *testing.T) {
	s := configured([]netip.Addr{addr("10.0.0.1"), addr("172.16.0.1")}, Config{Name: "p", Ranges: ranges("10.0.0.1", "10.0.0.4")})
	if err := s.Reserve(addr("10.0.0.2"), 7); err != nil {
		t.Fatal(err)
	}
	if err := s.Reserve(addr("203.0.113.9"), 8); err != nil {
		t.Fatal(err)
	}
	var inUse *InUseError
	if err := s.Reserve(addr("10.0.0.2"), 9); !errors.As(err, &inUse) || inUse.Owner != 7 {
		t.Fatalf("error %v", err)
	}
	if err := s.Reserve(addr("203.0.113.9"), 9); !errors.As(err, &inUse) || inUse.Owner != 8 {
		t.Fatalf("error %v", err)
	}
	for _, own := range []string{"10.0.0.1", "172.16.0.1"} {
		if err := s.Reserve(addr(own), 9); !errors.Is(err, ErrOwn) {
			t.Fatalf("error %v", err)
		}
	}
	if a := mustAllocate(t, s, "p", 9); a != addr("10.0.0.3") {
		t.Fatalf("got %s: own and fixed addresses must be skipped", a)
	}
	if u := s.Usage()[0]; u.Size != 4 || u.Used != 2 || u.Free != 1 || u.Reserved != 1 || s.Outside() != 1 {
		t.Fatalf("usage %+v, outside %d", u, s.Outside())
	}
	s.Release(addr("10.0.0.2"), 9) // not his
	if u := s.Usage()[0]; u.Used != 2 {
		t.Fatalf("usage %+v", u)
	}
	s.Release(addr("10.0.0.2"), 7)
	s.Release(addr("10.0.0.2"), 7)
	s.Release(addr("203.0.113.9"), 8)
	if u := s.Usage()[0]; u.Used != 1 || s.Outside() != 0 || s.Held() != 1 {
		t.Fatalf("usage %+v", u)
	}
}

func TestChangeKeepsWhatIsHeld(t *testing.T) {
	s := configured(nil, Config{Name: "p", Ranges: ranges("10.0.0.1", "10.0.0.9")})
	kept, gone := mustAllocate(t, s, "p", 1), mustAllocate(t, s, "p", 2)
	s.Configure([]Config{{Name: "q", Ranges: ranges("10.0.0.1", "10.0.0.1")}}, nil)
	if _, err := s.Allocate("p", 3); !errors.Is(err, ErrUnknown) {
		t.Fatalf("error %v", err)
	}
	if _, err := s.Allocate("q", 3); !errors.Is(err, ErrExhausted) {
		t.Fatalf("error %v: its only address is held", err)
	}
	if s.Outside() != 1 {
		t.Fatalf("outside %d", s.Outside())
	}
	var inUse *InUseError
	if err := s.Reserve(gone, 3); !errors.As(err, &inUse) || inUse.Owner != 2 {
		t.Fatalf("error %v", err)
	}
	s.Release(gone, 2)
	s.Release(kept, 1)
	if a := mustAllocate(t, s, "q", 3); a != kept || s.Held() != 1 {
		t.Fatalf("got %s, %d held", a, s.Held())
	}
}

func TestChangeKeepsThePointer(t *testing.T) {
	s := configured(nil, Config{Name: "p", Ranges: ranges("10.0.0.1", "10.0.0.9")})
	s.Release(mustAllocate(t, s, "p", 1), 1)
	s.Configure([]Config{{Name: "p", Ranges: ranges("10.9.0.0", "10.9.0.9", "10.0.0.1", "10.0.0.8")}}, nil)
	if a := mustAllocate(t, s, "p", 1); a != addr("10.0.0.2") {
		t.Fatalf("got %s", a)
	}
}

func TestAddressThatBecomesOwnWhileHeld(t *testing.T) {
	p := Config{Name: "p", Ranges: ranges("10.0.0.1", "10.0.0.1")}
	s := configured(nil, p)
	a := mustAllocate(t, s, "p", 1)
	s.Configure([]Config{p}, []netip.Addr{a})
	s.Release(a, 1)
	if u := s.Usage()[0]; u.Used != 0 || u.Reserved != 1 || u.Free != 0 {
		t.Fatalf("usage %+v", u)
	}
	if _, err := s.Allocate("p", 2); !errors.Is(err, ErrExhausted) {
		t.Fatalf("error %v", err)
	}
}

// TestBitmapAgainstAModel takes and gives at random in bitmaps of one, two and three levels.
func TestBitmapAgainstAModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []uint32{1, 63, 64, 65, 4096, 4097, 70000} {
		b, model := newBitmap(size), make([]bool, size)
		for range 20000 {
			bit := random.Uint32N(size)
			if random.IntN(3) > 0 {
				if b.take(bit) == model[bit] {
					t.Fatalf("size %d: take(%d) and the model differ", size, bit)
				}
				model[bit] = true
			} else {
				b.give(bit)
				model[bit] = false
			}
			from := random.Uint32N(size)
			want, ok := from, true
			for want < size && model[want] {
				want++
			}
			if want == size {
				want, ok = 0, false
			}
			if got, gotOK := b.next(from); got != want || gotOK != ok {
				t.Fatalf("size %d: next(%d) = %d %t, want %d %t", size, from, got, gotOK, want, ok)
			}
		}
	}
}

func TestAggregates(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"10.0.0.0 10.0.255.255", "[10.0.0.0/16]"},
		{"0.0.0.0 255.255.255.255", "[0.0.0.0/0]"},
		{"10.0.0.1 10.0.0.1", "[10.0.0.1/32]"},
		{"10.0.0.2 10.0.0.9", "[10.0.0.2/31 10.0.0.4/30 10.0.0.8/31]"},
		{"255.255.255.254 255.255.255.255", "[255.255.255.254/31]"},
	} {
		var first, last string
		if _, err := fmt.Sscan(c.in, &first, &last); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(Aggregates(ranges(first, last))); got != c.want {
			t.Errorf("%s: %s, want %s", c.in, got, c.want)
		}
	}
	touching := ranges("10.0.1.0", "10.0.1.255", "10.0.0.0", "10.0.0.255", "10.9.0.0", "10.9.0.0")
	if got := fmt.Sprint(Aggregates(touching)); got != "[10.0.0.0/23 10.9.0.0/32]" {
		t.Errorf("touching ranges: %s", got)
	}
}

// BenchmarkAllocateNearlyFull works in a /8 of which one address in a thousand is free.
func BenchmarkAllocateNearlyFull(b *testing.B) {
	s := configured(nil, Config{Name: "p", Ranges: ranges("10.0.0.0", "10.255.255.255")})
	for i := range uint32(1 << 24) {
		if i%1000 != 0 {
			s.pools[0].ranges[0].bits.take(i)
		}
	}
	b.ResetTimer()
	for range b.N {
		a, err := s.Allocate("p", 1)
		if err != nil {
			b.Fatal(err)
		}
		s.Release(a, 1)
	}
}
