package forwarding

import (
	"net/netip"
	"testing"

	"vbng/forwarding/entry"
	"vbng/forwarding/wire"
)

// TestReversePath goes through what routes a source may have, for both checks and families (RFC 3704 sections 2.2, 2.4).
func TestReversePath(t *testing.T) {
	const other entry.InterfaceID = 77
	for _, withDefault := range []bool{true, false} {
		for verify, name := range map[entry.Verify]string{entry.VerifyOff: "off", entry.VerifyStrict: "strict", entry.VerifyLoose: "loose"} {
			r := newRig(t).base6()
			s := r.subscribe6(dualStack(subscriber(1, 0, 0, 0)))
			far4, far6 := addr("10.9.0.2"), addr("2001:db8:9::2")
			r.put(
				entry.Interface{ID: coreInterface, Port: corePort, VRF: defaultVRF, Verify: verify},
				entry.Interface{ID: other, Port: corePort, OuterTPID: 0x8100, OuterVLAN: 9, VRF: defaultVRF, Verify: verify},
				entry.Neighbor{Interface: other, Addr: far4, MAC: routerMAC, Resolved: true},
				entry.Neighbor{Interface: other, Addr: far6, MAC: routerMAC, Resolved: true},
				entry.Group{ID: 1, Count: 2, Hops: [entry.MaxHops]entry.Hop{{Interface: other, Addr: far4}, {Interface: coreInterface, Addr: routerIP}}},
				entry.Group{ID: 2, Count: 2, Hops: [entry.MaxHops]entry.Hop{{Interface: coreInterface, Addr: routerIP6}, {Interface: other, Addr: far6}}},
			)
			route := func(p string, target entry.Target) { r.put(entry.Route{Prefix: prefix(p), Target: target}) }
			route("10.1.0.0/16", entry.Target{Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: routerIP})
			route("10.2.0.0/16", entry.Target{Kind: entry.TargetNeighbor, Interface: other, Addr: far4})
			route("10.3.0.0/16", entry.Target{Kind: entry.TargetGroup, Group: 1})
			route("10.4.0.0/16", entry.Target{Kind: entry.TargetDrop})
			route("2001:db8:1::/48", entry.Target{Kind: entry.TargetNeighbor, Interface: coreInterface, Addr: routerIP6})
			route("2001:db8:2::/48", entry.Target{Kind: entry.TargetNeighbor, Interface: other, Addr: far6})
			route("2001:db8:3::/48", entry.Target{Kind: entry.TargetGroup, Group: 2})
			route("2001:db8:4::/48", entry.Target{Kind: entry.TargetDrop})
			if !withDefault {
				var b entry.Batch
				b.Delete(entry.Route{Prefix: prefix("0.0.0.0/0")}, entry.Route{Prefix: prefix("::/0")})
				if a := r.e.Apply(encode(&b)); a.Refused != nil {
					t.Fatal(a.Refused)
				}
			}
			for _, c := range []struct {
				source        string
				strict, loose bool
			}{
				{"10.1.1.1", true, true}, {"10.2.1.1", false, true}, {"10.3.1.1", true, true}, {"10.4.1.1", false, false},
				{"198.51.100.9", true, true}, {ownIP.String(), false, false}, {s.IPv4.String(), false, true},
				{"203.0.113.77", withDefault, withDefault},
				{"2001:db8:1::1", true, true}, {"2001:db8:2::1", false, true}, {"2001:db8:3::1", true, true}, {"2001:db8:4::1", false, false},
				{"2001:db8:c::9", true, true}, {ownIP6.String(), false, false}, {host6(s).String(), false, true},
				{"2001:db8:ffff::77", withDefault, withDefault},
			} {
				source := netip.MustParseAddr(c.source)
				ip, etherType, drop := []byte(nil), uint16(wire.TypeIPv4), "ip4-verify/reverse-path"
				if source.Is4() {
					ip = ipPacket(source, s.IPv4, 9, 1)
				} else {
					ip, etherType, drop = ip6Packet(source, host6(s), 9, 1), wire.TypeIPv6, "ip6-verify/reverse-path"
				}
				want := verify == entry.VerifyOff || verify == entry.VerifyStrict && c.strict || verify == entry.VerifyLoose && c.loose
				before := r.word(drop)
				got := r.through(corePort, etherFrame(coreMAC, routerMAC, etherType, ip), accessPort)
				if (got != nil) != want || r.word(drop)-before != map[bool]uint64{true: 0, false: 1}[want] {
					t.Errorf("%s, default %v, from %s: passed is %v, want %v", name, withDefault, c.source, got != nil, want)
				}
			}
			ping := icmp6(addr("fe80::9"), ownLL, []byte{wire.ICMPv6EchoRequest, 0, 0, 0, 0, 1, 0, 1})
			if r.through(corePort, etherFrame(coreMAC, routerMAC, wire.TypeIPv6, ping), tunPort) == nil {
				t.Errorf("%s: a link-local neighbour does not reach us", name)
			}
			r.balanced()
		}
	}
}
