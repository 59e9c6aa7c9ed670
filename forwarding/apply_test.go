package forwarding

import (
	"fmt"
	"math/rand"
	"net/netip"
	"strings"
	"testing"

	"vbng/forwarding/counter"
	"vbng/forwarding/entry"
	"vbng/forwarding/remote"
	"vbng/forwarding/wire"
)

func (r *rig) delete(entries ...entry.Entry) remote.Answer {
	r.t.Helper()
	var b entry.Batch
	b.Delete(entries...)
	a := r.e.Apply(encode(&b))
	if a.Refused != nil {
		r.t.Fatalf("refused: %v", a.Refused)
	}
	return a
}

// refused expects a batch to be refused at an op for a reason, and to leave no trace.
func (r *rig) refused(b entry.Batch, op int, reason string) {
	r.t.Helper()
	before := r.image()
	a := r.e.Apply(encode(&b))
	if a.Refused == nil || a.Refused.Op != op || !strings.Contains(a.Refused.Reason, reason) {
		r.t.Errorf("got %v, want op %d: %s", a.Refused, op, reason)
	}
	if after := r.image(); after != before {
		r.t.Errorf("the refused batch left a trace:\n%s\nbefore:\n%s", after, before)
	}
}

// image prints all that the directory and the tables hold.
func (r *rig) image() string {
	d, t := r.e.directory, r.e.tables
	var b strings.Builder
	fmt.Fprintln(&b, len(d.ports), len(d.vrfs), len(d.interfaces), len(d.accesses), len(d.locals), len(d.neighbors))
	fmt.Fprintln(&b, d.sessionByID.Len(), d.sessionByAccess.Len(), d.routeByPrefix.Len(), d.policers)
	fmt.Fprintln(&b, t.BySession.Len(), t.ByAccess.Len(), t.Local.Len(), t.Groups.Used(), t.Groups6.Used())
	fmt.Fprintln(&b, d.routes6, d.groups6, r.e.local6) // fmt sorts maps
	groups := map[entry.GroupID]groupInfo{}
	for id, g := range d.groups {
		groups[id] = *g
	}
	fmt.Fprintln(&b, groups)
	for kind := range d.references {
		fmt.Fprintln(&b, "references", kind, d.references[kind], len(d.free[kind].list)-int(d.free[kind].next)+d.free[kind].count)
	}
	for i, s := range d.sessions {
		if s.id != 0 {
			fmt.Fprintln(&b, "session", i, s)
		}
	}
	for i, s := range d.routes {
		if s.used {
			fmt.Fprintln(&b, "route", i, s)
		}
	}
	return b.String()
}

func puts(entries ...entry.Entry) (b entry.Batch) {
	b.Put(entries...)
	return b
}

func deletes(entries ...entry.Entry) (b entry.Batch) {
	b.Delete(entries...)
	return b
}

