package pool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func units(prefixLength ...any) []Units {
	var all []Units
	for i := 0; i < len(prefixLength); i += 2 {
		all = append(all, Units{Prefix: prefix(prefixLength[i].(string)), Length: prefixLength[i+1].(int)})
	}
	return all
}

func configured6(own []netip.Prefix, pools ...Config6) *Prefixes {
	s := NewPrefixes()
	s.Configure(pools, own)
	return s
}

func allocate6(t *testing.T, s *Prefixes, owner Owner, wish Wish) string {
	t.Helper()
	p, err := s.Allocate("p", owner, wish)
	if err != nil {
		t.Fatal(err)
	}
	return p.String()
}

func TestUnitsAreHandedOutInOrderAndRest(t *testing.T) {
	s := configured6(nil, Config6{Name: "p", Units: units("2001:db8::/62", 64, "2001:db8:1::/120", 120)})
	var got string
	for i := range 5 {
		got += allocate6(t, s, Owner(i+1), Wish{}) + " "
	}
	if want := "2001:db8::/64 2001:db8:0:1::/64 2001:db8:0:2::/64 2001:db8:0:3::/64 2001:db8:1::/120 "; got != want {
		t.Fatalf("got %s", got)
	}
	if _, err := s.Allocate("p", 9, Wish{}); !errors.Is(err, ErrExhausted) {
		t.Fatalf("error %v", err)
	}
	s.Release(prefix("2001:db8:0:2::/64"), 1) // not his
	if _, err := s.Allocate("p", 9, Wish{}); !errors.Is(err, ErrExhausted) {
		t.Fatalf("error %v", err)
	}
	s.Release(prefix("2001:db8::/64"), 1)
	s.Release(prefix("2001:db8:0:2::/64"), 3)
	if got := allocate6(t, s, 9, Wish{}); got != "2001:db8::/64" { // the pointer stood at the end
		t.Fatalf("got %s", got)
	}
	s.Release(prefix("2001:db8::/64"), 9)
	if got := allocate6(t, s, 9, Wish{}); got != "2001:db8:0:2::/64" {
		t.Fatalf("got %s: a freed unit must rest", got)
	}
	if _, err := s.Allocate("q", 9, Wish{}); !errors.Is(err, ErrUnknown) {
		t.Fatalf("error %v", err)
	}
}

func TestWishes(t *testing.T) {
	s := configured6(nil, Config6{Name: "p", Units: units("2001:db8::/48", 56, "2001:db8:1::/48", 60)})
	last := prefix("2001:db8:0:4200::/56")
	if got := allocate6(t, s, 1, Wish{Last: last}); got != last.String() {
		t.Errorf("got %s, not the last one", got)
	}
	if got := allocate6(t, s, 2, Wish{Last: last}); got != "2001:db8::/56" {
		t.Errorf("got %s: the wished one is another's", got)
	}
	for _, foreign := range []string{"2001:db9::/56", "2001:db8:0:4310::/60", "::/60", "2001:db8:0:4310::/56"} {
		if got := allocate6(t, s, 3, Wish{Last: prefix(foreign)}); got == foreign {
			t.Errorf("got %s, which is no unit", got)
		}
	}
	if got := allocate6(t, s, 4, Wish{Length: 60}); got != "2001:db8:1::/60" {
		t.Errorf("got %s for a wish of /60", got)
	}
	if got := allocate6(t, s, 5, Wish{Length: 48}); got != "2001:db8:0:500::/56" {
		t.Errorf("got %s for a length that no line has", got)
	}
}

func TestAddressesOfAWholeSubnet(t *testing.T) {
	s := configured6(nil, Config6{Name: "p", Units: units("2001:db8::/64", 128)})
	if got := allocate6(t, s, 1, Wish{}); got != "2001:db8::1/128" {
		t.Errorf("got %s: the anycast address is nobody's", got)
	}
	far := prefix("2001:db8::7fff:ffff:ffff:ffff/128")
	if got := allocate6(t, s, 2, Wish{Last: far}); got != far.String() {
		t.Errorf("got %s", got)
	}
	beyond := prefix("2001:db8::8000:0:0:0/128") // behind 2^63 units: never handed out, but can be fixed
	if err := s.Reserve(beyond, 3); err != nil {
		t.Fatal(err)
	}
	s.Release(beyond, 3)
	if u := s.Usage()[0]; u.Used != 2 || u.Own != 1 || u.Size != 1<<63 {
		t.Errorf("usage %+v", u)
	}
}

