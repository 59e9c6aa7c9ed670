package rib

import (
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"vbng/control/oper"
	"vbng/forwarding/entry"
)

// path is a path of BGP by text.
func path(p string, hops ...string) Path {
	x := Path{Prefix: prefix(p)}
	for _, h := range hops {
		x.NextHops = append(x.NextHops, addr(h))
	}
	return x
}

func TestRecursion(t *testing.T) {
	b := newBench(t)
	b.AddInterfaceRoute(0, prefix("198.51.100.0/24"), 7, connected(7))
	b.AddInterfaceRoute(0, prefix("2001:db8:1::/64"), 7, connected(7))
	b.settle()
	b.forwarder.take()
	// Through a static route; by IPv6 for IPv4 (RFC 8950); through the default only for BGP.
	b.SetStatic(0, []StaticRoute{{Prefix: prefix("192.0.2.1/32"), Gateway: addr("198.51.100.2")}, {Prefix: prefix("0.0.0.0/0"), Gateway: addr("198.51.100.3")},
		{Prefix: prefix("10.9.0.0/16"), Gateway: addr("203.0.113.9")}})
	b.UpdateBGP(0, []Path{path("10.1.0.0/16", "192.0.2.1"), path("10.2.0.0/16", "2001:db8:1::2"), path("10.3.0.0/16", "203.0.113.9"),
		path("2001:db8:2::/48", "2001:db8:1::2"), path("10.4.0.0/16", "10.1.2.3")}, nil)
	b.expect(t, `put route 192.0.2.1/32 vrf 0 to neighbor 198.51.100.2 interface 7
put route 0.0.0.0/0 vrf 0 to neighbor 198.51.100.3 interface 7
put route 10.1.0.0/16 vrf 0 to neighbor 198.51.100.2 interface 7
put route 10.2.0.0/16 vrf 0 to neighbor 2001:db8:1::2 interface 7
put route 10.3.0.0/16 vrf 0 to neighbor 198.51.100.3 interface 7
put route 2001:db8:2::/48 vrf 0 to neighbor 2001:db8:1::2 interface 7
put route 10.4.0.0/16 vrf 0 to neighbor 198.51.100.2 interface 7
`)
	// A longer route to the next hop takes over; a discard is reached (remote blackholing).
	b.UpdateBGP(0, []Path{path("203.0.113.0/24", "198.51.100.4")}, nil)
	b.expect(t, `put route 10.9.0.0/16 vrf 0 to neighbor 198.51.100.4 interface 7
put route 203.0.113.0/24 vrf 0 to neighbor 198.51.100.4 interface 7
put route 10.3.0.0/16 vrf 0 to neighbor 198.51.100.4 interface 7
`)
	b.SetStatic(0, []StaticRoute{{Prefix: prefix("192.0.2.1/32")}})
	b.expect(t, `put route 192.0.2.1/32 vrf 0 to drop
delete route 0.0.0.0/0 vrf 0
delete route 10.9.0.0/16 vrf 0
put route 10.1.0.0/16 vrf 0 to drop
put route 10.4.0.0/16 vrf 0 to drop
`)
	// The same paths again are no news; no path is left of the session in the end.
	b.UpdateBGP(0, []Path{path("10.1.0.0/16", "192.0.2.1")}, nil)
	b.expect(t, "")
	b.FlushBGP(0)
	b.settle()
	if table := b.show(t, map[string]string{"summary": "true"}).(oper.Table[SummaryRow]); table.Summary != "2 prefixes, 2 routes, 2 active" {
		t.Errorf("summary %q", table.Summary)
	}
}

func TestImpossiblePathsAreLeftOut(t *testing.T) {
	b := newBench(t)
	b.AddInterfaceRoute(0, prefix("0.0.0.0/1"), 7, connected(7))
	b.settle()
	b.forwarder.take()
	tooMany := Path{Prefix: prefix("10.0.0.0/8")}
	for i := range entry.MaxHops + 1 {
		tooMany.NextHops = append(tooMany.NextHops, netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}))
	}
	b.UpdateBGP(0, []Path{{}, {Prefix: prefix("10.0.0.0/8")}, path("10.0.0.0/8", "0.0.0.0"), path("10.0.0.0/8", "224.0.0.1"),
		path("10.0.0.0/8", "127.0.0.1"), path("2001:db8::/32", "10.0.0.1"), path("10.0.0.0/8", "::ffff:10.0.0.1"), tooMany}, []netip.Prefix{{}})
	b.expect(t, "")
}

