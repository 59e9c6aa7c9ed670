package sessions

import (
	"net/netip"
	"testing"
	"time"

	"vbng/forwarding/entry"
)

// decline finds the station's address in use.
func (s *station) decline() {
	s.say4(cDECLINE, netip.Addr{}, everybody, option(50, s.address.AsSlice()), option(54, s.server.AsSlice()))
	s.w.settleWith(s)
}

// TestDeclinesAreBounded: neither one client nor all of them can empty a pool by declining.
func TestDeclinesAreBounded(t *testing.T) {
	w := newWorld(t, dualConfig)
	s := w.station(0)
	for range 10 {
		w.clock.Advance(refusalTime + time.Second)
		s.dhcp()
		s.decline()
	}
	if n := w.m.space(0).pools.Held(); n != maxDeclines {
		t.Fatalf("one client has %d addresses kept back", n)
	}
	heard := len(s.heard)
	s.discover()
	w.settleWith(s)
	if len(s.heard) != heard {
		t.Fatal("the client is not held off")
	}
	w.clock.Advance(declineTime)
	w.settleWith(s)
	s.dhcp()
	s.decline()
	if n := w.m.space(0).pools.Held(); n != 1 {
		t.Fatalf("%d addresses kept back later", n)
	}
}

func TestDeclinersAreForgotten(t *testing.T) {
	d, now := decliners{}, time.Unix(1e9, 0)
	one := func(i int) client { return client{mac: entry.MAC{2, byte(i >> 16), byte(i >> 8), byte(i)}} }
	for i := range maxDecliners {
		if !d.believe(one(i), now) {
			t.Fatal("not believed")
		}
	}
	if d.believe(one(maxDecliners), now) || len(d) != maxDecliners {
		t.Fatalf("%d clients", len(d))
	}
	if !d.believe(one(maxDecliners), now.Add(declineTime)) || len(d) != 1 {
		t.Fatalf("%d clients", len(d))
	}
}