func TestNothingHeldOverlaps(t *testing.T) {
	s := configured6([]netip.Prefix{prefix("2001:db8:0:100::1/64"), prefix("2001:db8:f::/48")},
		Config6{Name: "p", Units: units("2001:db8::/48", 56)})
	for _, c := range []struct {
		p    string
		want string
	}{
		{"2001:db8:0:200::/60", ""},
		{"2001:db8:0:200::/56", "prefix 2001:db8:0:200::/56 overlaps prefix 2001:db8:0:200::/60, which is in use by session 1"},
		{"2001:db8:0:200::5/128", "address 2001:db8:0:200::5 overlaps prefix 2001:db8:0:200::/60, which is in use by session 1"},
		{"2001:db8:0:200::/60", "prefix 2001:db8:0:200::/60 is in use by session 1"},
		{"2001:db8:0:210::/60", ""},
		{"2001:db8:0:400::/54", ""},
		{"2001:db8:0:100::/56", "reserve 2001:db8:0:100::/56: address is the router's own"},
		{"2001:db8:f:8000::/49", "reserve 2001:db8:f:8000::/49: address is the router's own"},
		{"192.0.2.0/24", "reserve 192.0.2.0/24: not an IPv6 prefix"},
	} {
		var got string
		if err := s.Reserve(prefix(c.p), 1); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.p, got, c.want)
		}
	}
	var got string
	for range 3 { // 1 is the router's, 2 holds two /60, 4 to 7 are one /54
		got += allocate6(t, s, 2, Wish{}) + " "
	}
	if want := "2001:db8::/56 2001:db8:0:300::/56 2001:db8:0:800::/56 "; got != want {
		t.Errorf("got %s", got)
	}
	if got := allocate6(t, s, 2, Wish{Last: prefix("2001:db8:0:500::/56")}); got != "2001:db8:0:900::/56" {
		t.Errorf("got %s: the wish lies in a fixed prefix", got)
	}
	if u := s.Usage()[0]; u.Size != 256 || u.Used != 4+1+4 || u.Own != 1 {
		t.Errorf("usage %+v", u)
	}
	s.Release(prefix("2001:db8:0:200::/60"), 1)
	if _, err := s.Allocate("p", 3, Wish{Last: prefix("2001:db8:0:200::/56")}); err != nil {
		t.Error(err)
	} else if s.held.Size() != 7 {
		t.Errorf("%d held", s.held.Size())
	}
	s.Release(prefix("2001:db8:0:210::/60"), 1)
	if got := allocate6(t, s, 3, Wish{Last: prefix("2001:db8:0:200::/56")}); got != "2001:db8:0:200::/56" {
		t.Errorf("got %s: both halves are free again", got)
	}
}

func TestAFixedPrefixCoversAWholePool(t *testing.T) {
	s := configured6(nil, Config6{Name: "p", Units: units("2001:db8::/40", 64, "2001:db9::/63", 64)})
	if err := s.Reserve(prefix("2001:db8::/32"), 1); err != nil {
		t.Fatal(err)
	}
	if got := allocate6(t, s, 2, Wish{}); got != "2001:db9::/64" {
		t.Errorf("got %s", got)
	}
	if u := s.Usage()[0]; u.Used != u.Size {
		t.Errorf("usage %+v", u)
	}
	s.Release(prefix("2001:db8::/32"), 1)
	if u := s.Usage()[0]; u.Used != 0 {
		t.Errorf("usage %+v", u)
	}
}

func TestChangeKeepsWhatIsHeld6(t *testing.T) {
	s := configured6(nil, Config6{Name: "p", Units: units("2001:db8::/48", 56)})
	first := allocate6(t, s, 1, Wish{})
	s.Configure([]Config6{{Name: "p", Units: units("2001:db8::/48", 60)}}, []netip.Prefix{prefix("2001:db8:0:100::/64")})
	if got := allocate6(t, s, 2, Wish{}); got != "2001:db8:0:110::/60" {
		t.Errorf("got %s: %s is held, and the next one our own", got, first)
	}
	if u := s.Usage()[0]; u.Used != 16+1 || u.Own != 1 {
		t.Errorf("usage %+v", u)
	}
	s.Configure(nil, nil)
	if s.Outside() != 2 || s.Held() != 2 {
		t.Errorf("%d outside, %d held", s.Outside(), s.Held())
	}
	s.Release(prefix(first), 1)
	if s.Held() != 1 {
		t.Errorf("%d held", s.Held())
	}
}