func TestLinkLocalNextHop(t *testing.T) {
	b := newBench(t)
	static := []StaticRoute{{Prefix: prefix("::/0"), Gateway: addr("fe80::1"), Interface: 7}}
	b.SetStatic(0, static)
	b.UpdateBGP(0, []Path{path("2001:db8::/32", "fe80::1%7"), path("2001:db8:1::/48", "fe80::1")}, nil)
	b.expect(t, "")
	// The link-local prefix is no route, and tells that the interface is there.
	b.AddInterfaceRoute(0, prefix("fe80::/64"), 7, connected(7))
	b.AddInterfaceRoute(0, prefix("fe80::/64"), 8, connected(8))
	b.expect(t, `put route ::/0 vrf 0 to neighbor fe80::1 interface 7
put route 2001:db8::/32 vrf 0 to neighbor fe80::1 interface 7
`)
	done := false
	b.DeleteInterfaceRoute(0, prefix("fe80::/64"), 7, connected(7), func() { done = true })
	b.expect(t, "delete route ::/0 vrf 0\ndelete route 2001:db8::/32 vrf 0\n")
	if !done {
		t.Error("not done")
	}
}

func TestVRFsAreSeparate(t *testing.T) {
	b := newBench(t)
	b.AddInterfaceRoute(0, prefix("192.0.2.0/24"), 7, connected(7))
	b.AddInterfaceRoute(1, prefix("192.0.2.0/24"), 8, connected(8))
	for _, vrf := range []entry.VRFID{0, 1, 2} {
		b.UpdateBGP(vrf, []Path{path("10.0.0.0/8", "192.0.2.2")}, nil)
	}
	b.expect(t, `put route 192.0.2.0/24 vrf 0 to connected interface 7
put route 192.0.2.0/24 vrf 1 to connected interface 8
put route 10.0.0.0/8 vrf 0 to neighbor 192.0.2.2 interface 7
put route 10.0.0.0/8 vrf 1 to neighbor 192.0.2.2 interface 8
`)
	b.FlushBGP(1)
	b.expect(t, "delete route 10.0.0.0/8 vrf 1\n")
}

// A next hop of very many routes is resolved once, and its failure and return cost no resolution more.
func TestStormCostsOneResolution(t *testing.T) {
	b := newBench(t)
	b.AddInterfaceRoute(0, prefix("192.0.2.0/24"), 7, connected(7))
	const n = 20_000
	for i := 0; i < n; i += 1000 {
		var paths []Path
		for k := i; k < i+1000; k++ {
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{20, byte(k >> 16), byte(k >> 8), byte(k)}), 32)
			paths = append(paths, Path{Prefix: p, NextHops: []netip.Addr{addr("192.0.2.2"), addr("192.0.2.3")}})
		}
		b.UpdateBGP(0, paths, nil)
	}
	b.settle()
	if routes := b.table(0).installed[ipv4][BGP]; routes != n || len(b.table(0).gateways) != 2 || len(b.bundles) != 1 {
		t.Errorf("%d routes, %d gateways, %d bundles", routes, len(b.table(0).gateways), len(b.bundles))
	}
	b.forwarder.take()
	b.NeighborState(7, addr("192.0.2.3"), false)
	b.expect(t, "put group 4037505417 via 192.0.2.2 interface 7\n")
	b.NeighborState(7, addr("192.0.2.2"), false) // nobody answers: all may be asked
	b.expect(t, "put group 4037505417 via 192.0.2.2 interface 7 via 192.0.2.3 interface 7\n")
	b.NeighborState(7, addr("192.0.2.2"), true)
	b.expect(t, "put group 4037505417 via 192.0.2.2 interface 7\n")
}

// What BGP says after a flush stays, also when the flush is still going on.
func TestFlushInChunks(t *testing.T) {
	b := newBench(t)
	b.AddInterfaceRoute(0, prefix("192.0.2.0/24"), 7, connected(7))
	const n = flushChunk + 5
	var all []Path
	for i := range n {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{20, 0, byte(i >> 8), byte(i)}), 32)
		all = append(all, Path{Prefix: p, NextHops: []netip.Addr{addr("192.0.2.2")}})
	}
	b.UpdateBGP(0, all, nil)
	b.settle()
	b.FlushBGP(0)
	b.UpdateBGP(0, all[n-3:], nil) // the same as before, and not taken away yet
	b.settle()
	if got := b.table(0).installed[ipv4][BGP]; got != 3 {
		t.Errorf("%d routes, want 3", got)
	}
}

