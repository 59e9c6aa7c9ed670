package bgp

import (
	"net/netip"
	"testing"
	"time"

	api "github.com/osrg/gobgp/v3/api"
	"github.com/osrg/gobgp/v3/pkg/apiutil"
	wire "github.com/osrg/gobgp/v3/pkg/packet/bgp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// judge returns a boundary with one address of ours, and the reasons for which it refuses.
func judge() (boundary, map[string]int) {
	refused := map[string]int{}
	own := netip.MustParseAddr("192.0.2.1")
	return boundary{as: 65000, own: func(a netip.Addr) bool { return a == own }, refused: func(reason string) { refused[reason]++ }}, refused
}

func apiPath(prefix, hop string) *api.Path {
	p := netip.MustParsePrefix(prefix)
	f := familyOf(p.Addr())
	path := &api.Path{
		Family: familyMessages[f], NeighborIp: "192.0.2.2", SourceAsn: 65001,
		Nlri: pack(&api.IPAddressPrefix{Prefix: p.Addr().String(), PrefixLen: uint32(p.Bits())}),
	}
	if netip.MustParseAddr(hop).Is4() {
		path.Pattrs = []*anypb.Any{pack(&api.NextHopAttribute{NextHop: hop})}
	} else {
		path.Pattrs = []*anypb.Any{pack(&api.MpReachNLRIAttribute{Family: familyMessages[f], NextHops: []string{hop, "fe80::1"}})}
	}
	return path
}

func TestBoundaryRefusesByName(t *testing.T) {
	for _, c := range []struct{ prefix, hop, reason string }{
		{"10.0.0.0/8", "192.0.2.2", ""},
		{"0.0.0.0/0", "192.0.2.2", ""},
		{"::/0", "2001:db8::2", ""},
		{"10.0.0.0/8", "2001:db8::2", ""}, // RFC 8950
		{"2001:db8::/32", "2001:db8::2", ""},
		{"0.0.0.0/7", "192.0.2.2", ""}, // covers a martian prefix, is none
		{"127.0.0.0/8", "192.0.2.2", refusedPrefix},
		{"169.254.1.0/24", "192.0.2.2", refusedPrefix},
		{"224.0.0.0/4", "192.0.2.2", refusedPrefix},
		{"255.255.255.255/32", "192.0.2.2", refusedPrefix},
		{"fe80::/64", "2001:db8::2", refusedPrefix},
		{"ff02::/16", "2001:db8::2", refusedPrefix},
		{"::1/128", "2001:db8::2", refusedPrefix},
		{"192.0.2.1/32", "192.0.2.2", refusedOwn},
		{"10.0.0.0/8", "192.0.2.1", refusedOwnHop},
		{"10.0.0.0/8", "0.0.0.0", refusedNextHop},
		{"10.0.0.0/8", "224.0.0.1", refusedNextHop},
		{"10.0.0.0/8", "127.0.0.1", refusedNextHop},
		{"10.0.0.0/8", "255.255.255.255", refusedNextHop},
		{"2001:db8::/32", "fe80::2", refusedNextHop},
		{"2001:db8::/32", "192.0.2.2", refusedNextHop},
	} {
		b, refused := judge()
		all := b.learn([]*api.Path{apiPath(c.prefix, c.hop)})
		usable := len(all) == 1 && len(all[0].hops) == 1
		if usable != (c.reason == "") || c.reason != "" && refused[c.reason] != 1 {
			t.Errorf("%s via %s: %+v, refused %v, want %q", c.prefix, c.hop, all, refused, c.reason)
		}
	}
}

func TestBoundaryReadsPaths(t *testing.T) {
	b, _ := judge()
	second := apiPath("2001:db8::/32", "2001:db8::3")
	second.SourceAsn = 65000
	gone := apiPath("2001:db8:1::/48", "2001:db8::3")
	gone.IsWithdraw = true
	own := apiPath("2001:db8:2::/48", "2001:db8::3")
	own.NeighborIp = "<nil>"
	all := b.learn([]*api.Path{apiPath("2001:db8::/32", "2001:db8::2"), second, gone, own})
	if len(all) != 3 || len(all[0].hops) != 2 || len(all[1].hops) != 0 || len(all[2].hops) != 0 {
		t.Fatalf("learned %+v", all)
	}
	first := all[0].hops
	if first[0].addr != netip.MustParseAddr("2001:db8::2") || first[0].internal || !first[1].internal {
		t.Errorf("hops %+v", first)
	}
	if p := path(all[0].prefix, first, 1); len(p.NextHops) != 1 {
		t.Errorf("maximum-paths 1 gives %v", p.NextHops)
	}
	if p := path(all[0].prefix, first, 64); len(p.NextHops) != 2 || p.Internal {
		t.Errorf("maximum-paths 64 gives %+v", p)
	}
}

// sane fails when something passed the boundary that must not.
func sane(t *testing.T, all []learned) {
	for _, l := range all {
		if l.prefix != l.prefix.Masked() || l.prefix.Bits() > 0 && !routable(l.prefix) {
			t.Errorf("prefix %v passed", l.prefix)
		}
		for _, h := range l.hops {
			if !unicast(h.addr) || h.addr.IsLinkLocalUnicast() || h.addr.Zone() != "" || l.prefix.Addr().Is6() && h.addr.Is4() {
				t.Errorf("%v via %v passed", l.prefix, h.addr)
			}
		}
	}
}

// FuzzBoundary gives the boundary any path in GoBGP's words.
func FuzzBoundary(f *testing.F) {
	for _, p := range []*api.Path{apiPath("10.0.0.0/8", "192.0.2.2"), apiPath("2001:db8::/32", "2001:db8::2")} {
		b, err := proto.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var p api.Path
		if proto.Unmarshal(b, &p) != nil {
			return
		}
		j, _ := judge()
		sane(t, j.learn([]*api.Path{&p, nil, &p}))
	})
}

