package rib

import (
	"testing"
	"time"
)

// A static route's old next hop stays until the new one has answered, and for a second at most.
func TestHandover(t *testing.T) {
	const old, new = "10.0.0.2", "10.0.0.3"
	route := func(gateways ...string) (lines []StaticRoute) {
		for _, g := range gateways {
			lines = append(lines, StaticRoute{Prefix: prefix("192.0.2.0/24"), Gateway: addr(g)})
		}
		return lines
	}
	begin := func() *bench {
		b := newBench(t)
		b.AddInterfaceRoute(0, prefix("10.0.0.0/24"), 7, connected(7))
		b.SetStatic(0, route(old))
		b.settle()
		b.forwarder.take()
		b.neighbors.hold = true
		return b
	}
	// ready gives the router the new neighbour's entry, as the interfaces do: with what they know of it before.
	ready := func(b *bench, answers bool) {
		if !answers {
			b.NeighborState(7, addr(new), false)
		}
		b.neighbors.ready[0]()
	}
	const toNew = "put route 192.0.2.0/24 vrf 0 to neighbor 10.0.0.3 interface 7\n"

	t.Run("it is known", func(t *testing.T) {
		b := begin()
		b.SetStatic(0, route(new))
		b.expect(t, "")
		ready(b, true)
		b.expect(t, toNew)
		if len(b.handovers) != 0 || len(b.neighbors.wanted) != 1 {
			t.Errorf("left behind: %v, wanted %v", b.handovers, b.neighbors.wanted)
		}
	})
	t.Run("it answers later", func(t *testing.T) {
		b := begin()
		b.SetStatic(0, route(new))
		b.settle()
		ready(b, false)
		b.expect(t, "")
		b.NeighborState(7, addr(new), true)
		b.expect(t, toNew)
	})
	t.Run("it is dead", func(t *testing.T) {
		b := begin()
		b.SetStatic(0, route(new))
		b.settle()
		ready(b, false)
		b.clock.Advance(handoverTime - time.Millisecond)
		b.expect(t, "")
		b.clock.Advance(time.Millisecond)
		b.expect(t, toNew)
	})
	t.Run("the operator goes back", func(t *testing.T) {
		b := begin()
		b.SetStatic(0, route(new))
		b.settle()
		b.SetStatic(0, route(old))
		b.clock.Advance(handoverTime)
		b.expect(t, "")
		if len(b.neighbors.wanted) != 1 {
			t.Errorf("wanted %v", b.neighbors.wanted)
		}
	})
	t.Run("the route goes", func(t *testing.T) {
		b := begin()
		b.SetStatic(0, route(new))
		b.settle()
		b.SetStatic(0, nil)
		b.expect(t, "delete route 192.0.2.0/24 vrf 0\n")
		if len(b.neighbors.wanted) != 0 {
			t.Errorf("wanted %v", b.neighbors.wanted)
		}
	})
	t.Run("a second one that does not answer yet gets no packet", func(t *testing.T) {
		b := begin()
		b.SetStatic(0, route(old, new))
		b.settle()
		ready(b, false)
		b.settle()
		b.forwarder.take()
		b.NeighborState(7, addr(new), true)
		b.expect(t, "put group 1384947609 via 10.0.0.2 interface 7 via 10.0.0.3 interface 7\n")
	})
}