// Who waits for a route does not wait behind BGP.
func TestSubscribersGoFirst(t *testing.T) {
	b := newBench(t)
	b.AddInterfaceRoute(0, prefix("192.0.2.0/24"), 7, connected(7))
	b.settle()
	b.forwarder.hold = true
	for i := range 3 * maxBatch {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{20, 0, byte(i >> 8), byte(i)}), 32)
		b.UpdateBGP(0, []Path{{Prefix: p, NextHops: []netip.Addr{addr("192.0.2.2")}}}, nil)
	}
	b.settle()
	done := false
	b.AddSubscriber(0, prefix("10.0.0.1/32"), 1, func(err error) { done = err == nil })
	b.release(1)
	if !done {
		t.Error("the subscriber's route was not in the second batch")
	}
	b.release(100)
}

// A table that is full for a while: what was refused comes when there is room.
func TestRefusedRoutesAreTriedAgain(t *testing.T) {
	b := newBench(t)
	room := 100
	b.forwarder.refuse = func(op entry.Op) string {
		if _, route := op.Entry.(entry.Route); route && op.Verb == entry.Put && b.table(0).installed[ipv4][BGP]+b.table(0).installed[ipv4][Static] > room {
			return "limit of routes is reached"
		}
		return ""
	}
	b.AddInterfaceRoute(0, prefix("192.0.2.0/24"), 7, connected(7))
	b.SetStatic(0, []StaticRoute{{Prefix: prefix("172.16.0.0/16")}})
	b.settle()
	for i := range 300 {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{20, 0, byte(i >> 8), byte(i)}), 32)
		b.UpdateBGP(0, []Path{{Prefix: p, NextHops: []netip.Addr{addr("192.0.2.2")}}}, nil)
	}
	b.settle()
	in, out := b.table(0).installed[ipv4][BGP], len(b.refused)
	if in+out != 300 || in == 0 || in > room {
		t.Fatalf("%d are in, %d are refused", in, out)
	}
	room = 1000
	b.SetStatic(0, nil) // a deletion gives hope
	for range 10 {
		b.settle()
		b.clock.Advance(retrySoon)
	}
	b.settle()
	if in := b.table(0).installed[ipv4][BGP]; in != 300 || len(b.refused) != 0 {
		t.Errorf("%d are in, %d are refused", in, len(b.refused))
	}
}

// A forwarder that takes no groups gets the first hop, and the group when it has changed its mind.
func TestRefusedGroup(t *testing.T) {
	b := newBench(t)
	full := true
	b.forwarder.refuse = func(op entry.Op) string {
		if _, group := op.Entry.(entry.Group); group && full {
			return "limit of groups is reached"
		}
		return ""
	}
	b.AddInterfaceRoute(0, prefix("192.0.2.0/24"), 7, connected(7))
	b.UpdateBGP(0, []Path{path("10.0.0.0/8", "192.0.2.2", "192.0.2.3")}, nil)
	b.expect(t, `put route 192.0.2.0/24 vrf 0 to connected interface 7
put route 10.0.0.0/8 vrf 0 to neighbor 192.0.2.2 interface 7
`)
	full = false
	b.clock.Advance(retryRefused)
	b.expect(t, `put group 4037505417 via 192.0.2.2 interface 7 via 192.0.2.3 interface 7
put route 10.0.0.0/8 vrf 0 to group 4037505417
`)
	b.FlushBGP(0)
	b.expect(t, "delete route 10.0.0.0/8 vrf 0\n--\ndelete group 4037505417\n")
	if len(b.neighbors.wanted)+len(b.bundles) > 0 {
		t.Errorf("left: %v %v", b.neighbors.wanted, b.bundles)
	}
}

func TestWatch(t *testing.T) {
	b := newBench(t)
	b.AddInterfaceRoute(0, prefix("192.0.2.0/24"), 7, connected(7))
	b.AddInterfaceRoute(0, prefix("192.0.2.1/32"), 7, entry.Target{Kind: entry.TargetLocal})
	b.AddInterfaceRoute(0, prefix("203.0.113.1/32"), 9, entry.Target{Kind: entry.TargetLocal}) // a loopback
	b.AddInterfaceRoute(0, prefix("192.0.2.9/32"), 7, entry.Target{Kind: entry.TargetNeighbor, Interface: 7, Addr: addr("192.0.2.9")})
	b.UpdateBGP(0, []Path{path("10.0.0.0/8", "192.0.2.2")}, nil)
	b.settle()
	heard := map[string]bool{}
	stop := b.Watch(0, func(a Announce) { heard[fmt.Sprint(a.Prefix, " ", a.Source, " ", a.Withdrawn)] = true })
	say := func(want ...string) {
		t.Helper()
		b.settle()
		for _, w := range want {
			if !heard[w] {
				t.Errorf("not heard: %s", w)
			}
		}
		if len(heard) != len(want) {
			t.Errorf("heard %v", heard)
		}
		clear(heard)
	}
	say("192.0.2.0/24 connected false", "203.0.113.1/32 connected false")
	b.SetAggregates(0, "pool", []netip.Prefix{prefix("10.0.0.0/8")})
	say() // BGP has it
	b.FlushBGP(0)
	say("10.0.0.0/8 aggregate false")
	b.SetStatic(0, []StaticRoute{{Prefix: prefix("10.0.0.0/8")}})
	say("10.0.0.0/8 static false")
	b.SetStatic(0, nil)
	b.SetAggregates(0, "pool", nil)
	say("10.0.0.0/8 static true")
	stop()
	b.SetStatic(0, []StaticRoute{{Prefix: prefix("10.0.0.0/8")}})
	say()
}

