package entry

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// sample holds every kind, put and deleted, with every field set.
func sample() *Batch {
	b := &Batch{}
	gateway6 := netip.MustParseAddr("2001:db8::1")
	peer, own := MAC{0x02, 0, 0, 0, 0, 0x11}, MAC{0x02, 0, 0, 0, 0, 0x01}
	gateway, core := netip.MustParseAddr("198.51.100.2"), netip.MustParseAddr("198.51.100.1")
	b.Put(
		Port{ID: 1, Driver: DriverAFPacket, Device: "access0", PPPoE: true},
		Port{ID: 2, Driver: DriverTUN, Device: "vrf0", Namespace: "vbng", MTU: 1500, MAC: own},
		Port{ID: 3, Driver: DriverAFXDP, Device: "access1", XDP: XDPGeneric, IPoE: true},
		VRF{ID: 0, TUN: 2},
		Interface{ID: 10, Port: 1, OuterTPID: 0x88a8, OuterVLAN: 100, InnerVLAN: 7, VRF: 3, MAC: own, MTU: 1500},
		Interface{ID: 11, Port: 1, OuterTPID: 0x8100, OuterVLAN: 100, Source4: core, Source6: gateway6, Verify: VerifyLoose, MSS: 1452},
		Local{Interface: 10, Addr: core},
		Neighbor{Interface: 10, Addr: gateway, MAC: peer, Resolved: true},
		Neighbor{Interface: 10, Addr: netip.MustParseAddr("2001:db8::1")},
		Session{ID: 1 << 40, Port: 1, OuterTPID: 0x88a8, OuterVLAN: 100, InnerVLAN: 7, PeerMAC: peer, OwnMAC: own,
			PPPoE: 42, VRF: 3, IPv4: netip.MustParseAddr("100.64.0.2"), MTU: 1492, SourceAny: true, QoSRoot: 9},
		Session{ID: 5, Port: 1, PeerMAC: peer, PPPoE: 1, MTU: 1492},
		Session{ID: 6, Port: 3, PeerMAC: peer, IPv6: netip.MustParsePrefix("2001:db8:1::/64"), Gateway4: core, Gateway6: gateway6,
			LinkLocal: netip.MustParseAddr("fe80::1"), MTU: 1500, MSS: 1460},
		Echo{Session: 5, LocalMagic: 0xdeadbeef, PeerMagic: 1, IntervalSeconds: 10, Misses: 3, PeerMRU: 1492},
		Group{ID: 7, Count: 2, Hops: [MaxHops]Hop{{Interface: 10, Addr: gateway}, {Interface: 11, Addr: gateway6}}},
		Route{Prefix: netip.MustParsePrefix("203.0.113.0/24"), Target: Target{Kind: TargetGroup, Group: 7}},
		Route{Prefix: netip.MustParsePrefix("0.0.0.0/0"), Target: Target{Kind: TargetNeighbor, Interface: 10, Addr: gateway}},
		Route{VRF: 3, Prefix: netip.MustParsePrefix("100.64.0.2/32"), Target: Target{Kind: TargetSession, Session: 5}},
		Route{Prefix: netip.MustParsePrefix("2001:db8::/32"), Target: Target{Kind: TargetDrop}},
		Route{Prefix: netip.MustParsePrefix("198.51.100.0/24"), Target: Target{Kind: TargetConnected, Interface: 10}},
		Route{Prefix: netip.MustParsePrefix("198.51.100.1/32"), Target: Target{Kind: TargetLocal}},
		Policer{Class: ClassARP, PacketsPerSecond: 1000, Burst: 100, SourcePerSecond: 10, SourceBurst: 5},
		Capture{ID: 1, Session: 5, Packets: 1000, SnapBytes: 128},
		Capture{ID: 2, Port: 1, Packets: 1, SnapBytes: 65535},
		Capture{ID: 3, Interface: 7, Packets: 1, SnapBytes: 64},
	)
	b.Delete(
		Route{Prefix: netip.MustParsePrefix("100.64.0.2/32"), CoverLength: 18, Cover: Target{Kind: TargetDrop}},
		Route{Prefix: netip.MustParsePrefix("0.0.0.0/0")},
		Echo{Session: 5},
		Session{ID: 5},
		Neighbor{Interface: 10, Addr: gateway},
		Local{Interface: 10, Addr: core},
		Interface{ID: 10},
		VRF{ID: 3},
		Port{ID: 1},
		Policer{Class: ClassARP},
		Group{ID: 7},
		Capture{ID: 1},
	)
	return b
}