func TestRefusals(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0x8100, 5, 0))
	r.put(entry.Echo{Session: s.ID, IntervalSeconds: 10, Misses: 3})
	other := subscriber(2, 0x8100, 5, 0)
	double := other
	double.PeerMAC, double.PPPoE = s.PeerMAC, s.PPPoE
	strange := other
	strange.OuterTPID = 0x9200
	nowhere := other
	nowhere.Port = 77
	to := func(target entry.Target) entry.Route {
		return entry.Route{Prefix: prefix("10.0.0.0/8"), Target: target}
	}
	v6 := entry.Route{Prefix: prefix("2001:db8::/32"), Target: entry.Target{Kind: entry.TargetGroup, Group: 9}}
	ipoe := other
	ipoe.PPPoE = 0
	ipoe.LinkLocal = addr("fe80:1::1")
	group := entry.Group{ID: 9, Count: 2, Hops: [entry.MaxHops]entry.Hop{{Interface: coreInterface, Addr: routerIP}, {Interface: coreInterface, Addr: routerIP6}}}
	core := entry.Port{ID: corePort}
	for _, c := range []struct {
		batch  entry.Batch
		op     int
		reason string
	}{
		{puts(other, to(entry.Target{Kind: entry.TargetSession, Session: 5})), 1, "session 5 is not there"},
		{puts(other, double), 1, "are those of session 1001"},
		{puts(strange), 0, "TPID 0x9200"},
		{puts(nowhere), 0, "port 77 is not there"},
		{puts(entry.Echo{Session: 9}), 0, "session 9 is not there"},
		{puts(to(entry.Target{Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: farIP})), 0, "neighbor 203.0.113.9"},
		{puts(to(entry.Target{Kind: entry.TargetConnected, Interface: 3})), 0, "interface 3 is not there"},
		{puts(entry.Route{VRF: 8, Prefix: prefix("10.0.0.0/8"), Target: entry.Target{Kind: entry.TargetDrop}}), 0, "VRF 8 is not there"},
		{puts(v6), 0, "group 9 is not there"},
		{puts(group), 0, "neighbor 2001:db8:c::2 on interface 20 is not there"},
		{puts(entry.Neighbor{Interface: coreInterface, Addr: routerIP6}, group, v6, v6, other, other, double), 6, "are those of session 1001"},
		{puts(ipoe), 0, "is not of fe80::/64"},
		{deletes(v6), 0, "route 2001:db8::/32 in VRF 0 is not there"},
		{deletes(group), 0, "group 9 is not there"},
		{puts(entry.Local{Interface: 77, Addr: addr("2001:db8::1")}), 0, "interface 77 is not there"},
		{puts(entry.Interface{ID: 30, Port: corePort}), 0, "are those of interface 20"},
		{puts(entry.Interface{ID: 30, Port: tunPort}), 0, "has no Ethernet"},
		{puts(entry.Port{ID: 9, Driver: entry.DriverMemory, Device: "broken"}), 0, "device is broken"},
		{puts(entry.VRF{ID: 2, TUN: tunPort}), 0, "is the TUN of VRF 0"},
		{puts(entry.VRF{ID: 2, TUN: corePort}), 0, "is no TUN"},
		{puts(entry.VRF{ID: 2}, entry.VRF{ID: 3}, entry.VRF{ID: 4}, entry.VRF{ID: 5}), 3, "limit of 4 VRFs"},
		{deletes(s), 0, "still has an echo"},
		{deletes(entry.Echo{Session: s.ID}, s), 1, "session 1001 is still referred to by 1"},
		{deletes(entry.Neighbor{Interface: coreInterface, Addr: routerIP}), 0, "still referred to"},
		{deletes(entry.Interface{ID: coreInterface}), 0, "still referred to"},
		{deletes(core), 0, "port 2 is still referred to"},
		{deletes(entry.VRF{}), 0, "VRF 0 is still referred to"},
		{deletes(to(entry.Target{})), 0, "route 10.0.0.0/8 in VRF 0 is not there"},
		{deletes(other), 0, "session 1002 is not there"},
		{deletes(entry.Policer{Class: entry.ClassARP}), 0, "is not there"},
	} {
		r.refused(c.batch, c.op, c.reason)
	}
	long := puts(other, entry.Port{ID: 8, Driver: entry.DriverMemory, Device: "x"}, entry.VRF{ID: 2},
		entry.Interface{ID: 31, Port: 8, VRF: 2}, entry.Local{Interface: 31, Addr: addr("10.0.0.1")},
		entry.Neighbor{Interface: 31, Addr: addr("10.0.0.2")}, sessionRoute(other), entry.Policer{Class: entry.ClassARP})
	long.Delete(sessionRoute(s), entry.Echo{Session: s.ID}, s)
	long.Put(s, entry.Echo{Session: 12345})
	r.refused(long, 12, "session 12345 is not there")
	if got := r.through(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 1)), corePort); got == nil {
		t.Error("nothing passes after refused batches")
	}
	r.balanced()
}