type vrfs struct{}

func (vrfs) Names() []string       { return []string{"red"} }
func (vrfs) ID(string) entry.VRFID { return 1 }

func TestShowRecursion(t *testing.T) {
	b := newBench(t)
	b.vrfs = vrfs{}
	b.AddInterfaceRoute(1, prefix("192.0.2.0/24"), 7, connected(7))
	b.SetStatic(1, []StaticRoute{{Prefix: prefix("203.0.113.1/32"), Gateway: addr("192.0.2.2")}, {Prefix: prefix("203.0.113.1/32"), Gateway: addr("192.0.2.3")}})
	b.UpdateBGP(1, []Path{{Prefix: prefix("10.0.0.0/8"), NextHops: []netip.Addr{addr("203.0.113.1"), addr("203.0.113.2")}, Internal: true, Metric: 5}}, nil)
	b.settle()
	b.NeighborState(7, addr("192.0.2.3"), false)
	b.settle()
	b.clock.Advance(3 * time.Second)
	table := b.show(t, map[string]string{"vrf": "red", "prefix": "10.1.2.3"}).(oper.Table[RouteRow])
	var got strings.Builder
	for _, r := range table.Rows {
		fmt.Fprintf(&got, "%s %s %d/%d via %s on %s %s\n", r.Code, r.Prefix, r.Distance, r.Metric, r.Via, r.Interface, r.State)
	}
	want := `B> 10.0.0.0/8 200/5 via 203.0.113.1 > 192.0.2.2 on 7 active
B 10.0.0.0/8 200/5 via 203.0.113.1 > 192.0.2.3 on 7 silent
B 10.0.0.0/8 200/5 via 203.0.113.2 on  unresolved
`
	if got.String() != want {
		t.Errorf("shown\n%swant\n%s", got.String(), want)
	}
	if err, ok := b.show(t, map[string]string{"vrf": "blue"}).(error); !ok {
		t.Errorf("VRF that is not there: %v", err)
	}
	if names := b.Commands()[0].Args[1].Complete(); fmt.Sprint(names) != "[default red]" {
		t.Errorf("completion %v", names)
	}
}

// TestBoundsOfAResolutionAreTold leads a route to more neighbours than a group takes, and through a longer chain of
// routes than is followed: each is logged once, however often it is resolved.
func TestBoundsOfAResolutionAreTold(t *testing.T) {
	b := newBench(t)
	var text strings.Builder
	b.log = slog.New(slog.NewTextHandler(&text, nil))
	b.AddInterfaceRoute(0, prefix("198.51.100.0/24"), 7, connected(7))
	var statics []StaticRoute
	for i := range 80 {
		via := netip.AddrFrom4([4]byte{192, 0, 2, byte(1 + i/40)})
		statics = append(statics, StaticRoute{Prefix: netip.PrefixFrom(via, 32), Gateway: netip.AddrFrom4([4]byte{198, 51, 100, byte(1 + i)})})
	}
	b.SetStatic(0, statics)
	chain := []Path{path("10.0.0.0/16", "192.0.2.1", "192.0.2.2"), path("10.100.0.0/16", "198.51.100.1")}
	for i := range 12 {
		chain = append(chain, path(fmt.Sprintf("10.%d.0.0/16", 101+i), fmt.Sprintf("10.%d.0.1", 100+i)))
	}
	for range 2 {
		b.UpdateBGP(0, chain, nil)
		b.settle()
		b.FlushBGP(0)
		b.UpdateBGP(0, chain, nil)
		b.settle()
		for _, want := range []string{"more neighbours", "more than 8 routes"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("log without %q\n%s", want, text.String())
			}
		}
	}
	if n := strings.Count(text.String(), "\n"); n > 20 {
		t.Errorf("%d lines of log\n%s", n, text.String())
	}
}