func decode(encoded []byte) (*Batch, error) {
	r := NewReader(encoded)
	b, a := &Batch{}, &Any{}
	for {
		more, err := r.Next(a)
		if !more {
			return b, err
		}
		b.Ops = append(b.Ops, Op{a.Verb, a.Entry()})
	}
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	got, err := decode(AppendBatch(nil, want))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}

func TestGoldenString(t *testing.T) {
	const file = "testdata/sample.golden"
	got := sample().String()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A batch cut anywhere, and one with a byte too many, is refused.
func TestCutAndTrailing(t *testing.T) {
	whole := AppendBatch(nil, sample())
	for n := range whole {
		if _, err := decode(whole[:n]); !errors.As(err, new(*FormatError)) {
			t.Fatalf("cut at %d: got %v, want a FormatError", n, err)
		}
	}
	if _, err := decode(append(whole, 0)); err == nil || !strings.Contains(err.Error(), "behind the last entry") {
		t.Errorf("trailing byte: got %v", err)
	}
}

func TestOtherVersion(t *testing.T) {
	encoded := AppendBatch(nil, &Batch{})
	encoded[0] = FormatVersion + 1
	if _, err := decode(encoded); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("format version %d, this side has %d", FormatVersion+1, FormatVersion)) {
		t.Errorf("got %v", err)
	}
}