func TestMalformedBatchIsRefused(t *testing.T) {
	r := newRig(t).base()
	b := puts(entry.VRF{ID: 3})
	encoded := encode(&b)
	if a := r.e.Apply(encoded[:len(encoded)-1]); a.Refused == nil {
		t.Error("cut batch accepted")
	}
	if a := r.e.Apply(nil); a.Refused == nil {
		t.Error("empty bytes accepted")
	}
}

func TestDeleteAnswersFinalCounters(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0, 0, 0))
	for range 3 {
		r.through(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 72)), corePort)
	}
	route := sessionRoute(s)
	route.Cover = entry.Target{Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: routerIP}
	a := r.delete(route, s)
	want := entry.Final{Session: s.ID, Counters: entry.SessionCounters{InputPackets: 3, InputBytes: 300}}
	if len(a.Finals) != 1 || a.Finals[0] != want {
		t.Fatalf("finals %+v, want %+v", a.Finals, want)
	}
	b := puts(subscriber(2, 0, 0, 0))
	answer := r.e.Apply(encode(&b))
	if len(answer.Sessions) != 1 || answer.Sessions[0].Session != 1002 {
		t.Fatalf("answer %+v", answer)
	}
	if c := r.counters.Session(answer.Sessions[0].Slot); c != (entry.SessionCounters{}) {
		t.Errorf("a new session begins with %+v", c)
	}
	r.send(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 72)))
	r.round()
	if p, ok := r.punted(); !ok || p.Class != entry.ClassPPPoEUnknown {
		t.Error("a deleted session's frame is of an unknown one")
	}
}

// TestSessionChangeKeepsCounters moves a session to another VLAN, MTU and address.
func TestSessionChangeKeepsCounters(t *testing.T) {
	r := newRig(t).base()
	s := r.subscribe(subscriber(1, 0, 0, 0))
	r.through(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 72)), corePort)
	old := s
	s.OuterTPID, s.OuterVLAN, s.InnerVLAN, s.MTU = 0x88a8, 7, 8, 900
	b := puts(s)
	first := r.e.Apply(encode(&b)).Sessions[0].Slot
	r.through(accessPort, pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 72)), corePort)
	if c := r.counters.Session(first); c.InputPackets != 2 {
		t.Errorf("counters %+v", c)
	}
	r.dropped(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv4, dontFragment(ipPacket(farIP, s.IPv4, 64, 900))), "subscriber-output/mtu-exceeded")
	r.send(accessPort, pppoeFrame(old, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 72)))
	r.round()
	if _, ok := r.punted(); !ok {
		t.Error("the old place still answers")
	}
	r.balanced()
}

func TestGenerations(t *testing.T) {
	r := newRig(t).base()
	kept, gone := r.subscribe(subscriber(1, 0, 0, 0)), r.subscribe(subscriber(2, 0, 0, 0))
	r.put(entry.Echo{Session: kept.ID, IntervalSeconds: 10, Misses: 3}, entry.Echo{Session: gone.ID, IntervalSeconds: 10, Misses: 3},
		entry.Policer{Class: entry.ClassARP, PacketsPerSecond: 1})
	r.through(accessPort, pppoeFrame(kept, wire.ProtocolIPv4, ipPacket(kept.IPv4, farIP, 64, 72)), corePort)
	r.through(accessPort, pppoeFrame(gone, wire.ProtocolIPv4, ipPacket(gone.IPv4, farIP, 64, 72)), corePort)

	r.e.Begin(1)
	r.base()
	r.subscribe(kept)
	swept := r.e.Sweep(1)
	want := [entry.NumKinds]int{entry.KindSession: 1, entry.KindEcho: 2, entry.KindRoute: 1, entry.KindPolicer: 1}
	if swept.Count != want || len(swept.Kept) != 0 || swept.Deleted() != 5 {
		t.Errorf("swept %+v", swept)
	}
	if len(swept.Finals) != 1 || swept.Finals[0].Counters.InputPackets != 1 {
		t.Errorf("finals %+v", swept.Finals)
	}
	slot, _ := r.e.directory.session(kept.ID)
	if c := r.counters.Session(slot); c.InputPackets != 1 {
		t.Errorf("kept session's counters: %+v", c)
	}
	if got := r.through(accessPort, pppoeFrame(kept, wire.ProtocolIPv4, ipPacket(kept.IPv4, farIP, 64, 72)), corePort); got == nil {
		t.Error("the kept session does not forward")
	}

	r.e.Begin(2)
	if swept := r.e.Sweep(2); swept.Deleted() != 12 {
		t.Errorf("everything: %+v", swept)
	}
	empty := newRig(t)
	if got, want := r.image(), empty.image(); got != want {
		t.Errorf("something is left:\n%s\nwant\n%s", got, want)
	}
}

