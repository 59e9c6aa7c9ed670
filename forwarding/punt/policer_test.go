package punt

import (
	"testing"
	"time"

	"vbng/forwarding/entry"
)

// count offers n frames evenly over the period and returns how many were admitted.
func count(p *Policers, c entry.Class, source func(i int) entry.MAC, n int, start, period time.Duration) int {
	admitted := 0
	for i := range n {
		if p.Admit(c, source(i), int64(start)+int64(period)*int64(i)/int64(n)) {
			admitted++
		}
	}
	return admitted
}

func one(m entry.MAC) func(int) entry.MAC { return func(int) entry.MAC { return m } }

// many gives every frame another source.
func many(i int) entry.MAC {
	return entry.MAC{2, 0, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i)}
}

func between(t *testing.T, what string, got, low, high int) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: %d admitted, want %d to %d", what, got, low, high)
	}
}

func TestClassAndSourceRates(t *testing.T) {
	p := NewPolicers()
	p.Set(entry.Policer{Class: entry.ClassARP, PacketsPerSecond: 100, Burst: 10, SourcePerSecond: 20, SourceBurst: 5})
	between(t, "one source", count(p, entry.ClassARP, one(entry.MAC{2}), 10_000, 0, 10*time.Second), 200, 206)
	between(t, "many sources", count(p, entry.ClassARP, many, 10_000, time.Minute, 10*time.Second), 1000, 1011)
}

func TestBurstComesAtOnce(t *testing.T) {
	p := NewPolicers()
	p.Set(entry.Policer{Class: entry.ClassGlean, PacketsPerSecond: 10, Burst: 7})
	between(t, "burst", count(p, entry.ClassGlean, one(entry.MAC{2}), 100, 0, 0), 7, 7)
	between(t, "after 100 ms", count(p, entry.ClassGlean, one(entry.MAC{2}), 100, 100*time.Millisecond, 0), 1, 1)
}

func TestRateZeroClosesTheClass(t *testing.T) {
	p := NewPolicers()
	p.Set(entry.Policer{Class: entry.ClassLocal})
	between(t, "closed class", count(p, entry.ClassLocal, many, 1000, 0, time.Hour), 0, 0)
	if p.Admit(entry.NumClasses, entry.MAC{2}, 0) {
		t.Error("an unknown class is admitted")
	}
}

// One source floods at 100 times the class's rate; a new subscriber's few frames still pass.
func TestFloodingSourceDoesNotStarveOthers(t *testing.T) {
	p := NewPolicers()
	flood := entry.MAC{2, 6, 6, 6}
	admitted, subscriber := 0, 0
	for i := range 1_000_000 { // one second
		now := int64(i) * 1000
		if p.Admit(entry.ClassPPPoEDiscovery, flood, now) {
			admitted++
		}
		if i%50_000 == 0 && p.Admit(entry.ClassPPPoEDiscovery, many(i), now) {
			subscriber++
		}
	}
	between(t, "flood", admitted, 50, 101)
	between(t, "subscribers", subscriber, 20, 20)
}

// 5,000 subscribers a second dial in for three seconds, and before them 2,000 at once, while one source
// floods: all of theirs comes through, and of the flood what one source may.
func TestMassReconnect(t *testing.T) {
	p := NewPolicers()
	flood := entry.MAC{2, 6, 6, 6}
	const storm, perSecond, seconds = 2000, 5000, 3
	lost, flooded := 0, 0
	setUp := func(i int, now int64) {
		for range 2 {
			if !p.Admit(entry.ClassPPPoEDiscovery, many(i), now) {
				lost++
			}
		}
		for range 10 {
			if !p.Admit(entry.ClassPPPControl, many(i), now) {
				lost++
			}
		}
		for range 20 {
			if p.Admit(entry.ClassPPPControl, flood, now) {
				flooded++
			}
		}
	}
	for i := range storm { // over half a second
		setUp(i, int64(i)*(5e8/storm))
	}
	for i := range perSecond * seconds {
		setUp(storm+i, 1e9+int64(i)*(1e9/perSecond))
	}
	between(t, "frames of subscribers that were lost", lost, 0, 0)
	between(t, "flood", flooded, 100, 100+100*(seconds+1))
}

// 10,000 dual-stack IPoE subscribers a second come up for two seconds, while one MAC address sends 10,000 frames a
// second of each of their classes.
func TestMassReconnectOfIPoE(t *testing.T) {
	p := NewPolicers()
	flood := entry.MAC{2, 6, 6, 6}
	perSetUp := map[entry.Class]int{entry.ClassDHCPv4: 2, entry.ClassDHCPv6: 4, entry.ClassSubscriberND: 6}
	lost, flooded := 0, map[entry.Class]int{}
	for i := range 20_000 {
		now := int64(i) * (1e9 / 10_000)
		for class, frames := range perSetUp {
			for range frames {
				if !p.Admit(class, many(i), now) {
					lost++
				}
			}
			if p.Admit(class, flood, now) {
				flooded[class]++
			}
		}
	}
	between(t, "frames of subscribers that were lost", lost, 0, 0)
	for class := range perSetUp {
		source := Default(class)
		between(t, "flood of "+class.String(), flooded[class], 30, int(source.SourceBurst+2*source.SourcePerSecond)+1)
	}
}

// Every class has a rate: one without would be closed.
func TestEveryClassHasARate(t *testing.T) {
	for c := entry.Class(1); c < entry.NumClasses; c++ {
		if Default(c).PacketsPerSecond == 0 {
			t.Errorf("%v has no default rate", c)
		}
	}
}

// A source that floods is not forgotten, and so not forgiven, while many others pass by.
func TestFloodingSourceIsRemembered(t *testing.T) {
	p := NewPolicers()
	p.Set(entry.Policer{Class: entry.ClassARP, PacketsPerSecond: 1_000_000, Burst: 1_000_000, SourcePerSecond: 1, SourceBurst: 10})
	flood := entry.MAC{2, 6, 6, 6}
	admitted := 0
	for i := range 200_000 { // one second, ten times the table's size
		now := int64(i) * 5000
		if p.Admit(entry.ClassARP, flood, now) {
			admitted++
		}
		p.Admit(entry.ClassARP, many(i), now)
	}
	between(t, "flood", admitted, 10, 11)
}

func TestAdmitDoesNotAllocate(t *testing.T) {
	p := NewPolicers()
	now := int64(0)
	if allocs := testing.AllocsPerRun(100, func() { now++; p.Admit(entry.ClassARP, many(int(now)), now) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