func TestValueChecks(t *testing.T) {
	addr := netip.MustParseAddr
	mac := MAC{2}
	session := Session{ID: 1, Port: 1, PeerMAC: mac, PPPoE: 1, MTU: 1492}
	with := func(change func(*Session)) Session { s := session; change(&s); return s }
	route := func(prefix string, target Target) Route {
		return Route{Prefix: netip.MustParsePrefix(prefix), Target: target}
	}
	tests := []struct {
		op   Op
		want string
	}{
		{Op{Put, Port{Driver: DriverTUN, Device: "a"}}, "port id is 0"},
		{Op{Put, Port{ID: 1, Device: "a"}}, "unknown port driver"},
		{Op{Put, Port{ID: 1, Driver: DriverTUN}}, "port without device"},
		{Op{Put, Port{ID: 1, Driver: DriverTUN, Device: "a\x00"}}, "NUL"},
		{Op{Put, Port{ID: 1, Driver: DriverTUN, Device: strings.Repeat("x", 64)}}, "text is too long"},
		{Op{Put, Interface{ID: 1}}, "without port"},
		{Op{Put, Interface{ID: 1, Port: 1, OuterVLAN: 5}}, "VLAN without outer TPID"},
		{Op{Put, Interface{ID: 1, Port: 1, OuterTPID: 0x8100, OuterVLAN: 4095}}, "over 4094"},
		{Op{Put, Local{Interface: 1}}, "address is missing"},
		{Op{Put, Local{Interface: 1, Addr: addr("fe80::1%eth0")}}, "zone"},
		{Op{Put, Neighbor{Interface: 1, Addr: addr("224.0.0.1")}}, "multicast"},
		{Op{Put, Neighbor{Interface: 1, Addr: addr("::ffff:1.2.3.4")}}, "IPv4 inside IPv6"},
		{Op{Put, with(func(s *Session) { s.PPPoE = 0xffff })}, "PPPoE session id"},
		{Op{Put, with(func(s *Session) { s.IPv4 = addr("::1") })}, "another family"},
		{Op{Put, with(func(s *Session) { s.PeerMAC = MAC{1} })}, "not unicast"},
		{Op{Put, with(func(s *Session) { s.MTU = 0 })}, "MTU is 0"},
		{Op{Put, with(func(s *Session) { s.IPv6 = netip.MustParsePrefix("2001:db8::1/64") })}, "bits behind its length"},
		{Op{Put, with(func(s *Session) { s.Gateway6 = addr("192.0.2.1") })}, "gateway address"},
		{Op{Put, with(func(s *Session) { s.LinkLocal = addr("2001:db8::1") })}, "link-local"},
		{Op{Put, Interface{ID: 1, Port: 1, Verify: 3}}, "reverse-path"},
		{Op{Put, Interface{ID: 1, Port: 1, Source4: addr("::1")}}, "source of ICMP errors"},
		{Op{Put, Port{ID: 1, Driver: DriverAFXDP, Device: "a", XDP: 3}}, "XDP mode"},
		{Op{Put, Group{ID: 1}}, "without next hops"},
		{Op{Put, Group{ID: 1, Count: 65}}, "more than 64"},
		{Op{Put, Group{ID: 1, Count: 1}}, "next hop without interface"},
		{Op{Put, route("10.0.0.0/8", Target{Kind: TargetGroup})}, "group target without group"},
		{Op{Put, Capture{ID: 1, Packets: 1, SnapBytes: 1}}, "one port, one interface or one session"},
		{Op{Put, Capture{ID: 1, Port: 1, SnapBytes: 1}}, "no packets"},
		{Op{Put, Echo{}}, "echo without session"},
		{Op{Put, Route{Target: Target{Kind: TargetDrop}}}, "prefix is not valid"},
		{Op{Put, route("10.0.0.1/8", Target{Kind: TargetDrop})}, "bits behind its length"},
		{Op{Put, route("10.0.0.0/8", Target{})}, "unknown kind of target"},
		{Op{Put, route("2001:db8::/32", Target{Kind: TargetNeighbor, Interface: 1, Addr: addr("1.2.3.4")})}, "another family"},
		{Op{Delete, Route{Prefix: netip.MustParsePrefix("10.0.0.0/8"), CoverLength: 8, Cover: Target{Kind: TargetDrop}}}, "not shorter"},
		{Op{Put, Policer{Class: NumClasses}}, "unknown punt class"},
		{Op{0, VRF{}}, "unknown verb"},
		{Op{Put, foreign{}}, "unknown kind of entry"},
	}
	for _, tt := range tests {
		_, err := decode(AppendBatch(nil, &Batch{Ops: []Op{tt.op}}))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want %q", tt.op, err, tt.want)
		}
	}
}

type foreign struct{}

func (foreign) Kind() Kind { return KindPort }

func TestKeyIgnoresTheRest(t *testing.T) {
	seen := map[Key]Entry{}
	for _, op := range sample().Ops[:23] { // the puts: all keys differ
		k := KeyOf(op.Entry)
		if other, taken := seen[k]; taken {
			t.Errorf("%v and %v have the same key", op.Entry, other)
		}
		seen[k] = op.Entry
	}
	if KeyOf(Session{ID: 5, MTU: 1}) != KeyOf(Session{ID: 5}) {
		t.Error("a field outside the key changes the key")
	}
}

func TestReaderDoesNotAllocate(t *testing.T) {
	b := sample()
	b.Ops = b.Ops[3:23] // without ports
	encoded, a := AppendBatch(nil, b), &Any{}
	allocs := testing.AllocsPerRun(10, func() {
		r := NewReader(encoded)
		for {
			if more, err := r.Next(a); err != nil || !more {
				return
			}
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations per batch", allocs)
	}
}

// Whatever decodes must encode to the same bytes: the layout has one form for each batch.
func FuzzReader(f *testing.F) {
	f.Add(AppendBatch(nil, sample()))
	for _, op := range sample().Ops {
		f.Add(AppendBatch(nil, &Batch{Ops: []Op{op}}))
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		b, err := decode(encoded)
		if err != nil {
			return
		}
		if again := AppendBatch(nil, b); !bytes.Equal(again, encoded) {
			t.Errorf("%v: got %x, want %x", b, again, encoded)
		}
		_ = b.String()
	})
}