func TestSweepKeepsWhatNewEntriesNeed(t *testing.T) {
	r := newRig(t).base()
	r.e.Begin(1)
	r.put(entry.Interface{ID: coreInterface, Port: corePort})
	swept := r.e.Sweep(1)
	if len(swept.Kept) != 3 { // the VRF, its TUN, the port
		t.Errorf("kept %q", swept.Kept)
	}
}

// TestRoutesFollowTheModel puts and deletes routes in batches, with and without telling the cover.
func TestRoutesFollowTheModel(t *testing.T) {
	r := newRig(t).base()
	rnd := rand.New(rand.NewSource(3))
	model := map[netip.Prefix]entry.Target{}
	targets := []entry.Target{
		{Kind: entry.TargetDrop}, {Kind: entry.TargetLocal}, {Kind: entry.TargetConnected, Interface: coreInterface},
		{Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: routerIP},
	}
	cover := func(p netip.Prefix) (uint8, entry.Target) {
		for l := p.Bits() - 1; l >= 0; l-- {
			if t, ok := model[netip.PrefixFrom(p.Addr(), l).Masked()]; ok {
				return uint8(l), t
			}
		}
		return 0, entry.Target{}
	}
	for step := range 300 {
		var b entry.Batch
		for range rnd.Intn(6) {
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(rnd.Intn(2)), byte(rnd.Intn(256))}), 8+rnd.Intn(25)).Masked()
			_, there := model[p]
			if there && rnd.Intn(2) == 0 {
				delete(model, p)
				x := entry.Route{Prefix: p}
				if rnd.Intn(2) == 0 {
					x.CoverLength, x.Cover = cover(p)
				}
				b.Delete(x)
			} else if there || len(model) < 200 {
				model[p] = targets[rnd.Intn(len(targets))]
				b.Put(entry.Route{Prefix: p, Target: model[p]})
			}
		}
		if a := r.e.Apply(encode(&b)); a.Refused != nil {
			t.Fatalf("step %d: %v", step, a.Refused)
		}
		for range 20 {
			ip := netip.AddrFrom4([4]byte{10, 0, byte(rnd.Intn(2)), byte(rnd.Intn(256))})
			want, ok := model[netip.PrefixFrom(ip, 32)]
			if !ok {
				_, want = cover(netip.PrefixFrom(ip, 32))
			}
			if want.Kind == 0 {
				want = targets[3] // the default route
			}
			resolved, _ := r.e.directory.resolve(&want)
			v := r.e.tables.VRFs[r.e.directory.vrfs[defaultVRF].slot].Load()
			if got := v.FIB.Lookup(be32(ip)); got != resolved {
				t.Fatalf("step %d: %v leads to %06x, want %06x", step, ip, got, resolved)
			}
		}
	}
}

func be32(a netip.Addr) uint32 {
	b := a.As4()
	return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
}