func TestQuarantine(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	four := configured(nil, Config{Name: "p", Ranges: ranges("10.0.0.0", "10.0.0.1")})
	a := mustAllocate(t, four, "p", 1)
	four.Quarantine(a, 2, start.Add(time.Hour)) // not his
	four.Quarantine(a, 1, start.Add(time.Hour))
	if u := four.Usage()[0]; u.Used != 0 || u.Quarantined != 1 || u.Free != 1 || four.Outside() != 0 {
		t.Errorf("usage %+v", u)
	}
	var inUse *InUseError
	if err := four.Reserve(a, 3); !errors.As(err, &inUse) || err.Error() != "address 10.0.0.0 is in quarantine" {
		t.Errorf("error %v", err)
	}
	four.Release(a, 1)
	four.Configure([]Config{{Name: "p", Ranges: ranges("10.0.0.0", "10.0.0.1")}}, nil)
	if got := mustAllocate(t, four, "p", 1); got == a {
		t.Error("given from quarantine")
	}
	if four.Quarantine(addr("10.0.0.1"), 1, start) {
		t.Error("kept back all of a range")
	}
	if next := four.Tend(start); !next.Equal(start.Add(time.Hour)) {
		t.Errorf("next at %s", next)
	}
	if next := four.Tend(start.Add(time.Hour)); !next.IsZero() {
		t.Errorf("next at %s", next)
	}
	if u := four.Usage()[0]; u.Quarantined != 0 || u.Free != 2 {
		t.Errorf("usage %+v", u)
	}

	six := configured6(nil, Config6{Name: "p", Units: units("2001:db8::/124", 128)})
	allocate6(t, six, 1, Wish{Last: prefix("2001:db8::1/128")})
	six.Quarantine(prefix("2001:db8::1/128"), 1, start.Add(time.Minute))
	allocate6(t, six, 1, Wish{Last: prefix("2001:db8::2/128")})
	six.Quarantine(prefix("2001:db8::2/128"), 1, start)
	allocate6(t, six, 1, Wish{Last: prefix("2001:db8::3/128")})
	if six.Quarantine(prefix("2001:db8::3/128"), 1, start) || six.Held() != 2 { // more than an eighth
		t.Error("kept back too many")
	}
	if u := six.Usage()[0]; u.Used != 0 || u.Quarantined != 2 {
		t.Errorf("usage %+v", u)
	}
	if next := six.Tend(start); !next.Equal(start.Add(time.Minute)) {
		t.Errorf("next at %s", next)
	}
	if got := allocate6(t, six, 1, Wish{Last: prefix("2001:db8::2/128")}); got != "2001:db8::2/128" {
		t.Errorf("got %s", got)
	}
}

func TestAgainGivesTheLastAddress(t *testing.T) {
	s := configured(nil, Config{Name: "p", Ranges: ranges("10.0.0.0", "10.0.0.9")})
	for last, want := range map[string]string{"10.0.0.7": "10.0.0.7", "192.0.2.1": "10.0.0.0", "::1": "10.0.0.0"} {
		got, err := s.Again("p", 1, addr(last))
		if err != nil || got != addr(want) {
			t.Errorf("last %s: %s, %v", last, got, err)
		}
		s = configured(nil, Config{Name: "p", Ranges: ranges("10.0.0.0", "10.0.0.9")})
	}
	if _, err := s.Again("q", 1, addr("10.0.0.1")); !errors.Is(err, ErrUnknown) {
		t.Errorf("error %v", err)
	}
}

