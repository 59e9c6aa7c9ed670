package iface

import (
	"net/netip"
	"testing"
	"time"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
	"vbng/routing/rib"
)

// A next hop that does not answer leaves the group of its routes, and comes back when it does.
func TestSilentNextHopLeavesItsGroup(t *testing.T) {
	b := newLAN(t)
	b.rib.UpdateBGP(0, []rib.Path{{Prefix: prefix("20.0.0.0/8"), NextHops: []netip.Addr{addr("10.0.0.7"), addr("10.0.0.8")}}}, nil)
	b.settle()
	members := func(want uint8) {
		t.Helper()
		for _, e := range b.forwarder.entries {
			if g, ok := e.(entry.Group); ok {
				if g.Count != want {
					t.Errorf("group of %d, want %d", g.Count, want)
				}
				return
			}
		}
		t.Error("no group")
	}
	members(2)
	b.hears(1, wire.ARPReply, 7, "10.0.0.7", "10.0.0.1")
	b.advance(5 * time.Second)
	members(1)
	b.advance(10 * time.Second) // being asked again is no answer
	members(1)
	b.hears(1, wire.ARPReply, 8, "10.0.0.8", "10.0.0.1")
	b.settle()
	members(2)
}