// TestRandomBatchesAgainstReplay applies random, often refused batches, and compares the outcome with an
// engine that was told only the entries that are left.
func TestRandomBatchesAgainstReplay(t *testing.T) {
	r := newRig(t).base()
	rnd := rand.New(rand.NewSource(11))
	model := map[entry.Key]entry.Entry{}
	refusals := 0
	for range 2000 {
		var b entry.Batch
		for range 1 + rnd.Intn(5) {
			e := randomEntry(rnd)
			if rnd.Intn(3) == 0 {
				b.Delete(e)
			} else {
				b.Put(e)
			}
		}
		if r.e.Apply(encode(&b)).Refused != nil {
			refusals++
			continue
		}
		for _, op := range b.Ops {
			if op.Verb == entry.Put {
				model[entry.KeyOf(op.Entry)] = op.Entry
			} else {
				delete(model, entry.KeyOf(op.Entry))
			}
		}
	}
	if refusals < 200 || refusals > 1900 {
		t.Errorf("%d refusals: the test proves little", refusals)
	}
	fresh := newRig(t).base()
	for kind := entry.KindPort; kind < entry.NumKinds; kind++ {
		for _, e := range model {
			if e.Kind() == kind {
				fresh.put(e)
			}
		}
	}
	for i := range 40 {
		s := subscriber(i, 0x8100, 1, 0)
		for _, frame := range [][]byte{
			pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, farIP, 64, 1)),
			pppoeFrame(s, wire.ProtocolIPv4, ipPacket(s.IPv4, addr("10.0.0.9"), 64, 1)),
			pppoeFrame(s, wire.ProtocolIPv6, ip6Packet(host6(dualStack(s)), addr(fmt.Sprintf("2001:db8:f::%d", i)), 64, 1)),
		} {
			same(t, fmt.Sprint("session ", i), r.through(accessPort, frame, corePort), fresh.through(accessPort, frame, corePort))
		}
	}
	r.balanced()
}

func randomEntry(rnd *rand.Rand) entry.Entry {
	n := rnd.Intn(40)
	s := subscriber(n, 0x8100, 1, 0)
	if n%2 == 1 {
		s = dualStack(s)
	}
	hop := entry.Hop{Interface: coreInterface, Addr: addr(fmt.Sprint("198.51.100.", 10+n%8))}
	switch rnd.Intn(8) {
	case 5:
		return entry.Group{ID: entry.GroupID(1 + n%3), Count: 2, Hops: [entry.MaxHops]entry.Hop{hop, {Interface: coreInterface, Addr: routerIP}}}
	case 6:
		return entry.Route{Prefix: netip.PrefixFrom(addr(fmt.Sprintf("2001:db8:f::%d", n)), 88+n).Masked(),
			Target: entry.Target{Kind: entry.TargetGroup, Group: entry.GroupID(1 + n%3)}}
	case 7:
		return entry.Route{Prefix: netip.PrefixFrom(host6(dualStack(s)), 128-n%2).Masked(), Target: entry.Target{Kind: entry.TargetSession, Session: s.ID}}
	case 0:
		return entry.Echo{Session: s.ID, IntervalSeconds: 1, Misses: 2}
	case 1:
		return sessionRoute(s)
	case 2:
		return entry.Neighbor{Interface: coreInterface, Addr: addr(fmt.Sprint("198.51.100.", 10+n%8)), MAC: routerMAC, Resolved: true}
	case 3:
		return entry.Route{Prefix: netip.PrefixFrom(addr(fmt.Sprint("10.0.0.", n)), 24+n%9).Masked(),
			Target: entry.Target{Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: addr(fmt.Sprint("198.51.100.", 10+n%8))}}
	}
	return s
}

func TestConfigIsChecked(t *testing.T) {
	layout, _ := Layout(smallLimits(), 1)
	good := Config{Limits: smallLimits(), Workers: 1, CounterMemory: make([]byte, counter.Size(layout))}
	for _, change := range []func(*Config){
		func(*Config) {}, // no rings
		func(c *Config) { c.Workers = 2 },
		func(c *Config) { c.Limits.Sessions = 0 },
	} {
		c := good
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("accepted: %+v", c)
		}
	}
}