// FuzzUpdate takes the bytes of an UPDATE message through GoBGP's parser and the boundary.
func FuzzUpdate(f *testing.F) {
	update := wire.NewBGPUpdateMessage(nil, []wire.PathAttributeInterface{
		wire.NewPathAttributeOrigin(0), wire.NewPathAttributeNextHop("192.0.2.2"), wire.NewPathAttributeMultiExitDisc(7),
		wire.NewPathAttributeAsPath([]wire.AsPathParamInterface{wire.NewAs4PathParam(2, []uint32{65001})}),
	}, []*wire.IPAddrPrefix{wire.NewIPAddrPrefix(24, "10.0.0.0")})
	six := wire.NewBGPUpdateMessage(nil, []wire.PathAttributeInterface{
		wire.NewPathAttributeOrigin(0), wire.NewPathAttributeMpReachNLRI("2001:db8::2", []wire.AddrPrefixInterface{wire.NewIPv6AddrPrefix(48, "2001:db8:1::")}),
	}, nil)
	for _, m := range []*wire.BGPMessage{update, six} {
		b, err := m.Serialize()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := wire.ParseBGPMessage(b)
		if err != nil || m == nil {
			return
		}
		if u, ok := m.Body.(*wire.BGPUpdate); ok {
			j, _ := judge()
			sane(t, j.learn(pathsOf(u)))
		}
	})
}

// pathsOf makes of an UPDATE what GoBGP's watcher would tell of it.
func pathsOf(u *wire.BGPUpdate) []*api.Path {
	var all []*api.Path
	add := func(nlri wire.AddrPrefixInterface, withdraw bool) {
		p, err := apiutil.NewPath(nlri, withdraw, u.PathAttributes, time.Time{})
		if err == nil && p != nil {
			p.NeighborIp, p.SourceAsn = "192.0.2.2", 65001
			all = append(all, p)
		}
	}
	for _, n := range u.NLRI {
		add(n, false)
	}
	for _, n := range u.WithdrawnRoutes {
		add(n, true)
	}
	for _, a := range u.PathAttributes {
		if mp, ok := a.(*wire.PathAttributeMpReachNLRI); ok {
			for _, n := range mp.Value {
				add(n, false)
			}
		}
	}
	return all
}