func TestThresholdWarnsOncePerCrossing(t *testing.T) {
	s := configured(nil, Config{Name: "p", Ranges: ranges("10.0.0.0", "10.0.0.99"), ThresholdPercent: 90})
	var got string
	step := func() {
		for _, c := range s.Crossings() {
			got += fmt.Sprintf("%v %d; ", c.Above, c.Percent)
		}
	}
	for i := range 100 {
		mustAllocate(t, s, "p", 1)
		step()
		if i == 95 {
			s.Configure([]Config{{Name: "p", Ranges: ranges("10.0.0.0", "10.0.0.99"), ThresholdPercent: 90}}, nil)
			step()
		}
	}
	for i := range 100 {
		s.Release(addr(fmt.Sprintf("10.0.0.%d", i)), 1)
		step()
	}
	if got != "true 90; false 84; " {
		t.Errorf("crossings %s", got)
	}
	six := configured6(nil, Config6{Name: "p", Units: units("2001:db8::/62", 64), ThresholdPercent: 50})
	for i := range 4 {
		allocate6(t, six, 1, Wish{})
		if c := six.Crossings(); (len(c) == 1) != (i == 1) {
			t.Errorf("after %d: %v", i+1, c)
		}
	}
	wide := configured6(nil, Config6{Name: "p", Units: units("2001:db8::/64", 128, "2001:db9::/64", 128), ThresholdPercent: 1})
	allocate6(t, wide, 1, Wish{})
	if c := wide.Crossings(); c != nil {
		t.Errorf("crossings %v", c)
	}
}

func TestCheckUnits(t *testing.T) {
	for _, c := range []struct {
		units Units
		want  string
	}{
		{Units{prefix("2001:db8::/32"), 56}, ""},
		{Units{prefix("2001:db8::/64"), 128}, ""},
		{Units{prefix("2001:db8::/56"), 56}, ""},
		{Units{prefix("2001:db8::/56"), 48}, "units of /48 do not fit into 2001:db8::/56"},
		{Units{prefix("2001:db8::/56"), 129}, "units of /129 do not fit into 2001:db8::/56"},
		{Units{prefix("2001:db8::1/56"), 64}, "2001:db8::1/56 has bits behind its length; did you mean 2001:db8::/56?"},
		{Units{prefix("10.0.0.0/8"), 32}, "a line is of an IPv6 prefix"},
		{Units{prefix("fe80::/10"), 64}, "prefixes of fe80::/10 cannot be subscribers'"},
		{Units{prefix("ff00::/8"), 64}, "prefixes of ff00::/8 cannot be subscribers'"},
		{Units{}, "a line is of an IPv6 prefix"},
	} {
		if got := CheckUnits(c.units); got != c.want {
			t.Errorf("%v: %q, want %q", c.units, got, c.want)
		}
	}
}

func TestAggregates6(t *testing.T) {
	got := fmt.Sprint(Aggregates6(units("2001:db9::/48", 64, "2001:db8::/32", 56, "2001:db8:1::/48", 60)))
	if got != "[2001:db8::/32 2001:db9::/48]" {
		t.Error(got)
	}
}

// TestSparseAgainstAModel takes and gives at random, and at the end of bitmaps that end in the midst of words.
func TestSparseAgainstAModel(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []uint64{1, 2, 63, 64, 65, 4096, 4097, 70000} {
		b, model := newSparse(size), make([]bool, size)
		for range 20000 {
			bit := random.Uint64N(size)
			if random.IntN(3) > 0 {
				if b.take(bit) == model[bit] {
					t.Fatalf("size %d: take(%d) and the model differ", size, bit)
				}
				model[bit] = true
			} else if b.give(bit) != model[bit] {
				t.Fatalf("size %d: give(%d) and the model differ", size, bit)
			} else {
				model[bit] = false
			}
			from := random.Uint64N(size)
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
		for bit := range size {
			b.give(bit)
		}
		for level, words := range b.levels {
			if len(words) != 0 || b.set != 0 {
				t.Fatalf("size %d: %d words left at level %d", size, len(words), level)
			}
		}
	}
}

func TestSparseIsSmallHoweverLarge(t *testing.T) {
	b := newSparse(1 << 63)
	for i := range uint64(1000) {
		b.take(i << 50)
	}
	words := 0
	for _, level := range b.levels {
		words += len(level)
	}
	if words > 1000 {
		t.Errorf("%d words for 1000 bits", words)
	}
	if bit, ok := b.next(1<<63 - 1); !ok || bit != 1<<63-1 {
		t.Errorf("next %d %t", bit, ok)
	}
}

// BenchmarkAllocate6 works in a pool of 2^40 units of which a million, the first ones, are held.
func BenchmarkAllocate6(b *testing.B) {
	s := configured6(nil, Config6{Name: "p", Units: units("2000::/24", 64)})
	for range 1 << 20 {
		if _, err := s.Allocate("p", 1, Wish{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s.pools[0].lines[0].from = 0
		p, err := s.Allocate("p", 1, Wish{})
		if err != nil {
			b.Fatal(err)
		}
		s.Release(p, 1)
	}
}
